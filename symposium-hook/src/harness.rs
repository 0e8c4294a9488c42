//! From standard input to a handler's method and back.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{
    Event, Input, Output, PostToolUseInput, PostToolUseOutput, PreToolUseInput, PreToolUseOutput,
    SessionStartInput, SessionStartOutput, StopInput, StopOutput, UserPromptSubmitInput,
    UserPromptSubmitOutput,
};

/// What a program does about each event. Override the methods of the events that matter to you;
/// the others have no opinion.
///
/// ```
/// use symposium_hook::{HookHandler, UserPromptSubmitInput, UserPromptSubmitOutput};
///
/// struct Motto;
///
/// impl HookHandler for Motto {
///     fn user_prompt_submit(
///         &self,
///         event: &UserPromptSubmitInput,
///     ) -> anyhow::Result<UserPromptSubmitOutput> {
///         if event.prompt.contains("password") {
///             return Ok(UserPromptSubmitOutput::deny("leave secrets out of prompts"));
///         }
///         Ok(UserPromptSubmitOutput::context("Measure before you optimise."))
///     }
/// }
/// ```
pub trait HookHandler {
    /// Answers any event, by calling the method for it. Override it only for what the events have
    /// in common.
    ///
    /// # Errors
    /// What the method for the event returns.
    fn handle_event(&self, input: &Input) -> anyhow::Result<Output> {
        Ok(match input {
            Input::PreToolUse(event) => Output::PreToolUse(self.pre_tool_use(event)?),
            Input::PostToolUse(event) => Output::PostToolUse(self.post_tool_use(event)?),
            Input::UserPromptSubmit(event) => {
                Output::UserPromptSubmit(self.user_prompt_submit(event)?)
            }
            Input::SessionStart(event) => Output::SessionStart(self.session_start(event)?),
            Input::Stop(event) => Output::Stop(self.stop(event)?),
        })
    }

    /// Before the agent uses a tool.
    ///
    /// # Errors
    /// Yours: the program ends with code 1 and the message on standard error.
    fn pre_tool_use(&self, event: &PreToolUseInput) -> anyhow::Result<PreToolUseOutput> {
        let _ = event;
        Ok(PreToolUseOutput::default())
    }

    /// After the agent used a tool.
    ///
    /// # Errors
    /// Yours: the program ends with code 1 and the message on standard error.
    fn post_tool_use(&self, event: &PostToolUseInput) -> anyhow::Result<PostToolUseOutput> {
        let _ = event;
        Ok(PostToolUseOutput::default())
    }

    /// When the user submits a prompt.
    ///
    /// # Errors
    /// Yours: the program ends with code 1 and the message on standard error.
    fn user_prompt_submit(
        &self,
        event: &UserPromptSubmitInput,
    ) -> anyhow::Result<UserPromptSubmitOutput> {
        let _ = event;
        Ok(UserPromptSubmitOutput::default())
    }

    /// When a session starts or is resumed.
    ///
    /// # Errors
    /// Yours: the program ends with code 1 and the message on standard error.
    fn session_start(&self, event: &SessionStartInput) -> anyhow::Result<SessionStartOutput> {
        let _ = event;
        Ok(SessionStartOutput::default())
    }

    /// When the agent is about to end its turn.
    ///
    /// # Errors
    /// Yours: the program ends with code 1 and the message on standard error.
    fn stop(&self, event: &StopInput) -> anyhow::Result<StopOutput> {
        let _ = event;
        Ok(StopOutput::default())
    }
}

/// Handles the event on standard input and writes the answer to standard output: the whole `main`
/// of a handler.
///
/// A failure, be it the handler's own or an event that can't be read, goes to standard error and
/// makes the exit code 1. It never is 2, which would block what the agent is about to do.
pub fn run(handler: impl HookHandler) -> ExitCode {
    match run_with(&handler, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be listening any more; the exit code still tells.
            let _ = writeln!(io::stderr(), "{error:#}");
            ExitCode::from(1)
        }
    }
}

/// As [`run`], with streams of the caller's.
///
/// ```
/// use symposium_hook::{HookHandler, SessionStartInput, SessionStartOutput, run_with};
///
/// struct Hello;
///
/// impl HookHandler for Hello {
///     fn session_start(&self, _: &SessionStartInput) -> anyhow::Result<SessionStartOutput> {
///         Ok(SessionStartOutput::context("hello"))
///     }
/// }
///
/// # fn main() -> anyhow::Result<()> {
/// let mut answer = Vec::new();
/// run_with(&Hello, &br#"{"SessionStart": {"cwd": "/src"}}"#[..], &mut answer)?;
/// assert_eq!(answer, b"{\"SessionStart\":{\"additionalContext\":\"hello\"}}\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// What the handler returns, an event that can't be read, or an answer that can't be written.
pub fn run_with(
    handler: &impl HookHandler,
    mut reader: impl Read,
    mut writer: impl Write,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).context("can't read the event from standard input")?;
    let output = handler.handle_event(&Input::from_slice(&bytes)?)?;
    let mut line = serde_json::to_string(&output).context("can't write the answer as JSON")?;
    line.push('\n');
    writer
        .write_all(line.as_bytes())
        .and_then(|()| writer.flush())
        .context("can't write the answer to standard output")
}

impl Input {
    /// Reads an event: one JSON object with the event's name as a key. Other keys beside it, as a
    /// later version might add, are passed over.
    ///
    /// ```
    /// use symposium_hook::{Event, Input};
    ///
    /// let input = Input::from_slice(br#"{"UserPromptSubmit": {"prompt": "Fix it"}}"#)?;
    /// assert_eq!(input.event(), Event::UserPromptSubmit);
    /// assert_eq!(input.session_id(), None);
    ///
    /// let error = Input::from_slice(b"{}").expect_err("there is no event in it");
    /// assert!(error.to_string().contains("`PreToolUse`"));
    /// # Ok::<(), anyhow::Error>(())
    /// ```
    ///
    /// # Errors
    /// No input, no JSON, or no event that is known here.
    pub fn from_slice(bytes: &[u8]) -> anyhow::Result<Self> {
        // Some shells put a byte order mark before what they pipe.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            bail!(
                "standard input is empty: a hook reads one event as JSON, such as \
                 {{\"SessionStart\":{{\"session_id\":null,\"cwd\":\"/tmp\"}}}}"
            );
        }
        let value: Value =
            serde_json::from_slice(bytes).context("the event on standard input is no JSON")?;
        let Value::Object(mut object) = value else { bail!("{}", unknown_event("no object")) };
        let Some((event, body)) =
            Event::ALL.into_iter().find_map(|event| Some((event, object.remove(event.name())?)))
        else {
            let mut keys = object.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>();
            // Another crate's choice of serde_json's features decides about the map's own order.
            keys.sort();
            bail!("{}", unknown_event(&keys.join(", ")));
        };
        let parsed = match event {
            Event::PreToolUse => serde_json::from_value(body).map(Self::PreToolUse),
            Event::PostToolUse => serde_json::from_value(body).map(Self::PostToolUse),
            Event::UserPromptSubmit => serde_json::from_value(body).map(Self::UserPromptSubmit),
            Event::SessionStart => serde_json::from_value(body).map(Self::SessionStart),
            Event::Stop => serde_json::from_value(body).map(Self::Stop),
        };
        parsed.with_context(|| format!("the event `{}` can't be read", event.name()))
    }
}

fn unknown_event(found: &str) -> String {
    let names = Event::ALL.map(|event| format!("`{}`", event.name())).join(", ");
    let found = if found.is_empty() { "nothing" } else { found };
    format!("the event on standard input must be an object with one of {names}; found {found}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Answers with what it was told, so that a test sees which method was called.
    struct Echo;

    impl HookHandler for Echo {
        fn pre_tool_use(&self, event: &PreToolUseInput) -> anyhow::Result<PreToolUseOutput> {
            Ok(PreToolUseOutput::context(format!("{} {}", event.tool_name, event.tool_input)))
        }

        fn post_tool_use(&self, event: &PostToolUseInput) -> anyhow::Result<PostToolUseOutput> {
            Ok(PostToolUseOutput::context(event.tool_response.to_string()))
        }

        fn user_prompt_submit(
            &self,
            event: &UserPromptSubmitInput,
        ) -> anyhow::Result<UserPromptSubmitOutput> {
            Ok(UserPromptSubmitOutput::context(&event.prompt))
        }

        fn session_start(&self, event: &SessionStartInput) -> anyhow::Result<SessionStartOutput> {
            anyhow::ensure!(event.cwd.is_some(), "no folder");
            Ok(SessionStartOutput::context(event.cwd.clone().unwrap_or_default()))
        }

        fn stop(&self, event: &StopInput) -> anyhow::Result<StopOutput> {
            Ok(StopOutput::go_on(event.stop_hook_active.to_string()))
        }
    }

    struct Nothing;

    impl HookHandler for Nothing {}

    fn told(handler: &impl HookHandler, input: &str) -> Result<String, String> {
        let mut out = Vec::new();
        match run_with(handler, input.as_bytes(), &mut out) {
            Ok(()) => Ok(String::from_utf8(out).expect("JSON is UTF-8")),
            Err(error) => {
                assert!(out.is_empty(), "an error leaves standard output alone");
                Err(format!("{error:#}"))
            }
        }
    }

    #[test]
    fn f304_each_event_reaches_its_method() {
        let cases = [
            (
                r#"{"PreToolUse":{"tool_name":"Bash","tool_input":{"command":"cargo test"},"session_id":"abc-123","cwd":"/p"}}"#,
                r#"{"PreToolUse":{"additionalContext":"Bash {\"command\":\"cargo test\"}"}}"#,
            ),
            (
                r#"{"PostToolUse":{"tool_name":"Bash","tool_input":{},"tool_response":{"stdout":"ok"},"session_id":null,"cwd":null}}"#,
                r#"{"PostToolUse":{"additionalContext":"{\"stdout\":\"ok\"}"}}"#,
            ),
            (
                r#"{"UserPromptSubmit":{"prompt":"Fix it","session_id":"abc-123","cwd":"/p"}}"#,
                r#"{"UserPromptSubmit":{"additionalContext":"Fix it"}}"#,
            ),
            (
                r#"{"SessionStart":{"session_id":"abc-123","cwd":"/p"}}"#,
                r#"{"SessionStart":{"additionalContext":"/p"}}"#,
            ),
            (
                r#"{"Stop":{"stop_hook_active":true,"session_id":"abc-123","cwd":"/p"}}"#,
                r#"{"Stop":{"decision":"deny","reason":"true"}}"#,
            ),
        ];
        for (input, expected) in cases {
            assert_eq!(told(&Echo, input), Ok(format!("{expected}\n")));
            // F245: the answer carries the event's name, even when there is nothing to say.
            let name = Input::from_slice(input.as_bytes()).expect("an event").event().name();
            assert_eq!(told(&Nothing, input), Ok(format!("{{\"{name}\":{{}}}}\n")));
        }
    }

    #[test]
    fn f303_what_the_input_lacks_or_has_beyond_the_schema_is_no_error() {
        let input = "\u{feff} {\"version\":2,\"PreToolUse\":{\"tool_name\":\"T\",\"later\":[1]}} ";
        let answer = told(&Echo, input).expect("is read");
        assert_eq!(answer, "{\"PreToolUse\":{\"additionalContext\":\"T null\"}}\n");
        for input in ["[1]", "\"text\"", "null", "1.5", "{\"deep\":{}}"] {
            let event =
                format!("{{\"PreToolUse\":{{\"tool_name\":\"T\",\"tool_input\":{input}}}}}");
            assert!(told(&Echo, &event).is_ok(), "{input}");
        }
    }

    #[test]
    fn f306_each_failure_is_an_error_with_its_words() {
        let say = |input: &str| told(&Echo, input).expect_err("fails");
        assert_eq!(say("{\"SessionStart\":{}}"), "no folder");
        assert!(say("").starts_with("standard input is empty: a hook reads one event as JSON"));
        assert!(say(" \n").starts_with("standard input is empty"));
        assert!(say("{").starts_with("the event on standard input is no JSON: EOF"));
        assert!(say("[1,2]").ends_with("found no object"));
        assert!(say("{}").ends_with("found nothing"));
        assert_eq!(
            say("{\"tool\":\"Bash\",\"input\":\"cargo test\"}"),
            "the event on standard input must be an object with one of `SessionStart`, \
             `UserPromptSubmit`, `PreToolUse`, `PostToolUse`, `Stop`; found `input`, `tool`"
        );
        assert!(say("{\"PreToolUse\":{}}").starts_with("the event `PreToolUse` can't be read: "));
    }

    #[test]
    fn handle_event_can_be_overridden_for_all_events() {
        struct Deny;
        impl HookHandler for Deny {
            fn handle_event(&self, input: &Input) -> anyhow::Result<Output> {
                let reason = format!("not {}", input.event().name());
                Ok(Output::PreToolUse(PreToolUseOutput::deny(reason)))
            }
        }
        let answer = told(&Deny, "{\"SessionStart\":{}}").expect("answers");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let expected = json!({"PreToolUse": {"decision": "deny", "reason": "not SessionStart"}});
        assert_eq!(answer, expected);
    }

    #[test]
    fn an_answer_that_nobody_takes_is_an_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = run_with(&Nothing, &b"{\"SessionStart\":{}}"[..], Closed).expect_err("fails");
        assert!(error.to_string().starts_with("can't write the answer to standard output"));
    }
}
