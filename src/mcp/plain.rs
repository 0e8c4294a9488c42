//! Answers as models get them: harmless, and of bounded length.

use crate::report::safe;

/// Bytes of one answer.
const LIMIT: usize = 32 * 1024;

/// `text` without anything that is not to be seen (tabs and ends of lines stay), cut at the end of a
/// line, which is said. What is in an answer is a crate's or a skill's text, and never more than that.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut lines = text.trim_end().lines();
    while let Some(line) = lines.next() {
        let line: Vec<String> = line.split('\t').map(safe).collect();
        let line = line.join("\t");
        if plain.len() + line.len() > LIMIT {
            let left = lines.count() + 1;
            plain.push_str(&format!("… cut here: {left} more lines"));
            return plain;
        }
        plain.push_str(line.trim_end_matches(' '));
        plain.push('\n');
    }
    plain.truncate(plain.trim_end_matches('\n').len());
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_hides_goes_and_the_form_of_the_text_stays() {
        let text = "a\u{1b}[31mb\u{202e}\r\n\tx\u{200b}\u{e0041}y  \n\nend\n\n";
        assert_eq!(plain(text), "a [31mb\n\txy\n\nend");
    }

    #[test]
    fn however_long_it_is_it_ends_at_a_line_and_says_so() {
        let text = "0123456789\n".repeat(LIMIT);
        let cut = plain(&text);
        assert!(cut.len() <= LIMIT + 100, "{}", cut.len());
        assert!(cut.ends_with(" more lines") && cut.contains("0123456789\n… cut here: "), "{cut}");
        let one = plain(&"x".repeat(2 * LIMIT));
        assert_eq!(one, "… cut here: 1 more lines");
    }
}
