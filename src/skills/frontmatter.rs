//! The YAML between the `---` lines of a `SKILL.md`, with the place of each of its keys.

use std::ops::Range;
use std::sync::Arc;

use serde_yaml::{Mapping, Value};

use crate::text::yaml::too_costly;
use crate::text::{Diagnostic, Source};
use mends::mends;

mod items;
mod mends;
pub(super) mod plain;

/// Bytes of YAML that are read; Claude reads no longer ones from sources that it does not trust.
const LONGEST: usize = 65_536;

/// One top-level key of the frontmatter and the lines it fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The key as written, without quotes.
    pub key: String,
    /// From the start of its line to the next key's, without comments and empty lines between.
    pub lines: Range<usize>,
    /// Its value on the first line, without the space around; empty when it starts below.
    pub value: Range<usize>,
}

/// A value that YAML would not take and that was read as if it were quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mend {
    /// The lines that are replaced.
    pub lines: Range<usize>,
    /// What stands there instead, with its line ending.
    pub text: String,
    /// What was wrong, for people.
    pub problem: &'static str,
}

impl Mend {
    /// The value in its first line, for people to look at.
    pub(super) fn value(&self, text: &str) -> Range<usize> {
        let line = lines(text, &self.lines).next().unwrap_or(self.lines.start..self.lines.start);
        let content = text[line.clone()].trim_end();
        let inner = content.trim_start();
        let at = line.start + content.len() - inner.len();
        let value = match (inner.strip_prefix('-'), key_of(inner)) {
            (Some(item), None) => inner.len() - item.trim_start().len()..inner.len(),
            (_, Some((_, value))) if !value.is_empty() => value,
            _ => 0..inner.len(),
        };
        at + value.start..at + value.end
    }
}

/// A frontmatter as read. All ranges are byte ranges of the whole text.
#[derive(Debug, Clone)]
pub(super) struct Frontmatter {
    /// The YAML, without its fences.
    pub yaml: Range<usize>,
    /// The values, `<<` merged in.
    pub values: Mapping,
    /// The top-level keys in the order of the file.
    pub blocks: Vec<Block>,
    /// Lines that had to be mended to be read.
    pub mends: Vec<Mend>,
}

impl Frontmatter {
    /// Reads the frontmatter of `source`.
    ///
    /// # Errors
    /// There is none, it does not end, or it is no YAML mapping even when the usual slips are
    /// mended.
    pub(super) fn parse(source: &Arc<Source>) -> Result<Self, Box<Diagnostic>> {
        let text = source.text.as_str();
        let yaml = fences(source)?;
        let blocks = blocks(text, &yaml);
        let read = read_yaml(&text[yaml.clone()]);
        let mends = mends(text, &yaml, &blocks, read.is_err());
        if !mends.is_empty()
            && let Ok(values) = read_yaml(&apply(text, &yaml, &mends))
        {
            return Ok(Self { yaml, values, blocks, mends });
        }
        match read {
            Ok(values) => Ok(Self { yaml, values, blocks, mends: Vec::new() }),
            Err(problem) => Err(problem.at(source, &yaml, &blocks).into()),
        }
    }

    /// The value at a top-level key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Where a top-level key's value stands (or the key, when its value starts below it).
    pub(super) fn span(&self, key: &str) -> Range<usize> {
        match self.blocks.iter().find(|block| block.key == key) {
            Some(block) if block.value.is_empty() => {
                block.lines.start..block.lines.start + block.key.len()
            }
            Some(block) => block.value.clone(),
            None => self.yaml.start..self.yaml.start,
        }
    }

    /// Where the value of `key` inside the top-level mapping `parent` stands, as far as lines tell.
    pub(super) fn span_within(&self, text: &str, parent: &str, key: &str) -> Range<usize> {
        let Some(block) = self.blocks.iter().find(|block| block.key == parent) else {
            return self.span(parent);
        };
        for line in lines(text, &block.lines) {
            let content = &text[line.clone()];
            let inner = content.trim_start();
            let indent = content.len() - inner.len();
            if indent > 0
                && let Some((found, value)) = key_of(inner)
                && found == key
            {
                let start = line.start + indent;
                return start + value.start..start + value.end;
            }
        }
        self.span(parent)
    }
}

/// The range of the YAML.
fn fences(source: &Arc<Source>) -> Result<Range<usize>, Box<Diagnostic>> {
    let text = source.text.as_str();
    let mut all = lines(text, &(0..text.len()));
    let is_fence = |line: &Range<usize>| text[line.clone()].trim_end() == "---";
    match all.next() {
        Some(first) if is_fence(&first) => {
            let start = first.end;
            match all.find(is_fence) {
                Some(closing) => no_rule_in(source, start..closing.start),
                None => Err(Diagnostic::error("the frontmatter does not end")
                    .at(source, 0..3)
                    .label("starts here")
                    .note("end it with a line that holds only `---`")
                    .into()),
            }
        }
        _ => Err(Diagnostic::error("there is no frontmatter")
            .at(source, 0..0)
            .note("start the file with `---`, then `name: …` and `description: …`, then `---`")
            .into()),
    }
}

/// Claude ends the frontmatter at the first `---`, wherever in a line that is.
fn no_rule_in(source: &Arc<Source>, yaml: Range<usize>) -> Result<Range<usize>, Box<Diagnostic>> {
    match source.text[yaml.clone()].find("---") {
        None => Ok(yaml),
        Some(at) => Err(Diagnostic::error("`---` inside the frontmatter ends it for some agents")
            .at(source, yaml.start + at..yaml.start + at + 3)
            .note("write it only as the line that ends the frontmatter; a dash is `—`")
            .into()),
    }
}

/// The lines in a range, each with its line ending.
pub(super) fn lines<'a>(
    text: &'a str,
    range: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let mut at = range.start;
    text[range.clone()].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

/// A key at the start of `line` and the range of what follows it on that line.
fn key_of(line: &str) -> Option<(String, Range<usize>)> {
    let first = line.chars().next()?;
    let (key, after) = match first {
        '"' | '\'' => {
            let end = line[1..].find(first)? + 1;
            (line[1..end].to_owned(), end + 1)
        }
        '#' | ']' | '}' | '{' | '[' | ',' => return None,
        '-' if line[1..].chars().next().is_none_or(char::is_whitespace) => return None,
        _ if first.is_whitespace() => return None,
        _ => {
            let colon = line
                .match_indices(':')
                .map(|(at, _)| at)
                .find(|&at| line[at + 1..].chars().next().is_none_or(char::is_whitespace))?;
            (line[..colon].trim_end().to_owned(), colon)
        }
    };
    let colon = after + (line[after..].len() - line[after..].trim_start().len());
    let rest = line[colon..].strip_prefix(':')?;
    if rest.chars().next().is_some_and(|next| !next.is_whitespace()) {
        return None;
    }
    let start = colon + 1 + (rest.len() - rest.trim_start().len());
    Some((key, start.min(line.trim_end().len()).max(colon + 1)..line.trim_end().len()))
}

fn blocks(text: &str, yaml: &Range<usize>) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for line in lines(text, yaml) {
        match key_of(&text[line.clone()]) {
            Some((key, value)) => {
                let start = line.start;
                let value = start + value.start..start + value.end.max(value.start);
                found.push(Block { key, lines: line, value });
            }
            None if text[line.clone()].trim().is_empty() || text[line.clone()].starts_with('#') => {
            }
            None => {
                if let Some(last) = found.last_mut() {
                    last.lines.end = line.end;
                }
            }
        }
    }
    found
}

/// A YAML error with its place counted from the start of the YAML.
struct Problem {
    message: String,
    offset: Option<usize>,
}

/// How the parser begins to say that a key stands twice; the key follows, quoted.
const TWICE: &str = "duplicate entry with key ";

impl Problem {
    fn at(self, source: &Arc<Source>, yaml: &Range<usize>, blocks: &[Block]) -> Diagnostic {
        let offset = yaml.start + self.offset.unwrap_or(0).min(yaml.len());
        let problem =
            Diagnostic::error(format!("the frontmatter is not valid YAML: {}", self.message));
        let Some((inside, key)) = self.message.split_once(TWICE) else {
            return problem.at(source, offset..offset).note(
                "put quotes around values that hold `: `, `#` or start with a special character",
            );
        };
        // The parser points at the start of the mapping, which tells nobody where to look.
        let (inside, key) = (inside.trim_end_matches([':', ' ']), key.trim_matches('"'));
        let place = if inside.is_empty() {
            let mut same = blocks.iter().filter(|block| block.key == key);
            same.nth(1).map(|block| block.lines.start)
        } else {
            let parent = blocks.iter().find(|block| block.key == inside);
            parent.and_then(|parent| {
                let below = lines(&source.text, &parent.lines).skip(1);
                let mut starts = below.filter_map(|line| {
                    let content = source.text[line.clone()].trim_start();
                    let (found, _) = key_of(content)?;
                    (found == key).then(|| line.end - content.len())
                });
                starts.nth(1)
            })
        };
        let place = place.map_or(offset..offset, |start| start..start + key.len());
        problem.at(source, place).note(format!("keep one `{key}`"))
    }
}

fn read_yaml(yaml: &str) -> Result<Mapping, Problem> {
    let failed = |error: &serde_yaml::Error| Problem {
        message: plain_message(error),
        offset: error.location().map(|place| place.index()),
    };
    let bounded = if yaml.len() > LONGEST {
        Some((LONGEST, "it is longer than 64 KiB"))
    } else {
        too_costly(yaml)
    };
    if let Some((at, message)) = bounded {
        return Err(Problem { message: message.to_owned(), offset: Some(at) });
    }
    let mut value: Value = serde_yaml::from_str(yaml).map_err(|error| failed(&error))?;
    value.apply_merge().map_err(|error| failed(&error))?;
    match value {
        Value::Mapping(values) => Ok(values),
        Value::Null => Ok(Mapping::new()),
        _ => Err(Problem { message: "it must be `key: value` lines".to_owned(), offset: None }),
    }
}

/// The parser's sentence without its place, which counts from the wrong line.
fn plain_message(error: &serde_yaml::Error) -> String {
    let message = error.to_string();
    match message.find(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

/// The YAML with every mend applied.
pub(super) fn apply(text: &str, yaml: &Range<usize>, mends: &[Mend]) -> String {
    let mut out = String::with_capacity(yaml.len() + 16);
    let mut at = yaml.start;
    for mend in mends {
        out.push_str(&text[at..mend.lines.start]);
        out.push_str(&mend.text);
        at = mend.lines.end;
    }
    out.push_str(&text[at..yaml.end]);
    out
}

pub(super) fn line_ending(text: &str, lines: &Range<usize>) -> &'static str {
    let block = &text[lines.clone()];
    if block.ends_with("\r\n") {
        "\r\n"
    } else if block.ends_with('\n') {
        "\n"
    } else {
        ""
    }
}
