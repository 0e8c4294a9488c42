//! Text from outside, made harmless, and the columns it takes on a terminal.

use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

use crate::text::url::without_secrets;

/// Letters without a look of their own that hide text or turn the direction of writing: zero-width
/// and bidirectional marks, embeddings, overrides, isolates and tags (Unicode, "Bidi_Control" and
/// "Default_Ignorable_Code_Point").
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether `letter` ends a line or steers the terminal.
fn is_steering(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// `text` as one line that can be shown and logged: without the secrets of URLs; control characters
/// and the separators of lines become spaces, letters that turn the direction of writing go.
pub(crate) fn safe(text: &str) -> String {
    let text = without_secrets(text);
    let kept = text.chars().filter(|letter| !is_invisible(*letter));
    kept.map(|letter| if is_steering(letter) { ' ' } else { letter }).collect()
}

/// `text` of several lines as it may be written: tabs, ends of lines and the styles of ours stay,
/// everything else is as [`safe`] has it. All that people see goes through this, whoever forgot, so
/// no secret of a URL is left either.
pub(super) fn sanitize(text: &str) -> String {
    let text = without_secrets(text).into_owned();
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(letter) = rest.chars().next() {
        let length = style_length(rest).unwrap_or(letter.len_utf8());
        match letter {
            '\n' | '\t' => clean.push(letter),
            '\u{1b}' if length > 1 => clean.push_str(&rest[..length]),
            _ if is_invisible(letter) => {}
            _ if is_steering(letter) => clean.push(' '),
            _ => clean.push(letter),
        }
        rest = &rest[length..];
    }
    clean
}

/// The length of the style that `text` begins with: bold, dim, italic, underlined, the six colours,
/// and the end of all. Hidden text, blinking text and backgrounds are no styles of ours.
fn style_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix("\u{1b}[")?;
    let end = body.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    let is_ours = |code: &str| {
        matches!(code, "" | "22" | "23" | "24" | "39")
            || matches!(code.as_bytes(), [b'0'..=b'4'] | [b'3' | b'9', b'1'..=b'6'])
    };
    (body[end..].starts_with('m') && body[..end].split(';').all(is_ours))
        .then_some("\u{1b}[".len() + end + 1)
}

/// `value` as a line of JSON that is fit to be shown: without the secrets of URLs, and with
/// everything that steers a
/// terminal written as its number: readers get the same text.
pub(super) fn sanitize_json(value: &impl serde::Serialize) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(value)?;
    hide_secrets(&mut value);
    let line = value.to_string();
    let mut clean = String::with_capacity(line.len());
    for letter in line.chars() {
        if is_steering(letter) || is_invisible(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                clean.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            clean.push(letter);
        }
    }
    Ok(clean)
}

fn hide_secrets(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_secrets(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(hide_secrets),
        Value::Object(fields) => fields.values_mut().for_each(hide_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How many columns a terminal gives `letter`.
pub(super) fn width_of(letter: char) -> usize {
    letter.width().unwrap_or_default()
}

/// How many columns a terminal gives `text`.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// The start of `text` that fits `width` columns, as a length in bytes; at least one letter.
pub(super) fn end_within(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += width_of(letter);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_that_turn_the_direction_of_writing_go() {
        assert_eq!(safe("a\u{202e}b\u{2066}c\u{200f}d\u{61c}\u{1b}[1m\ne"), "abcd [1m e");
    }

    #[test]
    fn only_styles_of_ours_stay() {
        let ours = "\u{1b}[1m\u{1b}[32mgood\u{1b}[0m\n\tx\u{1b}[4;31my\u{1b}[m";
        assert_eq!(sanitize(ours), ours);
        for (theirs, left) in [
            ("a\u{1b}[8mhidden", "a [8mhidden"),
            ("a\u{1b}[1;47mb", "a [1;47mb"),
            ("a\u{1b}[2Jb", "a [2Jb"),
            ("a\u{1b}]0;title\u{7}b", "a ]0;title b"),
            ("a\u{9b}31mb\rc", "a 31mb c"),
            ("a\u{202e}b\u{1b}", "ab "),
            ("\u{1b}[1", " [1"),
        ] {
            assert_eq!(sanitize(theirs), left);
        }
    }

    #[test]
    fn json_says_the_same_in_letters_that_do_nothing() {
        let text = "é\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}漢";
        let line = sanitize_json(&text).expect("it is text");
        assert_eq!(line, r#""é\u007f\u009b\u202e\u2028\udb40\udc41漢""#);
        assert_eq!(serde_json::from_str::<String>(&line).expect("it is JSON"), text);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(columns("漢字a"), 5);
        assert_eq!(&"漢字a"[..end_within("漢字a", 3)], "漢");
        assert_eq!(end_within("漢", 1), "漢".len());
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            let clean = safe(&text);
            prop_assert!(!clean.chars().any(|c| c.is_control() || is_invisible(c)));
            prop_assert_eq!(safe(&clean), clean);
            let guarded = sanitize(&text);
            let plain = anstream::adapter::strip_str(&guarded).to_string();
            let line = |c: char| matches!(c, '\n' | '\t');
            prop_assert!(!plain.chars().any(|c| !line(c) && is_steering(c) || is_invisible(c)));
            prop_assert_eq!(sanitize(&guarded), guarded);
        }
    }
}
