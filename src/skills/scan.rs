//! What a text holds that its reader on a screen does not see, and what in it can run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::plugins::diagnostics::codes;
use crate::text::{Diagnostic, Source};

mod commands;
#[cfg(test)]
mod tests;
mod values;

pub(super) use values::scan_values;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hidden {
    /// Characters that nobody sees and that carry a message: the file must not be installed.
    Smuggled,
    /// An odd invisible character or two, as they come with copied text.
    Invisible,
    /// An HTML comment: an agent reads it, a rendered page does not show it.
    Comment,
    /// Text below a screenful of empty lines.
    FarBelow,
    /// `` !`command` `` or a fence of commands: Claude runs it when the skill is used.
    Command,
    /// `allowed-tools`: agents that honour it do not ask before these tools are used.
    AllowedTools,
}

impl Hidden {
    /// Whether a user who installs the skill should be told, not only its author: what hides and what
    /// runs without a question does, what merely looks odd does not.
    pub(crate) fn concerns_users(self) -> bool {
        matches!(self, Self::Smuggled | Self::Comment | Self::FarBelow | Self::Command)
    }
}

/// Something in a text that deserves a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub kind: Hidden,
    /// Where, as a byte range.
    pub span: Range<usize>,
    /// The characters by number, the comment, or the command; cut at 80 characters.
    pub excerpt: String,
}

impl Finding {
    /// Whether a file that holds it must not be installed.
    pub(crate) fn refuses(&self) -> bool {
        self.kind == Hidden::Smuggled
    }

    pub(crate) fn diagnostic(&self, source: &Arc<Source>) -> Diagnostic {
        let excerpt = &self.excerpt;
        let diagnostic = match self.kind {
            Hidden::Smuggled => Diagnostic::error(format!("invisible text ({excerpt})"))
                .note("an agent reads what people can't see; remove these characters"),
            Hidden::Invisible => Diagnostic::warning(format!("an invisible character ({excerpt})")),
            Hidden::Comment => Diagnostic::warning(format!(
                "a comment that agents read and rendered pages hide: {excerpt}"
            )),
            Hidden::FarBelow => {
                Diagnostic::warning(format!("text far below {excerpt}, where nobody looks"))
            }
            Hidden::Command => {
                Diagnostic::warning(format!("Claude runs this when the skill is used: {excerpt}"))
            }
            Hidden::AllowedTools => Diagnostic::warning(format!(
                "`allowed-tools` lets agents use tools without asking: {excerpt}"
            )),
        };
        let code = match self.kind {
            Hidden::Smuggled | Hidden::Invisible | Hidden::Comment | Hidden::FarBelow => {
                codes::HIDDEN_TEXT
            }
            Hidden::Command | Hidden::AllowedTools => codes::SKILL_RUNS,
        };
        diagnostic.code(code).at(source, self.span.clone())
    }
}

/// More empty lines than this in a row hide what follows.
const EMPTY_LINES: usize = 100;
/// More odd characters than this in one file are no accident.
const STRAY_LIMIT: usize = 16;
/// Findings of one kind that are told; a hostile file may hold millions.
const MAX_PER_KIND: usize = 50;
/// `allowed-tools` as a key at the start of a line.
const ALLOWED_TOOLS: &str = "allowed-tools:";

/// Scans the whole text of a `SKILL.md`.
pub(crate) fn scan_skill(text: &str) -> Vec<Finding> {
    let mut found = scan_hidden(text);
    found.extend(commands::commands(text));
    found.extend(allowed_tools(text));
    limit_per_kind(found)
}

/// What of a `SKILL.md` can run without a question, whole: the commands, and the tools that it allows.
pub(crate) fn runs_unasked(text: &str) -> Vec<String> {
    let commands = commands::commands(text).into_iter();
    let mut found: Vec<String> =
        commands.map(|finding| format!("runs {}", &text[finding.span])).collect();
    found.extend(allowed_tools(text).map(|finding| {
        let (start, end) = (finding.span.start, finding.span.end);
        // A list's items stand on the lines below.
        let is_item = |line: &&str| line.starts_with([' ', '\t', '-']) && line.trim_end() != "---";
        let items = text[end..].split_inclusive('\n').skip(1).take_while(is_item);
        let length: usize = items.map(str::len).sum();
        let below = text[end..].find('\n').map_or(0, |rest| rest + 1 + length);
        format!("allows {}", text[start..end + below].trim_end())
    }));
    found
}

/// Scans the whole text of another Markdown file, of which no agent runs anything.
pub(super) fn scan_hidden(text: &str) -> Vec<Finding> {
    let mut found = invisible(text);
    found.extend(comments(text));
    found.extend(far_below(text));
    limit_per_kind(found)
}

/// Scans a text that nobody renders, such as a script or a list, for invisible characters only.
pub(crate) fn scan_invisible(text: &str) -> Vec<Finding> {
    limit_per_kind(invisible(text))
}

/// The first findings of each kind, in the order of the text.
fn limit_per_kind(mut found: Vec<Finding>) -> Vec<Finding> {
    let mut counts: BTreeMap<Hidden, usize> = BTreeMap::new();
    found.retain(|finding| {
        let count = counts.entry(finding.kind).or_default();
        *count += 1;
        *count <= MAX_PER_KIND
    });
    found.sort_by_key(|finding| (finding.span.start, finding.kind));
    found
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// How an invisible character is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Visible,
    /// It has no business in any text for people.
    Never,
    /// One by itself comes with copied text; two in a row carry bits.
    Stray,
    /// It joins or separates letters of some scripts and makes emoji.
    Joiner,
    /// It marks the direction of text where a right-to-left script is around.
    Direction,
    /// It chooses a form of the character before it.
    Variation,
    /// It spells a flag after a black flag.
    Tag,
}

/// The Unicode Character Database's default-ignorable characters, by use.
fn class(character: char) -> Class {
    match character {
        '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => Class::Tag,
        '\u{e0000}'..='\u{e0fff}' if !matches!(character, '\u{e0100}'..='\u{e01ef}') => {
            Class::Never
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Class::Variation,
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{200e}'
        | '\u{200f}'
        | '\u{061c}'
        | '\u{202a}'..='\u{202c}'
        | '\u{2066}'..='\u{2069}' => Class::Direction,
        '\u{202d}' | '\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{1d173}'..='\u{1d17a}' => {
            Class::Never
        }
        '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{feff}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{fff9}'..='\u{fffb}' => Class::Stray,
        _ => Class::Visible,
    }
}

fn invisible(text: &str) -> Vec<Finding> {
    if text.is_ascii() {
        return Vec::new();
    }
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let mut found: Vec<Finding> = Vec::new();
    let (mut at, mut strays) = (0, 0);
    let mut lines = Lines { text, line: 0..0, right_to_left: false };
    while at < characters.len() {
        let start = at;
        while at < characters.len() && class(characters[at].1) != Class::Visible {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        // A byte order mark belongs at the start of a file.
        let run = if start == 0 && characters[0].1 == '\u{feff}' { 1..at } else { start..at };
        let Some(kind) = judge(&mut lines, &characters, &run) else { continue };
        strays += usize::from(kind == Hidden::Invisible);
        let end = characters.get(run.end).map_or(text.len(), |(offset, _)| *offset);
        let numbers = characters[run.clone()].iter().take(6);
        let numbers: Vec<_> =
            numbers.map(|(_, character)| format!("U+{:04X}", u32::from(*character))).collect();
        let more =
            if run.len() > 6 { format!(" and {} more", run.len() - 6) } else { String::new() };
        found.push(Finding {
            kind,
            span: characters[run.start].0..end,
            excerpt: format!("{}{more}", numbers.join(" ")),
        });
    }
    if strays > STRAY_LIMIT {
        found.iter_mut().for_each(|finding| finding.kind = Hidden::Smuggled);
    }
    found
}

/// Judges a run of invisible characters by what stands around it.
fn judge(
    lines: &mut Lines<'_>,
    characters: &[(usize, char)],
    run: &Range<usize>,
) -> Option<Hidden> {
    let inside = &characters[run.clone()];
    let (first, last) = (inside.first()?.1, inside.last()?.1);
    let before =
        run.start.checked_sub(1).and_then(|index| characters.get(index)).map(|pair| pair.1);
    let after = characters.get(run.end).map(|pair| pair.1);
    let all = |wanted: Class| inside.iter().all(|(_, character)| class(*character) == wanted);
    let foreign = |near: Option<char>| near.is_some_and(|near| !near.is_ascii());
    match class(first) {
        Class::Tag => {
            let flag = before == Some('\u{1f3f4}')
                && all(Class::Tag)
                && last == '\u{e007f}'
                && (3..=7).contains(&inside.len());
            (!flag).then_some(Hidden::Smuggled)
        }
        Class::Stray if inside.len() == 1 => Some(Hidden::Invisible),
        // An emoji sequence: a form selector, then perhaps a joiner to the next emoji.
        Class::Variation if foreign(before) => {
            let rest = &inside[1..];
            let joined = matches!(rest, [(_, '\u{200d}')]) && foreign(after);
            (!rest.is_empty() && !joined).then_some(Hidden::Smuggled)
        }
        Class::Variation => {
            let keycap = inside.len() == 1
                && first == '\u{fe0f}'
                && before.is_some_and(|near| near.is_ascii_digit() || matches!(near, '#' | '*'));
            (!keycap).then_some(Hidden::Smuggled)
        }
        Class::Joiner if inside.len() == 1 => match (foreign(before), foreign(after)) {
            (true, true) => None,
            (false, false) => Some(Hidden::Smuggled),
            _ => Some(Hidden::Invisible),
        },
        Class::Direction if all(Class::Direction) && inside.len() <= 3 => {
            let rtl = lines.is_right_to_left(inside.first()?.0);
            (!rtl).then_some(Hidden::Smuggled)
        }
        _ => Some(Hidden::Smuggled),
    }
}

/// The line that was asked about last: each is looked through once.
struct Lines<'a> {
    text: &'a str,
    line: Range<usize>,
    right_to_left: bool,
}

impl Lines<'_> {
    /// Whether the line around `offset` holds letters of a right-to-left script.
    fn is_right_to_left(&mut self, offset: usize) -> bool {
        if !self.line.contains(&offset) {
            let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let end = self.text[offset..].find('\n').map_or(self.text.len(), |at| offset + at);
            self.right_to_left = self.text[start..end].chars().any(is_right_to_left);
            self.line = start..end;
        }
        self.right_to_left
    }
}

/// Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
fn is_right_to_left(character: char) -> bool {
    character.is_alphabetic()
        && matches!(character,
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// HTML comments outside of fenced code, where a rendered page would show them.
fn comments(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let (mut fence, mut at, mut line_start, mut seen) = (None, 0, 0, 0);
    while let Some(offset) = text[at..].find("<!--") {
        let start = at + offset;
        // Fences are counted line by line up to the comment, each line once.
        if let Some(newline) = text[seen..start].rfind('\n') {
            let here = seen + newline + 1;
            text[line_start..here].lines().for_each(|line| fence = fence_after(fence, line));
            line_start = here;
        }
        seen = start;
        let end = text[start..].find("-->").map_or(text.len(), |length| start + length + 3);
        if fence.is_none() {
            let kind = Hidden::Comment;
            found.push(Finding { kind, span: start..end, excerpt: excerpt(&text[start..end]) });
        }
        at = end;
    }
    found
}

/// Which fence is open after a line.
fn fence_after(open: Option<&'static str>, line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let marker = ["```", "~~~"].into_iter().find(|marker| line.starts_with(marker));
    match (open, marker) {
        (None, marker) => marker,
        (Some(opened), Some(marker)) if opened == marker => None,
        (open, _) => open,
    }
}

fn far_below(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let (mut empty, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            empty += 1;
        } else {
            if empty > EMPTY_LINES {
                found.push(Finding {
                    kind: Hidden::FarBelow,
                    span: at..at + line.trim_end().len(),
                    excerpt: format!("{empty} empty lines"),
                });
            }
            empty = 0;
        }
        at += line.len();
    }
    found
}

fn allowed_tools(text: &str) -> Option<Finding> {
    let front = text.trim_start_matches('\u{feff}');
    let shift = text.len() - front.len();
    let mut lines = front.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut at = shift + first.len();
    for line in lines.take_while(|line| line.trim_end() != "---") {
        if let Some(value) = line.strip_prefix(ALLOWED_TOOLS) {
            return Some(Finding {
                kind: Hidden::AllowedTools,
                span: at..at + line.trim_end().len(),
                excerpt: excerpt(value),
            });
        }
        at += line.len();
    }
    None
}
