//! The answer as one JSON object: flat for some agents, with a `hookSpecificOutput` inside for those
//! that took it over from Claude Code. What goes into it is each agent's own affair.

use serde_json::{Map, Value};
use symposium_hook::Decision;

use super::json::parse_json;
use super::wire::{Answer, Outcome};

/// The key of the inner object.
const INNER: &str = "hookSpecificOutput";
/// The key of the event's name in the inner object.
const EVENT: &str = "hookEventName";

/// An answer on its way out.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    event_name: &'static str,
    top: Map<String, Value>,
    inner: Map<String, Value>,
    extra: Map<String, Value>,
}

impl Envelope {
    /// An empty answer to the event with this name.
    pub(crate) fn new(event_name: &'static str) -> Self {
        Self::with_extra(event_name, &Map::new())
    }

    /// An answer that has the fields that were carried through, too, where it does not set them.
    pub(crate) fn with_extra(event_name: &'static str, extra: &Map<String, Value>) -> Self {
        Self { event_name, top: Map::new(), inner: Map::new(), extra: extra.clone() }
    }

    /// Sets a field of the outer object.
    pub(crate) fn top(&mut self, key: &str, value: impl Into<Value>) {
        self.top.insert(key.to_owned(), value.into());
    }

    /// Sets a field of the inner object.
    pub(crate) fn inner(&mut self, key: &str, value: impl Into<Value>) {
        self.inner.insert(key.to_owned(), value.into());
    }

    /// Sets `additionalContext` of the inner object, if there is any.
    pub(crate) fn context(&mut self, outcome: &Outcome) {
        if let Some(text) = outcome.context_text() {
            self.inner("additionalContext", text);
        }
    }

    /// Sets `systemMessage`, if there is one.
    pub(crate) fn user_message(&mut self, outcome: &Outcome) {
        if let Some(text) = outcome.user_message.as_deref().filter(|text| !text.trim().is_empty()) {
            self.top("systemMessage", text);
        }
    }

    /// Sets `continue` and `stopReason`, if the turn is to end.
    pub(crate) fn stop(&mut self, outcome: &Outcome) {
        if let Some(reason) = outcome.stop_reason() {
            self.top("continue", false);
            self.top("stopReason", reason);
        }
    }

    /// The answer: the inner object is left out when nothing is in it, and names its event else.
    pub(crate) fn answer(self) -> Answer {
        let Self { event_name, mut top, mut inner, mut extra } = self;
        if let Some(Value::Object(extra)) = extra.shift_remove(INNER) {
            add_missing(&mut inner, extra);
        }
        add_missing(&mut top, extra);
        if !inner.is_empty() {
            let mut named = Map::new();
            named.insert(EVENT.to_owned(), event_name.into());
            named.extend(inner.into_iter().filter(|(key, _)| key != EVENT));
            top.insert(INNER.to_owned(), named.into());
        }
        Answer::json(top)
    }
}

fn add_missing(object: &mut Map<String, Value>, extra: Map<String, Value>) {
    for (key, value) in extra {
        object.entry(key).or_insert(value);
    }
}

/// An answer on its way in, field by field. A `null` counts as absent: it makes some agents drop
/// the whole answer, which is never what a program that goes to the trouble of answering wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    top: Map<String, Value>,
    inner: Map<String, Value>,
}

impl Reply {
    /// The JSON object that the text is, if it is one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Most say nothing, or plain text: no reason to look for what may be wrong with it as JSON.
        if !text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return None;
        }
        let Ok(Value::Object(mut top)) = parse_json(text) else { return None };
        let mut inner = match top.shift_remove(INNER) {
            Some(Value::Object(inner)) => inner,
            _ => Map::new(),
        };
        top.retain(|_, value| !value.is_null());
        inner.retain(|_, value| !value.is_null());
        Some(Self { top, inner })
    }

    /// Drops the inner object when it says that it is for another event.
    #[must_use]
    pub(crate) fn for_event(mut self, event_name: &str) -> Self {
        match self.inner.shift_remove(EVENT) {
            Some(found) if found != event_name => self.inner.clear(),
            _ => {}
        }
        self
    }

    /// Takes a field of the outer object.
    pub(crate) fn top(&mut self, key: &str) -> Option<Value> {
        self.top.shift_remove(key)
    }

    /// Takes a text field of the outer object.
    pub(crate) fn top_text(&mut self, key: &str) -> Option<String> {
        self.top(key).and_then(text)
    }

    /// Takes an object of the outer object.
    pub(crate) fn top_object(&mut self, key: &str) -> Option<Map<String, Value>> {
        self.top(key).and_then(object)
    }

    /// Takes a field of the inner object.
    pub(crate) fn inner(&mut self, key: &str) -> Option<Value> {
        self.inner.shift_remove(key)
    }

    /// Takes a text field of the inner object.
    pub(crate) fn inner_text(&mut self, key: &str) -> Option<String> {
        self.inner(key).and_then(text)
    }

    /// Takes an object of the inner object.
    pub(crate) fn inner_object(&mut self, key: &str) -> Option<Map<String, Value>> {
        self.inner(key).and_then(object)
    }

    /// Takes what every agent of this family has: `continue`, `stopReason`, `systemMessage` and
    /// `additionalContext`.
    pub(crate) fn common(&mut self, outcome: &mut Outcome) {
        let reason = self.top_text("stopReason");
        if self.top("continue") == Some(Value::Bool(false)) {
            outcome.stop = Some(reason.unwrap_or_default());
        }
        outcome.user_message = self.top_text("systemMessage");
        outcome.context.extend(self.inner_text("additionalContext"));
    }

    /// What was not taken, in the form that [`Envelope::with_extra`] reads.
    pub(crate) fn rest(self) -> Map<String, Value> {
        let Self { mut top, inner } = self;
        if !inner.is_empty() {
            top.insert(INNER.to_owned(), inner.into());
        }
        top
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The decision that a `permissionDecision` names.
pub(crate) fn permission(word: Option<&str>) -> Option<Decision> {
    match word? {
        "allow" => Some(Decision::Allow),
        "ask" => Some(Decision::Ask),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

/// Adds a decision and its reason; of two in one answer the stricter counts.
pub(crate) fn decide(outcome: &mut Outcome, decision: Option<Decision>, reason: Option<String>) {
    let Some(decision) = decision else { return };
    if outcome.decision.is_some_and(|present| present > decision) {
        return;
    }
    if outcome.decision != Some(decision) {
        outcome.reasons.clear();
    }
    outcome.decision = Some(decision);
    outcome.reasons.extend(reason);
}

/// What exit code 2 means: a block, for the reason on standard error, else for the reason that the
/// answer gave.
pub(crate) fn blocked(outcome: &mut Outcome, stderr: &str) {
    let reason = stderr.trim();
    if !reason.is_empty() || outcome.decision != Some(Decision::Deny) {
        outcome.reasons =
            [reason].into_iter().filter(|r| !r.is_empty()).map(str::to_owned).collect();
    }
    outcome.decision = Some(Decision::Deny);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_foreign_events_are_not_there() {
        let mut reply = Reply::parse(
            r#" {"reason": null, "hookSpecificOutput": {"hookEventName": "Stop", "x": 1}} "#,
        )
        .expect("an object")
        .for_event("PreToolUse");
        assert_eq!(reply.inner("x"), None);
        assert_eq!(reply.rest(), Map::new());
        assert!(Reply::parse("text {}").is_none() && Reply::parse("[]").is_none());
    }

    #[test]
    fn what_was_not_taken_goes_out_as_it_came_in() {
        let text = r#"{"odd":1,"hookSpecificOutput":{"hookEventName":"E","odder":{"deep":null}}}"#;
        let rest = Reply::parse(text).expect("an object").for_event("E").rest();
        assert_eq!(Envelope::with_extra("E", &rest).answer().stdout, text);
        assert_eq!(Envelope::new("E").answer(), Answer::carry_on());
    }

    #[test]
    fn what_we_say_beats_what_is_carried_through() {
        let extra = r#"{"a":1,"b":1,"hookSpecificOutput":{"a":1,"b":1}}"#;
        let extra: Map<String, Value> = serde_json::from_str(extra).expect("an object");
        let mut envelope = Envelope::with_extra("E", &extra);
        envelope.top("b", 2);
        envelope.inner("b", 2);
        assert_eq!(
            envelope.answer().stdout,
            r#"{"b":2,"a":1,"hookSpecificOutput":{"hookEventName":"E","b":2,"a":1}}"#
        );
    }

    #[test]
    fn the_stricter_decision_counts_with_its_own_reason() {
        let mut outcome = Outcome::default();
        decide(&mut outcome, None, Some("unused".into()));
        decide(&mut outcome, Some(Decision::Allow), Some("fine".into()));
        decide(&mut outcome, Some(Decision::Deny), Some("bad".into()));
        decide(&mut outcome, Some(Decision::Ask), Some("hm".into()));
        assert_eq!(outcome.decision, Some(Decision::Deny));
        assert_eq!(outcome.reasons, ["bad"]);
        blocked(&mut outcome, " \n");
        assert_eq!(outcome.reasons, ["bad"]);
        blocked(&mut outcome, "worse\n");
        assert_eq!(outcome.reasons, ["worse"]);
        let mut allowed = Outcome::default();
        decide(&mut allowed, Some(Decision::Allow), Some("fine".into()));
        blocked(&mut allowed, "");
        assert_eq!((allowed.decision, allowed.reasons.len()), (Some(Decision::Deny), 0));
    }
}
