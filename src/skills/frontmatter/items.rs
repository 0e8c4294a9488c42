//! Where the items of a list stand.

use std::ops::Range;

use super::{Frontmatter, key_of, lines};

impl Frontmatter {
    /// Where each item of the list at `key`, at the top or inside the mapping `within`, stands, as
    /// far as its characters tell: the caller compares the number with that of the values.
    pub(crate) fn item_spans(
        &self,
        text: &str,
        within: Option<&str>,
        key: &str,
    ) -> Vec<Range<usize>> {
        let top = within.unwrap_or(key);
        let Some(block) = self.blocks.iter().find(|block| block.key == top) else {
            return Vec::new();
        };
        let (value, end) = match within {
            None => (block.value.clone(), block.lines.end),
            Some(_) => match inner_block(text, &block.lines, key) {
                Some(found) => found,
                None => return Vec::new(),
            },
        };
        if text[value.clone()].starts_with('[') {
            flow_items(text, value.start + 1..end)
        } else if value.is_empty() {
            block_items(text, value.end..end)
        } else {
            Vec::new()
        }
    }
}

/// The value on the line of the indented `key`, and where what belongs to it ends.
fn inner_block(text: &str, block: &Range<usize>, key: &str) -> Option<(Range<usize>, usize)> {
    let mut found: Option<(Range<usize>, usize, usize)> = None;
    for line in lines(text, block).skip(1) {
        let content = &text[line.clone()];
        let inner = content.trim_start();
        let indent = content.len() - inner.len();
        match &mut found {
            None => {
                if let Some((name, value)) = key_of(inner)
                    && name == key
                {
                    let start = line.start + indent;
                    found = Some((start + value.start..start + value.end, indent, line.end));
                }
            }
            Some((_, depth, end)) => {
                let belongs = inner.is_empty() || indent > *depth || inner.starts_with(['-', ']']);
                if !belongs {
                    break;
                }
                *end = line.end;
            }
        }
    }
    found.map(|(value, _, end)| (value, end))
}

/// The items behind `[`, with their quotes.
fn flow_items(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = range.start;
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (offset, character) in text[range.clone()].char_indices() {
        let at = range.start + offset;
        match (quote, character) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            // A quote in quotes is doubled: what seems closed goes on.
            (None, '"' | '\'')
                if text[start..at].trim().is_empty() || text[..at].ends_with(character) =>
            {
                quote = Some(character);
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') if depth > 0 => depth -= 1,
            (None, ',' | ']') if depth == 0 => {
                found.extend(trimmed(text, start..at));
                start = at + 1;
                if character == ']' {
                    break;
                }
            }
            (None, _) => {}
        }
    }
    found
}

/// The items behind `- `, each as far as its first line.
fn block_items(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let items = lines(text, &range).filter_map(|line| {
        let content = text[line.clone()].trim_end();
        let item = content.trim_start().strip_prefix('-')?;
        let at = line.start + content.len() - item.len();
        let end = item.find(" #").unwrap_or(item.len());
        trimmed(text, at..at + end)
    });
    items.collect()
}

/// The range without the space around; `None` when nothing else is in it.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    let end = start + part.trim().len();
    (start < end).then_some(start..end)
}
