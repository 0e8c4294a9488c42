//! Answers that were found once: a path may lead through the same modules many times.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use super::{From, Target};

/// A name in a module, and who looks.
type Name = (usize, String, From);
/// One name of a `use`: the module, the place in its file, the number.
type Brought = (usize, usize, usize);

#[derive(Default)]
pub(super) struct Memory {
    names: Answers<Name>,
    uses: Answers<Brought>,
    /// Whether something kept us from seeing all: a circle, or too long a way.
    is_cut: Cell<bool>,
    /// Questions that came up with others.
    nested: Cell<usize>,
}

impl Memory {
    /// Notes that what is being answered is not answered whole.
    pub(super) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// What a name leads to.
    pub(super) fn of_name(&self, name: Name, find: impl FnOnce() -> Rc<[Target]>) -> Rc<[Target]> {
        self.answer(&self.names, name, find)
    }

    /// What a `use` brings.
    pub(super) fn of_use(&self, one: Brought, find: impl FnOnce() -> Rc<[Target]>) -> Rc<[Target]> {
        self.answer(&self.uses, one, find)
    }

    fn answer<Q: Eq + Hash + Clone>(
        &self,
        known: &Answers<Q>,
        question: Q,
        find: impl FnOnce() -> Rc<[Target]>,
    ) -> Rc<[Target]> {
        if let Some((answer, is_whole)) = known.get(&question) {
            self.is_cut.set(self.is_cut.get() || !is_whole);
            return answer;
        }
        // Whoever comes round to the question itself gets no further by it.
        let nothing: Rc<[Target]> = Rc::new([]);
        known.keep(question.clone(), &nothing, false);
        let was_cut = self.is_cut.replace(false);
        self.nested.set(self.nested.get() + 1);
        let found = find();
        self.nested.set(self.nested.get() - 1);
        known.keep(question, &found, !self.is_cut.get());
        self.is_cut.set(was_cut || self.is_cut.get());
        if self.nested.get() == 0 {
            self.names.forget_partial();
            self.uses.forget_partial();
        }
        found
    }
}

/// An answer that is not whole serves until the question is answered that it came up with: in modules
/// that take from each other in circles there are more ways than anybody can go.
struct Answers<Q> {
    whole: RefCell<HashMap<Q, Rc<[Target]>>>,
    partial: RefCell<HashMap<Q, Rc<[Target]>>>,
}

impl<Q> Default for Answers<Q> {
    fn default() -> Self {
        Self { whole: RefCell::default(), partial: RefCell::default() }
    }
}

impl<Q: Eq + Hash> Answers<Q> {
    /// The answer, and whether it is whole.
    fn get(&self, question: &Q) -> Option<(Rc<[Target]>, bool)> {
        let partial = || Some((Rc::clone(self.partial.borrow().get(question)?), false));
        let whole = self.whole.borrow().get(question).map(|it| (Rc::clone(it), true));
        whole.or_else(partial)
    }

    fn keep(&self, question: Q, answer: &Rc<[Target]>, is_whole: bool) {
        let answers = if is_whole { &self.whole } else { &self.partial };
        answers.borrow_mut().insert(question, Rc::clone(answer));
    }

    fn forget_partial(&self) {
        self.partial.borrow_mut().clear();
    }
}
