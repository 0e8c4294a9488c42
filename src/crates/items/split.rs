//! Where the items of a file begin and end.
//!
//! Published crates have files of megabytes, of which a lookup needs a few lines: to take them all
//! apart would cost ten times what it may. So a file is only cut here, by its brackets, strings and
//! comments, and `syn` parses the pieces that have the wanted name in them.

use std::ops::Range;

/// A piece of a file that may be an item, a field or a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub range: Range<usize>,
    /// What is between the braces that it ends with, or has last.
    pub body: Option<Range<usize>>,
    /// Whether names may stand for it that it does not have in it: `use x::*`.
    pub is_open: bool,
}

impl Piece {
    fn of(text: &str, range: Range<usize>, body: Option<Range<usize>>) -> Self {
        Self { is_open: may_be_open(&text[range.clone()]), range, body }
    }

    /// Where it stands without its body and the braces around that.
    pub(super) fn head(&self) -> Range<usize> {
        let end = self.body.as_ref().map_or(self.range.end, |body| body.start - 1);
        self.range.start..end
    }
}

/// Whether names may come with `text` that it does not have in it, as far as its marks tell.
pub(super) fn may_be_open(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |word: &str| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    let mut ends = memchr::memchr_iter(b'*', bytes).map(|at| bytes.get(at + 1));
    let mut has_end = false;
    ends.any(|next| {
        has_end |= next == Some(&b';');
        matches!(next, Some(b',' | b'}'))
    }) || has_end && has("use ")
        || has("include!")
}

/// What ends a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ends {
    /// `;` or a block: items.
    Items,
    /// `,`: fields and variants.
    Commas,
}

/// The bytes that say where something begins or ends; most of a file is none of these.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let all = b"/\"r'([{)]};<>,";
    let mut at = 0;
    while at < all.len() {
        marks[all[at] as usize] = true;
        at += 1;
    }
    marks
};

/// The pieces of `range` in `text`.
pub(super) fn split(text: &str, range: Range<usize>, ends: Ends) -> Vec<Piece> {
    let bytes = &text.as_bytes()[..range.end];
    let mut pieces = Vec::new();
    let (mut at, mut start) = (range.start, range.start);
    let (mut depth, mut angles) = (0_usize, 0_usize);
    let mut open = None;
    let mut body: Option<Range<usize>> = None;
    while let Some(plain) = bytes[at..].iter().position(|byte| MARKS[usize::from(*byte)]) {
        at += plain;
        if let Some(after) = skipped(text, bytes, at) {
            at = after.min(bytes.len());
            continue;
        }
        let mut is_end = false;
        match bytes[at] {
            byte @ (b'(' | b'[' | b'{') => {
                if depth == 0 && byte == b'{' {
                    open = Some(at);
                }
                depth += 1;
            }
            byte @ (b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && byte == b'}' {
                    body = open.take().map(|open| open + 1..at);
                    is_end = ends == Ends::Items;
                }
            }
            b';' => is_end = depth == 0 && ends == Ends::Items,
            b'<' if bytes.get(at + 1) == Some(&b'<') => at += 1,
            b'<' if depth == 0 => angles += 1,
            b'>' if depth == 0 && !matches!(bytes[..at].last(), Some(b'-' | b'=')) => {
                angles = angles.saturating_sub(1);
            }
            b',' => is_end = depth == 0 && angles == 0 && ends == Ends::Commas,
            _ => {}
        }
        at += 1;
        if is_end {
            pieces.push(Piece::of(text, start..at, body.take()));
            (start, angles, open) = (at, 0, None);
        }
    }
    if !text[start..range.end].trim().is_empty() {
        pieces.push(Piece::of(text, start..range.end, body));
    }
    pieces
}

/// The end of the comment, string or letter that begins at `at`.
fn skipped(text: &str, bytes: &[u8], at: usize) -> Option<usize> {
    let next = bytes.get(at + 1).copied();
    match bytes[at] {
        b'/' if next == Some(b'/') => {
            Some(memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |line| at + line))
        }
        b'/' if next == Some(b'*') => Some(after_comment(bytes, at)),
        b'"' => Some(after_string(bytes, at + 1, b'"')),
        b'r' => after_raw_string(bytes, at),
        b'\'' => {
            if next == Some(b'\\') {
                return Some(after_string(bytes, at + 1, b'\''));
            }
            // Without a closing mark it is a lifetime.
            let letter = text.get(at + 1..)?.chars().next()?.len_utf8();
            (bytes.get(at + 1 + letter) == Some(&b'\'')).then_some(at + 2 + letter)
        }
        _ => None,
    }
}

fn after_comment(bytes: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at + 2, 1);
    while depth > 0 {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (at, depth) = (at + 2, depth + 1),
            Some(b"*/") => (at, depth) = (at + 2, depth - 1),
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
    at
}

fn after_string(bytes: &[u8], mut at: usize, mark: u8) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == mark => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `r"…"`, `br#"…"#`; `None` where the `r` is a part of a name.
fn after_raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = match bytes[..at].split_last() {
        Some((b'b' | b'c', before)) => before,
        _ => &bytes[..at],
    };
    if before.last().is_some_and(is_part) {
        return None;
    }
    let marks = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + 1 + marks;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(marks));
    let found = memchr::memmem::find(&bytes[open + 1..], end.as_bytes());
    Some(found.map_or(bytes.len(), |found| open + 1 + found + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, ends: Ends) -> Vec<&str> {
        let all = split(text, 0..text.len(), ends);
        all.into_iter().map(|piece| text[piece.range].trim()).collect()
    }

    #[test]
    fn items_end_with_a_semicolon_or_a_block() {
        let text = "use a::b;\n/// {\nfn f(x: [u8; 2]) -> char { '{' }\nstruct A<'a>(&'a str);\n\
                    /* } /* ; */ */ const S: &str = r#\"\"; {\"#;\nmod m { fn g() {} }\nimpl B {";
        let expected = [
            "use a::b;",
            "/// {\nfn f(x: [u8; 2]) -> char { '{' }",
            "struct A<'a>(&'a str);",
            "/* } /* ; */ */ const S: &str = r#\"\"; {\"#;",
            "mod m { fn g() {} }",
            "impl B {",
        ];
        assert_eq!(pieces(text, Ends::Items), expected);
        let last = &split(text, 0..text.len(), Ends::Items)[4];
        assert_eq!(&text[last.head()], "\nmod m ");
        assert_eq!(&text[last.body.clone().expect("has one")], " fn g() {} ");
    }

    #[test]
    fn fields_and_variants_end_with_a_comma() {
        let text = "a: HashMap<K, Vec<V>>, b: fn(A, B) -> C, C { d: D, e: E }, F = 1 << 2, G";
        let expected = [
            "a: HashMap<K, Vec<V>>,",
            "b: fn(A, B) -> C,",
            "C { d: D, e: E },",
            "F = 1 << 2,",
            "G",
        ];
        assert_eq!(pieces(text, Ends::Commas), expected);
    }

    proptest::proptest! {
        /// Whatever stands in it, the pieces are all of it but the end, in order.
        #[test]
        fn any_text_is_split(text in "[a-z{}()\\[\\]<>;,'\"/*#r \n\\\\é]{0,60}") {
            for ends in [Ends::Items, Ends::Commas] {
                let mut at = 0;
                for piece in split(&text, 0..text.len(), ends) {
                    proptest::prop_assert_eq!(piece.range.start, at);
                    proptest::prop_assert!(text.get(piece.range.clone()).is_some());
                    proptest::prop_assert!(text.get(piece.head()).is_some());
                    at = piece.range.end;
                }
            }
        }
    }
}
