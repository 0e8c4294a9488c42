//! The event that a plugin is fed, and what becomes of it.

use std::cell::Cell;

use serde_json::{Map, Value, json};
use symposium_hook::{
    Event, Input, PostToolUseInput, PreToolUseInput, SessionStartInput, StopInput,
    UserPromptSubmitInput,
};

use super::model::{EventFed, Honoured, HookRun, NotAsked, Told, Want};
use super::trial::Trial;
use crate::agents::wire::{Capability, Outcome, Support};
use crate::agents::{self, Codec, example};
use crate::cli::plugin::view::View;
use crate::hook::Seen;
use crate::plugins::model::{Hook, Plugin};

/// An event, before it is put into an agent's words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stimulus {
    pub(super) event: Event,
    /// The tool's canonical name.
    pub(super) tool: String,
    /// The tool's input, or a prompt.
    pub(super) input: Value,
    /// What the tool answered.
    pub(super) response: Value,
    /// An event as an agent wrote it, in place of all these.
    pub(super) captured: Option<Vec<u8>>,
}

impl Stimulus {
    /// One that does no harm.
    pub(super) fn harmless(event: Event) -> Self {
        let (tool, input) = match event {
            Event::UserPromptSubmit => ("", "hello".into()),
            _ => ("Bash", json!({ "command": "echo hello" })),
        };
        let response = json!({ "stdout": "hello\n" });
        Self { event, tool: tool.to_owned(), input, response, captured: None }
    }

    /// In canonical words, as an event of a session that works in the trial's workspace.
    fn canonical(&self, session: String, trial: &Trial) -> Input {
        let (session_id, cwd) = (Some(session), trial.root.to_str().map(str::to_owned));
        let (tool_name, tool_input) = (self.tool.clone(), self.input.clone());
        let (native_tool_name, native_tool_input) = (None, None);
        match self.event {
            Event::PreToolUse => Input::PreToolUse(PreToolUseInput {
                tool_name,
                tool_input,
                session_id,
                cwd,
                native_tool_name,
                native_tool_input,
            }),
            Event::PostToolUse => Input::PostToolUse(PostToolUseInput {
                tool_name,
                tool_input,
                tool_response: self.response.clone(),
                session_id,
                cwd,
                native_tool_name,
                native_tool_input,
            }),
            Event::UserPromptSubmit => {
                let prompt = self.input.as_str().unwrap_or_default().to_owned();
                Input::UserPromptSubmit(UserPromptSubmitInput { prompt, session_id, cwd })
            }
            Event::SessionStart => Input::SessionStart(SessionStartInput { session_id, cwd }),
            Event::Stop => Input::Stop(StopInput {
                stop_hook_active: false,
                last_assistant_message: None,
                session_id,
                cwd,
            }),
        }
    }

    fn bytes(&self, codec: &dyn Codec, trial: &Trial) -> Vec<u8> {
        thread_local! {
            // An event that was answered in its session is not asked about again.
            static SESSIONS: Cell<u32> = const { Cell::new(0) };
        }
        let number = SESSIONS.get() + 1;
        SESSIONS.set(number);
        let session = format!("plugin-test-{number}");
        match &self.captured {
            Some(captured) => {
                let folder = trial.root.to_string_lossy();
                let moved = example::transplanted(codec, self.event, captured, (&session, &folder));
                moved.unwrap_or_else(|| captured.clone())
            }
            None => example::event(codec, &self.canonical(session, trial)),
        }
    }
}

/// Feeds the event as one agent sends it.
pub(super) fn seen(trial: &Trial, stimulus: &Stimulus, codec: &dyn Codec) -> Seen {
    trial.feed(codec.name(), stimulus.event, &stimulus.bytes(codec, trial)).1
}

/// Feeds the event as each of `agents` sends it.
pub(super) fn feed(
    trial: &Trial,
    view: &View<'_>,
    plugin: Option<&Plugin>,
    (stimulus, agents): (&Stimulus, &[&'static dyn Codec]),
) -> EventFed {
    let event = stimulus.event;
    let told: Vec<Told> = agents
        .iter()
        .map(|codec| {
            let (answer, seen) = trial.feed(codec.name(), event, &stimulus.bytes(*codec, trial));
            let (stdout, stderr, exit) = (answer.stdout, answer.stderr, answer.exit);
            let wants = seen.outcome.as_ref().map(|outcome| wants(*codec, event, outcome));
            let wants = wants.unwrap_or_default();
            let agent = codec.name().to_owned();
            let never = never(*codec, event, &seen);
            Told { agent, never, hooks: hooks(seen), wants, stdout, stderr, exit }
        })
        .collect();
    let declared =
        plugin.into_iter().flat_map(|plugin| plugin.hooks.iter().map(move |hook| (plugin, hook)));
    let asked = |hook: &Hook| {
        told.iter().any(|told| told.hooks.iter().any(|asked| asked.name == hook.name))
    };
    let not_asked = declared.filter(|(_, hook)| hook.event == event && !asked(hook));
    let not_asked = not_asked.map(|(plugin, hook)| NotAsked {
        name: hook.name.clone(),
        reason: why_not(view, (plugin, hook), stimulus, agents),
    });
    let not_asked = not_asked.collect();
    let is_tool = matches!(event, Event::PreToolUse | Event::PostToolUse);
    let tool = (is_tool && stimulus.captured.is_none()).then(|| stimulus.tool.clone());
    EventFed { event: event.name(), tool, agents: told, not_asked }
}

/// Why the agent never sends this.
fn never(codec: &dyn Codec, event: Event, seen: &Seen) -> Option<String> {
    if let Some(problem) = &seen.undecoded {
        return Some(problem.clone());
    }
    let identity = codec.identity();
    let tells = identity.events.contains(&event)
        || (event == Event::Stop && identity.has_stop)
        || codec.name() == agents::symposium::NAME;
    (!tells).then(|| format!("{} does not tell of it", identity.title))
}

fn hooks(seen: Seen) -> Vec<HookRun> {
    let runs = seen.asked.into_iter().map(|asked| {
        let output = asked.output.as_ref();
        HookRun {
            name: asked.hook,
            ended: output.map(|output| output.status.to_string()),
            seconds: asked.took.as_secs_f64(),
            stdout: output.map(|output| output.stdout_text()).unwrap_or_default(),
            stderr: output.map(|output| output.stderr_text()).unwrap_or_default(),
            answer: asked.answer,
            notes: asked.notes,
            problem: asked.problem,
        }
    });
    runs.collect()
}

fn wants(codec: &dyn Codec, event: Event, outcome: &Outcome) -> Vec<Want> {
    let wanted = Capability::ALL.into_iter().filter(|capability| capability.is_in(outcome));
    let want = |capability: Capability| {
        let (honoured, instead) = match codec.support(event, capability) {
            Support::Yes => (Honoured::Yes, None),
            Support::Instead(what) => (Honoured::Instead, Some(what.to_owned())),
            Support::No => (Honoured::No, None),
        };
        Want { what: capability.to_string(), text: text(capability, outcome), honoured, instead }
    };
    wanted.map(want).collect()
}

fn text(capability: Capability, outcome: &Outcome) -> String {
    let text = match capability {
        Capability::Deny => Some(outcome.reason()),
        Capability::Ask => Some(outcome.ask_reason()),
        Capability::Allow => outcome.given_reason(),
        Capability::Rewrite => outcome
            .updated_input
            .clone()
            .map(|input: Map<String, Value>| Value::Object(input).to_string()),
        Capability::Context => outcome.context_text(),
        Capability::Stop => outcome.stop_reason(),
        Capability::Message => outcome.user_message.clone(),
    };
    text.unwrap_or_default()
}

fn why_not(
    view: &View<'_>,
    (plugin, hook): (&Plugin, &Hook),
    stimulus: &Stimulus,
    agents: &[&'static dyn Codec],
) -> String {
    let standing = view.standing(&[&plugin.gate, &hook.gate]);
    if !standing.is_active() {
        return format!("it does not apply: {}", standing.reason);
    }
    if let Some(only) = &hook.agent
        && !agents.iter().any(|codec| codec.name() == only)
    {
        return format!("it is for {only} only: `--agent {only}`");
    }
    let speaks = |codec: &&'static dyn Codec| codec.name() == hook.format;
    let is_native = hook.format != agents::symposium::NAME && !hook.is_portable;
    if is_native && !agents.iter().any(speaks) {
        return format!("it speaks the format of {0} alone: `--agent {0}`", hook.format);
    }
    match &hook.matcher {
        Some(matcher) if stimulus.captured.is_some() => {
            format!("its matcher `{matcher}` does not match the event's tool")
        }
        Some(matcher) => format!("its matcher `{matcher}` does not match `{}`", stimulus.tool),
        None => "a hook before it decided".to_owned(),
    }
}
