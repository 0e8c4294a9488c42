//! What every agent's wire format is decoded into and encoded from.

use serde_json::{Map, Value};
use symposium_hook::{Decision, Input};

/// Longest text handed to an agent; clients cut beyond it, so we cut first. In UTF-16 code units, in
/// which those in JavaScript count, and never fewer than characters.
pub(crate) const CONTEXT_LIMIT: usize = 10_000;

/// An agent's event, understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decoded {
    /// In canonical words, with the native tool name and input beside them.
    pub input: Input,
    /// The agent's name for this one use of a tool, where it gives one.
    pub tool_use_id: Option<String>,
    /// What tells this event from others of its kind in the session.
    pub delivery: Delivery,
    /// How the session started, in the agent's word, where it says it.
    pub started: Option<String>,
    /// Whether the event is none of ours and must be answered with nothing (Copilot runs a project's
    /// Claude hooks too; Qwen tells of a prompt where nobody wrote one).
    pub foreign: bool,
    /// Whether the tool failed, where the agent has an event of its own for that. Plugins' hooks have
    /// no such event.
    pub failed: bool,
}

/// What tells an event from others of its kind in the session. An agent that has us registered
/// twice delivers an event twice, both times with this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The agent's own name for it: of the use of a tool, of the turn that a prompt begins.
    Named(String),
    /// Its moment, to the millisecond, as the agent says it to each registration. Two uses of a tool
    /// at once may share it.
    Timed(String),
    /// Its content, what the agent says of its kind (which start of a session it is), and when it
    /// comes.
    Unnamed(String),
    /// Nothing: nobody delivers it twice.
    Single,
}

impl Decoded {
    /// How the session started, in the words that agents share.
    pub(crate) fn start(&self) -> &str {
        let known = self.started.as_deref().unwrap_or_default();
        if ["resume", "clear", "compact"].contains(&known) { known } else { "startup" }
    }

    /// The names of the event's tool, each once: the canonical one, then the agent's own. None for
    /// an event without a tool.
    pub(crate) fn tool_names(&self) -> Vec<&str> {
        let (canonical, native) = match &self.input {
            Input::PreToolUse(input) => (&input.tool_name, &input.native_tool_name),
            Input::PostToolUse(input) => (&input.tool_name, &input.native_tool_name),
            Input::UserPromptSubmit(_) | Input::SessionStart(_) | Input::Stop(_) => {
                return Vec::new();
            }
        };
        let native = native.as_deref().filter(|native| native != canonical);
        std::iter::once(canonical.as_str()).chain(native).collect()
    }
}

/// The bytes are not the agent's payload for the event.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{agent} never sends this for {event}: {problem}")]
pub(crate) struct WireError {
    /// The agent.
    pub agent: &'static str,
    /// The event's command-line name.
    pub event: &'static str,
    /// What is wrong with the bytes.
    pub problem: String,
}

/// What all handlers together want.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Outcome {
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
    /// A denial. With an empty reason, [`Self::reason`] has words of its own.
    pub(crate) fn denied(reason: &str) -> Self {
        let reason = reason.trim();
        Self {
            decision: Some(Decision::Deny),
            reasons: if reason.is_empty() { Vec::new() } else { vec![reason.to_owned()] },
            ..Self::default()
        }
    }

    /// Whether nothing is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The reasons that were given as one text within [`CONTEXT_LIMIT`].
    pub(crate) fn given_reason(&self) -> Option<String> {
        let text = self.reasons.join("\n");
        (!text.trim().is_empty()).then(|| cut(&text))
    }

    /// The reason for a denial; never empty.
    pub(crate) fn reason(&self) -> String {
        self.given_reason().unwrap_or_else(|| "blocked by a Symposium plugin".to_owned())
    }

    /// The reason to show to the user whom the agent asks; never empty.
    pub(crate) fn ask_reason(&self) -> String {
        self.given_reason().unwrap_or_else(|| "a Symposium plugin asks for your consent".to_owned())
    }

    /// The reason of the deny that stands for "ask" with an agent that can't ask; never empty.
    pub(crate) fn cannot_ask_reason(&self) -> String {
        let request = "This needs the user's consent: ask the user before you try it again.";
        self.given_reason()
            .map_or_else(|| request.to_owned(), |why| cut(&format!("{request}\n{why}")))
    }

    /// The reason for ending the turn, where the turn is to end; never empty.
    pub(crate) fn stop_reason(&self) -> Option<String> {
        self.stop.as_deref().map(|reason| match reason.trim() {
            "" => "stopped by a Symposium plugin".to_owned(),
            reason => cut(reason),
        })
    }

    /// Why the event is refused, for agents that know one "no" for a denial and for the end of the
    /// turn.
    pub(crate) fn refusal(&self) -> Option<String> {
        let denied = (self.decision == Some(Decision::Deny)).then(|| self.reason());
        match (denied, self.stop_reason()) {
            (Some(denied), Some(stopped)) if denied != stopped => {
                Some(cut(&format!("{denied}\n{stopped}")))
            }
            (denied, stopped) => denied.or(stopped),
        }
    }

    /// As [`Self::refusal`], for agents that can't ask either: what the user should be asked about
    /// is refused until they were.
    pub(crate) fn refusal_or_ask(&self) -> Option<String> {
        let ask = self.decision == Some(Decision::Ask);
        self.refusal().or_else(|| ask.then(|| self.cannot_ask_reason()))
    }

    /// The context as one text within [`CONTEXT_LIMIT`], cut at a line and saying so.
    pub(crate) fn context_text(&self) -> Option<String> {
        self.whole_context().map(|text| cut(&text))
    }

    /// As [`Self::context_text`], for an agent that counts bytes.
    pub(crate) fn context_in_bytes(&self) -> Option<String> {
        self.whole_context().map(|text| cut_by(&text, char::len_utf8))
    }

    fn whole_context(&self) -> Option<String> {
        let parts: Vec<&str> =
            self.context.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// The text within [`CONTEXT_LIMIT`].
fn cut(text: &str) -> String {
    cut_by(text, char::len_utf16)
}

/// The text within [`CONTEXT_LIMIT`], where a character counts as `size` says.
fn cut_by(text: &str, size: fn(char) -> usize) -> String {
    const NOTE: &str = "\n[cut here by Symposium: the text was too long for the agent]";
    let mut used = 0;
    let mut room = text.len();
    for (at, char) in text.char_indices() {
        // What stands before this character leaves room for the note.
        if used + NOTE.len() <= CONTEXT_LIMIT {
            room = at;
        }
        used += size(char);
    }
    if used <= CONTEXT_LIMIT {
        return text.to_owned();
    }
    let head = &text[..room];
    let end = head.rfind('\n').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}{NOTE}", &head[..end])
}

/// Something that handlers may want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    /// The tool is not used, the prompt kept back, the result hidden.
    Deny,
    /// The user is asked first.
    Ask,
    /// Nobody is asked.
    Allow,
    /// The tool gets another input.
    Rewrite,
    /// The model is told something.
    Context,
    /// The turn ends.
    Stop,
    /// The user is told something.
    Message,
}

impl Capability {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Deny,
        Self::Ask,
        Self::Allow,
        Self::Rewrite,
        Self::Context,
        Self::Stop,
        Self::Message,
    ];

    /// Whether it is in `outcome`.
    pub(crate) fn is_in(self, outcome: &Outcome) -> bool {
        match self {
            Self::Deny => outcome.decision == Some(Decision::Deny),
            Self::Ask => outcome.decision == Some(Decision::Ask),
            Self::Allow => outcome.decision == Some(Decision::Allow),
            Self::Rewrite => outcome.updated_input.is_some(),
            Self::Context => outcome.context_text().is_some(),
            Self::Stop => outcome.stop.is_some(),
            Self::Message => outcome.user_message.is_some(),
        }
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Deny => "denial",
            Self::Ask => "question to the user",
            Self::Allow => "leave to go ahead unasked",
            Self::Rewrite => "other input",
            Self::Context => "words for the model",
            Self::Stop => "end of the turn",
            Self::Message => "words for the user",
        })
    }
}

/// What an agent makes of what a handler wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// Just that.
    Yes,
    /// This, which is the nearest that is safe.
    Instead(&'static str),
    /// Nothing.
    No,
}

impl Support {
    /// A denial with the question in its reason, for who can't ask.
    pub(crate) const DENIED: Self = Self::Instead("a denial that says so");
    /// What is said at the end of a turn waits for the next event at which the model hears of it.
    pub(crate) const LATER: Self = Self::Instead("words with a later event");
    /// A denial, for who knows no end of a turn.
    pub(crate) const REFUSED: Self = Self::Instead("a denial");
}

/// What our process answers the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Standard output, whole.
    pub stdout: String,
    /// Standard error, whole.
    pub stderr: String,
    /// Exit code.
    pub exit: u8,
}

impl Answer {
    /// "Carry on": what every agent takes an empty output and exit code 0 for.
    pub(crate) fn carry_on() -> Self {
        Self::default()
    }

    /// One JSON object and exit code 0; an empty object is "carry on".
    pub(crate) fn json(object: Map<String, Value>) -> Self {
        if object.is_empty() {
            return Self::carry_on();
        }
        Self { stdout: Value::Object(object).to_string(), ..Self::default() }
    }

    /// Exit code 2 with a reason on standard error.
    pub(crate) fn block(reason: String) -> Self {
        Self { stdout: String::new(), stderr: reason, exit: 2 }
    }
}

/// How a handler's program ended, and its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChildAnswer<'a> {
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
    fn what_is_long_is_counted_as_clients_count() {
        for (char, units) in [('x', 1), ('é', 1), ('語', 1), ('😀', 2)] {
            for length in [CONTEXT_LIMIT / units, CONTEXT_LIMIT / units + 1, 3 * CONTEXT_LIMIT] {
                let whole = char.to_string().repeat(length);
                let outcome = Outcome { context: vec![whole.clone()], ..Outcome::default() };
                let text = outcome.context_text().expect("some text");
                assert!(text.encode_utf16().count() <= CONTEXT_LIMIT);
                assert_eq!(text == whole, length * units <= CONTEXT_LIMIT, "{char} {length}");
                let bytes = outcome.context_in_bytes().expect("some text");
                assert!(bytes.len() <= CONTEXT_LIMIT && bytes.len() > CONTEXT_LIMIT - 100);
                assert_eq!(bytes == whole, whole.len() <= CONTEXT_LIMIT, "{char} {length}");
            }
        }
    }

    #[test]
    fn a_reason_is_never_empty_and_never_endless() {
        let mut outcome = Outcome { stop: Some(" ".to_owned()), ..Outcome::default() };
        assert_eq!(outcome.reason(), "blocked by a Symposium plugin");
        assert_eq!(outcome.stop_reason().as_deref(), Some("stopped by a Symposium plugin"));
        assert_eq!(outcome.ask_reason(), "a Symposium plugin asks for your consent");
        assert_eq!(outcome.given_reason(), None);
        assert!(outcome.cannot_ask_reason().contains("ask the user"));
        outcome.reasons = vec!["é".repeat(3 * CONTEXT_LIMIT)];
        assert_eq!(outcome.reason().chars().count(), CONTEXT_LIMIT);
        assert_eq!(outcome.ask_reason().chars().count(), CONTEXT_LIMIT);
        assert_eq!(outcome.cannot_ask_reason().chars().count(), CONTEXT_LIMIT);
        assert!(outcome.cannot_ask_reason().starts_with("This needs the user's consent"));
    }

    #[test]
    fn a_refusal_is_a_denial_an_end_or_both_and_a_question_where_nobody_can_ask() {
        assert_eq!(Outcome::default().refusal_or_ask(), None);
        let mut outcome = Outcome::denied(" no \n");
        assert_eq!(outcome.refusal().as_deref(), Some("no"));
        outcome.stop = Some("enough".to_owned());
        assert_eq!(outcome.refusal().as_deref(), Some("no\nenough"));
        outcome.stop = Some("no".to_owned());
        assert_eq!(outcome.refusal().as_deref(), Some("no"));
        outcome.decision = Some(Decision::Ask);
        assert_eq!(outcome.refusal_or_ask().as_deref(), Some("no"));
        outcome.stop = None;
        assert_eq!(outcome.refusal(), None);
        assert!(
            outcome.refusal_or_ask().is_some_and(|reason| reason.ends_with("try it again.\nno"))
        );
        assert_eq!(Outcome::denied("").refusal().as_deref(), Some("blocked by a Symposium plugin"));
    }

    #[test]
    fn a_tool_has_each_of_its_names_once() {
        let named = |canonical: &str, native: Option<&str>| Decoded {
            input: Input::PreToolUse(symposium_hook::PreToolUseInput {
                tool_name: canonical.to_owned(),
                native_tool_name: native.map(str::to_owned),
                ..Default::default()
            }),
            tool_use_id: None,
            delivery: Delivery::Single,
            started: None,
            foreign: false,
            failed: false,
        };
        assert_eq!(named("Bash", Some("shell")).tool_names(), ["Bash", "shell"]);
        assert_eq!(named("Bash", Some("Bash")).tool_names(), ["Bash"]);
        assert_eq!(named("Bash", None).tool_names(), ["Bash"]);
        let input = Input::SessionStart(Default::default());
        assert!(Decoded { input, ..named("", None) }.tool_names().is_empty());
    }
}
