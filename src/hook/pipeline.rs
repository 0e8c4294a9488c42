//! The steps of an event, in order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use symposium_hook::Event;

use super::run::{Call, run_hook};
use super::select::{Occasion, select};
use super::session::{self, Session, Store};
use super::{builtin, merge, trace};
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::agents::{self, Agent, AgentSpec};
use crate::config::{Dirs, Environment};
use crate::report::log;
use crate::sync::current::{self, Current};
use crate::sync::snapshot::{SnapshotHook, Stored};

/// What is kept of the time registered with the agent for everything but the plugins' hooks.
const MARGIN: Duration = Duration::from_secs(3);

/// One event being answered.
struct Turn<'a> {
    name: &'a str,
    agent: Option<Agent>,
    spec: &'static dyn AgentSpec,
    event: Event,
    env: &'a Environment,
    dirs: Dirs,
    started: Instant,
    arrived: u64,
}

/// The answer to `hook <args>` with `stdin`.
pub(super) fn answer(args: &[OsString], stdin: Vec<u8>, env: &Environment) -> Answer {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let Ok(dirs) = Dirs::resolve(env) else { return Answer::carry_on() };
    let (Some(name), Some(event)) = (words.first(), words.get(1)) else {
        return refuse(&dirs, env, "an agent and an event are needed");
    };
    let Some(spec) = agents::codec(name) else {
        return refuse(&dirs, env, &format!("there is no agent `{name}`"));
    };
    let known = Event::ALL.into_iter().find(|known| {
        [known.cli_name(), known.name(), spec.event_name(*known)].contains(&event.as_ref())
    });
    let Some(event) = known else {
        return refuse(&dirs, env, &format!("there is no event `{event}`"));
    };
    let turn = Turn {
        name,
        agent: Agent::from_name(name),
        spec,
        event,
        env,
        dirs,
        started: Instant::now(),
        arrived: session::now(),
    };
    let answer = turn.answer(&stdin);
    trace::record(env, name, event.cli_name(), &stdin, &answer);
    answer
}

/// Nothing an agent's configuration of another day calls us with may stop the agent.
fn refuse(dirs: &Dirs, env: &Environment, problem: &str) -> Answer {
    start_log(dirs, env);
    tracing::warn!("`hook` was called in a way this version does not know: {problem}");
    Answer::carry_on()
}

fn start_log(dirs: &Dirs, _env: &Environment) {
    log::install(dirs.logs(), crate::config::Config::load(dirs).config.log_level);
}

impl Turn<'_> {
    fn answer(&self, stdin: &[u8]) -> Answer {
        let decoded = match self.spec.decode(self.event, stdin, self.env) {
            Ok(decoded) => decoded,
            Err(error) => {
                start_log(&self.dirs, self.env);
                tracing::warn!("{error}");
                if let Some(root) = self.env.cwd().and_then(|cwd| self.root_of(cwd)) {
                    let _ = current::for_hook(self.env, &self.dirs, &root);
                }
                return Answer::carry_on();
            }
        };
        if decoded.foreign {
            return Answer::carry_on();
        }
        let Some(cwd) = self.cwd(&decoded) else { return Answer::carry_on() };
        let Some(root) = self.root_of(&cwd) else { return Answer::carry_on() };
        let Some(current) = current::for_hook(self.env, &self.dirs, &root) else {
            return Answer::carry_on();
        };
        #[cfg(debug_assertions)]
        assert!(!self.env.has("SYMPOSIUM_TEST_PANIC"), "a panic was asked for");
        let mut outcome = Outcome::default();
        let hooks = self.hooks(&current.stored, &decoded);
        let store = decoded.input.session_id().map(|id| Store::new(&self.dirs, id));
        if let Some(answered) =
            self.converse(&current, &decoded, store.as_ref(), &mut outcome, &hooks)
            && answered
        {
            return Answer::carry_on();
        }
        self.run_hooks(&hooks, stdin, decoded, &root, &cwd, &mut outcome);
        merge::settle(&mut outcome);
        self.hold_back(&mut outcome, store.as_ref());
        self.spec.encode(self.event, &outcome)
    }

    /// Where the agent works: what the event says, else our own folder.
    fn cwd(&self, decoded: &Decoded) -> Option<PathBuf> {
        let own = self.env.cwd();
        match decoded.input.cwd().filter(|cwd| !cwd.is_empty()) {
            Some(cwd) if Path::new(cwd).is_absolute() => Some(PathBuf::from(cwd)),
            Some(cwd) => own.map(|own| own.join(cwd)),
            None => own.map(Path::to_path_buf),
        }
    }

    fn root_of(&self, cwd: &Path) -> Option<PathBuf> {
        crate::workspace::locate(cwd, self.env).ok().flatten()
    }

    fn hooks(&self, stored: &Stored, decoded: &Decoded) -> Vec<SnapshotHook> {
        if stored.count(self.event) == 0 {
            return Vec::new();
        }
        let hooks = stored.hooks(self.event);
        let names = decoded.tool_names();
        let occasion = Occasion { agent: self.name, tool_names: &names };
        select(&hooks, &occasion).into_iter().cloned().collect()
    }

    /// Our own part in the session. `Some(true)`: this event was answered before.
    fn converse(
        &self,
        current: &Current,
        decoded: &Decoded,
        store: Option<&Store>,
        outcome: &mut Outcome,
        hooks: &[SnapshotHook],
    ) -> Option<bool> {
        if self.event == Event::SessionStart {
            self.start_session(current, store, outcome);
            return Some(false);
        }
        let store = store?;
        let claim = decoded.tool_use_id.as_deref().filter(|_| !hooks.is_empty());
        let speaks = self.spec.delivers_context(self.event);
        let known = store.read();
        let changed_at = current.stored.header.changed_at;
        let news = known.as_ref().is_none_or(|session| session.heard_of < changed_at);
        let pending = known.as_ref().is_some_and(|session| !session.pending.is_empty());
        let activation = activated_skill(decoded);
        let counts = self.event == Event::UserPromptSubmit || activation.is_some();
        if claim.is_none() && known.is_some() && !counts && !(speaks && (news || pending)) {
            return Some(false);
        }
        let offer = (news && speaks).then(|| current.stored.offer());
        let (answered, context) = store.update(|session| {
            if let Some(id) = claim
                && !session.claim(self.event.name(), id)
            {
                return (true, Vec::new());
            }
            self.first_sight(session);
            if self.event == Event::UserPromptSubmit {
                session.prompts += 1;
            }
            session.activations.extend(activation);
            let mut context = Vec::new();
            if speaks {
                context.append(&mut session.pending);
            }
            if let Some(offer) = &offer {
                let since = session.started_at;
                context.extend(builtin::announce(offer, session, since, self.agent));
                session.heard_of = changed_at;
            }
            (false, context)
        });
        outcome.context.extend(context);
        Some(answered)
    }

    /// A session whose start we were not told of began, for us, with this event.
    fn first_sight(&self, session: &mut Session) {
        if session.started_at == 0 {
            session.started_at = self.arrived;
            self.name.clone_into(&mut session.agent);
        }
    }

    fn start_session(&self, current: &Current, store: Option<&Store>, outcome: &mut Outcome) {
        let offer = current.stored.offer();
        outcome.context.extend(builtin::discovery_hint(&offer));
        // OpenCode reads skill folders after it told us of the session; the others before.
        let late = self.agent == Some(Agent::OpenCode);
        let since = if late { session::now() } else { self.arrived };
        let announce = |session: &mut Session| {
            session.started_at = since;
            session.heard_of = current.stored.header.changed_at;
            session.announced.clear();
            self.name.clone_into(&mut session.agent);
            builtin::announce(&offer, session, since, self.agent)
        };
        let text = match store {
            Some(store) => store.update(announce),
            None => announce(&mut Session::default()),
        };
        outcome.context.extend(text);
        outcome.context.extend(current::update_nudge(self.env, &self.dirs));
        session::prune(&self.dirs);
        current::refresh_in_background(self.env, &current.stored.header.root);
    }

    fn run_hooks(
        &self,
        hooks: &[SnapshotHook],
        stdin: &[u8],
        mut decoded: Decoded,
        root: &Path,
        cwd: &Path,
        outcome: &mut Outcome,
    ) {
        if hooks.is_empty() {
            return;
        }
        start_log(&self.dirs, self.env);
        let registered = Duration::from_secs(self.spec.registered_timeout(self.event));
        let budget = registered.saturating_sub(MARGIN);
        let mut native = stdin.to_vec();
        for hook in hooks {
            let canonical = hook.format == "symposium";
            let input = if canonical {
                serde_json::to_vec(&decoded.input).unwrap_or_default()
            } else {
                native.clone()
            };
            let call = Call {
                agent: self.name,
                spec: self.spec,
                event: self.event,
                root,
                cwd,
                env: self.env,
                stdin: input,
                limit: budget.saturating_sub(self.started.elapsed()),
            };
            let mut verdict = run_hook(hook, call);
            if let Some(updated) = verdict.outcome.updated_input.take()
                && self.event == Event::PreToolUse
            {
                let updated =
                    if canonical { self.spec.native_input(&decoded, &updated) } else { updated };
                // The next hook sees the rewritten input.
                if let Some(rewritten) = self.spec.replace_input(&native, &updated)
                    && let Ok(again) = self.spec.decode(self.event, &rewritten, self.env)
                {
                    native = rewritten;
                    decoded = again;
                }
                verdict.outcome.updated_input = Some(updated);
            }
            for note in merge::merge(outcome, verdict.outcome) {
                tracing::warn!("{note}");
            }
            if verdict.last {
                break;
            }
        }
    }

    /// Keeps context that the agent ignores at this event for the next that takes it.
    fn hold_back(&self, outcome: &mut Outcome, store: Option<&Store>) {
        if outcome.context.is_empty() || self.spec.delivers_context(self.event) {
            return;
        }
        let context = std::mem::take(&mut outcome.context);
        let later = self.spec.delivers_context(Event::PostToolUse);
        match store.filter(|_| later) {
            Some(store) => store.update(|session| {
                self.first_sight(session);
                session.pending.extend(context);
            }),
            None => {
                start_log(&self.dirs, self.env);
                tracing::warn!("{} takes no context; a hook's was dropped", self.name);
            }
        }
    }
}

/// The skill that this use of a tool activates: Claude Code's `Skill` tool names it.
fn activated_skill(decoded: &Decoded) -> Option<String> {
    let symposium_hook::Input::PreToolUse(input) = &decoded.input else { return None };
    if input.tool_name != "Skill" {
        return None;
    }
    input.tool_input.get("skill").and_then(|skill| skill.as_str()).map(str::to_owned)
}
