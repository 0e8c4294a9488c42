//! What a skill may be called (agentskills.io, "name"): 1 to 64 lower-case letters, digits and
//! single hyphens inside.

use unicode_normalization::UnicodeNormalization as _;

use crate::files::is_plain_name;
use crate::text::sha256_hex;

/// Characters that a name may have at most.
pub(crate) const NAME_LIMIT: usize = 64;

/// Names that Windows gives to devices: no folder can be called so there.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Whether `name` follows the rules to the letter and can be a folder on every system.
pub(crate) fn conforms(name: &str) -> bool {
    (1..=NAME_LIMIT).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
        && !DEVICES.contains(&name)
}

/// Whether `name` could lead somewhere else when it is used as a folder's name.
pub(crate) fn could_be_a_path(name: &str) -> bool {
    let normal: String = name.nfkc().collect();
    !is_plain_name(name) || !is_plain_name(&normal)
}

/// Whether two names are equal after compatibility normalisation.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    one.nfkc().eq(other.nfkc())
}

/// A conforming name made of `name`: normalised, in lower case, everything else a hyphen. A
/// conforming name is returned as it is.
pub(crate) fn slug(name: &str) -> String {
    if conforms(name) {
        return name.to_owned();
    }
    let words = hyphenated(name);
    let short = cut(&words, NAME_LIMIT);
    if short.is_empty() {
        return format!("skill-{}", &sha256_hex(name.as_bytes())[..8]);
    }
    if DEVICES.contains(&short) {
        return format!("{short}-skill");
    }
    short.to_owned()
}

/// `text` as lower-case letters, digits and single hyphens inside; of any length.
pub(super) fn hyphenated(text: &str) -> String {
    let mut out = String::new();
    for character in text.nfkc().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            out.push(character);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches('-').to_owned()
}

/// The first `limit` bytes of an ASCII `name`, without a hyphen at the end.
pub(super) fn cut(name: &str, limit: usize) -> &str {
    name.get(..limit).unwrap_or(name).trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn section_3_the_rules_for_names() {
        for good in ["a", "serde-basics", "1-2", &"a".repeat(64)] {
            assert!(conforms(good), "{good}");
        }
        for bad in ["", "A", "a_b", "-a", "a-", "a--b", "a.b", "é", "con", &"a".repeat(65)] {
            assert!(!conforms(bad), "{bad}");
        }
    }

    #[test]
    fn section_3_a_name_that_could_be_a_path_is_told_apart() {
        for bad in ["", ".", "..", "../../evil", "/abs", "a\\b", "C:x", "a\0", "a\n", "．．／x"]
        {
            assert!(could_be_a_path(bad), "{bad:?}");
        }
        for odd in ["My Skill", "a_b", "a.b", "über"] {
            assert!(!could_be_a_path(odd), "{odd:?}");
        }
    }

    #[test]
    fn section_3_other_names_become_slugs() {
        assert_eq!(slug("My Skill_2"), "my-skill-2");
        assert_eq!(slug("--a--b--"), "a-b");
        assert_eq!(slug("ＦＵＬＬ"), "full");
        assert_eq!(slug("nul"), "nul-skill");
        assert_eq!(slug("日本"), "skill-cf2abf0c");
    }

    #[test]
    fn names_compare_after_nfkc() {
        assert!(same_name("caf\u{e9}", "cafe\u{301}"));
        assert!(!same_name("cafe", "caf\u{e9}"));
    }

    proptest! {
        #[test]
        fn every_slug_conforms_and_is_stable(name in "\\PC{0,90}") {
            let made = slug(&name);
            prop_assert!(conforms(&made), "{made}");
            prop_assert_eq!(slug(&made), made);
        }
    }
}
