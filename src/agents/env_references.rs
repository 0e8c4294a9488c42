//! References to variables in a server's `env` and `headers`, in each agent's own form.
//!
//! A manifest writes `${NAME}`, `$NAME` or `${NAME:-default}`. What an agent has no form for stays as
//! it is written, and people are told: the server would read the reference instead of the value.

use std::collections::BTreeSet;

use super::identity::EnvReference;
use super::places::Transport;

/// A server's transport in an agent's words.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) transport: Transport,
    /// Whether there is a reference that the agent puts a value in the place of.
    pub(super) has_references: bool,
    /// Kinds of references that the agent takes as they stand.
    pub(super) unknown: BTreeSet<&'static str>,
}

/// Translates the references in `transport` into an agent's `form`; `None`: it has none.
pub(super) fn translate(transport: &Transport, form: Option<EnvReference>) -> Translated {
    let transport = transport.clone();
    let mut translated = Translated { transport, has_references: false, unknown: BTreeSet::new() };
    let Translated { transport, has_references, unknown } = &mut translated;
    let (Transport::Stdio { env: pairs, .. }
    | Transport::Http { headers: pairs, .. }
    | Transport::Sse { headers: pairs, .. }) = transport;
    for (_, value) in pairs {
        let mut text = String::with_capacity(value.len());
        for piece in pieces(value) {
            match (piece, form) {
                (Piece::Text(piece), _) => text.push_str(piece),
                (Piece::Reference { name, default, .. }, Some(form))
                    if default.is_none() || form.has_default =>
                {
                    *has_references = true;
                    let default = default.unwrap_or_default();
                    text.extend([form.before, name, default, form.after]);
                }
                (Piece::Reference { whole, default, .. }, _) => {
                    unknown.insert(if default.is_some() { "${…:-…}" } else { "${…}" });
                    text.push_str(whole);
                }
            }
        }
        *value = text;
    }
    translated
}

/// A piece of a value.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Reference {
        whole: &'a str,
        name: &'a str,
        /// `:-` and what follows it.
        default: Option<&'a str>,
    },
}

fn pieces(value: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut rest, mut from) = (value, 0);
    while let Some(offset) = rest[from..].find('$') {
        let start = from + offset;
        let Some((reference, length)) = reference(&rest[start..]) else {
            from = start + 1;
            continue;
        };
        pieces.extend((start > 0).then(|| Piece::Text(&rest[..start])));
        pieces.push(reference);
        rest = &rest[start + length..];
        from = 0;
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    pieces
}

/// The reference that the text begins with, and its length.
fn reference(text: &str) -> Option<(Piece<'_>, usize)> {
    let Some(inner) = text.strip_prefix("${") else {
        let name = name_of(text.strip_prefix('$')?)?;
        let length = 1 + name.len();
        return Some((Piece::Reference { whole: &text[..length], name, default: None }, length));
    };
    let name = name_of(inner)?;
    let end = inner.find('}')?;
    let default = match &inner[name.len()..end] {
        "" => None,
        default if default.starts_with(":-") => Some(default),
        _ => return None,
    };
    let length = "${".len() + end + 1;
    Some((Piece::Reference { whole: &text[..length], name, default }, length))
}

/// The variable's name that the text begins with.
fn name_of(text: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "$ $5 ${} ${1} ${a-b} ${a $$";

    fn in_form(value: &str, form: Option<EnvReference>) -> (String, Vec<&'static str>) {
        let env = vec![("T".to_owned(), value.to_owned())];
        let stdio = Transport::Stdio { command: String::new(), args: Vec::new(), env };
        let Translated { transport, unknown, .. } = translate(&stdio, form);
        let Transport::Stdio { env, .. } = transport else { unreachable!("it was a program") };
        (env[0].1.clone(), unknown.into_iter().collect())
    }

    #[test]
    fn each_reference_takes_the_agents_form_and_all_else_stays() {
        let opencode = EnvReference { before: "{env:", after: "}", has_default: false };
        let value = format!("pre-${{TOK}}-$TOK/é${{A_1}}{ODD}");
        let expected = format!("pre-{{env:TOK}}-{{env:TOK}}/é{{env:A_1}}{ODD}");
        assert_eq!(in_form(&value, Some(opencode)), (expected, vec![]));
        assert_eq!(in_form("$TOK", Some(EnvReference::BRACES)), ("${TOK}".to_owned(), vec![]));
        let default = "${TOK:-d e}";
        let kept = |unknown| (default.to_owned(), unknown);
        assert_eq!(in_form(default, Some(EnvReference::WITH_DEFAULT)), kept(vec![]));
        assert_eq!(in_form(default, Some(opencode)), kept(vec!["${…:-…}"]));
    }

    #[test]
    fn an_agent_without_a_form_gets_what_is_written_and_people_are_told() {
        for value in ["${TOK}", "$TOK", "a ${TOK}"] {
            assert_eq!(in_form(value, None), (value.to_owned(), vec!["${…}"]));
        }
        assert_eq!(in_form(ODD, None), (ODD.to_owned(), vec![]));
    }
}
