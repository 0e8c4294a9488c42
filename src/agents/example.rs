//! Events as the agents send them, made up for those who try a plugin out.

use serde_json::{Map, Value};
use symposium_hook::{Event, Input};

use super::Codec;
use super::symposium::NAME as CANONICAL;
use super::wire::{Decoded, Delivery};

/// `input`, which is in canonical words, as the agent sends it: under its own names of the event, the
/// tool and the fields.
pub(crate) fn event(codec: &dyn Codec, input: &Input) -> Vec<u8> {
    if codec.name() == CANONICAL {
        return serde_json::to_vec(input).unwrap_or_default();
    }
    let names = &codec.identity().fields;
    let mut fields = Map::new();
    let mut set = |names: &[&str], value: Value| {
        if let Some(name) = names.first().filter(|_| !value.is_null()) {
            fields.insert((*name).to_owned(), value);
        }
    };
    set(names.session_id, input.session_id().into());
    set(names.cwd, input.cwd().into());
    match input {
        Input::PreToolUse(tool) => {
            let (name, arguments) = native(codec, input, &tool.tool_name, &tool.tool_input);
            set(names.tool_name, name.into());
            set(names.tool_input, arguments);
            set(names.tool_use_id, "call-1".into());
        }
        Input::PostToolUse(tool) => {
            let (name, arguments) = native(codec, input, &tool.tool_name, &tool.tool_input);
            set(names.tool_name, name.into());
            set(names.tool_input, arguments);
            set(names.tool_response, tool.tool_response.clone());
            set(names.tool_use_id, "call-1".into());
        }
        Input::UserPromptSubmit(prompt) => set(names.prompt, prompt.prompt.clone().into()),
        Input::SessionStart(_) => {}
        Input::Stop(stop) => {
            set(&["stop_hook_active"], stop.stop_hook_active.into());
            set(names.last_message, stop.last_assistant_message.clone().into());
        }
    }
    serde_json::to_vec(&codec.example(input.event(), fields)).unwrap_or_default()
}

/// The agent's own name and input of a tool.
fn native(codec: &dyn Codec, input: &Input, name: &str, arguments: &Value) -> (String, Value) {
    let mut rows = codec.identity().tools.iter().filter(|tool| tool.canonical == name);
    let native = rows.find_map(|tool| tool.native.first()).map_or(name, |native| *native);
    let Value::Object(arguments) = arguments else { return (native.to_owned(), arguments.clone()) };
    let mut named = input.clone();
    match &mut named {
        Input::PreToolUse(tool) => {
            tool.native_tool_name = Some(native.to_owned());
            tool.native_tool_input = Some(Value::Object(Map::new()));
        }
        Input::PostToolUse(tool) => {
            tool.native_tool_name = Some(native.to_owned());
            tool.native_tool_input = Some(Value::Object(Map::new()));
        }
        Input::UserPromptSubmit(_) | Input::SessionStart(_) | Input::Stop(_) => {}
    }
    let decoded = Decoded {
        input: named,
        tool_use_id: None,
        delivery: Delivery::Single,
        started: None,
        foreign: false,
        failed: false,
    };
    (native.to_owned(), Value::Object(codec.native_input(&decoded, arguments)))
}

/// An event that was captured elsewhere, as one of a new session in `folder`: so that it meets what is
/// there, and nothing is taken for a repetition. `None` where it is no object.
pub(crate) fn transplanted(
    codec: &dyn Codec,
    event: Event,
    captured: &[u8],
    (session, folder): (&str, &str),
) -> Option<Vec<u8>> {
    let mut object: Value = serde_json::from_slice(captured).ok()?;
    let names = &codec.identity().fields;
    let mut fields = Map::new();
    for (names, value) in [(names.session_id, session), (names.cwd, folder)] {
        fields.extend(names.iter().map(|name| ((*name).to_owned(), Value::from(value))));
    }
    let (holder, new) = match codec.name() == CANONICAL {
        true => (object.get_mut(event.name())?.as_object_mut()?, fields),
        false => (object.as_object_mut()?, codec.example(event, fields)),
    };
    // What says which event it is stays as it was captured.
    let moves = |value: &Value| {
        let one = value.get(0).unwrap_or(value);
        one == session || one == folder
    };
    for (name, value) in new.into_iter().filter(|(_, value)| moves(value)) {
        if let Some(there) = holder.get_mut(&name) {
            *there = value;
        }
    }
    serde_json::to_vec(&object).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use symposium_hook::{PostToolUseInput, PreToolUseInput, UserPromptSubmitInput};

    use super::*;
    use crate::agents::Agent;
    use crate::config::Environment;

    fn inputs() -> Vec<Input> {
        let (session_id, cwd) = (Some("s-1".to_owned()), Some("/src/shop".to_owned()));
        let tools = [
            ("Bash", json!({ "command": "ls" })),
            ("Read", json!({ "file_path": "src/lib.rs" })),
            ("Write", json!({ "file_path": "a", "content": "b" })),
        ];
        let mut inputs = Vec::new();
        for (tool_name, tool_input) in tools {
            inputs.push(Input::PreToolUse(PreToolUseInput {
                tool_name: tool_name.to_owned(),
                tool_input: tool_input.clone(),
                session_id: session_id.clone(),
                cwd: cwd.clone(),
                ..Default::default()
            }));
            inputs.push(Input::PostToolUse(PostToolUseInput {
                tool_name: tool_name.to_owned(),
                tool_input,
                session_id: session_id.clone(),
                cwd: cwd.clone(),
                ..Default::default()
            }));
        }
        let prompt = "hello".to_owned();
        inputs.push(Input::UserPromptSubmit(UserPromptSubmitInput { prompt, session_id, cwd }));
        inputs
    }

    #[test]
    fn each_agent_s_example_is_read_as_what_it_was_made_of() {
        for agent in Agent::ALL {
            let codec = agent.codec();
            let mut read = 0;
            for input in inputs() {
                let bytes = event(codec, &input);
                let decoded = codec.decode(input.event(), &bytes, &Environment::default());
                let Ok(decoded) = decoded else {
                    assert!(!agent.identity().events.contains(&input.event()), "{agent:?}");
                    continue;
                };
                read += 1;
                let text = String::from_utf8_lossy(&bytes);
                assert_eq!(decoded.input.session_id(), input.session_id(), "{agent:?} {text}");
                assert_eq!(decoded.input.cwd(), input.cwd(), "{agent:?} {text}");
                let tool = |input: &Input| match input {
                    Input::PreToolUse(tool) => (tool.tool_name.clone(), tool.tool_input.clone()),
                    Input::PostToolUse(tool) => (tool.tool_name.clone(), tool.tool_input.clone()),
                    Input::UserPromptSubmit(prompt) => (prompt.prompt.clone(), Value::Null),
                    other => panic!("{other:?}"),
                };
                assert_eq!(tool(&decoded.input), tool(&input), "{agent:?} {text}");
            }
            assert!(read >= 6, "{agent:?}: {read}");
        }
    }

    #[test]
    fn a_captured_event_is_put_into_another_session_and_folder_and_is_else_as_it_was() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agents");
        for (agent, file) in [
            (Agent::Claude, "claude/PreToolUse.Bash.json"),
            (Agent::Codex, "codex/PreToolUse.Bash.json"),
            (Agent::Copilot, "copilot/camel-preToolUse.json"),
            (Agent::Gemini, "gemini/user-BeforeTool.json"),
            (Agent::Antigravity, "antigravity/PreToolUse.run_command.json"),
            (Agent::Qwen, "qwen/PreToolUse.run_shell_command.json"),
            (Agent::Goose, "goose/PreToolUse.json"),
            (Agent::OpenCode, "opencode/pre-tool-use.json"),
        ] {
            let captured = std::fs::read(format!("{fixtures}/{file}")).expect("reads");
            let codec = agent.codec();
            let moved = transplanted(codec, Event::PreToolUse, &captured, ("s-2", "/elsewhere"));
            let moved = moved.expect("is an object");
            let decode = |bytes: &[u8]| {
                codec.decode(Event::PreToolUse, bytes, &Environment::default()).expect("decodes")
            };
            let (before, after) = (decode(&captured).input, decode(&moved).input);
            assert_eq!(
                (after.session_id(), after.cwd()),
                (Some("s-2"), Some("/elsewhere")),
                "{file}"
            );
            let (Input::PreToolUse(before), Input::PreToolUse(after)) = (before, after) else {
                panic!("{file}")
            };
            assert_eq!(before.tool_input, after.tool_input, "{file}");
            assert_eq!(before.native_tool_name, after.native_tool_name, "{file}");
        }
    }
}
