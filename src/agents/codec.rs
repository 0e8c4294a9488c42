//! What an agent says of an event, and what it is answered.

use serde_json::{Map, Value};
use symposium_hook::{Event, Input};

use super::identity::Identity;
use super::payload;
use super::tools;
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::Environment;

/// An agent's words for events and answers. This is all that `hook` needs of an agent.
pub(crate) trait Codec: Sync {
    /// Its names and folders.
    fn identity(&self) -> &'static Identity;

    /// The name in configuration and on the command line.
    fn name(&self) -> &'static str {
        self.identity().name
    }

    /// The agent's own name of an event.
    fn event_name(&self, event: Event) -> &'static str;

    /// How long the agent lets our hook run, in seconds, as registered.
    fn registered_timeout(&self, _event: Event) -> u64 {
        self.identity().hook_timeout
    }

    /// Whether the agent tells of a session's start again and again, so that only the first counts.
    fn repeats_start(&self) -> bool {
        false
    }

    /// Reads an event as the agent sends it.
    ///
    /// # Errors
    /// When the bytes are not this agent's payload for this event.
    fn decode(&self, event: Event, stdin: &[u8], env: &Environment) -> Result<Decoded, WireError>;

    /// The answer that makes the agent do what `outcome` says, as near as it can. Never fails:
    /// what the agent has no form for is left out (a deny never is, where the agent can deny at all).
    fn encode(&self, event: Event, outcome: &Outcome) -> Answer;

    /// As [`Self::encode`], for a tool's failure where the agent has an event of its own for that.
    fn encode_failure(&self, outcome: &Outcome) -> Answer {
        self.encode(Event::PostToolUse, outcome)
    }

    /// What it makes of a capability at an event. [`Self::encode`] keeps to this; what is not `Yes` is
    /// logged, and stands in the book's table.
    fn support(&self, event: Event, capability: Capability) -> Support;

    /// Whether the model gets to see context given at this event. Where it does not, the hook room
    /// keeps the context and gives it at the next event that delivers.
    fn delivers_context(&self, event: Event) -> bool {
        event != Event::Stop
    }

    /// The event as this agent would send it, for a program that knows no other format; `None` where
    /// there are no such programs.
    fn encode_event(&self, _decoded: &Decoded) -> Option<Vec<u8>> {
        None
    }

    /// An event as the agent sends it, of `fields` under its own names: with what says which event it
    /// is, and each field where it belongs.
    fn example(&self, event: Event, mut fields: Map<String, Value>) -> Map<String, Value> {
        fields.insert("hook_event_name".to_owned(), self.event_name(event).into());
        fields
    }

    /// Reads the answer of a program that speaks this agent's own format.
    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome;

    /// The agent's own input for a canonical `updatedInput` of the tool in `decoded`.
    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        tools::native(self.identity().tools, decoded, updated)
    }

    /// The payload with another input of the tool in it, the agent's own: what the next handler reads
    /// after one rewrote the input. `None` when the payload has no input.
    fn replace_input(&self, stdin: &[u8], input: &Map<String, Value>) -> Option<Vec<u8>> {
        payload::replace_input(stdin, self.identity().fields.tool_input, input)
    }

    /// Server and tool of a native tool name that joins them with a sign that either may hold
    /// (`server-tool`), given the servers that are known; `None` where the payload alone tells, or
    /// no known server fits.
    fn split_mcp_name<'a>(
        &self,
        _native: &'a str,
        _servers: &[&str],
    ) -> Option<(&'a str, &'a str)> {
        None
    }

    /// Gives the tool its canonical name where that takes knowing the servers (see
    /// [`Self::split_mcp_name`]); [`Self::decode`] guesses without.
    fn name_mcp_tool(&self, decoded: &mut Decoded, servers: &[&str]) {
        let (canonical, native) = match &mut decoded.input {
            Input::PreToolUse(input) => (&mut input.tool_name, &input.native_tool_name),
            Input::PostToolUse(input) => (&mut input.tool_name, &input.native_tool_name),
            Input::UserPromptSubmit(_) | Input::SessionStart(_) | Input::Stop(_) => return,
        };
        let Some(native) = native.as_deref() else { return };
        let built_in = canonical.as_str() != native && !canonical.starts_with("mcp__");
        if let (false, Some((server, tool))) = (built_in, self.split_mcp_name(native, servers)) {
            *canonical = format!("mcp__{server}__{tool}");
        }
    }
}
