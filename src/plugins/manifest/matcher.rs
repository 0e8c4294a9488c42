//! `matcher`: which tools a hook is for.

use regex_lite::{Regex, RegexBuilder};

/// The longest name of a tool that an expression is tried on; agents' own end at 128.
pub(crate) const LONGEST_NAME: usize = 1024;
/// Bytes of a compiled expression: more is the work of counted repetitions. The time for one name grows with
/// it: the hardest expressions that were tried took 14 ms for one of [`LONGEST_NAME`].
const LARGEST: usize = 256 * 1024;

/// Which tools' names match.
#[derive(Debug, Clone)]
pub(crate) struct Matcher(Kind);

#[derive(Debug, Clone)]
enum Kind {
    All,
    /// The common case, `Edit|Write`, needs no regex engine.
    Names(Vec<String>),
    Pattern(Regex),
}

/// Why a matcher can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MatcherError {
    /// It is no regular expression.
    #[error("{0}")]
    Syntax(String),
    /// It is one that takes too much memory.
    #[error("{0}")]
    TooLarge(String),
}

/// Reads a matcher: `*` and the empty string match every tool, anything else is a regular
/// expression that must match the whole name.
pub(crate) fn compile_matcher(text: &str) -> Result<Matcher, MatcherError> {
    let text = text.trim();
    if text.is_empty() || text == "*" {
        return Ok(Matcher(Kind::All));
    }
    if !is_expression(text) {
        return Ok(Matcher(Kind::Names(text.split('|').map(ToOwned::to_owned).collect())));
    }
    // By itself first: an unbalanced `)` must not close the group around it.
    compile(text)?;
    Ok(Matcher(Kind::Pattern(compile(&format!(r"\A(?:{text})\z"))?)))
}

/// Whether a matcher is more than names or a `*`, which costs work.
pub(crate) fn is_expression(text: &str) -> bool {
    let literal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|');
    let text = text.trim();
    text != "*" && !text.chars().all(literal)
}

fn compile(pattern: &str) -> Result<Regex, MatcherError> {
    let build = |pattern, most| RegexBuilder::new(pattern).size_limit(most).build();
    build(pattern, LARGEST).map_err(|error| {
        // The library has no kinds of errors, but each is equal to another of its kind.
        let is_too_large = build("a", 0).is_err_and(|too_large| too_large == error);
        let kind = if is_too_large { MatcherError::TooLarge } else { MatcherError::Syntax };
        kind(error.to_string())
    })
}

impl Matcher {
    /// Whether one of a tool's names (the canonical one, the agent's own) matches.
    pub(crate) fn matches(&self, names: &[&str]) -> bool {
        match &self.0 {
            Kind::All => true,
            Kind::Names(wanted) => {
                names.iter().any(|name| wanted.iter().any(|wanted| wanted == name))
            }
            Kind::Pattern(pattern) => names.iter().any(|name| pattern.is_match(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(matcher: &str, name: &str) -> bool {
        compile_matcher(matcher).expect(matcher).matches(&[name])
    }

    #[test]
    fn decision_8_f233_to_f235_the_whole_name_matches() {
        for (matcher, name, expected) in [
            ("*", "Bash", true),
            ("", "Bash", true),
            ("Bash", "Bash", true),
            ("as", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("mcp__.*", "mcp__github__search", true),
            ("mcp__.*", "xmcp__y", false),
            ("Ba.|Bash", "Bash", true),
            ("(?i)bash", "BASH", true),
            (r"[[:alpha:]]+", "Bash", true),
            (r"[[:alpha:]]+", "Bash2", false),
            (r"\w+", "mcp__a", true),
            ("bash", "Bash", false),
            (".*", "anything", true),
        ] {
            assert_eq!(matches(matcher, name), expected, "{matcher} {name}");
        }
    }

    #[test]
    fn any_of_several_names_will_do() {
        let matcher = compile_matcher("Bash").expect("compiles");
        assert!(matcher.matches(&["shell", "Bash"]));
        assert!(!matcher.matches(&["shell"]));
    }

    #[test]
    fn f236_an_invalid_expression_is_an_error_of_one_line() {
        for text in ["(", "a)(b", "[", "**", "(?x)a # b", r"\p{L}+"] {
            let error = compile_matcher(text).expect_err(text);
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{text}: {error}");
            assert!(matches!(error, MatcherError::Syntax(_)), "{text}: {error}");
        }
        let error = compile_matcher("(a{1000}){1000}").expect_err("too large");
        assert!(matches!(error, MatcherError::TooLarge(_)), "{error}");
    }
}
