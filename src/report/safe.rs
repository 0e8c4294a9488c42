//! Text from outside, made harmless, and the columns it takes on a terminal.

use unicode_width::UnicodeWidthChar as _;

/// Letters without a look of their own that hide text or turn the direction of writing: zero-width
/// and bidirectional marks, embeddings, overrides and isolates (Unicode, "Bidi_Control" and
/// "Default_Ignorable_Code_Point").
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// `text` as one line that can't steer a terminal: control characters and the separators of lines
/// become spaces, letters that turn the direction of writing go.
pub fn safe(text: &str) -> String {
    let kept = text.chars().filter(|letter| !is_invisible(*letter));
    let breaks = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    kept.map(|letter| if breaks(letter) { ' ' } else { letter }).collect()
}

/// How many columns a terminal gives `letter`.
pub fn width_of(letter: char) -> usize {
    letter.width().unwrap_or_default()
}

/// How many columns a terminal gives `text`.
pub fn columns(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// The start of `text` that fits `width` columns, as a length in bytes; at least one letter.
pub fn end_within(text: &str, width: usize) -> usize {
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
        }
    }
}
