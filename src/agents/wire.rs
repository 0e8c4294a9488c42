//! What every agent's wire format is decoded into and encoded from.

use serde_json::{Map, Value};
use symposium_hook::{Decision, Input};

/// Longest context handed to an agent, in characters; clients cut beyond it, so we cut first.
pub const CONTEXT_LIMIT: usize = 10_000;

/// An agent's event, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// In canonical words, with the native tool name and input beside them.
    pub input: Input,
    /// The agent's name for this one use of a tool, where it gives one.
    pub tool_use_id: Option<String>,
    /// Whether the event is another agent's doing and must be answered with nothing (Copilot runs a
    /// project's Claude hooks too).
    pub foreign: bool,
}

/// The bytes are not the agent's payload for the event.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{agent} never sends this for {event}: {problem}")]
pub struct WireError {
    /// The agent.
    pub agent: &'static str,
    /// The event's command-line name.
    pub event: &'static str,
    /// What is wrong with the bytes.
    pub problem: String,
}

/// What all handlers together want.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The strongest decision; `None` is no opinion.
    pub decision: Option<Decision>,
    /// Reasons of that decision.
    pub reasons: Vec<String>,
    /// Text for the model, in order.
    pub context: Vec<String>,
    /// The whole input to use instead, in the agent's own words.
    pub updated_input: Option<Map<String, Value>>,
    /// A line for the user.
    pub user_message: Option<String>,
    /// End the turn, with this reason.
    pub stop: Option<String>,
    /// Fields of a native answer that we do not know, carried through where the agent tolerates
    /// them.
    pub extra: Map<String, Value>,
}

impl Outcome {
    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The reasons as one text; never empty.
    pub fn reason(&self) -> String {
        let text = self.reasons.join("\n");
        if text.trim().is_empty() { "blocked by a Symposium plugin".to_owned() } else { text }
    }

    /// The context as one text within [`CONTEXT_LIMIT`], cut at a line and saying so.
    pub fn context_text(&self) -> Option<String> {
        let parts: Vec<&str> =
            self.context.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return None;
        }
        let text = parts.join("\n\n");
        if text.chars().count() <= CONTEXT_LIMIT {
            return Some(text);
        }
        let note = "\n[cut here by Symposium: the text was too long for the agent]";
        let room = CONTEXT_LIMIT - note.chars().count();
        let head: String = text.chars().take(room).collect();
        let end = head.rfind('\n').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
        Some(format!("{}{note}", &head[..end]))
    }
}

/// What our process says to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Standard output, whole.
    pub stdout: String,
    /// Standard error, whole.
    pub stderr: String,
    /// Exit code.
    pub exit: u8,
}

impl Answer {
    /// "Carry on": what every agent takes an empty output and exit code 0 for.
    pub fn carry_on() -> Self {
        Self::default()
    }

    /// One JSON object and exit code 0; an empty object is "carry on".
    pub fn json(object: Map<String, Value>) -> Self {
        if object.is_empty() {
            return Self::carry_on();
        }
        Self { stdout: Value::Object(object).to_string(), ..Self::default() }
    }

    /// Exit code 2 with a reason on standard error.
    pub fn block(reason: String) -> Self {
        Self { stdout: String::new(), stderr: reason, exit: 2 }
    }
}

/// What a handler's program said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildAnswer<'a> {
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// Its exit code; `None` when a signal ended it.
    pub exit: Option<i32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_context_is_cut_at_a_line_and_says_so() {
        let line = "x".repeat(99);
        let outcome = Outcome { context: vec![vec![line; 200].join("\n")], ..Outcome::default() };
        let text = outcome.context_text().expect("some text");
        assert!(text.chars().count() <= CONTEXT_LIMIT);
        assert!(text.ends_with("x\n[cut here by Symposium: the text was too long for the agent]"));
    }
}
