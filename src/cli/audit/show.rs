//! What was looked at, for people.

use super::model::{Audit, Hold, ProgramRow, SkillRow, SourceRow};
use crate::Symposium;
use crate::cli::screen::{Screen, column, count};
use crate::plugins::source::SourceKind;

/// The widest label.
const LABEL: usize = 28;

pub(super) fn render(sym: &Symposium, audit: &Audit) -> String {
    let mut screen = Screen::new(sym.report.width());
    section(&mut screen, "Skills", audit.skills.iter().map(skill));
    section(&mut screen, "Programs", audit.programs.iter().map(program));
    section(&mut screen, "Sources", audit.sources.iter().map(source));
    screen.finish()
}

/// A heading and its entries; nothing without entries.
fn section(screen: &mut Screen, heading: &str, rows: impl Iterator<Item = (String, Vec<String>)>) {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return;
    }
    screen.heading(heading);
    let width = column(rows.iter().map(|(label, _)| label.as_str()), LABEL);
    for (label, lines) in &rows {
        screen.entry(label, width, lines);
    }
}

fn skill(row: &SkillRow) -> (String, Vec<String>) {
    let mut about = vec![row.from.clone()];
    about.extend(row.licence.clone());
    if let (Some(files), Some(bytes)) = (row.files, row.bytes) {
        about.push(format!("{}, {}", count(files, "file"), size(bytes)));
    } else {
        about.push("not installed".to_owned());
    }
    let mut lines = vec![about.join(", ")];
    if !row.scripts.is_empty() {
        lines.push(format!("can run {}", row.scripts.join(", ")));
    }
    if !row.hosts.is_empty() {
        lines.push(format!("links to {}", row.hosts.join(", ")));
    }
    (row.name.clone(), lines)
}

fn program(row: &ProgramRow) -> (String, Vec<String>) {
    let mut lines = vec![format!("{} ({}): {}", row.plugin, row.source, row.standing.told())];
    let shown = |line: &&String| {
        ["runs", "http", "sse", "installs"].iter().any(|key| line.starts_with(key))
    };
    lines.extend(row.lines.iter().filter(shown).cloned());
    (format!("{} {}", row.kind, row.name), lines)
}

fn source(row: &SourceRow) -> (String, Vec<String>) {
    let commit = row.commit.as_deref().unwrap_or_default();
    let commit = commit.get(..10).unwrap_or(commit);
    let state = match row.hold {
        Hold::Folder => "a folder".to_owned(),
        Hold::Locked => format!("{commit}, as locked"),
        Hold::Moved => format!("{commit}, not what is locked"),
        Hold::Rev => {
            format!("{commit}, for `rev = \"{}\"`", row.rev.as_deref().unwrap_or_default())
        }
        Hold::Unpinned => format!("{commit}, held by nothing"),
        Hold::Unknown => "could not be looked at".to_owned(),
    };
    let place =
        if row.kind == SourceKind::Git && row.name == row.location { "" } else { &row.location };
    let lines = [place, &state].map(str::to_owned).into_iter().filter(|line| !line.is_empty());
    (row.name.clone(), lines.collect())
}

/// `812 bytes`, `3.1 kB`, `12 MB`.
fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..10_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        10_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
