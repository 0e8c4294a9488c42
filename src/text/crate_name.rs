//! Names of crates: what can be one, and when two of them mean the same crate.

use std::borrow::Cow;

/// Whether two names mean the same crate: `-` and `_` are equal.
pub(crate) fn same_crate(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte };
    one.len() == other.len() && one.bytes().map(plain).eq(other.bytes().map(plain))
}

/// A name in the spelling in which equal crates have equal names.
pub(crate) fn spelling(name: &str) -> Cow<'_, str> {
    if name.contains('_') { Cow::Owned(name.replace('_', "-")) } else { Cow::Borrowed(name) }
}

/// The name as it is, then with one and the other character throughout.
pub(crate) fn spellings(name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    for other in [name.replace('_', "-"), name.replace('-', "_")] {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// Whether `letter` can stand in a crate's name.
pub(crate) fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

/// Whether `name` can be a package's name in a registry.
pub(crate) fn is_crate_name(name: &str) -> bool {
    check_crate_name(name).is_ok()
}

/// What keeps `name` from being a package's in a registry: a letter or `_`, then letters, digits, `-`
/// and `_`, 64 in all (<https://doc.rust-lang.org/cargo/reference/manifest.html#the-name-field>).
///
/// # Errors
/// What is wrong, as half a sentence.
pub(crate) fn check_crate_name(name: &str) -> Result<(), String> {
    let Some(first) = name.chars().next() else {
        return Err("a crate's name is missing".to_owned());
    };
    if name.len() > 64 {
        return Err("a crate's name has at most 64 characters".to_owned());
    }
    if !name.chars().all(is_name_char) {
        return Err("a crate's name has only letters, digits, `-` and `_`".to_owned());
    }
    if !first.is_ascii_alphabetic() && first != '_' {
        return Err(format!("a crate's name does not start with `{first}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_crates() {
        for good in ["a", "serde_json", "_x", "A-1"] {
            assert!(is_crate_name(good), "{good}");
        }
        for bad in ["", "-a", "1a", "a/b", "..", "a b", "--index", &"a".repeat(65)] {
            assert!(!is_crate_name(bad), "{bad}");
        }
        let wrong = check_crate_name("1a").expect_err("starts with a digit");
        assert_eq!(wrong, "a crate's name does not start with `1`");
    }

    #[test]
    fn both_spellings_of_a_name_are_tried_after_the_name() {
        assert_eq!(spellings("serde"), ["serde"]);
        assert_eq!(spellings("a-b"), ["a-b", "a_b"]);
        assert_eq!(spellings("a-b_c"), ["a-b_c", "a-b-c", "a_b_c"]);
    }
}
