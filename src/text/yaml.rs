//! What a YAML text may cost. JSON's and TOML's readers stop at a depth of their own (128, 512 and 80)
//! in linear time; YAML's takes time with the square of the depth, and copies what aliases name.

/// Brackets that may be open at once. The reader itself stops at 128, but only when it has seen all.
const DEPTH: usize = 1_000;
/// Aliases in a text with anchors: each may stand for most of it, or for other aliases.
const ALIASES: usize = 8;

/// Where a text becomes too costly for a YAML reader and why, before one sees it.
pub(crate) fn too_costly(yaml: &str) -> Option<(usize, &'static str)> {
    too_deep(yaml).map(|at| (at, "it is nested too deeply")).or_else(|| {
        anchors_or_aliases(yaml, b'&').next()?;
        anchors_or_aliases(yaml, b'*')
            .nth(ALIASES)
            .map(|at| (at, "it has too many aliases (`*name`)"))
    })
}

/// Where more brackets may be open than are allowed. A bracket is closed for certain only where no
/// quote or comment begins between the two: else one of them may be text.
fn too_deep(yaml: &str) -> Option<usize> {
    let (mut open, mut uncertain) = (0_usize, 0);
    yaml.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            b'"' | b'\'' | b'#' => uncertain += std::mem::take(&mut open),
            _ => {}
        }
        open + uncertain > DEPTH
    })
}

/// Where `mark` may begin an anchor or an alias.
fn anchors_or_aliases(yaml: &str, mark: u8) -> impl Iterator<Item = usize> {
    let bytes = yaml.as_bytes();
    bytes
        .iter()
        .enumerate()
        .filter(move |(at, byte)| {
            let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
            let after = bytes.get(at + 1).copied().unwrap_or(b' ');
            **byte == mark && !before.is_ascii_alphanumeric() && !after.is_ascii_whitespace()
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_counted_however_they_are_hidden() {
        let many = DEPTH + 1;
        for piece in ["[", "{a: ", "[\"]\",", "['}', {x: ", "[ # ]\n", "[\"\n]\n\",", "[[\"x\"],"] {
            assert!(too_costly(&format!("a: {}", piece.repeat(many))).is_some(), "{piece}");
        }
        for piece in ["[a, {b: [c]}]\n", "] } ", "- [x]\n- {}\n", "\"a\"", "- - ", "é"] {
            assert_eq!(too_costly(&piece.repeat(10 * many)), None, "{piece}");
        }
    }

    #[test]
    fn aliases_are_counted_where_there_are_anchors() {
        for alias in ["*x, ", "[*x],", "*x\n- ", "*\u{e9},"] {
            let text = format!("a: &x [1]\nb: [{}]", alias.repeat(ALIASES + 1));
            assert!(too_costly(&text).is_some(), "{alias}");
        }
        let few = "a: &x [1]\nb: [*x, *x]\nc: 2 * 3, a*b, **\n";
        for text in [few, &"- *x*\n".repeat(100), &"a: &x y\n".repeat(100)] {
            assert_eq!(too_costly(text), None, "{text}");
        }
    }
}
