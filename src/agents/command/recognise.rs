//! Which command lines run us and nothing else.

use symposium_hook::Event;

use super::{POSIX_GUARD, POWERSHELL_GUARD, POWERSHELL_NET, is_our_path, is_plain};

/// The event of a command that is ours, in every spelling that runs us and nothing else: guarded, half
/// guarded or not, by name, by `cargo agents` or by path, with options, redirections, and what makes
/// of a failure a success. Whoever wrapped our command into something of their own owns the result:
/// that is `None`.
pub(crate) fn is_ours(command: &str, agent: &str) -> Option<Event> {
    let (guard, call) = split_guard(command.trim())?;
    if guard.is_some_and(|guard| !is_program(guard)) {
        return None;
    }
    let mut tokens = tokens(call)?.into_iter().peekable();
    // PowerShell calls a quoted word with `&`.
    tokens.next_if(|token| matches!(token, Token::Operator("&") | Token::Word("exec")));
    let Token::Word(program) = tokens.next()? else { return None };
    if is_cargo(program) {
        tokens.next_if(|token| matches!(token, Token::Word(word) if word.starts_with('+')));
        skip_options(&mut tokens);
        tokens.next_if(|token| *token == Token::Word("agents"))?;
    } else if is_program(program) {
        skip_options(&mut tokens);
        tokens.next_if(|token| *token == Token::Word("agents"));
    } else {
        return None;
    }
    skip_options(&mut tokens);
    tokens.next_if(|token| *token == Token::Word("hook"))?;
    tokens.next_if(|token| *token == Token::Word(agent))?;
    let Token::Word(name) = tokens.next()? else { return None };
    let event = event_named(name, agent)?;
    while let Some(token) = tokens.next() {
        match token {
            Token::Redirect { target: Some(_) } => {}
            Token::Redirect { target: None } => drop(tokens.next().filter(Token::is_word)?),
            Token::Word(option) if option.starts_with('-') => {}
            Token::Word(_) => return None,
            Token::Operator(operator) => {
                let rest: Vec<Token<'_>> = tokens.collect();
                return ends_well(operator, &rest).then_some(event);
            }
        }
    }
    Some(event)
}

/// The event by our name for it, the manifests' or the agent's own, however its words are joined.
fn event_named(name: &str, agent: &str) -> Option<Event> {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
    };
    let codec = crate::agents::codec(agent);
    Event::ALL.into_iter().find(|event| {
        let own = codec.map(|codec| codec.event_name(*event));
        [Some(event.name()), own].into_iter().flatten().any(|known| letters(known) == letters(name))
    })
}

/// Whether what follows our call only makes of its failure a success.
fn ends_well(operator: &str, rest: &[Token<'_>]) -> bool {
    let words: Vec<&str> = rest
        .iter()
        .map(|token| match token {
            Token::Word(word) => *word,
            Token::Operator(_) | Token::Redirect { .. } => "",
        })
        .collect();
    match operator {
        "||" => matches!(words.as_slice(), ["true" | ":"] | ["exit", "0"]),
        ";" => matches!(words.as_slice(), [] | ["true" | ":"] | ["exit", "0"]),
        _ => false,
    }
}

/// Options of ours that take a value.
const WITH_VALUE: [&str; 3] = ["--timeout", "--update", "--color"];

fn skip_options(tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token<'_>>>) {
    while let Some(Token::Word(option)) =
        tokens.next_if(|token| matches!(token, Token::Word(word) if word.starts_with('-')))
    {
        if WITH_VALUE.contains(&option) {
            tokens.next();
        }
    }
}

/// The program that a guard asks for, and the command behind it. `None` when it begins like a guard
/// and is none.
fn split_guard(command: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = command.strip_prefix("command -v ") {
        let (program, call) = rest.split_once(POSIX_GUARD)?;
        Some((Some(program), call))
    } else if let Some(rest) = command.strip_prefix("if (Get-Command ") {
        let (program, block) = rest.split_once(POWERSHELL_GUARD)?;
        let block = block.strip_suffix(POWERSHELL_NET).unwrap_or(block);
        Some((Some(program), block.strip_suffix('}')?.trim_end()))
    } else {
        Some((None, command))
    }
}

/// A piece of a command line, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// A redirection, with the place that it leads to where that is not a word of its own.
    Redirect {
        target: Option<&'a str>,
    },
    /// What parts commands.
    Operator(&'a str),
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        matches!(self, Self::Word(_))
    }
}

/// The pieces of a command line; `None` where a quote is left open.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let arrows = |from: usize| {
            let all = rest[from..].trim_start_matches(['<', '>']);
            rest.len() - all.len()
        };
        let (end, redirects) = match rest.as_bytes() {
            [b'&', b'>', ..] => (arrows(1), true),
            _ if rest[digits..].starts_with(['<', '>']) => (arrows(digits), true),
            [b'|', b'|', ..] | [b'&', b'&', ..] => (2, false),
            [b'|' | b'&' | b';' | b'\n' | b'\r' | b'(' | b')', ..] => (1, false),
            _ => (0, false),
        };
        let after = &rest[end..];
        if redirects {
            let stays = usize::from(after.starts_with('&'));
            let word = stays + word_end(&after[stays..])?;
            tokens.push(Token::Redirect { target: (word > 0).then_some(&after[..word]) });
            rest = &after[word..];
        } else if end > 0 {
            tokens.push(Token::Operator(&rest[..end]));
            rest = after;
        } else {
            let end = word_end(rest)?;
            tokens.push(Token::Word(&rest[..end]));
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches([' ', '\t']);
    }
    Some(tokens)
}

/// Where the word ends that the text begins with. A backslash parts no words before a letter, for
/// Windows's sake.
fn word_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '\\') if text[at + 1..].starts_with('"') => drop(chars.next()),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') if text[at + 1..].starts_with([' ', '\'', '"']) => drop(chars.next()),
            (None, ' ' | '\t' | '\n' | '\r' | '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                return Some(at);
            }
            (None, _) => {}
        }
    }
    quote.is_none().then_some(text.len())
}

/// Whether a word of a command line names our program.
fn is_program(word: &str) -> bool {
    // Windows paths lose their backslashes to a POSIX reading, so both readings are tried.
    [expanded(word), windows_word(word)].into_iter().flatten().any(|path| {
        matches!(path.as_str(), "cargo-agents" | "cargo-agents.exe") || is_our_path(&path)
    })
}

fn is_cargo(word: &str) -> bool {
    let path = expanded(word).or_else(|| windows_word(word));
    let file = path.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
    matches!(file, Some("cargo" | "cargo.exe"))
}

/// The one word that a shell makes of `text`, if it is one and nothing in it acts. A home folder or a
/// variable may stand at its start, whatever it holds: `~/x`, `"$HOME/x"`, `${CARGO_HOME}/x`,
/// `$env:USERPROFILE\x`, `%USERPROFILE%\x`.
fn expanded(text: &str) -> Option<String> {
    let (quote, inner) = match text.strip_prefix('"') {
        Some(inner) => ("\"", inner),
        None => ("", text),
    };
    let end = match inner.as_bytes().first()? {
        b'~' if quote.is_empty() => inner.find(['/', '\\']),
        b'%' => inner[1..].find('%').map(|end| end + 2),
        b'$' if inner.starts_with("${") => closing_brace(inner),
        b'$' => inner[1..].find(|c: char| !is_plain_name(c)).map(|end| end + 1),
        _ => return posix_word(text),
    }?;
    let (variable, path) = inner.split_at(end);
    let acts = variable.contains(['`', '(', ' ', '\'', '"']);
    // The quote may end behind the variable: `"$HOME"/x`.
    let path = match path.strip_prefix('"').filter(|_| !quote.is_empty()) {
        Some(path) => path.to_owned(),
        None => format!("{quote}{path}"),
    };
    let mut readings = [posix_word(&path), windows_word(&path)].into_iter().flatten();
    let path = readings.find(|path| path.starts_with(['/', '\\']))?;
    (!acts).then(|| format!("/{path}"))
}

fn is_plain_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':')
}

/// The length of `${…}` at the start of `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The one word that a POSIX shell makes of `text`, if it is one and nothing in it acts.
fn posix_word(text: &str) -> Option<String> {
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()?),
            (Some(_), '$' | '`') => return None,
            (Some(_), _) => {}
            (None, c) if is_plain(c) => {}
            (None, _) => return None,
        }
    }
    match shlex::split(text)?.as_slice() {
        [word] => Some(word.clone()),
        _ => None,
    }
}

/// The path that PowerShell or `cmd` makes of `text`, where a backslash is a backslash.
fn windows_word(text: &str) -> Option<String> {
    let quoted = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = quoted('\'') {
        let lone_quote = inner.replace("''", "").contains('\'');
        return (!lone_quote).then(|| inner.replace("''", "'"));
    }
    if let Some(inner) = quoted('"') {
        return (!inner.contains(['"', '$', '`'])).then(|| inner.to_owned());
    }
    text.chars().all(|c| is_plain(c) || c == '\\').then(|| text.to_owned())
}
