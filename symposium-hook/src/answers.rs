//! Short ways to make an answer.

use anyhow::bail;
use serde_json::{Map, Value};

use crate::{
    Decision, Output, PostToolUseOutput, PreToolUseOutput, SessionStartOutput, StopOutput,
    UserPromptSubmitOutput,
};

/// Adds a further piece of text below what is there, after a blank line.
fn append(text: &mut Option<String>, more: String) {
    match text {
        Some(text) => {
            text.push_str("\n\n");
            text.push_str(&more);
        }
        None => *text = Some(more),
    }
}

macro_rules! contexts {
    ($type:ident) => {
        impl $type {
            /// Tells the model something, and has no opinion otherwise.
            pub fn context(text: impl Into<String>) -> Self {
                Self::default().and_context(text)
            }

            /// Tells the model something more, below what is there.
            #[must_use]
            pub fn and_context(mut self, text: impl Into<String>) -> Self {
                append(&mut self.additional_context, text.into());
                self
            }
        }

        impl From<$type> for Output {
            fn from(output: $type) -> Self {
                contexts!(@variant $type, output)
            }
        }
    };
    (@variant PreToolUseOutput, $output:ident) => { Self::PreToolUse($output) };
    (@variant PostToolUseOutput, $output:ident) => { Self::PostToolUse($output) };
    (@variant UserPromptSubmitOutput, $output:ident) => { Self::UserPromptSubmit($output) };
    (@variant SessionStartOutput, $output:ident) => { Self::SessionStart($output) };
}

contexts!(PreToolUseOutput);
contexts!(PostToolUseOutput);
contexts!(UserPromptSubmitOutput);
contexts!(SessionStartOutput);

impl PreToolUseOutput {
    /// Stops the use of the tool; the model reads the reason.
    ///
    /// ```
    /// use symposium_hook::{Decision, PreToolUseOutput};
    ///
    /// let output = PreToolUseOutput::deny("the release branch is protected")
    ///     .and_context("Open a pull request instead.");
    /// assert_eq!(output.decision, Some(Decision::Deny));
    /// assert!(output.additional_context.is_some());
    /// ```
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::decided(Decision::Deny, Some(reason.into()))
    }

    /// Has the user asked, who reads the reason. With an agent that can't ask it is a `deny` whose
    /// reason says so.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::decided(Decision::Ask, Some(reason.into()))
    }

    /// Lets the tool go ahead without a question to the user. To have no opinion, return
    /// `default()` instead.
    pub fn allow() -> Self {
        Self::decided(Decision::Allow, None)
    }

    /// Replaces the tool's whole input by an object under the common names (`command`,
    /// `file_path`, …).
    ///
    /// ```
    /// use serde_json::json;
    /// use symposium_hook::PreToolUseOutput;
    ///
    /// let output = PreToolUseOutput::with_updated_input(json!({"command": "cargo test --release"}))
    ///     .and_context("Tests run in release mode here.");
    /// assert!(output.decision.is_none());
    /// ```
    ///
    /// # Panics
    /// When the value is no object: no tool takes anything else. Use
    /// [`try_with_updated_input`](Self::try_with_updated_input) for a value that is not of your
    /// own making.
    #[track_caller]
    pub fn with_updated_input(input: impl Into<Value>) -> Self {
        match Self::try_with_updated_input(input) {
            Ok(output) => output,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`with_updated_input`](Self::with_updated_input), for a value that may turn out not to be
    /// an object.
    ///
    /// # Errors
    /// When it is none.
    pub fn try_with_updated_input(input: impl Into<Value>) -> anyhow::Result<Self> {
        match input.into() {
            Value::Object(input) => Ok(Self::default().and_updated_input(input)),
            Value::Null => bail!("a tool's new input must be an object, not null"),
            Value::Bool(_) => bail!("a tool's new input must be an object, not a truth value"),
            Value::Number(_) => bail!("a tool's new input must be an object, not a number"),
            Value::String(_) => bail!("a tool's new input must be an object, not a string"),
            Value::Array(_) => bail!("a tool's new input must be an object, not an array"),
        }
    }

    /// Replaces the tool's whole input as well.
    #[must_use]
    pub fn and_updated_input(mut self, input: Map<String, Value>) -> Self {
        self.updated_input = Some(input);
        self
    }

    fn decided(decision: Decision, reason: Option<String>) -> Self {
        Self { decision: Some(decision), reason, ..Self::default() }
    }
}

impl PostToolUseOutput {
    /// Hides the tool's result; the model reads the reason in its place, where the agent can do
    /// that, and beside it elsewhere.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }
}

impl UserPromptSubmitOutput {
    /// Keeps the prompt from the model; the user reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }
}

impl StopOutput {
    /// Keeps the agent from ending its turn; the model reads what is left to be done.
    ///
    /// ```
    /// use symposium_hook::{StopInput, StopOutput};
    ///
    /// fn stop(event: &StopInput, tests_pass: bool) -> StopOutput {
    ///     match tests_pass || event.stop_hook_active {
    ///         true => StopOutput::default(),
    ///         false => StopOutput::go_on("the tests fail: mend them before you end"),
    ///     }
    /// }
    ///
    /// let first = stop(&StopInput::default(), false);
    /// assert!(first.reason.is_some());
    /// // One reminder a turn is enough.
    /// let second = stop(&StopInput { stop_hook_active: true, ..StopInput::default() }, false);
    /// assert_eq!(second, StopOutput::default());
    /// ```
    pub fn go_on(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()) }
    }
}

impl From<StopOutput> for Output {
    fn from(output: StopOutput) -> Self {
        Self::Stop(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(output: impl Into<Output>) -> Value {
        serde_json::to_value(output.into()).expect("can be written")
    }

    #[test]
    fn f305_each_way_to_answer_has_its_shape() {
        assert_eq!(written(PreToolUseOutput::default()), json!({"PreToolUse": {}}));
        assert_eq!(
            written(PreToolUseOutput::context("Use --release")),
            json!({"PreToolUse": {"additionalContext": "Use --release"}})
        );
        assert_eq!(
            written(PostToolUseOutput::context("3 skipped").and_context("see CI")),
            json!({"PostToolUse": {"additionalContext": "3 skipped\n\nsee CI"}})
        );
        assert_eq!(
            written(UserPromptSubmitOutput::default().and_context("tokio 1.x")),
            json!({"UserPromptSubmit": {"additionalContext": "tokio 1.x"}})
        );
        assert_eq!(
            written(SessionStartOutput::context("hello")),
            json!({"SessionStart": {"additionalContext": "hello"}})
        );
    }

    #[test]
    fn f307_a_refusal_carries_its_reason_in_a_field_of_its_own() {
        assert_eq!(
            written(PreToolUseOutput::deny("no").and_context("try `trash`")),
            json!({"PreToolUse": {
                "decision": "deny", "reason": "no", "additionalContext": "try `trash`"
            }})
        );
        assert_eq!(
            written(PostToolUseOutput::deny("secret")),
            json!({"PostToolUse": {"decision": "deny", "reason": "secret"}})
        );
        assert_eq!(
            written(UserPromptSubmitOutput::deny("secret")),
            json!({"UserPromptSubmit": {"decision": "deny", "reason": "secret"}})
        );
        assert_eq!(
            written(PreToolUseOutput::ask("sure?")),
            json!({"PreToolUse": {"decision": "ask", "reason": "sure?"}})
        );
    }

    #[test]
    fn decision_9_no_decision_is_no_opinion_and_allow_is_only_what_was_said() {
        let read = |text: &str| serde_json::from_str::<Output>(text).expect("can be read");
        let silent = [r#"{"PreToolUse":{}}"#, r#"{"PreToolUse":{"decision":null}}"#];
        for text in silent {
            assert_eq!(read(text), PreToolUseOutput::default().into());
        }
        let said = r#"{"PreToolUse":{"decision":"allow","later":1}}"#;
        assert_eq!(read(said), PreToolUseOutput::allow().into());
        assert_eq!(
            written(PreToolUseOutput::allow()),
            json!({"PreToolUse": {"decision": "allow"}})
        );
        let odd = r#"{"PreToolUse":{"decision":"maybe"}}"#;
        assert!(serde_json::from_str::<Output>(odd).is_err());
    }

    #[test]
    fn f243_a_new_input_is_an_object_and_nothing_else() {
        let output = PreToolUseOutput::with_updated_input(json!({"command": "cargo t", "n": 1}));
        assert_eq!(
            written(output),
            json!({"PreToolUse": {"updatedInput": {"command": "cargo t", "n": 1}}})
        );
        for (bad, word) in [
            (json!(null), "null"),
            (json!(true), "a truth value"),
            (json!(1), "a number"),
            (json!("x"), "a string"),
            (json!([{}]), "an array"),
        ] {
            let error = PreToolUseOutput::try_with_updated_input(bad).expect_err("is none");
            assert_eq!(
                error.to_string(),
                format!("a tool's new input must be an object, not {word}")
            );
        }
    }

    #[test]
    fn f245_an_answer_without_the_events_name_is_none() {
        for bare in [r#"{"decision":"deny"}"#, "[1,2]", "{}", r#"{"Later":{}}"#] {
            assert!(serde_json::from_str::<Output>(bare).is_err(), "{bare}");
        }
    }

    #[test]
    fn answers_survive_being_written_and_read() {
        let all: [Output; 5] = [
            PreToolUseOutput::with_updated_input(json!({"a": [1, null, "é"]})).into(),
            PostToolUseOutput::deny("x").and_context("y").into(),
            UserPromptSubmitOutput::context("z").into(),
            SessionStartOutput::default().into(),
            StopOutput::go_on("tests").into(),
        ];
        for output in all {
            let text = serde_json::to_string(&output).expect("can be written");
            assert_eq!(serde_json::from_str::<Output>(&text).expect("can be read"), output);
        }
    }
}
