//! What `crate-info` says of a crate: one `Key: value` a line.

use std::fmt::Write as _;

use super::Info;
use super::skills::Withheld;
use crate::report::fit;

/// Names that a line lists.
const LISTED: usize = 40;

/// Lines that a program or an agent can pick apart; a description is never cut.
pub(super) fn render(info: &Info) -> String {
    let mut text = format!(
        "Crate: {}\nVersion: {}\nSource: {}\nFrom: {}\n",
        info.name,
        info.version,
        info.source.display(),
        info.from
    );
    about(info, &mut text);
    if info.skills.is_empty() && info.withheld.is_empty() {
        text.push_str("Skills: none");
        return text;
    }
    text.push_str("Skills:");
    for skill in &info.skills {
        let of = skill.of.as_ref().map(|of| format!(" (in {of})")).unwrap_or_default();
        let description = fit(&skill.description, usize::MAX);
        let _ = write!(text, "\n- {}{of}: {description}\n  {}", skill.name, skill.path.display());
    }
    for skill in &info.withheld {
        let why = match skill.because {
            Withheld::Declined => "the user declined it",
            Withheld::Undecided => "nobody vouches for it, and the user has not decided",
        };
        let _ = write!(text, "\n- {}: not accepted: {why}", skill.name);
    }
    if info.withheld.iter().any(|skill| skill.because == Withheld::Undecided) {
        let _ = write!(text, "\nFor the user to decide: cargo agents use {}", info.name);
    }
    text
}

fn about(info: &Info, text: &mut String) {
    let lists = [
        ("Features", &info.about.features.enabled),
        ("More features", &info.about.features.available),
        ("Used by", &info.used_by),
    ];
    for (key, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = write!(
            text,
            "{key}: {}",
            fit(&names[..names.len().min(LISTED)].join(", "), usize::MAX)
        );
        if let Some(more) = names.len().checked_sub(LISTED).filter(|more| *more > 0) {
            let _ = write!(text, " and {more} more");
        }
        text.push('\n');
    }
    if let Some(readme) = &info.about.readme {
        let _ = writeln!(text, "Readme: {}", readme.display());
    }
    if let Some(examples) = &info.about.examples {
        let _ = writeln!(text, "Examples: {} in {}", examples.count, examples.folder.display());
    }
    if let Some(docs) = &info.about.docs {
        let _ = writeln!(text, "Docs: {docs}");
    }
    match &info.changelog {
        None => text.push_str("Changelog: this crate ships none\n"),
        Some(notes) => {
            let lacks = if notes.has_version { "" } else { " (no section of this version)" };
            let _ = writeln!(text, "Changelog: {}{lacks}", notes.file.display());
        }
    }
}
