//! What is other than it was, as people read it: lines of somebody else's text, none of which can steer
//! the terminal.

use std::fmt::Write as _;

use similar::TextDiff;

use crate::plugins::trust::files::FileText;
use crate::plugins::trust::part::Part;
use crate::report::safe;
use crate::skills::content::Content;

/// Of a hook, server or subcommand.
pub(in crate::cli::plugin) fn of_parts(out: &mut String, before: &Part, now: &Part) {
    let length = out.len();
    of_texts(out, &before.lines.join("\n"), &now.lines.join("\n"));
    let mut paths: Vec<&String> = before.files.keys().chain(now.files.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let (old, new) = (before.files.get(path), now.files.get(path));
        if old != new {
            of_files(out, path, old, new);
        }
    }
    if out.len() == length && before.sha256 != now.sha256 {
        // Names are shown, values never.
        let _ = writeln!(out, "    the value of a variable, a header or a checksum");
    }
}

/// Of a skill's files.
pub(in crate::cli::plugin) fn of_contents(out: &mut String, before: &Content, now: &Content) {
    let file = |content: &Content, path: &str| {
        let file = content.files.get(path)?;
        let text = String::from_utf8(file.bytes.clone()).ok();
        Some(FileText { sha256: file.hash(), text })
    };
    let mut paths: Vec<&String> = before.files.keys().chain(now.files.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let (old, new) = (file(before, path), file(now, path));
        if old != new {
            of_files(out, path, old.as_ref(), new.as_ref());
        }
    }
}

fn of_files(out: &mut String, path: &str, old: Option<&FileText>, new: Option<&FileText>) {
    let what = match (old, new) {
        (None, _) => " (new)",
        (_, None) => " (gone)",
        _ => "",
    };
    let _ = writeln!(out, "    {}{what}", safe(path));
    let text = |file: Option<&FileText>| file.map_or(Some(String::new()), |file| file.text.clone());
    match (text(old), text(new)) {
        (Some(old), Some(new)) => of_texts(out, &old, &new),
        _ => {
            let sum = |file: Option<&FileText>| {
                file.map_or_else(|| "none".to_owned(), |file| safe(&file.sha256))
            };
            let _ = writeln!(out, "      sha256 {} → {}", sum(old), sum(new));
        }
    }
}

fn of_texts(out: &mut String, old: &str, new: &str) {
    if old != new {
        let diff = TextDiff::from_lines(old, new);
        lines(out, "      ", &diff.unified_diff().context_radius(2).to_string());
    }
}

/// `content`, each line behind `indent`.
pub(super) fn lines(out: &mut String, indent: &str, content: &str) {
    for line in content.lines() {
        let _ = writeln!(out, "{indent}{}", safe(line));
    }
}
