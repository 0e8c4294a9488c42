//! What a misspelt name was probably meant to be.

/// Suggestions at most.
const MOST: usize = 3;
/// A longer text is no misspelling.
const LONGEST: usize = 64;

/// The candidates nearest to `text`, nearest first; `-` and `_`, and letters' case, are equal.
pub(crate) fn closest<'c>(
    text: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Vec<&'c str> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let text = plain(text);
    let length = text.chars().count();
    let wanted = letters(&text);
    let bound = (length / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 2 * LONGEST)
        // A hundred thousand names of a crate may be asked about.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= bound)
        .map(|candidate| (plain(candidate), candidate))
        // What has too many other letters is not taken apart: of libc's 40,000 names, a tenth is left.
        .filter(|(plain, _)| {
            let own = letters(plain);
            (own & !wanted).count_ones().max((wanted & !own).count_ones()) as usize <= bound
        })
        .map(|(plain, candidate)| (strsim::damerau_levenshtein(&plain, &text), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// A bit for each letter of `a` to `z` and digit that `text` has, and one for all others.
fn letters(text: &str) -> u64 {
    let bit = |byte: u8| match byte {
        b'a'..=b'z' => byte - b'a',
        b'0'..=b'9' => byte - b'0' + 26,
        _ => 36,
    };
    text.bytes().fold(0, |all, byte| all | 1 << bit(byte))
}

/// The candidate that `text` was probably meant to be.
pub(crate) fn suggestion<'c>(text: &str, candidates: &[&'c str]) -> Option<&'c str> {
    closest(text, candidates.iter().copied()).first().copied()
}

/// A note that asks whether one of `names` was meant; `None` without any.
pub(crate) fn did_you_mean(names: &[&str]) -> Option<String> {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, rest) = quoted.split_last()?;
    Some(match rest {
        [] => format!("did you mean {last}?"),
        rest => format!("did you mean {} or {last}?", rest.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_nearest_first_and_far_ones_not_at_all() {
        let known = ["serde", "serde_json", "tokio", "sedre"];
        assert_eq!(closest("serdee", known), ["serde", "sedre"]);
        assert_eq!(closest("Serde-JSON", known), ["serde_json"]);
        assert_eq!(closest("axum", known), [""; 0]);
        assert_eq!(closest(&"x".repeat(10_000), known), [""; 0]);
    }

    #[test]
    fn suggestions_are_near_in_letters() {
        let known = ["install_commands", "crates", "depends-on"];
        assert_eq!(suggestion("crate", &known), Some("crates"));
        assert_eq!(suggestion("depends_on", &known), Some("depends-on"));
        assert_eq!(suggestion("Crates", &known), Some("crates"));
        assert_eq!(suggestion("colour", &known), None);
        assert_eq!(suggestion(&"x".repeat(100_000), &known), None);
    }

    #[test]
    fn the_question_names_all_of_them() {
        assert_eq!(did_you_mean(&[]), None);
        assert_eq!(did_you_mean(&["a"]).as_deref(), Some("did you mean `a`?"));
        assert_eq!(did_you_mean(&["a", "b"]).as_deref(), Some("did you mean `a` or `b`?"));
    }
}
