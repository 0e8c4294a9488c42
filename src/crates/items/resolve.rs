//! What a path of a crate leads to: module by module, and through `use`.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::collect::{
    self, Among, Audience, Context, Entry, Module, Unknowns, Wanted, entries, open_entries,
};
use super::head::{Seen, Shape, Use};
use super::source::{File, Source};
use super::{Foreign, Item, Kind, LookUp, Unknown};

mod memory;
mod modules;
pub(super) mod search;
mod users;

use memory::Memory;

/// Modules that are looked into for one path.
const STEPS: usize = 4_000;
/// Items for which the whole crate is searched for a re-export.
const SEARCHES: usize = 3;
/// Re-exports of re-exports.
const DEEPEST: usize = 16;

pub(super) struct Resolver<'s> {
    pub source: &'s Source,
    steps: Cell<usize>,
    searches: Cell<usize>,
    pub unknowns: RefCell<Unknowns>,
    files: RefCell<HashMap<PathBuf, Rc<File>>>,
    root: OnceCell<Option<Rc<Module>>>,
    /// The modules that stand at a place in others.
    modules: RefCell<HashMap<(usize, usize), Option<Target>>>,
    /// What names lead to, and what each `use` brings.
    memory: Memory,
}

/// Where a name leads.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Module(Rc<Module>, Rc<Item>),
    /// With the name of the type, and the module that declares it.
    Item(Rc<Item>, String, Rc<Module>),
    Foreign(Foreign),
}

impl Target {
    fn item(&self) -> Option<&Item> {
        match self {
            Self::Module(_, item) | Self::Item(item, ..) => Some(item),
            Self::Foreign(_) => None,
        }
    }

    /// The same, of which is known what it stands in.
    fn within(mut self, context: &Context) -> Self {
        if let Self::Module(_, item) | Self::Item(item, ..) = &mut self
            && !(context.cfg.is_empty() && context.within_macros.is_empty())
        {
            add_conditions(Rc::make_mut(item), context);
        }
        self
    }
}

/// How a name is looked for.
#[derive(Clone, Copy)]
struct Look {
    from: From,
    depth: usize,
}

/// Who looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum From {
    /// Code of the crate: what is private is seen, too.
    Inside,
    /// Somebody who is told of what is private that it is, and does not get to it by a private `use`.
    Outside,
    /// The crate's users.
    Users,
}

impl<'s> Resolver<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        Self {
            source,
            steps: Cell::new(STEPS),
            searches: Cell::new(SEARCHES),
            unknowns: RefCell::default(),
            files: RefCell::default(),
            root: OnceCell::new(),
            modules: RefCell::default(),
            memory: Memory::default(),
        }
    }

    pub(super) fn unknown(self) -> Vec<Unknown> {
        self.unknowns.into_inner().0
    }

    /// Adds what `names` lead to from the root module on.
    pub(super) fn resolve(&self, names: &[&str], answer: &mut LookUp) {
        let Some(root) = self.root() else { return };
        let walk = |from| {
            self.steps.set(STEPS);
            self.walk(&root, names, Look { from, depth: 0 })
        };
        // What users get to is what is meant, if there is such a thing.
        let mut targets = walk(From::Users);
        if targets.iter().all(|it| matches!(it, Target::Foreign(foreign) if foreign.is_glob)) {
            targets = walk(From::Outside);
        }
        for target in targets {
            match target {
                Target::Module(_, item) | Target::Item(item, ..) => {
                    answer.found.push(Rc::unwrap_or_clone(item));
                }
                Target::Foreign(foreign) => answer.foreign.push(foreign),
            }
        }
        answer.foreign.dedup();
        answer.foreign.truncate(super::MOST);
    }

    pub(super) fn root(&self) -> Option<Rc<Module>> {
        let root = || {
            let file = self.file(&self.source.root)?;
            let (range, folder) = (0..file.text.len(), self.source.folder().to_path_buf());
            let names = vec![self.source.name.clone()];
            Some(Rc::new(Module { names, ..Module::new(file, range, folder) }))
        };
        self.root.get_or_init(root).clone()
    }

    fn file(&self, path: &Path) -> Option<Rc<File>> {
        if let Some(known) = self.files.borrow().get(path) {
            return Some(Rc::clone(known));
        }
        let file = Source::read(path)?;
        self.files.borrow_mut().insert(path.to_path_buf(), Rc::clone(&file));
        Some(file)
    }

    fn walk(&self, from: &Rc<Module>, names: &[&str], look: Look) -> Vec<Target> {
        let Some((first, rest)) = names.split_first() else { return Vec::new() };
        let mut targets = self.step(from, first, look);
        for name in rest {
            targets = targets.into_iter().flat_map(|it| self.enter(it, name, look)).collect();
        }
        targets
    }

    fn enter(&self, target: Target, name: &str, look: Look) -> Vec<Target> {
        match target {
            Target::Module(module, _) => self.step(&module, name, look),
            Target::Foreign(mut foreign) => {
                foreign.path = format!("{}::{name}", foreign.path);
                vec![Target::Foreign(foreign)]
            }
            Target::Item(_, of, module) => search::members(self, &module, &of, name)
                .into_iter()
                .map(|item| Target::Item(Rc::new(item), name.to_owned(), Rc::clone(&module)))
                .collect(),
        }
    }

    /// What `name` is in `module`.
    fn step(&self, module: &Rc<Module>, name: &str, look: Look) -> Vec<Target> {
        let question = (module.id, name.to_owned(), look.from);
        let find = || self.look_into(module, name, look, &mut HashSet::new()).into();
        self.memory.of_name(question, find).to_vec()
    }

    /// Whether another module may be looked into for this path.
    fn may_step(&self) -> bool {
        match self.steps.get().checked_sub(1) {
            Some(left) => self.steps.set(left),
            None => {
                self.memory.cut();
                return false;
            }
        }
        true
    }

    /// What `name` is in `module`, and in what its `*` bring: each module is looked into once.
    fn look_into(
        &self,
        module: &Rc<Module>,
        name: &str,
        look: Look,
        seen: &mut HashSet<(usize, From)>,
    ) -> Vec<Target> {
        if !seen.insert((module.id, look.from)) || !self.may_step() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let wanted = Wanted { name, from: Among::All };
        let named = entries(module, wanted, &mut self.unknowns.borrow_mut());
        for entry in named.iter() {
            let is_public = entry.head.visibility == Seen::Public;
            match &entry.head.shape {
                Shape::Named(..) | Shape::Mod(_) if look.from == From::Users && !is_public => {}
                Shape::Named(kind, named) if named == name => {
                    // A macro of this form has the crate's root as its place.
                    let item = collect::item(module, entry, *kind, &[name]);
                    found.push(Target::Item(Rc::new(item), name.to_owned(), Rc::clone(module)));
                }
                Shape::Mod(named) if named == name => {
                    found.extend(self.module(module, entry, name));
                }
                Shape::Use(uses) if look.from == From::Inside || is_public => {
                    let named = |one: &Use| one.name.as_deref() == Some(name);
                    for index in (0..uses.len()).filter(|index| named(&uses[*index])) {
                        let targets = self.follow(module, entry, index, look.depth);
                        found.extend(targets.iter().cloned());
                    }
                }
                _ => {}
            }
        }
        self.look_into_open(module, name, look, seen, &mut found);
        each_module_once(&mut found);
        found
    }

    /// Adds to what `module` itself has by that name what its `include!` bring, and, where it has none,
    /// what its `*` bring.
    fn look_into_open(
        &self,
        module: &Rc<Module>,
        name: &str,
        look: Look,
        seen: &mut HashSet<(usize, From)>,
        found: &mut Vec<Target>,
    ) {
        let audience = match look.from {
            From::Inside => Audience::Itself,
            From::Outside | From::Users => Audience::Others,
        };
        let open = open_entries(module, audience);
        for entry in open.iter() {
            if let Shape::Include(path) = &entry.head.shape
                && look.depth < DEEPEST
            {
                let look = Look { depth: look.depth + 1, ..look };
                let file = self.included(module, entry, path);
                found.extend(file.iter().flat_map(|it| self.look_into(it, name, look, seen)));
            }
        }
        // A name of its own hides those of a `*`.
        if !found.is_empty() {
            return;
        }
        for entry in open.iter() {
            let is_seen = look.from == From::Inside || entry.head.visibility == Seen::Public;
            let Shape::Use(uses) = &entry.head.shape else { continue };
            for index in (0..uses.len()).filter(|index| is_seen && uses[*index].name.is_none()) {
                found.extend(self.through_glob((module, entry, index), name, look, seen));
            }
        }
    }

    /// Where one name of a `use` leads.
    fn follow(
        &self,
        module: &Rc<Module>,
        entry: &Entry,
        index: usize,
        depth: usize,
    ) -> Rc<[Target]> {
        let question = (module.id, entry.piece.range.start, index);
        let find = || self.follow_now(module, entry, index, depth).unwrap_or_else(|| Rc::new([]));
        self.memory.of_use(question, find)
    }

    fn follow_now(
        &self,
        module: &Rc<Module>,
        entry: &Entry,
        index: usize,
        depth: usize,
    ) -> Option<Rc<[Target]>> {
        let Shape::Use(uses) = &entry.head.shape else { return None };
        let (first, rest) = uses.get(index)?.path.split_first()?;
        if depth >= DEEPEST {
            self.memory.cut();
            return None;
        }
        let look = Look { from: From::Inside, depth: depth + 1 };
        let mut targets = self.first(module, entry, first, look);
        for name in rest {
            targets = targets.into_iter().flat_map(|it| self.enter(it, name, look)).collect();
        }
        Some(targets.into_iter().map(|target| target.within(&entry.context)).collect())
    }

    fn first(&self, at: &Rc<Module>, entry: &Entry, first: &str, look: Look) -> Vec<Target> {
        let as_target = |module: Rc<Module>| {
            let item = Rc::new(collect::item(at, entry, Kind::Module, &[]));
            vec![Target::Module(module, item)]
        };
        match first {
            "crate" | "$crate" => return self.root().map(as_target).unwrap_or_default(),
            "self" => return as_target(Rc::clone(at)),
            "super" => return at.parent.clone().map(as_target).unwrap_or_default(),
            _ => {}
        }
        let other = first.strip_prefix("::");
        if other.is_none() {
            let found = self.step(at, first, look);
            if !found.is_empty() {
                return found;
            }
        }
        let name = other.unwrap_or(first);
        if self.source.is_2015
            && let Some(root) = self.root()
            && !at.names.is_empty()
        {
            let found = self.step(&root, name, look);
            if !found.is_empty() {
                return found;
            }
        }
        if self.source.is_own_name(name) {
            return self.root().map(as_target).unwrap_or_default();
        }
        let foreign = self.source.package_of(name).map(|(package, requirement)| {
            let text = &at.file.text;
            let start = (entry.piece.range.start + entry.head.start).min(text.len());
            Target::Foreign(Foreign {
                package: package.to_owned(),
                requirement: requirement.cloned(),
                path: match package {
                    "std" => name.to_owned(),
                    package => package.replace('-', "_"),
                },
                file: at.file.path.clone(),
                line: at.file.line_of(start),
                is_glob: false,
            })
        });
        foreign.into_iter().collect()
    }

    /// What `name` is among all that a `use …::*` brings.
    fn through_glob(
        &self,
        (module, entry, index): (&Rc<Module>, &Entry, usize),
        name: &str,
        look: Look,
        seen: &mut HashSet<(usize, From)>,
    ) -> Vec<Target> {
        let from = if look.from == From::Users { From::Users } else { From::Outside };
        let inner = Look { from, depth: look.depth + 1 };
        let mut found = Vec::new();
        for target in self.follow(module, entry, index, look.depth).iter() {
            match target {
                Target::Module(of, _) => found.extend(self.look_into(of, name, inner, seen)),
                Target::Foreign(foreign) if foreign.package == "std" => {}
                _ => found.extend(self.enter(target.clone(), name, inner)),
            }
        }
        let mark = |target: Target| match target.within(&entry.context) {
            Target::Foreign(foreign) => Target::Foreign(Foreign { is_glob: true, ..foreign }),
            target => target,
        };
        found.into_iter().map(mark).collect()
    }
}

fn add_conditions(item: &mut Item, context: &Context) {
    let Context { cfg, within_macros } = context;
    item.cfg.extend(cfg.iter().filter(|it| !item.cfg.contains(it)).cloned().collect::<Vec<_>>());
    for name in within_macros {
        if !item.within_macros.contains(name) {
            item.within_macros.push(name.clone());
        }
    }
}

/// Under each of many conditions the same module may be declared.
fn each_module_once(found: &mut Vec<Target>) {
    let mut known = Vec::new();
    found.retain(|target| match target {
        Target::Module(module, _) => {
            let place = (module.file.path.clone(), module.range.start);
            let is_new = !known.contains(&place);
            known.push(place);
            is_new
        }
        _ => true,
    });
}
