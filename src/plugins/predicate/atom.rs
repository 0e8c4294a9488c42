//! Crate predicates as text: `serde`, `tokio>=1.40`, `*`.

use semver::VersionReq;

use crate::plugins::model::CrateAtom;
use crate::text::{check_crate_name, is_name_char};

/// Why an atom or predicate can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct AtomError {
    /// The problem and, where there is one, the remedy: half a sentence, lower case.
    pub message: String,
    /// Where in the text it is, in bytes.
    pub offset: usize,
}

impl AtomError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), offset }
    }
}

/// The operators, those that begin another one first.
const OPERATORS: [&str; 8] = ["==", ">=", "<=", ">", "<", "^", "~", "="];

impl CrateAtom {
    /// Reads one atom: `*`, a crate's name, or a name with comparisons that must all hold
    /// (`tokio>=1, <2`). `=1.0` means what `^1.0` does, `==1.0.219` exactly that version.
    pub(crate) fn parse(text: &str) -> Result<Self, AtomError> {
        let start = text.len() - text.trim_start().len();
        let atom = text.trim();
        if atom == "*" {
            return Ok(Self::Any);
        }
        if atom.is_empty() {
            return Err(AtomError::new(0, "a crate's name is missing"));
        }
        let name_end = atom.find(|c: char| !is_name_char(c)).unwrap_or(atom.len());
        let name = &atom[..name_end];
        check_crate_name(name).map_err(|message| AtomError::new(start, message))?;
        let rest = atom[name_end..].trim_start();
        let rest_at = start + atom.len() - rest.len();
        let requirement = match rest {
            "" => None,
            _ if rest.starts_with(',') => {
                return Err(AtomError::new(rest_at, "each crate is an entry of its own"));
            }
            _ => Some(requirement(name, rest, rest_at)?),
        };
        Ok(Self::Crate { name: name.to_owned(), requirement, text: atom.to_owned() })
    }
}

/// Reads `>=1, <2`: comparisons separated by commas, in our spelling.
fn requirement(name: &str, text: &str, at: usize) -> Result<VersionReq, AtomError> {
    let mut comparators = Vec::new();
    let mut offset = at;
    for part in text.split(',') {
        let lead = part.len() - part.trim_start().len();
        comparators.extend(comparison(name, part.trim(), offset + lead)?.comparators);
        offset += part.len() + 1;
    }
    Ok(VersionReq { comparators })
}

fn comparison(name: &str, text: &str, at: usize) -> Result<VersionReq, AtomError> {
    let Some(operator) = OPERATORS.into_iter().find(|&operator| text.starts_with(operator)) else {
        return Err(AtomError::new(at, no_operator(name, text)));
    };
    let version = text[operator.len()..].trim();
    let version_at = at + text.len() - version.len();
    if version.is_empty() {
        return Err(AtomError::new(version_at, format!("a version is missing after `{operator}`")));
    }
    // What stands behind our operator is a version, not another requirement.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '*');
    if !version.starts_with(|c: char| c.is_ascii_digit()) || !version.chars().all(plain) {
        return Err(AtomError::new(version_at, format!("`{version}` is no version")));
    }
    let semver = match operator {
        "==" => format!("={version}"),
        "=" if version.contains('*') => version.to_owned(),
        "=" => format!("^{version}"),
        _ => format!("{operator}{version}"),
    };
    VersionReq::parse(&semver)
        .map_err(|error| AtomError::new(version_at, format!("`{version}` is no version: {error}")))
}

fn no_operator(name: &str, text: &str) -> String {
    if let Some(version) = text.strip_prefix('@') {
        return format!("`@` is no operator: write `{name}={version}`");
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("an operator is missing: write `{name}={text}`");
    }
    if text.is_empty() {
        return "a comparison is missing after the comma".to_owned();
    }
    if text.starts_with(is_name_char) {
        return format!("`{text}` is no comparison; another crate is an entry of its own");
    }
    format!("expected one of >= <= > < ^ ~ = == before the version, found `{text}`")
}

/// A comma-separated list as read: what could be, and what could not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CrateList {
    /// The atoms in order.
    pub atoms: Vec<CrateAtom>,
    /// The parts that were left out; offsets are into the whole list.
    pub errors: Vec<AtomError>,
}

/// Reads the comma-separated list of a skill's frontmatter: `serde, tokio>=1, <2, *`.
///
/// A part that begins with an operator continues the atom before it. The whole list and each part
/// may be quoted. Empty parts (a comma at the end) are passed over.
pub(crate) fn parse_crate_list(text: &str) -> CrateList {
    let mut list = CrateList::default();
    let (text, base) = unquote(text, 0);
    let mut parts: Vec<Part> = Vec::new();
    let mut offset = base;
    for part in text.split(',') {
        let lead = part.len() - part.trim_start().len();
        let (part_text, at) = unquote(part.trim(), offset + lead);
        offset += part.len() + 1;
        let continues = OPERATORS.iter().any(|&operator| part_text.starts_with(operator));
        match parts.last_mut() {
            Some(part) if continues => {
                part.atom.push_str(", ");
                part.add(part_text, at);
            }
            _ if part_text.is_empty() => {}
            _ => {
                let mut part = Part::default();
                part.add(part_text, at);
                parts.push(part);
            }
        }
    }
    for part in parts {
        match CrateAtom::parse(&part.atom) {
            Ok(atom) => list.atoms.push(atom),
            Err(mut error) => {
                error.offset = part.place(error.offset);
                list.errors.push(error);
            }
        }
    }
    list
}

/// An atom put together of what stands between commas, without quotes and spare blanks.
#[derive(Default)]
struct Part {
    atom: String,
    /// Of each piece its start and end in the atom, and where it stands in the list.
    pieces: Vec<(usize, usize, usize)>,
}

impl Part {
    fn add(&mut self, piece: &str, at: usize) {
        let start = self.atom.len();
        self.atom.push_str(piece);
        self.pieces.push((start, self.atom.len(), at));
    }

    /// Where in the list the offset `offset` of the atom is.
    fn place(&self, offset: usize) -> usize {
        let piece = self.pieces.iter().rev().find(|(start, ..)| *start <= offset);
        piece.map_or(0, |(start, end, at)| at + offset.min(*end) - start)
    }
}

/// `text` without a pair of quotes around it, with the offset of what is left.
fn unquote(text: &str, at: usize) -> (&str, usize) {
    let trimmed = text.trim();
    let at = at + text.len() - text.trim_start().len();
    for quote in ['"', '\''] {
        let inner = trimmed.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner
            && !inner.contains(quote)
        {
            return (inner, at + 1);
        }
    }
    (trimmed, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement_of(text: &str) -> String {
        match CrateAtom::parse(text).expect("an atom") {
            CrateAtom::Any => "*".to_owned(),
            CrateAtom::Crate { name, requirement, .. } => {
                format!("{name} {}", requirement.map_or_else(String::new, |req| req.to_string()))
            }
        }
    }

    #[test]
    fn f94_to_f98_names_operators_and_the_wildcard() {
        for (text, expected) in [
            ("serde", "serde "),
            (" serde_json ", "serde_json "),
            ("serde>=1.0", "serde >=1.0"),
            ("serde <= 1.0", "serde <=1.0"),
            ("serde> 1.40", "serde >1.40"),
            ("regex <2", "regex <2"),
            ("serde^1.0", "serde ^1.0"),
            ("serde~1.2", "serde ~1.2"),
            ("serde=1.0", "serde ^1.0"),
            ("serde == 1.0.219", "serde =1.0.219"),
            ("serde=1.*", "serde 1.*"),
            ("bevy>=0.16.0-rc.1", "bevy >=0.16.0-rc.1"),
            ("*", "*"),
        ] {
            assert_eq!(requirement_of(text), expected, "{text}");
        }
    }

    #[test]
    fn f109_one_entry_may_hold_a_range() {
        assert_eq!(requirement_of("tokio>=1, <2"), "tokio >=1, <2");
    }

    #[test]
    fn errors_name_the_problem_and_its_place() {
        for (text, offset, expected) in [
            ("", 0, "a crate's name is missing"),
            ("serde 1.0", 6, "an operator is missing: write `serde=1.0`"),
            ("a@1.2", 1, "`@` is no operator: write `a=1.2`"),
            ("serde>=", 7, "a version is missing after `>=`"),
            ("serde>>1", 6, "`>1` is no version"),
            ("serde, tokio", 5, "each crate is an entry of its own"),
            (
                "serde>=1, tokio",
                10,
                "`tokio` is no comparison; another crate is an entry of its own",
            ),
            ("-x", 0, "a crate's name does not start with `-`"),
            ("../x", 0, "a crate's name is missing"),
            ("serde>=1 <2", 7, "`1 <2` is no version"),
        ] {
            let error = CrateAtom::parse(text).expect_err(text);
            assert_eq!((error.offset, error.message.as_str()), (offset, expected), "{text}");
        }
    }

    fn texts(list: &CrateList) -> Vec<&str> {
        let text = |atom| match atom {
            &CrateAtom::Any => "*",
            CrateAtom::Crate { text, .. } => text.as_str(),
        };
        list.atoms.iter().map(text).collect()
    }

    #[test]
    fn f103_lists_are_split_at_commas_and_operators_continue() {
        for (text, expected) in [
            ("serde", vec!["serde"]),
            ("serde, tokio>=1.40", vec!["serde", "tokio>=1.40"]),
            ("\"serde\", 'tokio >= 1'", vec!["serde", "tokio >= 1"]),
            ("\"serde, tokio\"", vec!["serde", "tokio"]),
            ("*", vec!["*"]),
            ("tokio>=1, <2, serde,", vec!["tokio>=1, <2", "serde"]),
            ("", vec![]),
        ] {
            let list = parse_crate_list(text);
            assert_eq!((texts(&list), list.errors.len()), (expected, 0), "{text}");
        }
    }

    #[test]
    fn a_bad_part_of_a_list_costs_only_itself() {
        let list = parse_crate_list("serde, tokio@1, regex");
        assert_eq!(texts(&list), ["serde", "regex"]);
        assert_eq!(list.errors[0].offset, 12);
        let list = parse_crate_list("a=1,<2,\"=\"");
        assert_eq!(list.errors[0].offset, 9, "{list:?}");
        let list = parse_crate_list("<2");
        assert_eq!((list.atoms.len(), list.errors.len()), (0, 1));
    }
}
