//! YAML that every reader takes for the same thing: told from the rest, and written.
//!
//! Agents' readers differ: one ends the frontmatter at the first `---` anywhere, takes a quoted `<<`
//! for a merge and `[a]` for the key `a`, and mends line by line what is no YAML to it. So what is
//! installed is either of a subset that leaves no room for opinions, or written anew from what we
//! understood.

use serde_yaml::{Mapping, Value};

/// Whether `yaml` is of the plain subset: one `key: value` a line, each value on its line, a block
/// scalar, a list of such values, or a mapping of them. No anchors, tags, aliases, merges, documents,
/// nor anything quoted or bracketed that goes on on the next line; no control or look-alike line
/// break anywhere.
pub(in crate::skills) fn is_plain(yaml: &str) -> bool {
    let mut below = Below::Nothing;
    yaml.lines().all(|line| {
        let next = if line.chars().any(is_ambiguous) { None } else { below.after(line) };
        below = next.unwrap_or(Below::Nothing);
        next.is_some()
    })
}

/// Control characters, and what some readers take for a line break or skip.
fn is_ambiguous(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// What may stand below a top-level key's line.
#[derive(Clone, Copy)]
enum Below {
    Nothing,
    /// The key has no value yet.
    Anything,
    /// The rest of a list or a mapping, so far in.
    Items(usize),
    Keys(usize),
    /// The rest of a block scalar, at least so far in.
    Text(Option<usize>),
}

impl Below {
    /// What may stand below `line`; `None` where it is not plain.
    fn after(self, line: &str) -> Option<Self> {
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        if content.is_empty() {
            return (indent == 0).then_some(self);
        }
        match self {
            Self::Text(None) if indent > 0 => return Some(Self::Text(Some(indent))),
            Self::Text(Some(least)) if indent >= least => return Some(self),
            _ => {}
        }
        if let Some(item) = content.strip_prefix("- ") {
            let fits = match self {
                Self::Anything => true,
                Self::Items(at) => at == indent,
                _ => false,
            };
            return (fits && is_scalar(item)).then_some(Self::Items(indent));
        }
        if indent > 0 {
            let fits = match self {
                Self::Anything => true,
                Self::Keys(at) => at == indent,
                _ => false,
            };
            let (_, value) = plain_key(content)?;
            return (fits && is_scalar(value)).then_some(Self::Keys(indent));
        }
        if content.starts_with('#') {
            return Some(Self::Nothing);
        }
        match plain_key(content)?.1 {
            "" => Some(Self::Anything),
            "|" | "|-" | "|+" | ">" | ">-" | ">+" => Some(Self::Text(None)),
            value => (is_scalar(value) || is_list(value)).then_some(Self::Nothing),
        }
    }
}

/// The key at the start of a line, and its value without the space around.
fn plain_key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let value = rest.trim_matches(' ');
    (is_word(key) && (value.is_empty() || rest.starts_with(' '))).then_some((key, value))
}

fn is_word(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// A list on one line, of values without commas or brackets.
fn is_list(value: &str) -> bool {
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| {
        !inner.contains(['[', ']', '{', '}'])
            && (inner.trim().is_empty()
                || inner.split(',').all(|item| is_scalar(item.trim_matches(' '))))
    })
}

/// A value that begins and ends on its line.
fn is_scalar(value: &str) -> bool {
    let value = value.trim_matches(' ');
    let inner = |quote| value.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    match value.chars().next() {
        Some('"') => inner('"').is_some_and(|inner| {
            let mut chars = inner.chars();
            while let Some(c) = chars.next() {
                let fine = match c {
                    '"' => false,
                    '\\' => matches!(chars.next(), Some('"' | '\\' | 'n')),
                    _ => true,
                };
                if !fine {
                    return false;
                }
            }
            true
        }),
        Some('\'') => inner('\'').is_some_and(|inner| !inner.replace("''", "").contains('\'')),
        Some(first) => {
            (first.is_alphanumeric() || "_/.($".contains(first))
                && !value.contains(" #")
                && !value.contains(" :")
                && !value.ends_with(':')
                && !value.contains(": ")
        }
        None => false,
    }
}

/// The mapping as YAML of one line a key, which says the same to every reader.
///
/// # Errors
/// The key that not every reader takes for the same word.
pub(in crate::skills) fn written(values: &Mapping) -> Result<String, String> {
    let mut yaml = String::new();
    for (key, value) in values {
        yaml.push_str(&format!("{}: {}\n", written_key(key)?, written_value(value)?));
    }
    Ok(yaml)
}

/// A text without quotes where it is a name or the like, else with.
fn written_key(key: &Value) -> Result<String, String> {
    match key {
        // `__proto__` names what some readers look other keys up in.
        Value::String(text) if !matches!(text.as_str(), "__proto__" | "<<") => {
            Ok(if is_word(text) { plain_or_quoted(text) } else { quoted(text) })
        }
        Value::Number(_) | Value::Bool(_) => written_value(key),
        Value::String(text) => Err(text.clone()),
        _ => Err(serde_yaml::to_string(key).unwrap_or_default().trim_end().replace('\n', " ")),
    }
}

fn written_value(value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => plain_or_quoted(text),
        Value::Sequence(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(written_value).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Mapping(values) => {
            let entry =
                |(key, value)| Ok(format!("{}: {}", written_key(key)?, written_value(value)?));
            let entries: Result<Vec<_>, String> = values.iter().map(entry).collect();
            format!("{{{}}}", entries?.join(", "))
        }
        Value::Tagged(tagged) => written_value(&tagged.value)?,
    })
}

/// A word such as `123` or `null` is no string in YAML unless it is quoted.
pub(in crate::skills) fn plain_or_quoted(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.contains("---")
        && matches!(serde_yaml::from_str(text), Ok(Value::String(same)) if same == text);
    if plain { text.to_owned() } else { quoted(text) }
}

/// A double-quoted scalar on one line, without `---`. JSON's escapes are a subset of YAML's.
pub(in crate::skills) fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string().replace("---", "--\\u002d");
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if is_ambiguous(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_reader_takes_for_the_same_is_plain() {
        for yaml in [
            "name: a\n",
            "name: a\r\ndescription: It's \"so\", a::b https://x.y/z#w\r\n\r\n# note: ---\r\n",
            "name: 'it''s'\ndescription: \"a: b \\\"c\\\" \\\\ \\n\"\n",
            "a: |\n\n  x: y\n   - z\n\n  # no comment\nb: >-\n text\n# c\nd: |+\n",
            "a:\nb:\n- x\n- \"y\"\nc:\n  - (z)\nd:\n  e: f\n  g: 1.0\n",
            "a: [Bash, Read, \"x y\", 'z']\nb: []\nc: null\nd: 1\ne: été\n",
        ] {
            assert!(is_plain(yaml), "{yaml}");
        }
    }

    const OPEN_TO_OPINION: &[&str] = &[
        "a : b",
        "a:b",
        "\"a\": b",
        "? a\n: b",
        "a: &x b",
        "a: *x",
        "!!str a: b",
        "a: !x b",
        "<<: *x",
        "{a: b}",
        "a: {b: c}",
        "a: [b,\n  c]",
        "a: [[b]]",
        "a: [b: c]",
        "a: \"b\n  c\"",
        "a: 'b\n  c'",
        "a: b\n  c",
        "a: b # c",
        "a: b: c",
        "a: b:",
        "a: \"b\" c",
        "a: \"b\\x41\"",
        "a: 'b'c'",
        "a: \"b\"c\"",
        "a: - b",
        "a: |2\n   b",
        "a: | # c\n  b",
        "a: |\n    b\n  c",
        "a: |\n   \n  b",
        "a: |\n  b\n\tc",
        "a:\n\tb: c",
        "a:\tb",
        "a: b\rc: d",
        "a: b\u{2028}c: d",
        "a: b\u{85}c: d",
        "a: b\u{feff}",
        "a: b\u{b}c",
        "...",
        "%YAML 1.2",
        "- a",
        " a: b",
        "a: b\n c: d",
        "a:\n  b:\n    c: d",
        "a:\n  b: c\n d: e",
        "a:\n  - b\n - c",
        "a:\n  - b: c",
        "a:\n  b: |\n    c",
        "a:\n  b: c\n  - d",
        "a: @b",
        "a: `b`",
        "a: %b",
        "a: #b\n  c",
        "_a: b",
        "__proto__: b",
        "[a]: b",
        "1: b",
        "a: \0",
        "a: [b, 'c, d']",
        "a: \"",
        "a: '",
    ];

    #[test]
    fn what_leaves_room_for_opinions_is_not() {
        for yaml in OPEN_TO_OPINION {
            assert!(!is_plain(yaml), "{yaml:?}");
        }
    }

    #[test]
    fn what_is_written_reads_as_it_was() {
        let yaml = "name: new\n\"a key\": \"-----\"\nb: |\n  c\n  ---\n   d\ne: {f: [1, 2.5, {g: ~}], h: .inf}\n\
                    i: \"\\u2028\\x85\\t\\0\\uFEFF\\U0001F600\"\nj: !x k\n1: true\nl: 'null'\n";
        let values: Mapping = serde_yaml::from_str(yaml).expect("YAML");
        let made = written(&values).expect("can be written");
        assert!(!made.contains("---") && made.lines().count() == values.len(), "{made}");
        assert!(made.starts_with("name: new\n"), "{made}");
        let mut again: Mapping = serde_yaml::from_str(&made).expect("YAML");
        assert_eq!(again.insert("j".into(), values["j"].clone()), Some("k".into()));
        assert_eq!(again, values);
    }

    #[test]
    fn a_key_that_some_reader_takes_for_another_is_refused() {
        for (yaml, key) in [
            ("[hooks]: a", "- hooks"),
            ("? {a: b}\n: c", "a: b"),
            ("a: {\"<<\": {hooks: b}}", "<<"),
            ("__proto__: {hooks: b}", "__proto__"),
            ("~: a", "null"),
        ] {
            let values: Mapping = serde_yaml::from_str(yaml).expect("YAML");
            assert_eq!(written(&values), Err(key.to_owned()), "{yaml}");
        }
    }
}
