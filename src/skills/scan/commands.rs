//! What Claude Code runs of a skill's text by itself when the skill is used. The patterns are those
//! of the client, version 2.1.332.

use std::borrow::Cow;

use super::{Finding, Hidden, excerpt};

/// A fence of commands, wherever it stands.
const FENCE: &str = "```!";

/// The commands in a whole `SKILL.md`: fences opened by `` ```! ``, and `` !`command` `` at the start
/// of a line or after white space.
pub(super) fn commands(text: &str) -> Vec<Finding> {
    let shift = body_start(text);
    let body = &text[shift..];
    let inline = blank_code(body);
    let mut spans = fences(body);
    spans.extend(inline_commands(&inline));
    let finding = |(start, end): (usize, usize)| Finding {
        kind: Hidden::Command,
        span: shift + start..shift + end,
        excerpt: excerpt(&body[start..end]),
    };
    spans.into_iter().map(finding).collect()
}

/// Behind the frontmatter, which the client ends at the first `---` after its start.
fn body_start(text: &str) -> usize {
    let front = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(after) = front.strip_prefix("---") else { return 0 };
    after.find("---").map_or(0, |end| text.len() - after.len() + end + 3)
}

fn fences(body: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = body[at..].find(FENCE) {
        let (start, inside) = (at + offset, at + offset + FENCE.len());
        let Some(length) = body[inside..].find("```") else { break };
        at = inside + length + 3;
        if holds_command(&body[inside..inside + length]) {
            found.push((start, at));
        }
    }
    found
}

/// `body` with blanks for what stands in code, so that `` Use `!` and `x` `` holds no command. What
/// follows `!` or another backtick is left as it is.
fn blank_code(body: &str) -> Cow<'_, str> {
    let mut blanked = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(offset) = body[at..].find('`') {
        let (start, inside) = (at + offset, at + offset + 1);
        at = inside;
        let Some(length) = body[inside..].find(['`', '\n']) else { break };
        let end = inside + length;
        if length == 0 || body[end..].starts_with('\n') {
            continue;
        }
        at = end + 1;
        if !body[..start].ends_with(['!', '`']) {
            blanked.push_str(&body[kept..inside]);
            blanked.push_str(&" ".repeat(length));
            kept = end;
        }
    }
    if kept == 0 {
        return body.into();
    }
    blanked.push_str(&body[kept..]);
    blanked.into()
}

fn inline_commands(body: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = body[at..].find("!`") {
        let (start, inside) = (at + offset, at + offset + 2);
        at = inside;
        if !body[..start].chars().next_back().is_none_or(is_space) {
            continue;
        }
        let Some(length) = body[inside..].find('`') else { break };
        if length == 0 {
            continue;
        }
        at = inside + length + 1;
        if holds_command(&body[inside..inside + length]) {
            found.push((start, at));
        }
    }
    found
}

fn holds_command(text: &str) -> bool {
    !text.chars().all(is_space)
}

/// What JavaScript calls white space.
fn is_space(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}
