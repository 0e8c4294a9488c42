//! A problem in a file, with the place where it stands.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file's text together with the path that people know it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where the text came from, as it should be shown.
    pub path: PathBuf,
    /// The whole text, without a byte order mark.
    pub text: String,
}

impl Source {
    /// Wraps `text`; a leading byte order mark is dropped so that columns are true.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Arc<Self> {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Arc::new(Self { path: path.into(), text })
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// How bad a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is wrong: it is worth knowing.
    Note,
    /// Something is odd; the rest was used.
    Warning,
    /// The thing could not be used.
    Error,
}

impl Severity {
    /// The word shown before the message.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A file and, where known, the line and column (from 1) in it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// What a [`Diagnostic`] is about, for code that has to know: messages are for people only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// This key of the table that was read.
    Key(&'static str),
    /// An agent's hooks, which the user changed.
    Hooks,
    /// The entry of an MCP server in an agent's file.
    Server {
        /// The server.
        name: String,
        /// Whether it is ours, and the user changed it.
        was_ours: bool,
    },
    /// Something worth knowing about entries that are as they should be.
    Advice,
}

/// One problem: what is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the thing was used in spite of it.
    pub severity: Severity,
    /// A stable code such as `S012`, for problems that have a page of their own.
    pub code: Option<&'static str>,
    /// What it is about; `None`: the whole file, or whatever the location says.
    pub(crate) subject: Option<Box<Subject>>,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The text the span points into.
    pub source: Option<Arc<Source>>,
    /// The file, when its text is not at hand.
    pub path: Option<PathBuf>,
    /// Byte range in [`Source::text`].
    pub span: Option<Range<usize>>,
    /// A few words under the marked place.
    pub label: Option<String>,
    /// Further lines: causes, the accepted values, the remedy.
    pub notes: Vec<String>,
    /// Those of the notes that say what came of it, which is no remedy.
    pub remarks: Vec<String>,
}

impl Diagnostic {
    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: None,
            subject: None,
            message: message.into(),
            source: None,
            path: None,
            span: None,
            label: None,
            notes: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// A problem that made the thing unusable.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A problem that was worked around.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// No problem: something to know.
    pub(crate) fn fact(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    /// Leaves out what stands before in the list already: two sources may be one folder.
    pub(crate) fn each_once(problems: &mut Vec<Self>) {
        let mut seen = HashSet::new();
        problems.retain(|problem| {
            let file = problem.source.as_ref().map(|source| source.path.clone());
            seen.insert((
                problem.message.clone(),
                file.or_else(|| problem.path.clone()),
                problem.span.clone(),
                problem.is_error(),
            ))
        });
    }

    /// Names the stable code.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Says what it is about.
    #[must_use]
    pub(crate) fn about(mut self, subject: Subject) -> Self {
        self.subject = Some(Box::new(subject));
        self
    }

    /// Points at a byte range of a text.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Range<usize>) -> Self {
        self.source = Some(Arc::clone(source));
        self.span = Some(span);
        self
    }

    /// Names the file only.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.path = Some(path.as_ref().to_path_buf());
        self
    }

    /// An error about the file at `path`, marked at the first of its `bytes` that is no UTF-8.
    pub fn not_utf8(message: impl Into<String>, path: &Path, bytes: &[u8]) -> Self {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        let text = String::from_utf8_lossy(bytes);
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let at = at.saturating_sub(mark);
        let source = Source::new(path, text);
        let end = at + source.text[at..].chars().next().map_or(0, char::len_utf8);
        Self::error(message).at(&source, at..end).label("this byte")
    }

    /// Adds the words under the marked place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a line below: a cause, the accepted values, the remedy.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a line below that says what came of it: `the hook never runs`.
    #[must_use]
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.add_remark(remark);
        self
    }

    /// As [`Diagnostic::remark`], in place.
    pub fn add_remark(&mut self, remark: impl Into<String>) {
        let remark = remark.into();
        self.notes.push(remark.clone());
        self.remarks.push(remark);
    }

    /// The same, without what came of it.
    #[must_use]
    pub(crate) fn without_remarks(mut self) -> Self {
        let remarks = std::mem::take(&mut self.remarks);
        self.notes.retain(|note| !remarks.contains(note));
        self
    }

    /// All of it but its place and the remedy.
    pub(crate) fn told(&self) -> String {
        let label = self.label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
        let remarks: String = self.remarks.iter().map(|remark| format!("; {remark}")).collect();
        format!("{}{label}{remarks}", self.message)
    }

    /// What to do about it: the notes that are no remarks. `None` when there are none.
    pub fn remedy(&self) -> Option<String> {
        let notes = self.notes.iter().filter(|note| !self.remarks.contains(note));
        let remedy = notes.map(String::as_str).collect::<Vec<_>>().join("; ");
        (!remedy.is_empty()).then_some(remedy)
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// File, line and column, as far as they are known.
    pub fn location(&self) -> Option<Location> {
        match (&self.source, &self.path) {
            (Some(source), _) => {
                let place = self.span.as_ref().map(|span| source.line_column(span.start));
                Some(Location {
                    path: source.path.clone(),
                    line: place.map(|(line, _)| line),
                    column: place.map(|(_, column)| column),
                })
            }
            (None, Some(path)) => Some(Location { path: path.clone(), line: None, column: None }),
            (None, None) => None,
        }
    }
}

/// One line: `file:line:column: message (label)`, notes after semicolons.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = self.location() {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(label) = &self.label {
            write!(f, " ({label})")?;
        }
        for note in &self.notes {
            write!(f, "; {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

impl From<&anyhow::Error> for Diagnostic {
    /// The diagnostic that it is, or its message with its causes.
    fn from(error: &anyhow::Error) -> Self {
        error.downcast_ref::<Self>().cloned().unwrap_or_else(|| {
            let causes = error.chain().skip(1).map(ToString::to_string);
            causes.fold(Self::error(error.to_string()), Self::note)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_characters_from_one() {
        let source = Source::new("a.toml", "\u{feff}é = 1\nxy = 2");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(3), (1, 3));
        assert_eq!(source.line_column(7), (2, 1));
        assert_eq!(source.line_column(999), (2, 7));
    }

    #[test]
    fn a_file_that_is_no_utf_8_has_the_line_of_the_byte() {
        for start in ["", "\u{feff}"] {
            let bytes = [start.as_bytes(), b"a = 1\nb = \"\xff\xfe\"\n"].concat();
            let problem = Diagnostic::not_utf8("it is not UTF-8 text", Path::new("a.toml"), &bytes);
            assert_eq!(problem.to_string(), "a.toml:2:6: it is not UTF-8 text (this byte)");
        }
    }

    #[test]
    fn a_diagnostic_names_file_line_column_problem_and_remedy() {
        let source = Source::new("a.toml", "a = 1\nb = 2");
        let text =
            Diagnostic::error("unknown key `b`").at(&source, 6..7).note("remove it").to_string();
        assert_eq!(text, "a.toml:2:1: unknown key `b`; remove it");
    }
}
