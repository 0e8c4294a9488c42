//! What a path of a crate leads to: module by module, and through `use`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::collect::{self, Context, Entry, Module, Unknowns, Wanted, entries};
use super::head::{Seen, Shape, Use};
use super::source::{File, Source};
use super::{Foreign, Item, Kind, LookUp, Unknown};

pub(super) mod search;
mod users;

/// Modules that are looked into for one path.
const STEPS: usize = 400;
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
    /// The names of `use` that are being followed: none is an answer to itself.
    busy: RefCell<Vec<Followed>>,
}

/// A name of the `use` that begins there in a file.
type Followed = (PathBuf, usize, String);

/// Where a name leads.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Module(Rc<Module>, Item),
    /// With the name of the type, and the module that declares it.
    Item(Item, String, Rc<Module>),
    Foreign(Foreign),
}

impl Target {
    fn item(&self) -> Option<&Item> {
        match self {
            Self::Module(_, item) | Self::Item(item, ..) => Some(item),
            Self::Foreign(_) => None,
        }
    }
}

/// How a name is looked for.
#[derive(Clone, Copy)]
struct Look {
    from: From,
    depth: usize,
}

/// Who looks.
#[derive(Clone, Copy, PartialEq, Eq)]
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
            busy: RefCell::default(),
        }
    }

    pub(super) fn unknown(self) -> Vec<Unknown> {
        self.unknowns.into_inner().0
    }

    /// Adds what `names` lead to from the root module on.
    pub(super) fn resolve(&self, names: &[&str], answer: &mut LookUp) {
        let Some(root) = self.root() else { return };
        for target in self.walk(&root, names, Look { from: From::Outside, depth: 0 }) {
            match target {
                Target::Module(_, item) | Target::Item(item, ..) => answer.found.push(item),
                Target::Foreign(foreign) => answer.foreign.push(foreign),
            }
        }
        if let ([name], true) = (names, answer.found.is_empty()) {
            answer.found = search::exported_macros(self, name);
        }
        answer.foreign.dedup();
        answer.foreign.truncate(super::MOST);
    }

    pub(super) fn root(&self) -> Option<Rc<Module>> {
        let file = self.file(&self.source.root)?;
        Some(Rc::new(Module {
            range: 0..file.text.len(),
            file,
            folder: self.source.folder().to_path_buf(),
            names: vec![self.source.name.clone()],
            context: Context::default(),
            parent: None,
        }))
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
                .map(|item| Target::Item(item, name.to_owned(), Rc::clone(&module)))
                .collect(),
        }
    }

    /// What `name` is in `module`.
    fn step(&self, module: &Rc<Module>, name: &str, look: Look) -> Vec<Target> {
        let Some(left) = self.steps.get().checked_sub(1) else { return Vec::new() };
        self.steps.set(left);
        let wanted = Wanted { name, globs: true };
        let all = entries(module, wanted, &mut self.unknowns.borrow_mut());
        let (mut found, mut globs) = (Vec::new(), Vec::new());
        for entry in &all {
            let is_public = entry.head.visibility == Seen::Public;
            let is_seen = look.from == From::Inside || is_public;
            match &entry.head.shape {
                Shape::Named(..) | Shape::Mod(_) if look.from == From::Users && !is_public => {}
                Shape::Named(kind, named) if named == name => {
                    // A macro of this form has the crate's root as its place.
                    let item = collect::item(module, entry, *kind, &[name]);
                    found.push(Target::Item(item, name.to_owned(), Rc::clone(module)));
                }
                Shape::Mod(named) if named == name => {
                    found.extend(self.module(module, entry, name));
                }
                Shape::Include(path) if look.depth < DEEPEST => {
                    let look = Look { depth: look.depth + 1, ..look };
                    let file = self.included(module, entry, path);
                    found.extend(file.iter().flat_map(|it| self.step(it, name, look)));
                }
                Shape::Use(uses) if is_seen => {
                    for one in uses {
                        match &one.name {
                            None => globs.push((entry, one)),
                            Some(named) if named == name => {
                                found.extend(self.follow(module, entry, one, look.depth));
                            }
                            Some(_) => {}
                        }
                    }
                }
                _ => {}
            }
        }
        // A name of its own hides those of a `*`.
        if found.is_empty() {
            for (entry, one) in globs {
                found.extend(self.through_glob(module, entry, one, name, look));
            }
        }
        // Under each of many conditions the same module may be declared.
        let mut known = Vec::new();
        found.retain(|target| match target {
            Target::Module(it, _) => {
                let place = (it.file.path.clone(), it.range.start);
                let is_new = !known.contains(&place);
                known.push(place);
                is_new
            }
            _ => true,
        });
        found
    }

    /// The file that `include!` puts into `module`.
    fn included(&self, module: &Rc<Module>, entry: &Entry, path: &str) -> Option<Rc<Module>> {
        let path = module.file.path.parent()?.join(path);
        let file = self.file(&path).filter(|file| file.path.starts_with(self.source.folder()))?;
        let mut inner = Module::clone(module);
        inner.range = 0..file.text.len();
        inner.folder = path.parent()?.to_path_buf();
        inner.context = entry.context.clone();
        inner.file = file;
        Some(Rc::new(inner))
    }

    /// The module that `entry` of `parent` declares.
    pub(super) fn module(&self, parent: &Rc<Module>, entry: &Entry, name: &str) -> Option<Target> {
        let item = collect::item(parent, entry, Kind::Module, &[name]);
        let mut names = parent.names.clone();
        names.push(name.to_owned());
        let (context, parent) = (entry.context.clone(), Rc::clone(parent));
        let folder = parent.folder.join(name);
        let module = |file: Rc<File>, range, folder| {
            let parent = Some(Rc::clone(&parent));
            Module { file, range, folder, names, context, parent }
        };
        if let Some(range) = entry.piece.body.clone() {
            let module = module(Rc::clone(&parent.file), range, folder);
            return Some(Target::Module(Rc::new(module), item));
        }
        let beside = parent.file.path.parent().unwrap_or(&parent.folder);
        let (paths, folder) = match &entry.head.path {
            Some(path) => {
                let path = beside.join(path);
                let folder = path.parent().unwrap_or(beside).to_path_buf();
                (vec![path], folder)
            }
            None => (vec![parent.folder.join(format!("{name}.rs")), folder.join("mod.rs")], folder),
        };
        let file = paths.iter().find_map(|path| self.file(path))?;
        let range = 0..file.text.len();
        Some(Target::Module(Rc::new(module(file, range, folder)), item))
    }

    /// Where one name of a `use` leads.
    fn follow(&self, module: &Rc<Module>, entry: &Entry, one: &Use, depth: usize) -> Vec<Target> {
        let Some((first, rest)) = one.path.split_first().filter(|_| depth < DEEPEST) else {
            return Vec::new();
        };
        let name = one.name.as_deref().unwrap_or("*");
        let Some(_busy) = self.busy(module, entry, name) else { return Vec::new() };
        let look = Look { from: From::Inside, depth: depth + 1 };
        let mut targets = self.first(module, entry, first, look);
        for name in rest {
            targets = targets.into_iter().flat_map(|it| self.enter(it, name, look)).collect();
        }
        for target in &mut targets {
            if let Target::Module(_, item) | Target::Item(item, ..) = target {
                add_conditions(item, &entry.context);
            }
        }
        targets
    }

    /// `None` where it is being followed already.
    fn busy(&self, module: &Module, entry: &Entry, name: &str) -> Option<Busy<'_>> {
        let one = (module.file.path.clone(), entry.piece.range.start, name.to_owned());
        if self.busy.borrow().contains(&one) {
            return None;
        }
        self.busy.borrow_mut().push(one);
        Some(Busy(&self.busy))
    }

    fn first(&self, at: &Rc<Module>, entry: &Entry, first: &str, look: Look) -> Vec<Target> {
        let as_target = |module: Rc<Module>| {
            let item = collect::item(at, entry, Kind::Module, &[]);
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
                line: collect::line_of(text, start),
                is_glob: false,
            })
        });
        foreign.into_iter().collect()
    }

    /// What `name` is among all that a `use …::*` brings.
    fn through_glob(
        &self,
        module: &Rc<Module>,
        entry: &Entry,
        one: &Use,
        name: &str,
        look: Look,
    ) -> Vec<Target> {
        let from = if look.from == From::Users { From::Users } else { From::Outside };
        let depth = look.depth;
        let look = Look { from, depth: depth + 1 };
        let mut found = Vec::new();
        let key = format!("{name} of *");
        let Some(_busy) = self.busy(module, entry, &key) else { return found };
        for target in self.follow(module, entry, one, depth) {
            match &target {
                Target::Module(of, _) if Rc::ptr_eq(of, module) => {}
                Target::Foreign(foreign) if foreign.package == "std" => {}
                _ => found.extend(self.enter(target, name, look)),
            }
        }
        for target in &mut found {
            match target {
                Target::Module(_, item) | Target::Item(item, ..) => {
                    add_conditions(item, &entry.context);
                }
                Target::Foreign(foreign) => foreign.is_glob = true,
            }
        }
        found
    }

    /// The module whose file this is, by the names of folders; `None` where the modules say otherwise.
    pub(super) fn module_of(&self, path: &Path) -> Option<Rc<Module>> {
        let mut module = self.root()?;
        if module.file.path == path {
            return Some(module);
        }
        let relative = path.strip_prefix(self.source.folder()).ok()?.with_extension("");
        let mut names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
        names.pop_if(|last| *last == "mod");
        for name in &names {
            let wanted = Wanted { name, globs: false };
            // What can't be told on the way to a file is none of what was asked.
            let all = entries(&module, wanted, &mut Unknowns::default());
            let is_it = |entry: &&Entry| matches!(&entry.head.shape, Shape::Mod(it) if it == name);
            module = all.iter().filter(is_it).find_map(|it| {
                match self.module(&module, it, name)? {
                    Target::Module(module, _) => Some(module),
                    _ => None,
                }
            })?;
        }
        (module.file.path == path).then_some(module)
    }
}

/// While it is there a name of a `use` is being followed.
struct Busy<'r>(&'r RefCell<Vec<Followed>>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().pop();
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
