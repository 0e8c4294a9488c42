//! Events as people read them: cargo's manner, a right-aligned green verb, the remedy beside the
//! problem.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::safe::{columns, end_within, safe};
use super::{Change, Event, Kind, Verbosity, Verdict};
use crate::text::Severity;

/// The styles, which are cargo's. Nothing depends on colour.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    /// Verbs of things done, headings.
    pub good: Style,
    /// `warning`.
    pub warning: Style,
    /// `error`.
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
    pub const CARGO: Self = Self {
        good: AnsiColor::Green.on_default().bold(),
        warning: AnsiColor::Yellow.on_default().bold(),
        error: AnsiColor::Red.on_default().bold(),
        accent: AnsiColor::Cyan.on_default().bold(),
        dim: Style::new().dimmed(),
        strong: Style::new().bold(),
    };
}

/// Width of the verb's column.
const VERB: usize = 12;

/// `path` shown from the home folder (`~/src/webshop`) where it is in it.
pub fn short_path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// `text` cut to `width` columns, with an ellipsis where something was cut, and [`safe`].
pub fn fit(text: &str, width: usize) -> String {
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

/// Renders `event`; `None` when people should not see it at this verbosity.
pub(super) fn render(event: &Event, verbosity: Verbosity, home: Option<&Path>) -> Option<String> {
    let palette = Palette::CARGO;
    let talk = verbosity >= Verbosity::Normal;
    match event {
        Event::Workspace { root, members, dependencies } if talk => {
            let plural = |count: usize, one: &str, many: &str| {
                format!("{count} {}", if count == 1 { one } else { many })
            };
            Some(line(
                palette.good,
                "Workspace",
                &format!(
                    "{} ({}, {})",
                    short_path(root, home),
                    plural(*members, "member", "members"),
                    plural(*dependencies, "direct dependency", "direct dependencies"),
                ),
            ))
        }
        Event::Change(change) if talk => Some(render_change(change, palette)),
        Event::Explain { kind: _, name, verdict, reason } if verbosity >= Verbosity::Verbose => {
            let style = if *verdict == Verdict::Matched { palette.good } else { palette.dim };
            Some(line(style, verdict.word(), &format!("{name}: {reason}")))
        }
        Event::Diagnostic { severity, code, message, location, notes } => {
            if *severity == Severity::Warning && !talk {
                return None;
            }
            let (style, word) = match severity {
                Severity::Warning => (palette.warning, "warning"),
                Severity::Error => (palette.error, "error"),
            };
            let mut text = format!("{style}{word}{style:#}");
            if let Some(code) = code {
                let _ = write!(text, "[{code}]");
            }
            let _ = write!(text, ": {message}");
            if let Some(location) = location {
                let accent = palette.accent;
                let _ = write!(text, "\n  {accent}-->{accent:#} {location}");
            }
            for note in notes {
                let accent = palette.accent;
                let _ = write!(text, "\n   {accent}={accent:#} {note}");
            }
            Some(text)
        }
        Event::Status { verb, message } if talk => Some(line(palette.good, verb, message)),
        Event::Finished { summary, changes, planned, seconds } if talk => {
            let took =
                if *changes > 0 && !planned { format!(" in {seconds:.2}s") } else { String::new() };
            Some(line(palette.good, "Finished", &format!("{summary}{took}")))
        }
        _ => None,
    }
}

fn line(style: Style, verb: &str, text: &str) -> String {
    format!("{style}{verb:>VERB$}{style:#} {text}")
}

fn render_change(change: &Change, palette: Palette) -> String {
    let verb = if change.planned { change.action.future() } else { change.action.past() };
    let style = if change.action.is_change() { palette.good } else { palette.warning };
    if let (Kind::Hooks, Some(reason)) = (change.kind, &change.reason) {
        return line(style, verb, &format!("{:<8} {reason}", change.places.join(" ")));
    }
    let mut text = change.name.clone();
    let mut rest = String::new();
    if let Some(origin) = &change.origin {
        rest.push_str(origin);
    }
    if !change.places.is_empty() {
        let _ =
            write!(rest, "{}→ {}", if rest.is_empty() { "" } else { " " }, change.places.join(" "));
    }
    if let Some(reason) = &change.reason {
        if rest.is_empty() {
            return line(style, verb, &format!("{text}: {reason}"));
        }
        let _ = write!(rest, ": {reason}");
    }
    if !rest.is_empty() {
        text = format!("{text:<24} {rest}");
    }
    line(style, verb, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(short_path(Path::new("/x"), Some(Path::new("/h"))), "/x");
    }
}
