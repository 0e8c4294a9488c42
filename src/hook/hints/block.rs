//! What rustc prints of one error, taken apart: its message, and below it the places it shows.

use std::borrow::Cow;

/// Lines that one error may have; the rest of a longer one says nothing of the item.
const LONGEST: usize = 120;
/// Errors of one result that are looked at.
const MOST: usize = 40;
/// What each error of a kind that is looked at begins with.
const MARKS: [&str; 2] = ["error[E", ": use of deprecated "];

/// One error or warning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block<'t> {
    /// `E0432`; a deprecation has none.
    pub code: Option<&'t str>,
    pub message: &'t str,
    /// The first is of the error itself, those after it of its notes.
    pub parts: Vec<Part<'t>>,
}

/// A place that is shown, with what is said of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part<'t> {
    /// `note: …` or `help: …`; empty for the error itself.
    pub heading: &'t str,
    pub file: Option<&'t str>,
    /// The number of the line that is shown first.
    pub line: usize,
    /// Lines of code and of marks below them, after the bar.
    pub lines: Vec<Line<'t>>,
    /// Remarks (`= note: …`).
    pub remarks: Vec<&'t str>,
}

/// A line right of the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// Whether it is a line of the file: it has a number.
    pub is_code: bool,
    pub text: &'t str,
}

/// A marked piece of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked<'t> {
    pub line: &'t str,
    /// The first marked letter and the one after the last, in bytes of `line`.
    pub from: usize,
    pub to: usize,
    /// Whether it is what the error is about, not only something beside it.
    pub is_primary: bool,
    /// What stands right of the marks.
    pub label: &'t str,
}

/// Whether `bytes`, an event as it came, can hold an error that is looked at. Escapes do not matter:
/// neither mark has a letter that JSON would escape.
pub(in crate::hook) fn may_hold_errors(bytes: &[u8]) -> bool {
    MARKS.iter().any(|mark| memchr::memmem::find(bytes, mark.as_bytes()).is_some())
}

/// `text` as rustc's plain output: without colours, and with the rendered text of JSON messages in
/// the place of their lines. It ends where there are as many errors in it as are looked at.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let text = without_colours(Cow::Borrowed(text));
    if !text.contains(RENDERED) {
        return text;
    }
    let mut plain = String::new();
    let mut errors = 0;
    let mut lines = text.lines();
    while errors < MOST
        && let Some(line) = lines.next()
    {
        // Nothing of another message is looked at, but its line ends what stands before it.
        let is_other = line.starts_with('{') && !may_hold_errors(line.as_bytes());
        if !is_other {
            match rendered(line) {
                Some(rendered) => {
                    let rendered = without_colours(Cow::Owned(rendered));
                    errors += blocks(&rendered).len();
                    plain.push('\n');
                    plain.push_str(&rendered);
                }
                None => plain.push_str(line),
            }
        }
        plain.push('\n');
    }
    Cow::Owned(plain)
}

fn without_colours(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\u{1b}') {
        return Cow::Owned(anstream::adapter::strip_str(&text).to_string());
    }
    text
}

/// The key of a JSON message that holds what people would be shown.
const RENDERED: &str = "\"rendered\":\"";

/// The text for people in a line of JSON, also where the line is cut off.
fn rendered(line: &str) -> Option<String> {
    let start = line.find(RENDERED)? + RENDERED.len() - 1;
    let mut texts = serde_json::Deserializer::from_str(&line[start..]).into_iter::<String>();
    if let Some(Ok(text)) = texts.next() {
        return Some(text);
    }
    // The line ends in it, perhaps in an escape.
    let cut = line[start..].trim_end();
    let whole = (0..12).find_map(|less| {
        let end = cut.len().checked_sub(less).filter(|end| cut.is_char_boundary(*end))?;
        serde_json::from_str::<String>(&format!("{}\"", &cut[..end])).ok()
    });
    // What follows the cut may be missing: only whole lines count.
    whole.map(|text| text.rsplit_once('\n').map_or(String::new(), |(lines, _)| lines.to_owned()))
}

/// The errors in plain output, whatever else is in it.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while found.len() < MOST
        && let Some(mark) = next_mark(&text[at..])
    {
        let start = text[..at + mark].rfind('\n').map_or(0, |newline| newline + 1);
        let mut lines = text[start..].lines();
        let head = lines.next().unwrap_or_default();
        at = (start + head.len()).max(at + mark + 1);
        let Some(mut block) = Block::of_head(head) else { continue };
        let is_over = |line: &&str| line.trim().is_empty() || Block::of_head(line).is_some();
        for line in lines.take_while(|line| !is_over(line)).take(LONGEST) {
            block.add(line.trim_end());
        }
        found.push(block);
    }
    found
}

/// Where the first mark is. One that is further off than another's first is not looked for: there may be
/// a megabyte without any.
fn next_mark(text: &str) -> Option<usize> {
    let [error, deprecated] = MARKS.map(str::as_bytes);
    let first = memchr::memmem::find(text.as_bytes(), error);
    let near = &text.as_bytes()[..first.unwrap_or(text.len())];
    memchr::memmem::find(near, deprecated).or(first)
}

impl<'t> Block<'t> {
    /// What a line begins, if it is the first of an error or a deprecation. The short form has the
    /// place before it.
    fn of_head(line: &'t str) -> Option<Self> {
        let (before, code, message) = if let Some((before, rest)) = line.split_once("error[") {
            let (code, message) = rest.split_once("]: ")?;
            let is_code = code.len() == 5 && code.starts_with('E');
            (before, Some(code).filter(|_| is_code), message)
        } else {
            let (before, message) = line.split_once(": use of deprecated ")?;
            let before = before.strip_suffix("warning").or(before.strip_suffix("error"))?;
            (before, None, &line[line.len() - message.len() - "use of deprecated ".len()..])
        };
        if code.is_none() && !message.starts_with("use of deprecated ") {
            return None;
        }
        let file = before.trim().strip_suffix(':').and_then(place).map(|(file, _)| file);
        if file.is_none() && !before.trim().is_empty() {
            return None;
        }
        let first = Part { file, ..Part::default() };
        Some(Self { code, message: message.trim_end(), parts: vec![first] })
    }

    fn add(&mut self, line: &'t str) {
        let text = line.trim_start();
        let Some(part) = self.parts.last_mut() else { return };
        if let Some(file) = text.strip_prefix("--> ").or_else(|| text.strip_prefix("::: ")) {
            let Some((file, line)) = place(file) else { return };
            if part.file.is_none() {
                (part.file, part.line) = (Some(file), line);
            } else {
                let heading = part.heading;
                self.parts.push(Part { heading, file: Some(file), line, ..Part::default() });
            }
        } else if text.starts_with("note: ") || text.starts_with("help: ") {
            self.parts.push(Part { heading: text, ..Part::default() });
        } else if let Some(remark) = text.strip_prefix("= ") {
            part.remarks.push(remark);
        } else if let Some((number, code)) = line.split_once('|')
            && number.trim().bytes().all(|byte| byte.is_ascii_digit())
        {
            let is_code = !number.trim().is_empty();
            part.lines.push(Line { is_code, text: code.strip_prefix(' ').unwrap_or(code) });
        }
    }

    /// The error's own part.
    pub(super) fn main(&self) -> Option<&Part<'t>> {
        self.parts.first()
    }
}

impl<'t> Part<'t> {
    /// The marked pieces of code, line by line.
    pub(super) fn marked(&self) -> Vec<Marked<'t>> {
        let mut found = Vec::new();
        let mut code: Option<&'t str> = None;
        for line in &self.lines {
            if line.is_code {
                code = Some(line.text);
                continue;
            }
            let Some(code) = code else { continue };
            found.extend(marks(line.text).filter_map(|(from, to, is_primary, label)| {
                let from = byte_at(code, from)?;
                let to = byte_at(code, to)?;
                Some(Marked { line: code, from, to, is_primary, label })
            }));
        }
        found
    }
}

/// The runs of `^` and `-` in a line of marks, in letters; the last one has the label.
fn marks(line: &str) -> impl Iterator<Item = (usize, usize, bool, &str)> {
    let mut runs = Vec::new();
    let mut letters = line.char_indices().enumerate().peekable();
    while let Some((column, (_, letter))) = letters.next() {
        if letter != '^' && letter != '-' {
            if letter != ' ' && letter != '|' {
                break;
            }
            continue;
        }
        let mut end = column + 1;
        while letters.next_if(|(_, (_, next))| *next == letter).is_some() {
            end += 1;
        }
        let label = letters.peek().map_or("", |(_, (at, _))| line[*at..].trim());
        runs.push((column, end, letter == '^', label));
    }
    runs.into_iter()
}

/// Where the letter in this column begins; tabs are shown as four spaces by rustc itself.
fn byte_at(line: &str, column: usize) -> Option<usize> {
    let mut starts = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    starts.nth(column)
}

/// File and line of `src/main.rs:3:12`.
fn place(text: &str) -> Option<(&str, usize)> {
    let (rest, column) = text.trim().rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    column.parse::<usize>().ok()?;
    Some((file, line.parse().ok()?)).filter(|_| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "   Compiling shop v0.1.0\n\
        error[E0433]: cannot find `Server` in `axum`\n \
        --> src/main.rs:5:11\n  \
          |\n\
        5 |     axum::Server::bind(address)\n  \
          |           ^^^^^^ could not find `Server` in `axum`\n\
        \n\
        For more information about this error, try `rustc --explain E0433`.\n";

    #[test]
    fn an_error_has_its_code_its_file_and_what_is_marked() {
        let found = blocks(OUTPUT);
        assert_eq!(found.len(), 1);
        let main = found[0].main().expect("a part");
        assert_eq!((found[0].code, main.file), (Some("E0433"), Some("src/main.rs")));
        let marked = &main.marked()[0];
        assert_eq!(&marked.line[marked.from..marked.to], "Server");
        assert!(marked.is_primary && marked.label.starts_with("could not find"));
    }

    #[test]
    fn colours_json_and_the_short_form_say_the_same() {
        let coloured = "\u{1b}[1m\u{1b}[91merror[E0433]\u{1b}[0m: \u{1b}[1mno\u{1b}[0m\n";
        assert_eq!(blocks(&plain(coloured))[0].message, "no");
        let json =
            serde_json::json!({"reason": "compiler-message", "message": {"rendered": OUTPUT}});
        assert_eq!(blocks(&plain(&json.to_string())), blocks(OUTPUT));
        let short = "src/main.rs:5:11: error[E0433]: cannot find `Server` in `axum`";
        let found = blocks(short);
        assert_eq!(found[0].main().expect("a part").file, Some("src/main.rs"));
    }

    #[test]
    fn of_many_messages_those_with_errors_are_read_until_there_are_enough() {
        let message = |text: &str| {
            let fields = serde_json::json!({"rendered": text});
            serde_json::json!({"reason": "compiler-message", "message": fields}).to_string() + "\n"
        };
        let error =
            |number: usize| format!("error[E0425]: no `item_{number}`\n --> src/a.rs:1:1\n");
        let other = message("warning: unused\n --> src/b.rs:2:2\n");
        let artifact = "{\"reason\":\"compiler-artifact\"}\n";
        let mut output = format!("{}{artifact}{other}", error(0));
        for number in 1..MOST + 3 {
            output += &(other.clone() + &message(&error(number)) + artifact + &other);
        }
        let text = plain(&output);
        let found = blocks(&text);
        assert_eq!(found.len(), MOST);
        for (number, block) in found.iter().enumerate() {
            assert_eq!(block.message, format!("no `item_{number}`"));
            assert_eq!(block.parts.len(), 1);
            assert_eq!(block.parts[0].file, Some("src/a.rs"));
        }
        assert!(text.len() < output.len() / 2, "{}", text.len());
    }

    #[test]
    fn a_message_that_is_cut_off_counts_as_far_as_it_goes() {
        let json = serde_json::json!({"message": {"rendered": OUTPUT}}).to_string();
        for end in 0..json.len() {
            let cut = json.get(..end).map(plain).unwrap_or_default();
            let found = blocks(&cut);
            assert!(found.iter().all(|block| block.message.ends_with('`')), "{cut}");
        }
        let whole = &json[..json.find("try").expect("is there")];
        assert_eq!(blocks(&plain(whole)), blocks(OUTPUT));
    }

    #[test]
    fn what_only_speaks_of_errors_is_none() {
        for text in [
            "see error[E0433]: it is about paths",
            "error[index]: no",
            "error[E0433] no colon",
            "the book: use of deprecated functions",
            "warning: unused import: `x`",
        ] {
            assert_eq!(blocks(text), [], "{text}");
        }
    }
}
