//! Which clients the tests drive: `SYMPOSIUM_TEST_AGENT`, else `test-agents.toml`, else those that
//! are installed.

use std::path::Path;

use crate::clients::{self, CLIENTS, Client, Program};

/// A client, and whether it can run.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The client.
    pub client: &'static dyn Client,
    /// Its program, or what is needed to run it.
    pub program: Result<Program, String>,
}

/// The clients to drive, in order.
///
/// `SYMPOSIUM_TEST_AGENT` names one, or `none`, and takes precedence; `test-agents.toml` in the repository's root
/// names some, or none. Without either, every client of the registry is there: those that are not
/// installed with what is needed.
///
/// # Panics
/// When the file can't be understood, or a name is not known.
pub fn selection() -> Vec<Selected> {
    let one = std::env::var("SYMPOSIUM_TEST_AGENT").ok();
    let file = clients::agents_folder().join("../../test-agents.toml");
    let names = named(one.as_deref(), &file).unwrap_or_else(|error| panic!("{error}"));
    let chosen: Vec<&'static dyn Client> = match names {
        None => CLIENTS.to_vec(),
        Some(names) => names
            .iter()
            .map(|name| {
                clients::by_name(name).unwrap_or_else(|| {
                    panic!("no client is called `{name}`; there are {}", all_names())
                })
            })
            .collect(),
    };
    let agents = clients::agents_folder();
    let select =
        |client: &'static dyn Client| Selected { client, program: client.program(&agents) };
    chosen.into_iter().map(select).collect()
}

fn all_names() -> String {
    let all = CLIENTS.iter().chain(&clients::OTHERS);
    all.map(|client| client.name()).collect::<Vec<_>>().join(", ")
}

/// What the variable holds when no client is to run.
const NONE: &str = "none";

/// The names that are asked for; `None` when nothing asks.
fn named(one: Option<&str>, file: &Path) -> Result<Option<Vec<String>>, String> {
    if let Some(name) = one.filter(|name| !name.is_empty()) {
        let names = if name == NONE { Vec::new() } else { vec![name.to_owned()] };
        return Ok(Some(names));
    }
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
    let wrong = |problem: &str| format!("{}: {problem}", file.display());
    let table: toml::Table = toml::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    let list = table.get("test-agents").and_then(toml::Value::as_array);
    let list = list.ok_or_else(|| wrong("`test-agents` is to be an array of names"))?;
    let names = list.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    Option::<Vec<String>>::map(names, Some).ok_or_else(|| wrong("a name is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(one: Option<&str>, text: Option<&str>) -> Result<Option<Vec<String>>, String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("test-agents.toml");
        if let Some(text) = text {
            std::fs::write(&file, text).expect("writes");
        }
        named(one, &file)
    }

    #[test]
    fn f310_the_variable_wins_over_the_file_and_the_file_over_what_is_installed() {
        let list = |names: &[&str]| Ok(Some(names.iter().map(|name| (*name).to_owned()).collect()));
        let file = Some("test-agents = [\"claude\", \"codex\"]\n");
        assert_eq!(asked(Some("gemini"), file), list(&["gemini"]));
        assert_eq!(asked(Some("none"), file), list(&[]));
        assert_eq!(asked(Some(""), file), list(&["claude", "codex"]));
        assert_eq!(asked(None, file), list(&["claude", "codex"]));
        assert_eq!(asked(None, Some("test-agents = []\n")), list(&[]));
        assert_eq!(asked(None, None), Ok(None));
    }

    #[test]
    fn f310_a_file_that_says_nothing_useful_is_an_error() {
        for text in ["test-agents = \"claude\"", "test-agents = [1]", "agents = []", "="] {
            assert!(asked(None, Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn f310_the_specifications_names_select_launchers() {
        for (name, agent) in
            [("claude-sdk", "claude"), ("kiro-cli-acp", "kiro"), ("goose", "goose")]
        {
            assert_eq!(clients::by_name(name).expect("a client").agent(), agent);
        }
    }
}
