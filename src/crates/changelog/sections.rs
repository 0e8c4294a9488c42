//! The sections of a changelog's text.

use std::ops::Range;

use semver::Version;

use super::heading::version_of;

/// What is written of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub version: Version,
    /// The number of the line that its heading is in.
    pub line: usize,
    /// Where it stands, with its heading.
    pub span: Range<usize>,
}

/// A line that may begin a section.
struct Heading<'a> {
    text: &'a str,
    kind: Kind,
    /// Of the line.
    number: usize,
    start: usize,
}

/// How a heading is marked, which also says how deep it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `## Heading`, by the number of its marks.
    Marked(usize),
    /// Underlined, by the letter.
    Underlined(u8),
    /// A line that starts with a version and has little else.
    Bare,
    /// `- 1.2.0`
    Item,
}

/// Words and letters that a bare line has beside its version, at most: a date, a code name.
const BARE: usize = 60;

/// The sections of `text`, a changelog of the crate `name`, in their order.
pub(super) fn sections(text: &str, name: &str) -> Vec<Found> {
    let headings = headings(text);
    let versions: Vec<_> = headings.iter().map(|heading| version_of(heading.text, name)).collect();
    let of_rank = |wanted: u8| {
        headings
            .iter()
            .zip(&versions)
            .any(|(heading, version)| version.is_some() && heading.kind.rank() == wanted)
    };
    // Where there are headings, a line that begins with a version is text.
    let Some(rank) = (0..3).find(|rank| of_rank(*rank)) else { return Vec::new() };
    let counted = headings.iter().zip(versions).filter(|(it, _)| it.kind.rank() <= rank);
    let mut found: Vec<(Found, Kind)> = Vec::new();
    let mut is_open = false;
    for (heading, version) in counted {
        match version {
            Some(version) if heading.kind.rank() == rank => {
                end(&mut found, is_open, heading.start);
                let Heading { number: line, start, kind, .. } = *heading;
                found.push((Found { version, line, span: start..text.len() }, kind));
                is_open = true;
            }
            _ => {
                let ends = found.last().is_some_and(|(_, kind)| heading.kind.ends(*kind));
                if is_open && ends {
                    end(&mut found, true, heading.start);
                    is_open = false;
                }
            }
        }
    }
    found
        .into_iter()
        .map(|(mut section, _)| {
            let body = without_links(&text[section.span.clone()]);
            section.span.end = section.span.start + body.len();
            section
        })
        .collect()
}

fn end(found: &mut [(Found, Kind)], is_open: bool, at: usize) {
    if let Some((last, _)) = found.last_mut().filter(|_| is_open) {
        last.span.end = at;
    }
}

impl Kind {
    /// The surest first.
    fn rank(self) -> u8 {
        match self {
            Self::Marked(_) | Self::Underlined(_) => 0,
            Self::Bare => 1,
            Self::Item => 2,
        }
    }

    /// Whether a heading of this kind, of no version, ends the section of a heading `of` a version.
    fn ends(self, of: Self) -> bool {
        match (self, of) {
            (Self::Marked(level), Self::Marked(of)) => level <= of,
            // Markdown's two underlines are its levels 1 and 2.
            (Self::Marked(level), Self::Underlined(b'=')) => level <= 1,
            (Self::Marked(level), Self::Underlined(b'-')) => level <= 2,
            (Self::Underlined(b'='), Self::Marked(_) | Self::Underlined(b'-')) => true,
            (Self::Underlined(one), Self::Underlined(other)) => one == other,
            (Self::Marked(_) | Self::Underlined(_), Self::Bare | Self::Item) => true,
            _ => false,
        }
    }
}

/// Lines that may begin a section: none in a block of code or a comment.
fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut found: Vec<Heading<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    let mut before: Option<(&str, usize)> = None;
    let mut start = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end();
        let at = start;
        start += whole.len();
        let previous = before.take();
        if in_comment {
            in_comment = !line.contains("-->");
            continue;
        }
        if let Some(mark) = fence_of(line) {
            match fence {
                None => fence = Some(mark),
                Some(open) if mark.starts_with(open) => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if line.trim_start().starts_with("<!--") && !line.contains("-->") {
            in_comment = true;
            continue;
        }
        let number = index + 1;
        if let Some((text, kind)) = heading_in(line) {
            found.push(Heading { text, kind, number, start: at });
        } else if let Some(letter) = underline(line)
            && let Some((text, at)) = previous
        {
            found.retain(|heading| heading.start != at);
            found.push(Heading { text, kind: Kind::Underlined(letter), number: index, start: at });
            continue;
        }
        if !line.is_empty() && !line.starts_with([' ', '\t', '#']) {
            before = Some((line, at));
        }
    }
    found
}

/// What a heading in one line says.
fn heading_in(line: &str) -> Option<(&str, Kind)> {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    if marks > 0 {
        // `#1234` at the start of a line is an issue; `#[derive]` is code.
        let text = line[marks..].strip_prefix([' ', '\t', '['])?;
        let text = text.trim_end_matches('#').trim();
        return (marks <= 6).then_some((text, Kind::Marked(marks)));
    }
    if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return starts_with_version(item).then_some((item, Kind::Item));
    }
    let is_short = line.len() <= BARE && !line.ends_with('.');
    (is_short && starts_with_version(line)).then_some((line, Kind::Bare))
}

/// Whether a line is a version with at most a date or a name after it.
fn starts_with_version(line: &str) -> bool {
    let lower = line.to_lowercase();
    let text = lower.trim_start_matches(['*', '`', '[', '_']);
    let text =
        text.strip_prefix("version ").or_else(|| text.strip_prefix("release ")).unwrap_or(text);
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let rest = text[end..].trim_start_matches(['*', '`', ']', '_']).trim_start();
    text[..end].contains('.')
        && text.starts_with(|it: char| it.is_ascii_digit())
        && (rest.is_empty() || rest.starts_with(['(', '-', '–', '—', ':', '/', '[', '+']))
}

/// The letter of a line that underlines the one before it.
fn underline(line: &str) -> Option<u8> {
    let letter = *line.as_bytes().first()?;
    let is_one = matches!(letter, b'=' | b'-' | b'~' | b'^' | b'*' | b'+' | b'"' | b'`' | b'#');
    (is_one && line.len() >= 3 && line.bytes().all(|byte| byte == letter)).then_some(letter)
}

/// What opens or closes a block of code.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| {
        // `~~~~~` alone underlines a heading in reStructuredText.
        line.starts_with(mark) && (*mark != "~~~" || underline(line).is_none())
    })
}

/// A section without the addresses of links, rules and anchors that end a file or lead to the next
/// section.
fn without_links(text: &str) -> &str {
    let mut kept = text.trim_end();
    loop {
        let last = kept.rfind('\n').map_or(0, |newline| newline + 1);
        let line = kept[last..].trim();
        let is_link = line.starts_with('[') && line.contains("]:");
        let is_anchor = line.starts_with("<a ") && line.ends_with("</a>");
        if last == 0 || !(is_link || is_anchor || underline(line).is_some() || line.is_empty()) {
            return kept;
        }
        kept = kept[..last].trim_end();
    }
}
