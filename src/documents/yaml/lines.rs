//! YAML text as lines: which keys a block mapping has, and which lines each of them takes.

use std::ops::Range;

/// One key of a block mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The key, decoded.
    pub key: String,
    /// Its blanks.
    pub indent: usize,
    /// Where its line starts.
    pub start: usize,
    /// What follows the colon on its line, comment included, line break left out.
    pub rest: Range<usize>,
    /// The end of its last line that says something, line break left out.
    pub end: usize,
    /// All its lines, up to where the next key or the end of the mapping is.
    pub limit: usize,
}

impl Entry {
    /// The value on the key's own line, without comment and blanks.
    pub(super) fn inline<'t>(&self, text: &'t str) -> &'t str {
        let rest = &text[self.rest.clone()];
        rest[..value_length(rest)].trim()
    }

    /// Where the value on the key's own line stands, blanks left out.
    pub(super) fn inline_range(&self, text: &str) -> Range<usize> {
        let rest = &text[self.rest.clone()];
        let value = &rest[..value_length(rest)];
        let start = value.len() - value.trim_start().len();
        self.rest.start + start..self.rest.start + value.trim_end().len().max(start)
    }

    /// The lines below the key's own.
    pub(super) fn below(&self, text: &str) -> Range<usize> {
        next_line(text, self.rest.end).min(self.limit)..self.limit
    }
}

/// The keys of the block mapping whose lines are `range`.
///
/// # Errors
/// Where there is something that is not of a block mapping.
pub(super) fn entries(text: &str, range: Range<usize>) -> Result<Vec<Entry>, usize> {
    let mut found: Vec<Entry> = Vec::new();
    let mut indent = None;
    for line in lines(text, range.clone()) {
        let content = text[line.clone()].trim_start_matches(' ');
        let blanks = line.len() - content.len();
        if content.is_empty() || is_marker(text, &line) {
            continue;
        }
        let comment = content.starts_with('#');
        let wanted = match indent {
            Some(indent) => indent,
            None if comment => continue,
            None => *indent.insert(blanks),
        };
        let item = content == "-" || content.starts_with("- ");
        if comment || blanks > wanted || (item && blanks == wanted && !found.is_empty()) {
            if (!comment || blanks > wanted)
                && let Some(last) = found.last_mut()
            {
                last.end = line.end;
            }
            continue;
        }
        let found_key = (blanks == wanted).then(|| key_of(content)).flatten();
        let (key, colon) = found_key.ok_or(line.start + blanks)?;
        let rest = line.start + blanks + colon + 1..line.end;
        let (start, end) = (line.start, line.end);
        if let Some(last) = found.last_mut() {
            last.limit = start;
        }
        found.push(Entry { key, indent: blanks, start, rest, end, limit: range.end });
    }
    Ok(found)
}

/// The lines in `range`, line breaks left out.
pub(super) fn lines(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut start = range.start;
    text[range]
        .split_inclusive('\n')
        .map(|line| {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = content.strip_suffix('\r').unwrap_or(content);
            let found = start..start + content.len();
            start += line.len();
            found
        })
        .collect()
}

/// Where the line after the one with `offset` in it starts.
pub(super) fn next_line(text: &str, offset: usize) -> usize {
    crate::documents::splice::next_line(text, offset)
}

/// `---` and `%…` before the document.
fn is_marker(text: &str, line: &Range<usize>) -> bool {
    let line = text[line.clone()].trim_end();
    line == "---" || line.starts_with("--- #") || line.starts_with('%')
}

/// The key at the start of a line's content, and where its colon is.
fn key_of(content: &str) -> Option<(String, usize)> {
    let colon = match content.chars().next()? {
        quote @ ('"' | '\'') => {
            let close = close_of(content, quote)?;
            let after = &content[close..];
            let colon = close + (after.len() - after.trim_start().len());
            content[colon..].starts_with(':').then_some(colon)?
        }
        '{' | '[' | '?' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' | '-' => return None,
        _ => content
            .char_indices()
            .find(|(at, c)| {
                *c == ':' && content[at + 1..].chars().next().is_none_or(|c| c.is_whitespace())
            })
            .map(|(at, _)| at)?,
    };
    let key: serde_yaml::Value = serde_yaml::from_str(&content[..colon]).ok()?;
    Some((key.as_str()?.to_owned(), colon))
}

/// Where the quoted text at the start of `content` ends, its closing quote included.
fn close_of(content: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    let mut chars = content.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escaped {
            escaped = false;
        } else if quote == '"' && c == '\\' {
            escaped = true;
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
                continue;
            }
            return Some(at + 1);
        }
    }
    None
}

/// How much of what follows a colon is the value: up to the blanks before a comment.
fn value_length(rest: &str) -> usize {
    let trimmed = rest.trim_start();
    let lead = rest.len() - trimmed.len();
    let from = match trimmed.chars().next() {
        Some(quote @ ('"' | '\'')) => close_of(trimmed, quote).map_or(rest.len(), |end| lead + end),
        _ => 0,
    };
    rest.char_indices()
        .find(|(at, c)| {
            *at >= from && *c == '#' && (*at == 0 || rest[..*at].ends_with([' ', '\t']))
        })
        .map_or(rest.len(), |(at, _)| rest[..at].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_with_their_lines() {
        let text =
            "# top\n---\na: 1 # one\n\"b c\":\n- x\n  # in b\n# after\nd:\n  e: 'it''s # no'\n\n";
        let found = entries(text, 0..text.len()).expect("a block mapping");
        let keys: Vec<_> = found.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["a", "b c", "d"]);
        assert_eq!(found[0].inline(text), "1");
        assert_eq!(&text[found[1].start..found[1].end], "\"b c\":\n- x\n  # in b");
        let inner = entries(text, found[2].below(text)).expect("a block mapping");
        assert_eq!(inner[0].inline(text), "'it''s # no'");
    }

    #[test]
    fn what_is_no_block_mapping_is_none() {
        for text in ["{a: 1}\n", "- a\n", "&x a: 1\n", "? a\n: b\n"] {
            assert!(entries(text, 0..text.len()).is_err(), "{text}");
        }
    }
}
