//! Lines that stay within a width: broken between words, wherever the text goes.

use super::safe::{columns, end_within, safe};

/// What is done with a word that is longer than a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Long {
    /// It is cut, a path between folders.
    Cut,
    /// It stays whole on a line of its own: paths and addresses are there to be copied.
    Whole,
}

/// `text` in lines of at most `width` columns, cut at spaces; three spaces between parts stay
/// together on a line. A word longer than that is cut, a path between folders. Text from outside
/// can't steer the terminal: see [`safe`].
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    break_lines(&safe(text), [width, width], Long::Cut, columns)
}

/// As [`wrap`], for a first line of `first` columns and more lines of `rest`.
pub(crate) fn wrap_hanging(text: &str, first: usize, rest: usize, long: Long) -> Vec<String> {
    break_lines(&safe(text), [first, rest], long, columns)
}

/// As [`wrap`], for one line that has its styles already; words stay whole, and its indent is that
/// of the other lines, and a bit more.
pub(super) fn wrap_styled(line: &str, width: usize) -> String {
    let bare = line.trim_start_matches(' ');
    let indent = line.len() - bare.len();
    let measure = |text: &str| columns(&anstream::adapter::strip_str(text).to_string());
    let width = width.saturating_sub(indent);
    let lines = break_lines(bare, [width, width.saturating_sub(2)], Long::Whole, measure);
    let pad = " ".repeat(indent);
    format!("{pad}{}", lines.join(&format!("\n{pad}  ")))
}

fn break_lines(
    text: &str,
    [first, rest]: [usize; 2],
    long: Long,
    measure: impl Fn(&str) -> usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut gap = 0;
    for word in text.split(' ') {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        let mut word = word;
        let mut width = if lines.is_empty() { first } else { rest };
        if !line.is_empty() && measure(word) > width.saturating_sub(measure(&line) + gap) {
            lines.push(std::mem::take(&mut line));
            width = rest;
        }
        if !line.is_empty() {
            line.push_str(&" ".repeat(gap));
        }
        loop {
            let end = if long == Long::Cut { end_within(word, width) } else { word.len() };
            if end == word.len() {
                break;
            }
            // A path reads best when it is cut between folders.
            let cut = word[..end].rfind(std::path::is_separator).map_or(end, |slash| slash + 1);
            lines.push(word[..cut].to_owned());
            word = &word[cut..];
            width = rest;
        }
        line.push_str(word);
        gap = 1;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_wrap_and_gaps_stay() {
        assert_eq!(wrap("one two  three", 9), ["one two", "three"]);
        assert_eq!(wrap("a   b c", 20), ["a   b c"]);
        assert_eq!(wrap("abcdefgh i", 4), ["abcd", "efgh", "i"]);
        assert_eq!(wrap("/ab/cde/fgh", 9), ["/ab/cde/", "fgh"]);
        assert_eq!(wrap("a\u{1b}[1mb", 20), ["a [1mb"]);
        assert_eq!(wrap("a\u{202e}b", 20), ["ab"]);
        assert_eq!(wrap("漢字漢字 a", 5), ["漢字", "漢字", "a"]);
        assert_eq!(wrap("", 20), [""; 0]);
    }

    #[test]
    fn a_word_without_end_is_cut_in_the_time_that_its_length_takes() {
        let start = std::time::Instant::now();
        assert_eq!(wrap(&"x".repeat(1_000_000), 80).len(), 12_500);
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    }

    #[test]
    fn long_words_can_stay_whole_and_first_lines_be_shorter() {
        let lines = |long| wrap_hanging("one /two/three/four five", 5, 9, long);
        assert_eq!(lines(Long::Whole), ["one", "/two/three/four", "five"]);
        assert_eq!(lines(Long::Cut), ["one", "/two/", "three/", "four five"]);
    }

    #[test]
    fn styles_take_no_columns() {
        let line = "  \u{1b}[1mone\u{1b}[0m two three";
        assert_eq!(wrap_styled(line, 9), "  \u{1b}[1mone\u{1b}[0m two\n    three");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_it_may_be_and_no_letter_is_lost(
            text in "[a-zé漢 -]{0,200}", first in 4_usize..60, rest in 4_usize..60,
        ) {
            let lines = wrap_hanging(&text, first, rest, Long::Cut);
            for (at, line) in lines.iter().enumerate() {
                prop_assert!(columns(line) <= if at == 0 { first } else { rest }, "{lines:?}");
            }
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
