//! Asking an agent without a screen: one prompt, one answer, and what it took.

use serde_json::Value;

/// How an agent is asked without a screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headless {
    /// The arguments of its first program. It may change files of the folder that it is started in, and
    /// is not given leave for more.
    pub args: fn(prompt: String) -> Vec<String>,
    /// What its standard output says.
    pub read: fn(stdout: &str) -> Reply,
}

/// What an agent said, and what it took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub text: String,
    /// `None` where it does not tell.
    pub tokens: Option<Tokens>,
}

/// What a model read and wrote, over all calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tokens {
    /// What was read from a cache included.
    pub input: u64,
    pub output: u64,
}

impl Reply {
    /// What was said; where nothing was, all that is on `stdout`.
    pub(crate) fn new(text: Option<String>, tokens: Option<Tokens>, stdout: &str) -> Self {
        Self { text: text.unwrap_or_else(|| plain(stdout).text), tokens }
    }
}

impl Headless {
    /// The arguments for `prompt`; one that begins as an option does is none.
    pub(crate) fn arguments(&self, prompt: &str) -> Vec<String> {
        let is_like_an_option = prompt.starts_with('-');
        (self.args)(if is_like_an_option { format!(" {prompt}") } else { prompt.to_owned() })
    }
}

/// An agent that prints nothing but its answer.
pub(crate) fn plain(stdout: &str) -> Reply {
    Reply { text: stdout.trim().to_owned(), tokens: None }
}

/// The lines that are JSON objects.
pub(crate) fn objects(stdout: &str) -> impl Iterator<Item = Value> + '_ {
    stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object)
}

/// Words, as a command line has them.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The sum of these fields of `usage`.
pub(crate) fn sum(usage: &Value, fields: &[&str]) -> u64 {
    fields.iter().filter_map(|field| usage.get(field)?.as_u64()).sum()
}
