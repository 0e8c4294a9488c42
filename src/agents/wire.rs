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

    /// The reasons as one text within [`CONTEXT_LIMIT`]; never empty.
    pub fn reason(&self) -> String {
        let text = self.reasons.join("\n");
        if text.trim().is_empty() { "blocked by a Symposium plugin".to_owned() } else { cut(&text) }
    }

    /// The reason to show to the user whom the agent asks; never empty.
    pub fn ask_reason(&self) -> String {
        let text = self.reasons.join("\n");
        if text.trim().is_empty() {
            "a Symposium plugin asks for your consent".to_owned()
        } else {
            cut(&text)
        }
    }

    /// The reason of the deny that stands for "ask" with an agent that can't ask; never empty.
    pub fn cannot_ask_reason(&self) -> String {
        let why = self.reasons.join("\n");
        let wish = "This needs the user's consent: ask the user before you try it again.";
        if why.trim().is_empty() { wish.to_owned() } else { cut(&format!("{wish}\n{why}")) }
    }

    /// The reason for ending the turn, where the turn is to end; never empty.
    pub fn stop_reason(&self) -> Option<String> {
        self.stop.as_deref().map(|reason| match reason.trim() {
            "" => "stopped by a Symposium plugin".to_owned(),
            reason => cut(reason),
        })
    }

    /// The context as one text within [`CONTEXT_LIMIT`], cut at a line and saying so.
    pub fn context_text(&self) -> Option<String> {
        let parts: Vec<&str> =
            self.context.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { None } else { Some(cut(&parts.join("\n\n"))) }
    }
}

/// The text within [`CONTEXT_LIMIT`].
fn cut(text: &str) -> String {
    if text.chars().count() <= CONTEXT_LIMIT {
        return text.to_owned();
    }
    let note = "\n[cut here by Symposium: the text was too long for the agent]";
    let room = CONTEXT_LIMIT - note.chars().count();
    let head: String = text.chars().take(room).collect();
    let end = head.rfind('\n').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}{note}", &head[..end])
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

    #[test]
    fn a_reason_is_never_empty_and_never_endless() {
        let mut outcome = Outcome { stop: Some(" ".to_owned()), ..Outcome::default() };
        assert_eq!(outcome.reason(), "blocked by a Symposium plugin");
        assert_eq!(outcome.stop_reason().as_deref(), Some("stopped by a Symposium plugin"));
        assert_eq!(outcome.ask_reason(), "a Symposium plugin asks for your consent");
        assert!(outcome.cannot_ask_reason().contains("ask the user"));
        outcome.reasons = vec!["é".repeat(3 * CONTEXT_LIMIT)];
        assert_eq!(outcome.reason().chars().count(), CONTEXT_LIMIT);
        assert_eq!(outcome.ask_reason().chars().count(), CONTEXT_LIMIT);
        assert_eq!(outcome.cannot_ask_reason().chars().count(), CONTEXT_LIMIT);
        assert!(outcome.cannot_ask_reason().starts_with("This needs the user's consent"));
    }
}
