//! What every section's reader needs: how strict to be, and where problems go.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::{Place, Strictness};
use crate::plugins::diagnostics::codes;
use crate::text::toml::{Diagnostics, Located, Table};
use crate::text::{Diagnostic, Severity, suggestion};

/// The longest name of a plugin, installation, server or subcommand.
const NAME_LENGTH: usize = 64;

/// One manifest being read.
pub(super) struct Context<'a> {
    pub place: &'a Place<'a>,
    pub strict: bool,
    pub diagnostics: &'a Diagnostics,
    /// Whether some level has said when it applies.
    pub targeted: Cell<bool>,
    /// Entries whose own level says nothing of when they apply: what they are, and where.
    pub ungated: RefCell<Vec<(&'static str, Range<usize>)>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        place: &'a Place<'a>,
        strictness: Strictness,
        diagnostics: &'a Diagnostics,
    ) -> Self {
        let strict = strictness == Strictness::Validate;
        Self { place, strict, diagnostics, targeted: Cell::new(false), ungated: RefCell::default() }
    }

    /// An error at `span`, not recorded yet.
    pub(super) fn problem(
        &self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(message).code(code).at(&self.diagnostics.source, span.clone())
    }

    /// Records an error: the entry around it can't be used.
    pub(super) fn reject(&self, problem: Diagnostic) {
        self.diagnostics.push(problem);
    }

    /// Records a problem that the entry around it survives: a warning when loading.
    pub(super) fn tolerate(&self, mut problem: Diagnostic) {
        if !self.strict {
            problem.severity = Severity::Warning;
        }
        self.diagnostics.push(problem);
    }

    pub(super) fn warn(&self, mut problem: Diagnostic) {
        problem.severity = Severity::Warning;
        self.diagnostics.push(problem);
    }

    /// Records a warning that only the plugin's author needs to see.
    pub(super) fn advise(&self, problem: Diagnostic) {
        if self.strict {
            self.warn(problem);
        }
    }

    /// Reads one entry; `None` when it had errors. When loading, they become warnings that say so.
    pub(super) fn entry<T>(&self, what: &str, read: impl FnOnce() -> Option<T>) -> Option<T> {
        let mark = self.diagnostics.mark();
        let value = read();
        if !self.diagnostics.errors_since(mark) {
            return value;
        }
        if !self.strict {
            self.diagnostics.soften_since(mark, &format!("this {what} is left out"));
        }
        None
    }

    /// Reports the keys of `table` that are not among `known`.
    pub(super) fn unknown_keys(&self, table: &Table<'_>, known: &[&str]) {
        for key in table.keys() {
            if !known.contains(&key.value.as_str()) {
                self.tolerate(self.unknown_key(table, &key, known));
            }
        }
    }

    /// The problem of one unknown key.
    pub(super) fn unknown_key(
        &self,
        table: &Table<'_>,
        key: &Located<String>,
        known: &[&str],
    ) -> Diagnostic {
        let name = shown(&key.value);
        let message = match table.path() {
            "" => format!("unknown key `{name}`"),
            path => format!("unknown key `{name}` in `{path}`"),
        };
        let problem = self.problem(codes::UNKNOWN_KEY, &key.span, message);
        match suggestion(&key.value, known) {
            Some(meant) => problem.label(format!("did you mean `{meant}`?")),
            None => problem.note(format!("known keys: {}", known.join(", "))),
        }
    }

    /// Reports that `table` lacks `key`; nothing if it is there, if only with a wrong type.
    pub(super) fn missing(&self, table: &Table<'_>, what: &str, key: &str) {
        if !table.has(key) {
            let message = format!("this {what} has no `{key}`");
            self.reject(self.problem(codes::MISSING_KEY, &table.span, message));
        }
    }

    /// A string that must be there and not be blank.
    pub(super) fn required(
        &self,
        table: &Table<'_>,
        what: &str,
        key: &str,
    ) -> Option<Located<String>> {
        self.missing(table, what, key);
        let text = table.string(key)?;
        if text.value.trim().is_empty() {
            let message = format!("`{}` is empty", table.path_of(key));
            self.reject(self.problem(codes::MISSING_KEY, &text.span, message));
            return None;
        }
        Some(text)
    }

    /// One of a few values; the default when the key is absent or its value is not known. A guard whose
    /// value is mistyped is a guard still, so what the last good version said stays in force.
    pub(super) fn choice<T: Copy + Default>(
        &self,
        table: &Table<'_>,
        key: &str,
        choices: &[(&str, T)],
    ) -> T {
        let Some(text) = table.string(key) else { return T::default() };
        let found = choices.iter().find(|(name, _)| *name == text.value);
        if let Some(&(_, value)) = found {
            return value;
        }
        let names: Vec<_> = choices.iter().map(|&(name, _)| name).collect();
        self.diagnostics.note_loss();
        self.tolerate(self.unknown_value(codes::BAD_VALUE, &text, key, &names));
        T::default()
    }

    /// The problem of a value that is not among `known`.
    pub(super) fn unknown_value(
        &self,
        code: &'static str,
        text: &Located<String>,
        what: &str,
        known: &[&str],
    ) -> Diagnostic {
        let message = format!("unknown {what} `{}`", shown(&text.value));
        let problem = self.problem(code, &text.span, message);
        let problem = match suggestion(&text.value, known) {
            Some(meant) => problem.label(format!("did you mean `{meant}`?")),
            None => problem,
        };
        problem.note(format!("accepted: {}", known.join(", ")))
    }

    /// Checks a name that other programs will see; `dots` lets it hold `.` too.
    pub(super) fn check_name(&self, what: &str, name: &Located<String>, dots: bool) -> bool {
        let allowed =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (dots && c == '.');
        let text = &name.value;
        let wrong = if text.is_empty() {
            "is empty".to_owned()
        } else if text.len() > NAME_LENGTH {
            format!("is longer than {NAME_LENGTH} characters")
        } else if !text.chars().all(allowed) {
            let dot = if dots { ", `.`" } else { "" };
            format!("may only have letters, digits, `-`, `_`{dot}")
        } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            "must start with a letter or digit".to_owned()
        } else {
            return true;
        };
        let message = format!("the name `{}` of a {what} {wrong}", shown(text));
        self.reject(self.problem(codes::BAD_NAME, &name.span, message));
        false
    }
}

/// Columns that a piece of a file may take in a message.
const SHOWN: usize = 81;

/// A piece of the file, fit for a message: one line, not too long.
pub(super) fn shown(text: &str) -> String {
    crate::report::fit(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown("a\nb\u{1b}"), "a b ");
        assert_eq!(shown(&"é".repeat(100)).chars().count(), 81);
    }
}
