//! A crate as its users see it: what they call its items, and what there is in a module.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{From, Look, Resolver, STEPS, Target, add_conditions, search};
use crate::crates::items::Item;
use crate::crates::items::collect::{ANY, Among, Context, Module, Unknowns, Wanted, entries};
use crate::crates::items::head::{Seen, Shape};

const USERS: Look = Look { from: From::Users, depth: 0 };

impl Resolver<'_> {
    /// Gives `item` the path by which users reach it, where one is found: as `asked`, where that leads
    /// to it, else the shortest that keeps its name.
    pub(in crate::crates::items) fn name_for_users(&self, item: &mut Item, asked: &[&str]) {
        self.steps.set(STEPS);
        let Some(root) = self.root() else { return };
        let path = item.path.clone();
        let names: Vec<&str> = path.split("::").skip(1).collect();
        let is_member = item.is_member;
        let own = if is_member { 2 } else { 1 };
        let Some((modules, own)) = names.len().checked_sub(own).map(|at| names.split_at(at)) else {
            return;
        };
        let declared = self.declared(&root, modules, own, is_member);
        let there = |path: &[&str]| {
            let targets = self.walk(&root, path, USERS);
            targets.iter().filter_map(Target::item).find(|it| it.path == declared).cloned()
        };
        let asked = &asked[..asked.len().saturating_sub(own.len() - 1)];
        let above = (0..=modules.len()).map(|count| [&modules[..count], &own[..1]].concat());
        let mut paths = std::iter::once(asked.to_vec()).chain(above);
        let mut found = paths.find_map(|path| there(&path).map(|it| (path, it)));
        let places;
        if let (None, Some(left)) = (&found, self.searches.get().checked_sub(1)) {
            self.searches.set(left);
            places = search::re_exports(self, own[0]);
            let paths = places.iter().map(|of| of.iter().map(String::as_str).chain([own[0]]));
            found = paths.map(Iterator::collect).find_map(|path: Vec<&str>| {
                self.steps.set(STEPS);
                there(&path).map(|it| (path, it))
            });
        }
        if let Some((mut path, Item { cfg, within_macros, .. })) = found {
            path.extend(&own[1..]);
            item.path = format!("{}::{}", self.source.name, path.join("::"));
            item.is_reached = true;
            add_conditions(item, &Context { cfg, within_macros });
        }
    }

    /// Where the first of `own` is declared, which code of `modules` calls so: a type has members in
    /// other modules than its own.
    fn declared(
        &self,
        root: &Rc<Module>,
        modules: &[&str],
        own: &[&str],
        is_member: bool,
    ) -> String {
        let path = [&[self.source.name.as_str()], modules, &own[..1]].concat().join("::");
        let inside = Look { from: From::Inside, depth: 0 };
        let named = || self.walk(root, &[modules, &own[..1]].concat(), inside);
        let found = if is_member { named() } else { Vec::new() };
        let item = found.iter().find_map(Target::item);
        item.map_or(path, |item| item.path.clone())
    }

    /// What users find in the module that `path` leads to, by its names.
    pub(in crate::crates::items) fn names_in(&self, path: &[&str]) -> BTreeSet<String> {
        self.steps.set(STEPS);
        let Some(root) = self.root() else { return BTreeSet::new() };
        let modules = match path {
            [] => vec![root],
            path => self.walk(&root, path, USERS).into_iter().filter_map(into_module).collect(),
        };
        let mut names = BTreeSet::new();
        for module in modules {
            let wanted = Wanted { name: ANY, from: Among::All };
            for entry in entries(&module, wanted, &mut Unknowns::default()).iter() {
                match &entry.head.shape {
                    _ if entry.head.visibility != Seen::Public => {}
                    Shape::Named(_, name) | Shape::Mod(name) => drop(names.insert(name.clone())),
                    Shape::Use(uses) => names.extend(uses.iter().filter_map(|it| it.name.clone())),
                    _ => {}
                }
            }
        }
        names
    }

    /// What users find at `path`, which is what they call it.
    pub(in crate::crates::items) fn at(&self, path: &[&str]) -> Vec<Item> {
        self.steps.set(STEPS);
        let Some(root) = self.root() else { return Vec::new() };
        let found = self.walk(&root, path, USERS);
        let mut items: Vec<Item> = found.iter().filter_map(Target::item).cloned().collect();
        for item in &mut items {
            item.path = format!("{}::{}", self.source.name, path.join("::"));
            item.is_reached = true;
        }
        items
    }
}

fn into_module(target: Target) -> Option<Rc<Module>> {
    match target {
        Target::Module(module, _) => Some(module),
        _ => None,
    }
}
