//! `[[installations]]`, and the inline ones of hooks, subcommands and requirements.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::{Context, shown};
use super::sources;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{InstallSource, Installation, Runnable};
use crate::text::suggestion;
use crate::text::toml::{Located, StringOrTable, Table};

/// The installations of a manifest as they come together.
pub(super) struct Pool {
    /// Those that can be used, inline ones behind the declared.
    pub list: Vec<Installation>,
    /// Every name that `[[installations]]` has, also of those left out.
    declared: BTreeSet<String>,
    /// References in `requirements`, checked once all are read.
    pending: Vec<Located<String>>,
}

impl Pool {
    pub(super) fn read(cx: &Context<'_>, root: &Table<'_>) -> Self {
        let mut pool = Self { list: Vec::new(), declared: BTreeSet::new(), pending: Vec::new() };
        for table in root.tables("installations").unwrap_or_default() {
            cx.entry("installation", || pool.declare(cx, &table));
        }
        pool
    }

    fn declare(&mut self, cx: &Context<'_>, table: &Table<'_>) -> Option<()> {
        let name = cx.required(table, "installation", "name")?;
        cx.check_name("installation", &name, true);
        let known = self.has(&name.value) || self.declared.contains(&name.value);
        self.declared.insert(name.value.clone());
        if known {
            let message = format!("the installation name `{}` is used twice", shown(&name.value));
            cx.reject(cx.problem(codes::TAKEN_NAME, &name.span, message));
        }
        let mark = cx.diagnostics.mark();
        let installation = self.fields(cx, table, &name.value)?;
        if !known && !cx.diagnostics.errors_since(mark) {
            self.list.push(installation);
        }
        Some(())
    }

    /// Reads an inline installation and gives it the name of its owner.
    pub(super) fn promote(
        &mut self,
        cx: &Context<'_>,
        table: &Table<'_>,
        name: &str,
    ) -> Option<String> {
        if let Some(span) = table.key_span("name") {
            let message = "an inline installation has no `name` of its own";
            let note = format!("it is named `{}`, after its owner", shown(name));
            cx.tolerate(cx.problem(codes::UNKNOWN_KEY, &span, message).note(note));
        }
        let mark = cx.diagnostics.mark();
        let installation = self.fields(cx, table, name)?;
        if cx.diagnostics.errors_since(mark) {
            return None;
        }
        match self.list.iter().find(|known| known.name == name) {
            Some(known) if *known == installation && !self.declared.contains(name) => {}
            None if !self.declared.contains(name) => self.list.push(installation),
            _ => {
                let message =
                    format!("this inline installation is named `{}`, which is taken", shown(name));
                let note = "rename its owner, or refer to the other by name";
                cx.reject(cx.problem(codes::TAKEN_NAME, &table.span, message).note(note));
                return None;
            }
        }
        Some(name.to_owned())
    }

    fn fields(&mut self, cx: &Context<'_>, table: &Table<'_>, name: &str) -> Option<Installation> {
        let source = sources::read(cx, table);
        let runnable = runnable(cx, table);
        let install_commands = table.strings("install_commands").map(values).unwrap_or_default();
        let args = table.strings("args").map(values);
        let requirements = self.requirements(cx, table, name);
        let source = source?;
        if let Some((_, path)) = &runnable {
            sources::check_runnable(cx, source.as_ref(), path);
        }
        Some(Installation {
            name: name.to_owned(),
            source,
            install_commands,
            requirements,
            runnable: runnable.map(|(runnable, _)| runnable),
            args,
        })
    }

    /// Reads `requirements` of an entry named `owner`. One that is broken costs only itself.
    pub(super) fn requirements(
        &mut self,
        cx: &Context<'_>,
        table: &Table<'_>,
        owner: &str,
    ) -> Vec<String> {
        let mut names = Vec::new();
        let items = table.strings_or_tables("requirements").unwrap_or_default();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                StringOrTable::String(name) => {
                    names.push(name.value.clone());
                    self.pending.push(name);
                }
                StringOrTable::Table(table) => {
                    let name = format!("{owner}__req_{index}");
                    names.extend(cx.entry("requirement", || self.promote(cx, &table, &name)));
                }
            }
        }
        names
    }

    /// Reads `command`: a name, or an inline installation that gets its owner's name.
    pub(super) fn command(
        &mut self,
        cx: &Context<'_>,
        table: &Table<'_>,
        what: &str,
        owner: &str,
    ) -> Option<String> {
        cx.missing(table, what, "command");
        match table.string_or_table("command")? {
            StringOrTable::String(name) => self.reference(cx, &name),
            StringOrTable::Table(inline) => self.promote(cx, &inline, owner),
        }
    }

    fn reference(&self, cx: &Context<'_>, name: &Located<String>) -> Option<String> {
        if self.has(&name.value) && self.declared.contains(&name.value) {
            return Some(name.value.clone());
        }
        if self.declared.contains(&name.value) {
            // Its own problem is reported; a second one helps only where something is left out.
            if !cx.strict {
                self.broken(cx, name);
            }
            return None;
        }
        cx.reject(self.unknown(cx, name));
        None
    }

    /// Whether `[[installations]]` has this name, usable or not.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Reports that the installation `name` was left out.
    pub(super) fn broken(&self, cx: &Context<'_>, name: &Located<String>) {
        let message = format!("the installation `{}` was left out", shown(&name.value));
        cx.reject(cx.problem(codes::BROKEN_INSTALLATION, &name.span, message));
    }

    fn unknown(&self, cx: &Context<'_>, name: &Located<String>) -> crate::text::Diagnostic {
        let message = format!("no installation is named `{}`", shown(&name.value));
        let mut problem = cx.problem(codes::UNKNOWN_INSTALLATION, &name.span, message);
        let names: Vec<&str> = self.declared.iter().map(String::as_str).collect();
        if let Some(meant) = suggestion(&name.value, &names) {
            problem = problem.label(format!("did you mean `{meant}`?"));
        }
        problem = match names.as_slice() {
            [] => problem.note("the manifest has no `[[installations]]`"),
            names => problem.note(format!("installations: {}", names.join(", "))),
        };
        if name.value.contains(['/', '.']) {
            let note = format!("a file is written `{{ script = \"{}\" }}`", shown(&name.value));
            problem = problem.note(note);
        }
        problem
    }

    pub(super) fn get(&self, name: &str) -> Option<&Installation> {
        self.list.iter().find(|installation| installation.name == name)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Checks the references in `requirements`; those that lead nowhere are reported.
    pub(super) fn check_requirements(&self, cx: &Context<'_>) {
        for name in &self.pending {
            if !self.declared.contains(&name.value) {
                cx.tolerate(self.unknown(cx, name).remark("the requirement is skipped"));
            }
        }
    }

    /// `names` without those that are not there.
    pub(super) fn usable(&self, names: &mut Vec<String>) {
        names.retain(|name| self.has(name));
    }

    /// The finished list, with requirements that lead somewhere only.
    pub(super) fn finish(mut self) -> Vec<Installation> {
        let names: BTreeSet<String> =
            self.list.iter().map(|installation| installation.name.clone()).collect();
        for installation in &mut self.list {
            installation.requirements.retain(|name| names.contains(name));
        }
        self.list
    }

    /// Checks that what `owner` and its installation say comes to exactly one thing to run.
    pub(super) fn check_runs(
        &self,
        cx: &Context<'_>,
        span: &Range<usize>,
        what: &str,
        installation: &Installation,
        own: Option<&(Runnable, Located<String>)>,
    ) {
        let name = shown(&installation.name);
        match (&installation.runnable, own) {
            (Some(_), Some((_, path))) => {
                let message = format!("the installation `{name}` already says what to run");
                let note = "`executable` or `script` stands on one of the two";
                cx.reject(cx.problem(codes::TWO_RUNNABLES, &path.span, message).note(note));
            }
            (None, Some((_, path))) => {
                sources::check_runnable(cx, installation.source.as_ref(), path);
            }
            (None, None) if !sources::infers_program(installation.source.as_ref()) => {
                let message = format!("this {what} has nothing to run");
                let note = match installation.source {
                    Some(InstallSource::Cargo { .. }) => {
                        "a crate from git, or installed globally, needs its `executable` named"
                    }
                    _ => "name an `executable` or a `script`",
                };
                cx.reject(cx.problem(codes::NOTHING_TO_RUN, span, message).note(note));
            }
            _ => {}
        }
    }
}

/// Reads `executable` or `script`.
pub(super) fn runnable(cx: &Context<'_>, table: &Table<'_>) -> Option<(Runnable, Located<String>)> {
    let executable = table.string("executable");
    let script = table.string("script");
    match (executable, script) {
        (Some(_), Some(script)) => {
            let message = "`executable` and `script` exclude each other";
            cx.reject(cx.problem(codes::TWO_RUNNABLES, &script.span, message));
            None
        }
        (Some(path), None) => Some((Runnable::Executable(path.value.clone()), path)),
        (None, Some(path)) => Some((Runnable::Script(path.value.clone()), path)),
        (None, None) => None,
    }
}

/// The strings without their places.
pub(super) fn values(list: Located<Vec<Located<String>>>) -> Vec<String> {
    list.value.into_iter().map(|item| item.value).collect()
}
