//! Predicates as text: `env(CI)`, `not(depends-on(tokio>=1))`.

use super::atom::AtomError;
use crate::files::relative_inside;
use crate::plugins::model::{CrateAtom, Predicate};

/// How deep `not`, `any` and `all` may nest.
const DEPTH: usize = 32;

/// The functions we know, with `_` where they are written with either.
const FUNCTIONS: [&str; 7] =
    ["env", "path_exists", "depends_on", "workspace_member", "not", "any", "all"];

impl Predicate {
    /// Reads one predicate. A function that we do not know becomes [`Predicate::Unsupported`].
    pub(crate) fn parse(text: &str) -> Result<Self, AtomError> {
        let mut reader = Reader { text, at: 0 };
        let predicate = reader.predicate(0)?;
        reader.skip_blanks();
        if reader.at < text.len() {
            let rest = &text[reader.at..];
            return Err(reader.error(format!("unexpected `{rest}` after the predicate")));
        }
        Ok(predicate)
    }

    /// The texts of all parts that are not supported.
    pub(crate) fn unsupported(&self) -> Vec<&str> {
        match self {
            Self::Unsupported(text) => vec![text],
            Self::Not(inner) => inner.unsupported(),
            Self::Any(list) | Self::All(list) => list.iter().flat_map(Self::unsupported).collect(),
            Self::Env { .. }
            | Self::PathExists(_)
            | Self::DependsOn(_)
            | Self::WorkspaceMember
            | Self::Waits { .. }
            | Self::AskedFor => Vec::new(),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> AtomError {
        AtomError::new(self.at, message)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn predicate(&mut self, depth: usize) -> Result<Predicate, AtomError> {
        self.skip_blanks();
        if depth > DEPTH {
            return Err(self.error(format!("nested deeper than {DEPTH} levels")));
        }
        let start = self.at;
        let name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let rest = self.rest();
        let name = &rest[..rest.find(|c| !name_char(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.error("a predicate is missing, such as `env(NAME)`"));
        }
        self.at += name.len();
        self.skip_blanks();
        if !self.rest().starts_with('(') {
            return Err(self.error(format!("expected `(` after `{name}`{}", hint(name))));
        }
        self.at += 1;
        match name.replace('-', "_").as_str() {
            "not" => {
                let inner = self.predicate(depth + 1)?;
                self.close()?;
                Ok(Predicate::Not(Box::new(inner)))
            }
            "any" => Ok(Predicate::Any(self.list(depth)?)),
            "all" => Ok(Predicate::All(self.list(depth)?)),
            known => {
                let argument_at = self.at;
                let argument = self.argument()?;
                if !FUNCTIONS.contains(&known) {
                    return Ok(Predicate::Unsupported(self.text[start..self.at].to_owned()));
                }
                leaf(known, argument).map_err(|mut error| {
                    let lead = argument.len() - argument.trim_start().len();
                    error.offset += argument_at + lead;
                    error
                })
            }
        }
    }

    /// `p, …)`, with at least one predicate.
    fn list(&mut self, depth: usize) -> Result<Vec<Predicate>, AtomError> {
        let mut list = Vec::new();
        loop {
            list.push(self.predicate(depth + 1)?);
            self.skip_blanks();
            if !self.rest().starts_with(',') {
                self.close()?;
                return Ok(list);
            }
            self.at += 1;
            self.skip_blanks();
            if self.rest().starts_with(')') {
                self.at += 1;
                return Ok(list);
            }
        }
    }

    fn close(&mut self) -> Result<(), AtomError> {
        self.skip_blanks();
        if self.rest().starts_with(')') {
            self.at += 1;
            return Ok(());
        }
        Err(self.error("expected `)`"))
    }

    /// Everything up to the parenthesis that closes this one; quotes hide parentheses.
    fn argument(&mut self) -> Result<&'a str, AtomError> {
        let mut depth = 0_usize;
        let mut quote = None;
        let rest = self.rest();
        for (index, c) in rest.char_indices() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') if depth == 0 => {
                    self.at += index + 1;
                    return Ok(&rest[..index]);
                }
                (None, ')') => depth -= 1,
                _ => {}
            }
        }
        self.at = self.text.len();
        Err(self.error("expected `)`"))
    }
}

fn hint(name: &str) -> String {
    if FUNCTIONS.contains(&name.replace('-', "_").as_str()) {
        return String::new();
    }
    format!("; a crate is written `depends-on({name})`")
}

/// A predicate without predicates in it. Offsets of errors are into the trimmed argument.
fn leaf(function: &str, argument: &str) -> Result<Predicate, AtomError> {
    let argument = argument.trim();
    match function {
        "env" => {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.trim(), Some(unquoted(value).to_owned())),
                None => (unquoted(argument), None),
            };
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(AtomError::new(0, "a variable's name is missing, as in `env(NAME)`"));
            }
            Ok(Predicate::Env { name: name.to_owned(), value })
        }
        "path_exists" => {
            let path = unquoted(argument);
            if path.is_empty() || relative_inside(path).is_none() {
                return Err(AtomError::new(
                    0,
                    "a path relative to the workspace's root, and inside it, is needed",
                ));
            }
            Ok(Predicate::PathExists(path.to_owned()))
        }
        "depends_on" => {
            let atom = unquoted(argument);
            let quote = usize::from(atom.len() < argument.len());
            let placed = |error: AtomError| AtomError { offset: error.offset + quote, ..error };
            CrateAtom::parse(atom).map(Predicate::DependsOn).map_err(placed)
        }
        _ if argument.is_empty() => Ok(Predicate::WorkspaceMember),
        _ => Err(AtomError::new(0, "`workspace-member()` takes nothing")),
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str, value: Option<&str>) -> Predicate {
        Predicate::Env { name: name.to_owned(), value: value.map(ToOwned::to_owned) }
    }

    #[test]
    fn decision_2b_every_function_and_nesting() {
        let depends = |text| Predicate::DependsOn(CrateAtom::parse(text).expect("an atom"));
        for (text, expected) in [
            ("env(CI)", env("CI", None)),
            (" env ( CI = true ) ", env("CI", Some("true"))),
            ("env(X=\"a)b\")", env("X", Some("a)b"))),
            ("env(X=a=b)", env("X", Some("a=b"))),
            ("env(X=)", env("X", Some(""))),
            ("path_exists(Dioxus.toml)", Predicate::PathExists("Dioxus.toml".to_owned())),
            ("path-exists('a b')", Predicate::PathExists("a b".to_owned())),
            ("depends-on(tokio>=1, <2)", depends("tokio>=1, <2")),
            ("depends_on(*)", Predicate::DependsOn(CrateAtom::Any)),
            ("workspace-member()", Predicate::WorkspaceMember),
            ("not(env(CI))", Predicate::Not(Box::new(env("CI", None)))),
            (
                "any(depends-on(a), all(env(B), not(env(C))),)",
                Predicate::Any(vec![
                    depends("a"),
                    Predicate::All(vec![env("B", None), Predicate::Not(Box::new(env("C", None)))]),
                ]),
            ),
        ] {
            assert_eq!(Predicate::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn decision_2b_what_would_run_something_is_unsupported() {
        for text in ["shell(test -f (x) && echo ')')", "my-own()"] {
            assert_eq!(Predicate::parse(text), Ok(Predicate::Unsupported(text.to_owned())));
        }
        let nested = Predicate::parse("not(any(shell(x), env(Y)))").expect("reads");
        assert_eq!(nested.unsupported(), ["shell(x)"]);
    }

    #[test]
    fn errors_name_the_problem_and_its_place() {
        for (text, offset, part) in [
            ("", 0, "a predicate is missing"),
            ("serde", 5, "a crate is written `depends-on(serde)`"),
            ("env(CI", 6, "expected `)`"),
            ("env()", 4, "a variable's name"),
            ("not(env(A), env(B))", 10, "expected `)`"),
            ("any()", 4, "a predicate is missing"),
            ("path_exists(../x)", 12, "inside it"),
            ("path_exists(/etc)", 12, "inside it"),
            ("depends-on(a@1)", 12, "`@` is no operator"),
            ("depends-on(\"a@1\")", 13, "`@` is no operator"),
            ("not(depends-on( a b))", 18, "no comparison"),
            ("workspace-member(x)", 17, "takes nothing"),
            ("env(A) x", 7, "unexpected `x`"),
        ] {
            let error = Predicate::parse(text).expect_err(text);
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.offset, offset, "{text}: {error}");
        }
    }

    #[test]
    fn nesting_has_a_bound() {
        let deep = format!("{}env(A){}", "not(".repeat(100_000), ")".repeat(100_000));
        assert!(Predicate::parse(&deep).expect_err("too deep").message.contains("32"));
    }
}
