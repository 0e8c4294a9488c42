//! Events as people read them: cargo's format, a right-aligned green verb, the remedy beside the
//! problem.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use super::safe::{columns, end_within, safe};
use super::wrap::{Long, wrap_hanging};
use super::{Change, Event, Kind, Verbosity, Verdict};
use crate::text::{Location, Severity};

/// The styles, which are cargo's. Nothing depends on colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    /// Verbs of things done, headings.
    pub good: Style,
    pub warning: Style,
    pub error: Style,
    /// Notes' arrows and bars.
    pub accent: Style,
    /// What may be overlooked.
    pub dim: Style,
    /// Names.
    pub strong: Style,
}

impl Palette {
    /// Cargo's colours. They are stripped on output where colour is off.
    pub(crate) const CARGO: Self = Self {
        good: AnsiColor::Green.on_default().bold(),
        warning: AnsiColor::Yellow.on_default().bold(),
        error: AnsiColor::Red.on_default().bold(),
        accent: AnsiColor::Cyan.on_default().bold(),
        dim: Style::new().dimmed(),
        strong: Style::new().bold(),
    };
}

const VERB: usize = 12;
/// Columns from which names have a column of their own.
const COLUMNS: usize = 64;
/// Columns that a line's text has at least, however narrow the terminal is.
const NARROWEST: usize = 16;

/// `path` shown from the home folder (`~/src/webshop`) where it is in it. All separators are of one
/// kind: after `~` the one that every shell that knows `~` takes, else the system's.
pub(crate) fn short_path(path: &Path, home: Option<&Path>) -> String {
    let path = &*crate::files::without_prefix(path);
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => {
            let names = rest.components().map(|name| name.as_os_str().to_string_lossy());
            std::iter::once("~".into()).chain(names).collect::<Vec<_>>().join("/")
        }
        None => path.components().collect::<PathBuf>().display().to_string(),
    }
}

/// `text` cut to `width` columns, with an ellipsis where something was cut, and [`safe`].
pub(crate) fn fit(text: &str, width: usize) -> String {
    let clean = safe(text);
    if columns(&clean) <= width {
        return clean;
    }
    let end = end_within(&clean, width.saturating_sub(1));
    let mut cut = if width < 2 { String::new() } else { clean[..end].to_owned() };
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// What an event becomes for people.
#[derive(Debug, Clone, Copy)]
pub(super) struct HumanFormat<'a> {
    pub(super) verbosity: Verbosity,
    /// The home folder, from which paths are shown.
    pub(super) home: Option<&'a Path>,
    /// Columns of the terminal that lines are wrapped for; `None` where none shows them.
    pub(super) width: Option<usize>,
}

impl HumanFormat<'_> {
    /// Renders `event`; `None` when people should not see it at this verbosity. Whatever stands in
    /// an event can't steer the terminal, nor look like a line of ours.
    pub(super) fn render(self, event: &Event) -> Option<String> {
        let palette = Palette::CARGO;
        let talk = self.verbosity >= Verbosity::Normal;
        match event {
            Event::Workspace { root, members, dependencies } if talk => {
                let plural = |count: usize, one: &str, many: &str| {
                    format!("{count} {}", if count == 1 { one } else { many })
                };
                let text = format!(
                    "{} ({}, {})",
                    short_path(root, self.home),
                    plural(*members, "member", "members"),
                    plural(*dependencies, "direct dependency", "direct dependencies"),
                );
                Some(self.line(palette.good, "Workspace", &text))
            }
            Event::Change(change) if talk => Some(self.change(change)),
            Event::Explain { kind: _, name, verdict, reason }
                if self.verbosity >= Verbosity::Verbose =>
            {
                let style = if *verdict == Verdict::Matched { palette.good } else { palette.dim };
                Some(self.line(style, verdict.word(), &format!("{name}: {reason}")))
            }
            Event::Diagnostic { severity, .. } if *severity != Severity::Error && !talk => None,
            Event::Diagnostic { severity, code, message, location, notes } => {
                Some(self.problem(*severity, *code, message, location.as_ref(), notes))
            }
            Event::Status { verb, message } if talk => Some(self.line(palette.good, verb, message)),
            Event::Finished { summary, changes, planned, seconds } if talk => {
                let took = match (changes, planned) {
                    (1.., false) => format!(" in {seconds:.2}s"),
                    _ => String::new(),
                };
                Some(self.line(palette.good, "Finished", &format!("{summary}{took}")))
            }
            _ => None,
        }
    }

    fn problem(
        self,
        severity: Severity,
        code: Option<&str>,
        message: &str,
        location: Option<&Location>,
        notes: &[String],
    ) -> String {
        let Palette { accent, warning, error, .. } = Palette::CARGO;
        let style = match severity {
            Severity::Note => accent,
            Severity::Warning => warning,
            Severity::Error => error,
        };
        let word = severity.word();
        let code = code.map(|code| format!("[{code}]")).unwrap_or_default();
        let indent = word.len() + code.len() + 2;
        let mut text = format!("{style}{word}{style:#}{code}: {}", self.hang(indent, message));
        if let Some(location) = location {
            // Terminals open what is whole.
            let _ = write!(text, "\n  {accent}-->{accent:#} {}", safe(&location.to_string()));
        }
        for note in notes {
            let _ = write!(text, "\n   {accent}={accent:#} {}", self.hang(5, note));
        }
        text
    }

    fn line(self, style: Style, verb: &str, text: &str) -> String {
        let verb = safe(verb);
        format!("{style}{verb:>VERB$}{style:#} {}", self.hang(VERB + 1, text))
    }

    /// `text` where `indent` columns are taken before it; its other lines stand below its first one.
    fn hang(self, indent: usize, text: &str) -> String {
        let lines = text.lines().flat_map(|line| match self.width {
            Some(width) => {
                let width = width.saturating_sub(indent).max(NARROWEST);
                wrap_hanging(line, width, width, Long::Whole)
            }
            None => vec![safe(line)],
        });
        lines.collect::<Vec<_>>().join(&format!("\n{:indent$}", "")).replace('\u{a0}', " ")
    }

    fn change(self, change: &Change) -> String {
        let palette = Palette::CARGO;
        let verb = if change.planned { change.action.future() } else { change.action.past() };
        let style = if change.action.is_change() { palette.good } else { palette.warning };
        if let (Kind::Hooks, Some(reason)) = (change.kind, &change.reason) {
            return self.line(style, verb, &format!("{:<8} {reason}", change.shown_places()));
        }
        let mut text = change.name.clone();
        let mut rest = String::new();
        if let Some(origin) = &change.origin {
            rest.push_str(origin);
        }
        if !change.places.is_empty() {
            let gap = if rest.is_empty() { "" } else { " " };
            // A blank that no line is broken at.
            let _ = write!(rest, "{gap}→\u{a0}{}", change.shown_places());
        }
        if let Some(reason) = &change.reason {
            if rest.is_empty() {
                return self.line(style, verb, &format!("{text}: {reason}"));
            }
            let _ = write!(rest, ": {reason}");
        }
        if !rest.is_empty() {
            let room = self.width.is_none_or(|width| width >= COLUMNS);
            text = if room { format!("{text:<24} {rest}") } else { format!("{text}  {rest}") };
        }
        self.line(style, verb, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::safe::sanitize;
    use crate::report::{Action, Place};
    use crate::text::Diagnostic;

    #[test]
    fn text_from_outside_is_cut_and_can_not_steer_the_terminal() {
        assert_eq!(fit("a\u{1b}[31mb\nc", 20), "a [31mb c");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("a\u{202e}b", 20), "ab");
        assert_eq!(fit("漢字漢字", 6), "漢字…");
    }

    #[test]
    fn paths_in_the_home_folder_are_short() {
        assert_eq!(short_path(Path::new("/h/a"), Some(Path::new("/h"))), "~/a");
        assert_eq!(short_path(Path::new("/h"), Some(Path::new("/h"))), "~");
        let elsewhere = Path::new("/x");
        let shown = elsewhere.components().collect::<std::path::PathBuf>().display().to_string();
        assert_eq!(short_path(elsewhere, Some(Path::new("/h"))), shown);
    }

    #[cfg(windows)]
    #[test]
    fn separators_are_of_one_kind() {
        let home = Some(Path::new(r"C:\Users\me"));
        assert_eq!(
            short_path(Path::new(r"C:\Users\me\.claude/skills\a"), home),
            "~/.claude/skills/a"
        );
        assert_eq!(short_path(Path::new(r"D:\app/.claude\b"), home), r"D:\app\.claude\b");
        assert_eq!(short_path(Path::new(r"\\?\C:\Users\me\.claude\a"), home), "~/.claude/a");
    }

    fn shown(event: &Event, width: Option<usize>) -> String {
        let format = HumanFormat { verbosity: Verbosity::Verbose, home: None, width };
        anstream::adapter::strip_str(&format.render(event).expect("it is shown")).to_string()
    }

    fn problem() -> Event {
        Event::from(
            &Diagnostic::warning("the server `tools` is registered for two agents at once")
                .code("S012")
                .in_file("/a/path/that/is/longer/than/the/terminal/is/wide.toml")
                .note("cargo agents doctor --fix takes one of the two entries away"),
        )
    }

    #[test]
    fn a_terminal_has_hanging_indents_and_whole_paths() {
        expect_test::expect![[r#"
            warning[S012]: the server `tools` is
                           registered for two agents
                           at once
              --> /a/path/that/is/longer/than/the/terminal/is/wide.toml
               = cargo agents doctor --fix takes one
                 of the two entries away"#]]
        .assert_eq(&shown(&problem(), Some(40)));
        let line = Event::status("Note", "Codex runs a hook only after you trust it.");
        let lines = "        Note Codex runs a hook only\n             after you trust it.";
        assert_eq!(shown(&line, Some(40)), lines);
        // No column for names where there is no room for it, and no arrow without its first place.
        let change = Event::Change(Change {
            action: Action::Install,
            kind: Kind::Skill,
            name: "serde-derive".to_owned(),
            origin: Some("serde 1.0.228".to_owned()),
            places: [".claude", ".agents"].map(|shown| Place::Folder(shown.to_owned())).to_vec(),
            reason: None,
            planned: false,
        });
        let lines = "   Installed serde-derive  serde 1.0.228\n             → .claude .agents";
        assert_eq!(shown(&change, Some(40)), lines);
        let line = "   Installed serde-derive             serde 1.0.228 → .claude .agents";
        assert_eq!(shown(&change, None), line);
    }

    #[test]
    fn what_no_terminal_shows_is_never_wrapped() {
        let text = shown(&problem(), None);
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[test]
    fn lines_from_outside_stand_in() {
        let problem = Diagnostic::error("it said\nerror: no").note("one\r\nerror: two");
        let text = shown(&Event::from(&problem), None);
        assert_eq!(text, "error: it said\n       error: no\n   = one\n     error: two");
    }

    fn events(text: &str) -> Vec<Event> {
        let change = |kind| Change {
            action: Action::Install,
            kind,
            name: text.to_owned(),
            origin: Some(text.to_owned()),
            places: vec![Place::Folder(text.to_owned())],
            reason: Some(text.to_owned()),
            planned: false,
        };
        let finished =
            Event::Finished { summary: text.to_owned(), changes: 1, planned: false, seconds: 0.0 };
        let problem = Diagnostic::error(text).label(text).in_file(text).note(text);
        vec![
            Event::Workspace { root: text.into(), members: 1, dependencies: 1 },
            Event::Change(change(Kind::Hooks)),
            Event::Change(change(Kind::Skill)),
            Event::explain(Kind::Skill, text, Verdict::Matched, text),
            Event::from(&problem),
            Event::status(text, text),
            finished,
        ]
    }

    proptest::proptest! {
        #[test]
        fn nothing_in_any_event_steers_the_terminal_or_starts_a_line_of_its_own(
            text in proptest::prelude::any::<String>(),
            width in proptest::option::of(0_usize..100),
        ) {
            for event in events(&format!("{text}\nerror: \u{1b}[31m\u{202e}x")) {
                let format = HumanFormat { verbosity: Verbosity::Verbose, home: None, width };
                let text = format.render(&event).expect("it is shown");
                proptest::prop_assert_eq!(&sanitize(&text), &text);
                proptest::prop_assert!(!text.contains("\u{1b}[31m\u{1b}"), "{:?}", text);
                let plain = anstream::adapter::strip_str(&text).to_string();
                proptest::prop_assert!(!plain.contains('\u{1b}'), "{:?}", plain);
                for line in plain.lines().skip(1) {
                    proptest::prop_assert!(line.starts_with("  "), "{:?}", plain);
                }
            }
        }
    }
}
