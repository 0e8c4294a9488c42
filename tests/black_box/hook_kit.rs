//! What the tests of hooks share: events in each agent's words, and what each agent makes of an
//! answer, by `md/reference/hook.md`.

use std::time::Instant;

use serde_json::{Map, Value, json};
pub(crate) use symposium_hook::Event;
pub(crate) use symposium_testlib::TELLING_ALL as REAL_AGENTS;
use symposium_testlib::{Run, Sandbox};

pub(crate) use crate::{configure, with_agents};

/// Everybody whom `hook` answers about all four events; an agent with fewer has tests of its own.
pub(crate) const AGENTS: [&str; REAL_AGENTS.len() + 1] = {
    let mut all = ["symposium"; REAL_AGENTS.len() + 1];
    all.split_at_mut(REAL_AGENTS.len()).0.copy_from_slice(&REAL_AGENTS);
    all
};

/// A sandbox whose workspace depends on `widget` 1.2.3, without agents and the plugin inside the
/// program.
pub(crate) fn lab() -> Sandbox {
    with_agents(&[])
}

/// A plugin for workspaces that use `widget`, with one hook for `event` that runs `script`; `more`
/// are further keys of the hook.
pub(crate) fn hook_plugin(sandbox: &Sandbox, name: &str, event: Event, more: &str, script: &str) {
    let event = event.name();
    sandbox.user_plugin(
        &format!("{name}/SYMPOSIUM.toml"),
        &format!(
            "name = \"{name}\"\ncrates = [\"widget\"]\n\n[[hooks]]\nname = \"{name}-hook\"\n\
             event = \"{event}\"\ncommand = {{ script = \"hook.sh\" }}\n{more}\n"
        ),
    );
    sandbox.user_plugin(&format!("{name}/hook.sh"), script);
}

/// A script that answers `fields` in the canonical format.
pub(crate) fn says(event: Event, fields: Value) -> String {
    let answer = json!({ event.name(): fields });
    format!("cat >/dev/null\ncat <<'END'\n{answer}\nEND\n")
}

/// A file in the sandbox's folder as a hook's script names it: the shell of Git for Windows has its own
/// way to write a path.
pub(crate) fn in_script(name: &str) -> String {
    format!("\"$HOME/../{name}\"")
}

/// One event, to be put into an agent's words.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub session: Option<&'static str>,
    pub cwd: String,
    pub id: &'static str,
    pub command: &'static str,
    pub prompt: &'static str,
    /// What the command printed.
    pub printed: &'static str,
}

impl Told {
    /// In the sandbox's workspace: `cargo test` is about to be run, in session `s1`.
    pub(crate) fn in_ws(sandbox: &Sandbox) -> Self {
        Self {
            session: Some("s1"),
            cwd: sandbox.ws().display().to_string(),
            id: "call-1",
            command: "cargo test",
            prompt: "please test",
            printed: "ok",
        }
    }

    pub(crate) fn command(self, command: &'static str) -> Self {
        Self { command, ..self }
    }

    pub(crate) fn id(self, id: &'static str) -> Self {
        Self { id, ..self }
    }

    pub(crate) fn session(self, session: &'static str) -> Self {
        Self { session: Some(session), ..self }
    }

    /// The payload that `agent` sends.
    pub(crate) fn payload(&self, agent: &str, event: Event) -> Vec<u8> {
        let mut object = Map::new();
        let mut set = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
        let [session, cwd, tool, input, response, id, prompt] = match agent {
            "copilot" => ["sessionId", "cwd", "toolName", "toolArgs", "toolResult", "", "prompt"],
            "goose" => [
                "session_id",
                "working_dir",
                "tool_name",
                "tool_input",
                "tool_output",
                "tool_call_id",
                "message",
            ],
            "gemini" | "kiro" | "symposium" => {
                ["session_id", "cwd", "tool_name", "tool_input", "tool_response", "", "prompt"]
            }
            _ => [
                "session_id",
                "cwd",
                "tool_name",
                "tool_input",
                "tool_response",
                "tool_use_id",
                "prompt",
            ],
        };
        set(session, self.session.into());
        set(cwd, self.cwd.clone().into());
        match agent {
            "goose" => set("event", event.name().into()),
            "copilot" => {
                let moment = self.id.bytes().fold(0_u64, |sum, byte| 31 * sum + u64::from(byte));
                set("timestamp", moment.into());
            }
            "symposium" => {}
            _ => set("hook_event_name", native_event(agent, event).into()),
        }
        match agent {
            "claude" => set("transcript_path", "/home/dev/t.jsonl".into()),
            "gemini" | "qwen" => set("timestamp", self.id.into()),
            _ => {}
        }
        if event.is_tool_event() {
            set(tool, native_bash(agent).into());
            set(input, json!({ "command": self.command, "description": "d" }));
            if !id.is_empty() {
                set(id, self.id.into());
            }
        }
        match event {
            Event::PostToolUse => set(response, json!({ "stdout": self.printed })),
            Event::UserPromptSubmit => {
                set(prompt, self.prompt.into());
                match agent {
                    "claude" => set("prompt_id", self.id.into()),
                    "codex" => set("turn_id", self.id.into()),
                    _ => {}
                }
            }
            Event::PreToolUse | Event::SessionStart | Event::Stop => {}
        }
        let value = if agent == "symposium" {
            json!({ event.name(): object })
        } else {
            Value::Object(object)
        };
        value.to_string().into_bytes()
    }
}

/// The use of a tool that `told` is, with this tool and this input in the agent's own words.
pub(crate) fn use_of(told: &Told, agent: &str, tool: &str, input: &Value) -> String {
    at_tool(told, (agent, Event::PreToolUse), tool, input)
}

/// As [`use_of`], at either of the events of a tool.
pub(crate) fn at_tool(
    told: &Told,
    (agent, event): (&str, Event),
    tool: &str,
    input: &Value,
) -> String {
    let payload = told.payload(agent, event);
    let mut payload: Value = serde_json::from_slice(&payload).expect("JSON");
    let [name, arguments] = match agent {
        "copilot" => ["toolName", "toolArgs"],
        _ => ["tool_name", "tool_input"],
    };
    payload[name] = tool.into();
    payload[arguments] = input.clone();
    payload.to_string()
}

/// The agent's own name of an event.
pub(crate) fn native_event(agent: &str, event: Event) -> &'static str {
    let names = match agent {
        "gemini" => ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool"],
        "copilot" => ["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse"],
        "kiro" => ["agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse"],
        "opencode" => ["session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use"],
        _ => return event.name(),
    };
    names[Event::COMMON.iter().position(|known| *known == event).expect("one of them")]
}

/// The agent's own name of the shell.
pub(crate) fn native_bash(agent: &str) -> &'static str {
    match agent {
        "copilot" | "opencode" => "bash",
        "gemini" | "qwen" => "run_shell_command",
        "kiro" => "execute_bash",
        "goose" => "developer__shell",
        _ => "Bash",
    }
}

/// Milliseconds since 1970.
pub(crate) fn millis() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.expect("after 1970").as_millis()).expect("fits")
}

/// Runs `hook` as the agent does.
pub(crate) fn send(sandbox: &Sandbox, agent: &str, event: Event, told: &Told) -> Effect {
    let run = sandbox.feed(&["hook", agent, event.cli_name()], &told.payload(agent, event));
    effect(agent, event, &run)
}

/// What the agent does about an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Effect {
    /// The tool is not used, the result hidden, the prompt kept back: with this reason.
    pub refused: Option<String>,
    /// The user is asked.
    pub asked: Option<String>,
    /// The tool runs without a question.
    pub granted: bool,
    /// The input that is used instead.
    pub input: Option<Value>,
    /// What the model reads.
    pub context: Option<String>,
}

/// What the agent does about what our program said. Anything that an agent would stumble over
/// fails the test.
pub(crate) fn effect(agent: &str, event: Event, run: &Run) -> Effect {
    let mut effect = Effect::default();
    if run.code == 2 && matches!(agent, "goose" | "kiro") {
        assert_ne!(event, Event::SessionStart, "a session's start can't be blocked");
        assert!(!run.stderr.trim().is_empty(), "a block has a reason");
        return Effect { refused: Some(run.stderr.clone()), ..effect };
    }
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{agent} {}: {run:?}", event.name());
    if run.stdout.is_empty() {
        return effect;
    }
    if agent == "kiro" {
        return Effect { context: Some(run.stdout.clone()), ..effect };
    }
    assert_ne!(agent, "goose", "Goose reads no output");
    let answer: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{agent} {}: {error}: {}", event.name(), run.stdout));
    assert!(!has_null(&answer), "an explicit null: {answer}");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let inner = &answer["hookSpecificOutput"];
    match agent {
        "symposium" => {
            let fields = &answer[event.name()];
            let reason = text(&fields["reason"]);
            match fields["decision"].as_str() {
                Some("deny") => effect.refused = reason,
                Some("ask") => effect.asked = reason,
                Some("allow") => effect.granted = true,
                _ => {}
            }
            effect.input = fields.get("updatedInput").cloned();
            effect.context = text(&fields["additionalContext"]);
        }
        "opencode" => {
            effect.refused = text(&answer["deny"]).or_else(|| text(&answer["replace"]));
            effect.input = answer.get("args").cloned();
            effect.context = text(&answer["context"]);
        }
        "copilot" => {
            let reason = text(&answer["permissionDecisionReason"]);
            match answer["permissionDecision"].as_str() {
                Some("deny") => effect.refused = reason,
                Some("ask") => effect.asked = reason,
                Some("allow") => effect.granted = true,
                _ => {}
            }
            if answer["decision"] == "block" {
                effect.refused = text(&answer["reason"]);
            }
            effect.input = answer.get("modifiedArgs").cloned();
            effect.context = text(&answer["additionalContext"]);
        }
        "gemini" => {
            if answer["decision"] == "deny" {
                effect.refused = text(&answer["reason"]);
            }
            effect.input = inner.get("tool_input").cloned();
            effect.context = text(&inner["additionalContext"]);
        }
        _ => {
            if !inner.is_null() {
                assert_eq!(inner["hookEventName"], event.name());
            }
            let reason = text(&inner["permissionDecisionReason"]);
            match inner["permissionDecision"].as_str() {
                Some("deny") => effect.refused = reason,
                Some("ask") => {
                    assert_ne!(agent, "codex", "Codex can't ask");
                    effect.asked = reason;
                }
                Some("allow") => effect.granted = true,
                _ => {}
            }
            if answer["decision"] == "block" {
                effect.refused = text(&answer["reason"]);
            }
            if agent == "qwen" && event == Event::PostToolUse && answer["continue"] == false {
                effect.refused = text(&answer["stopReason"]);
            }
            effect.input = inner.get("updatedInput").cloned();
            effect.context = text(&inner["additionalContext"]);
        }
    }
    if effect.input.is_some() && agent == "codex" {
        assert!(effect.granted, "Codex takes a new input only beside `allow`");
        effect.granted = false;
    }
    effect
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().any(has_null),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// Everything in the log files.
pub(crate) fn logs(sandbox: &Sandbox) -> String {
    let Ok(entries) = std::fs::read_dir(sandbox.home().join(".symposium/logs")) else {
        return String::new();
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("a log")).collect()
}

/// A session's memory.
pub(crate) fn session(sandbox: &Sandbox, id: &str) -> Value {
    let text = sandbox.read(&format!("home/.symposium/sessions/{id}.json"));
    serde_json::from_str(&text).expect("JSON")
}

/// Waits until `path` in the sandbox is there.
pub(crate) fn appears(sandbox: &Sandbox, path: &str) {
    let start = Instant::now();
    while !sandbox.has(path) {
        assert!(start.elapsed().as_secs() < 20, "{path} does not appear: {}", logs(sandbox));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Runs `test` for each of `cases` at the same time.
pub(crate) fn in_parallel<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| test(case));
        }
    });
}

/// What Claude Code is told when a build failed and printed this: `hookSpecificOutput`.
pub(crate) fn after_failed_build(sandbox: &Sandbox, id: &str, printed: &str) -> Value {
    let failure = json!({
        "session_id": "s1",
        "transcript_path": "/home/dev/t.jsonl",
        "cwd": sandbox.ws(),
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": { "command": "cargo check" },
        "tool_use_id": id,
        "error": format!("Exit code 101\n{printed}"),
        "is_interrupt": false,
    });
    let failure = failure.to_string();
    let run = sandbox.feed(&["hook", "claude", "post-tool-use"], failure.as_bytes()).ok();
    let answer: Value = serde_json::from_str(&run.stdout).expect("an answer");
    answer["hookSpecificOutput"].clone()
}
