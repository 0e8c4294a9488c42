//! The slips that people make in a frontmatter, which YAML refuses or takes for something else, and
//! which every client reads as text. What is mended is never installed as it stands: it is written
//! anew, quoted.

use std::ops::Range;

use super::plain::quoted;
use super::{Block, Mend, key_of, line_ending, lines, read_yaml};

/// Keys whose value may be an unquoted `*`.
const CRATE_KEYS: [&str; 2] = ["crates", "depends-on"];
/// Keys whose value is prose.
const PROSE_KEYS: [&str; 2] = ["description", "argument-hint"];

/// What is to be mended; with `is_broken` YAML does not take the frontmatter at all.
pub(super) fn mends(
    text: &str,
    yaml: &Range<usize>,
    blocks: &[Block],
    is_broken: bool,
) -> Vec<Mend> {
    let mut found = Vec::new();
    for block in blocks {
        let key = block.key.as_str();
        if PROSE_KEYS.contains(&key) && is_swallowed(text, yaml, block) {
            found.extend(mend_text(text, block));
            continue;
        }
        if !is_broken {
            continue;
        }
        if CRATE_KEYS.contains(&key) {
            found.extend(mend_crates(text, block));
        } else if key == "metadata" {
            found.extend(
                lines(text, &block.lines).skip(1).filter_map(|line| mend_line(text, &line)),
            );
        } else if read_yaml(&text[block.lines.clone()]).is_err() {
            found.extend(mend_text(text, block));
        }
    }
    found
}

/// Whether YAML takes the value of one line for a comment, an anchor that nothing refers to, or a
/// tag of the author's own.
fn is_swallowed(text: &str, yaml: &Range<usize>, block: &Block) -> bool {
    let value = &text[block.value.clone()];
    if !text[block.value.end..block.lines.end].trim().is_empty() || value.starts_with("!!") {
        return false;
    }
    match value.strip_prefix('&').map(|rest| rest.split_whitespace().next().unwrap_or_default()) {
        Some(anchor) => !text[yaml.clone()].contains(&format!("*{anchor}")),
        None => value.starts_with(['#', '!']),
    }
}

/// An unquoted text: everything up to the next key, its lines joined. What begins with a quote or a
/// bracket is text only where that ends and something follows.
fn mend_text(text: &str, block: &Block) -> Option<Mend> {
    let value = &text[block.value.clone()];
    let ends = |end: char| value[1..].trim_end_matches(end).contains(end);
    let is_text = match value.chars().next()? {
        quote @ ('"' | '\'') => ends(quote),
        '[' => ends(']'),
        '{' => ends('}'),
        _ => true,
    };
    if !is_text {
        return None;
    }
    let continued = text[block.value.end..block.lines.end].split_whitespace();
    let whole = value.split_whitespace().chain(continued).collect::<Vec<_>>().join(" ");
    let key = &text[block.lines.start..block.value.start];
    Some(Mend {
        lines: block.lines.clone(),
        text: format!("{key}{}{}", quoted(&whole), line_ending(text, &block.lines)),
        problem: if block.key == "description" {
            "`description` must be quoted, because it holds `: ` or a special character"
        } else {
            SPECIAL
        },
    })
}

const SPECIAL: &str = "the value must be quoted, because it holds `: ` or a special character";

/// A line of `metadata`.
fn mend_line(text: &str, line: &Range<usize>) -> Option<Mend> {
    let content = &text[line.clone()];
    let start = line.start + content.len() - content.trim_start().len();
    let (key, value) = key_of(content.trim_start())?;
    let value = start + value.start..start + value.end.max(value.start);
    if CRATE_KEYS.contains(&key.as_str()) {
        return mend_star_line(text, line, &value);
    }
    let block = Block { key, lines: start..line.end, value };
    read_yaml(&text[block.lines.clone()]).err()?;
    mend_text(text, &block)
}

const STAR: &str = "`*` must be quoted: `\"*\"`";

fn mend_crates(text: &str, block: &Block) -> Vec<Mend> {
    if !block.value.is_empty() {
        let first = block.lines.start
            ..text[block.lines.clone()]
                .find('\n')
                .map_or(block.lines.end, |at| block.lines.start + at + 1);
        return mend_star_line(text, &first, &block.value).into_iter().collect();
    }
    lines(text, &block.lines)
        .skip(1)
        .filter_map(|line| {
            let content = text[line.clone()].trim_end();
            let item = content.trim_start().strip_prefix('-')?.trim_start();
            let start = line.start + content.len() - item.len();
            mend_star_line(text, &line, &(start..start + item.len()))
        })
        .collect()
}

/// A line whose value is a list of atoms with an unquoted `*` among them.
fn mend_star_line(text: &str, line: &Range<usize>, value: &Range<usize>) -> Option<Mend> {
    let written = &text[value.clone()];
    let mended = match written.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => {
            let items = inner.split(',').map(|item| match item.trim() {
                plain if plain.starts_with(['"', '\'']) => plain.to_owned(),
                plain => quoted(plain),
            });
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        None if written.starts_with('*') => quoted(written),
        None => return None,
    };
    if !written.contains('*') {
        return None;
    }
    Some(Mend {
        lines: line.clone(),
        text: format!("{}{mended}{}", &text[line.start..value.start], line_ending(text, line)),
        problem: STAR,
    })
}
