//! The modules that entries declare, and those that files are.

use std::path::Path;
use std::rc::Rc;

use super::{Resolver, Target};
use crate::crates::items::Kind;
use crate::crates::items::collect::{self, Among, Entry, Module, Unknowns, Wanted, entries};
use crate::crates::items::head::Shape;
use crate::crates::items::source::File;

impl Resolver<'_> {
    /// The file that `include!` puts into `module`.
    pub(super) fn included(
        &self,
        module: &Rc<Module>,
        entry: &Entry,
        path: &str,
    ) -> Option<Rc<Module>> {
        let path = module.file.path.parent()?.join(path);
        let file = self.file(&path).filter(|file| file.path.starts_with(self.source.folder()))?;
        let (range, folder) = (0..file.text.len(), path.parent()?.to_path_buf());
        Some(Rc::new(Module {
            names: module.names.clone(),
            context: entry.context.clone(),
            parent: module.parent.clone(),
            ..Module::new(file, range, folder)
        }))
    }

    /// The module that `entry` of `parent` declares.
    pub(in crate::crates::items) fn module(
        &self,
        parent: &Rc<Module>,
        entry: &Entry,
        name: &str,
    ) -> Option<Target> {
        let place = (parent.id, entry.piece.range.start);
        if let Some(known) = self.modules.borrow().get(&place) {
            return known.clone();
        }
        let module = self.open_module(parent, entry, name);
        self.modules.borrow_mut().insert(place, module.clone());
        module
    }

    fn open_module(&self, parent: &Rc<Module>, entry: &Entry, name: &str) -> Option<Target> {
        let item = collect::item(parent, entry, Kind::Module, &[name]);
        let mut names = parent.names.clone();
        names.push(name.to_owned());
        let (context, parent) = (entry.context.clone(), Rc::clone(parent));
        let folder = parent.folder.join(name);
        let module = |file: Rc<File>, range, folder| {
            let parent = Some(Rc::clone(&parent));
            Rc::new(Module { names, context, parent, ..Module::new(file, range, folder) })
        };
        let item = Rc::new(item);
        if let Some(range) = entry.piece.body.clone() {
            let module = module(Rc::clone(&parent.file), range, folder);
            return Some(Target::Module(module, item));
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
        Some(Target::Module(module(file, range, folder), item))
    }

    /// The module whose file this is, by the names of folders; `None` where the modules say otherwise.
    pub(in crate::crates::items) fn module_of(&self, path: &Path) -> Option<Rc<Module>> {
        let mut module = self.root()?;
        if module.file.path == path {
            return Some(module);
        }
        let relative = path.strip_prefix(self.source.folder()).ok()?.with_extension("");
        let mut names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
        names.pop_if(|last| *last == "mod");
        for name in &names {
            let wanted = Wanted { name, from: Among::All };
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
