//! Symposium's own part in a session: what it says, and what it remembers of it.

use std::path::Path;

use sha2::{Digest as _, Sha256};
use symposium_hook::{Decision, Event, Input};

use super::builtin::{self, failure_key};
use super::dependencies;
use super::hints;
use super::session::{Deferred, Session, Store};
use super::sessions;
use super::skill_read::{self, Reading};
use crate::agents::tools::native_of;
use crate::agents::wire::{Capability, Decoded, Outcome, Support};
use crate::agents::{Agent, Codec};
use crate::config::{Dirs, Environment};
use crate::sync::snapshot::{SnapshotHook, Stored};

/// The session that an event belongs to.
pub(super) struct SessionContext<'a> {
    /// The agent's formats.
    pub codec: &'static dyn Codec,
    /// The event.
    pub event: Event,
    /// The surroundings.
    pub env: &'a Environment,
    /// Our folders.
    pub dirs: &'a Dirs,
    /// When the event came, in milliseconds since 1970.
    pub arrived: u64,
    /// What there is in the workspace.
    pub stored: &'a Stored,
    /// Where the session is remembered; `None` for an event that names no session.
    pub store: Option<Store>,
    /// What was remembered of it when the event came.
    pub known: Option<Session>,
}

impl SessionContext<'_> {
    /// Adds what Symposium itself tells the model, and remembers what happened. `hooks` are those that
    /// will run. The answer: whether a refresh in the background is due.
    pub(super) fn join(
        &self,
        decoded: &Decoded,
        hooks: &[SnapshotHook],
        outcome: &mut Outcome,
    ) -> bool {
        let programs =
            Programs { missing: missing_programs(hooks), failed: failed_programs(hooks) };
        if self.event == Event::SessionStart {
            self.start(&programs, outcome);
            return true;
        }
        self.update_session(decoded, &programs, outcome)
    }

    /// Which of these programs the session was not told of yet.
    pub(super) fn unannounced(&self, missing: &[String]) -> Vec<String> {
        if missing.is_empty() {
            return Vec::new();
        }
        let nudges =
            self.known.as_ref().map(|session| session.nudges.as_slice()).unwrap_or_default();
        let announced = |name: &&String| nudges.contains(&builtin::installing_key(name));
        missing.iter().filter(|name| !announced(name)).cloned().collect()
    }

    fn agent(&self) -> Option<Agent> {
        Agent::from_name(self.codec.name())
    }

    /// Whether the model reads what is said at this event.
    fn delivers_now(&self) -> bool {
        self.codec.delivers_context(self.event)
    }

    /// Whether the model reads what is said at any event after the session's start.
    fn delivers_later(&self) -> bool {
        let mut later = Event::COMMON.into_iter().filter(|event| *event != Event::SessionStart);
        later.any(|event| self.codec.delivers_context(event))
    }

    fn start(&self, programs: &Programs, outcome: &mut Outcome) {
        let offer = self.stored.offer();
        // What the sync before this event brought counts as well: every client, OpenCode with its
        // plugin too, has read its skill folders by now (measured).
        let since = self.arrived;
        let mut context = Vec::new();
        let outside = self.stored.header.outside;
        let versions = dependencies::versions_line(&offer);
        let begin_session = |session: &mut Session| {
            // A session that is resumed knows what it heard of.
            let heard_of = Some(session.heard_of).filter(|at| *at > 0 && self.delivers_now());
            self.begin_if_new(session);
            session.started_at = since;
            if !outside {
                session.heard_of = self.stored.header.changed_at;
            }
            session.announced.clear();
            let mut texts = Vec::new();
            if self.delivers_now() {
                builtin::mark_subcommands_announced(&offer, session);
                texts.extend(session.pending.drain(..).map(|deferred| deferred.text));
                let changes = heard_of.and_then(|at| dependencies::changes_line(&offer, at));
                let longest = builtin::LONGEST - length(&versions) - length(&changes);
                let news = self.news(&offer);
                texts.extend(changes);
                texts.extend(builtin::announce(&news, session, (since, longest), self.agent()));
                texts.extend(builtin::installing(&programs.missing, session, self.dirs));
                texts.extend(builtin::install_failures(&programs.failed, session, self.dirs));
            }
            texts
        };
        let texts = match &self.store {
            Some(store) => store.update(begin_session),
            None => begin_session(&mut Session::default()),
        };
        if self.delivers_now() {
            context.extend(builtin::discovery_hint(&offer));
            context.extend(builtin::candidates_line(&offer));
            context.extend(builtin::suggestions_line(&offer));
            context.extend(builtin::team_line(&offer));
            context.extend(versions);
            context.extend(texts);
        }
        // Who works on something else is not troubled with us.
        if !outside && self.codec.support(self.event, Capability::Message) == Support::Yes {
            outcome.user_message = builtin::update_nudge(self.env, self.dirs);
        }
        outcome.context.extend(context);
        sessions::prune(self.dirs);
    }

    /// Whether there is something that the session has not heard of.
    fn has_news(&self) -> bool {
        let header = &self.stored.header;
        let known = self.known.as_ref();
        !header.outside && known.is_none_or(|session| session.heard_of < header.changed_at)
    }

    /// Whether the session must be written: there is something to tell or to remember.
    fn needs_update(&self, decoded: &Decoded, programs: &Programs) -> bool {
        let Some(known) = &self.known else { return true };
        let due = || {
            let tool = tool_keys(decoded);
            known.pending.iter().any(|deferred| self.is_due(deferred, &tool))
        };
        let unannounced = |name: &String| !known.nudges.contains(&builtin::installing_key(name));
        self.event == Event::UserPromptSubmit
            || !skill_read::skills_read(decoded).is_empty()
            || programs.missing.iter().any(unannounced)
            || programs.failed.iter().any(|(name, _)| !known.nudges.contains(&failure_key(name)))
            || (self.delivers_now() && (self.has_news() || (!known.pending.is_empty() && due())))
    }

    fn update_session(
        &self,
        decoded: &Decoded,
        programs: &Programs,
        outcome: &mut Outcome,
    ) -> bool {
        let Some(store) = &self.store else { return false };
        if !self.needs_update(decoded, programs) {
            return false;
        }
        let news = self.has_news();
        let changed_at = self.stored.header.changed_at;
        let tool = tool_keys(decoded);
        let read = self.skills_read(decoded);
        let offer = (news && self.delivers_now()).then(|| self.stored.offer());
        let (refresh, texts) = store.update(|session| {
            self.begin_if_new(session);
            if self.event == Event::UserPromptSubmit {
                session.prompts += 1;
            }
            self.note_read(session, &read, decoded.tool_use_id.as_deref());
            let installing = builtin::installing(&programs.missing, session, self.dirs);
            let refresh = installing.is_some();
            let delivers = self.delivers_now() || self.delivers_later();
            let failures = delivers
                .then(|| builtin::install_failures(&programs.failed, session, self.dirs))
                .flatten();
            let mut texts = Vec::new();
            if self.delivers_now() {
                let (due, rest) = std::mem::take(&mut session.pending)
                    .into_iter()
                    .partition(|deferred| self.is_due(deferred, &tool));
                session.pending = rest;
                let due: Vec<Deferred> = due;
                texts.extend(due.into_iter().map(|deferred| deferred.text));
            }
            if let Some(offer) = &offer {
                let since = session.started_at;
                let changes = dependencies::changes_line(offer, session.heard_of.max(since));
                let longest = builtin::LONGEST - length(&changes);
                texts.extend(changes);
                let news = self.news(offer);
                texts.extend(builtin::announce(&news, session, (since, longest), self.agent()));
                session.heard_of = changed_at;
            }
            for text in installing.into_iter().chain(failures) {
                if self.delivers_now() {
                    texts.push(text);
                } else if self.delivers_later() {
                    session.pending.push(Deferred { text, ..Deferred::default() });
                }
            }
            (refresh, texts)
        });
        outcome.context.extend(texts);
        refresh
    }

    /// Adds what the workspace's dependencies say about the compiler's errors in a tool's result, each
    /// item once a session.
    pub(super) fn explain_errors(
        &self,
        decoded: &Decoded,
        stdin: &[u8],
        cwd: &Path,
        outcome: &mut Outcome,
    ) {
        let concerns_us = self.event == Event::PostToolUse && !self.stored.header.outside;
        let is_heard = || self.delivers_now() || self.delivers_later();
        if !concerns_us || !hints::may_hold_errors(stdin) || !is_heard() {
            return;
        }
        let told = self.known.as_ref().map(|known| known.explained.clone()).unwrap_or_default();
        let search = hints::Search {
            env: self.env.clone(),
            dirs: self.dirs.clone(),
            root: self.stored.header.root.clone(),
            cwd: cwd.to_path_buf(),
            told,
        };
        let Some(found) = search.run(&decoded.input) else { return };
        if let Some(store) = &self.store {
            store.update(|session| {
                self.begin_if_new(session);
                session.explained.extend(found.told);
            });
        }
        outcome.context.push(found.text);
    }

    /// Names of skills that were read with this event: by the model, or because the user called one by
    /// its name.
    fn skills_read(&self, decoded: &Decoded) -> Vec<String> {
        let Input::UserPromptSubmit(prompt) = &decoded.input else {
            return skill_read::skills_read(decoded);
        };
        let sign = self.codec.identity().skill_call;
        let called =
            sign.and_then(|sign| prompt.prompt.strip_prefix(sign)?.split_whitespace().next());
        let Some(called) = called else { return Vec::new() };
        // What the user wrote is noted of nothing but a skill.
        let mut skills = self.stored.offer().skills.into_iter().map(|skill| skill.name);
        skills.find(|name| name == called).into_iter().collect()
    }

    fn note_read(&self, session: &mut Session, names: &[String], tool_use: Option<&str>) {
        let header = &self.stored.header;
        if header.outside {
            return;
        }
        let root = Some(header.root.as_path()).filter(|root| session.root.as_deref() != Some(root));
        let reading = Reading { root, at: self.arrived, tool_use };
        for name in names {
            skill_read::note(&mut session.skill_reads, name, &reading);
        }
    }

    fn news<'o>(&'o self, offer: &'o crate::sync::snapshot::Offer) -> builtin::News<'o> {
        builtin::News { offer, root: &self.stored.header.root }
    }

    /// A session whose start we were not told of began, for us, with this event.
    fn begin_if_new(&self, session: &mut Session) {
        if session.started_at == 0 {
            session.started_at = self.arrived;
            let header = &self.stored.header;
            session.root = (!header.outside).then(|| header.root.clone());
            self.codec.name().clone_into(&mut session.agent);
        }
    }

    /// Whether deferred context goes with this event: its tool's result, or else the next prompt.
    fn is_due(&self, deferred: &Deferred, tool: &[String]) -> bool {
        deferred.tool.is_empty()
            || self.event == Event::UserPromptSubmit
            || (self.event == Event::PostToolUse
                && deferred.tool.iter().any(|key| tool.contains(key)))
    }

    /// Keeps context that the agent ignores at this event for one that takes it. `uses` is the use
    /// of the tool, before and after it was rewritten.
    pub(super) fn defer<'d>(&self, outcome: &mut Outcome, uses: impl Iterator<Item = &'d Decoded>) {
        if outcome.context.is_empty() || self.delivers_now() {
            return;
        }
        if matches!(outcome.decision, Some(Decision::Deny | Decision::Ask)) {
            // There will be no result to go with, and the model reads the reason.
            outcome.reasons.extend(outcome.context_text());
            outcome.context.clear();
            return;
        }
        let Some(text) = outcome.context_text() else { return };
        outcome.context.clear();
        match &self.store {
            Some(store) if self.delivers_later() => {
                let tool = uses.flat_map(tool_keys).collect();
                store.update(|session| {
                    self.begin_if_new(session);
                    session.pending.push(Deferred { text, tool });
                });
            }
            // That it is dropped is logged with all that the agent can't do.
            Some(_) => {}
            None => tracing::warn!(
                "the event names no session, so context can't wait for the tool's result and is \
                 dropped"
            ),
        }
    }
}

fn length(line: &Option<String>) -> usize {
    line.as_ref().map_or(0, |line| line.chars().count())
}

/// Programs that hooks of an event do without.
struct Programs {
    /// Those that are being installed.
    missing: Vec<String>,
    /// Those that could not be installed, each with why.
    failed: Vec<(String, String)>,
}

/// Names of programs that hooks wait for and that can be got: `installation` of `plugin`. What was
/// tried and failed is not waited for.
pub(super) fn missing_programs(hooks: &[SnapshotHook]) -> Vec<String> {
    let mut names = Vec::new();
    for hook in hooks {
        let own = (hook.run.fetchable && hook.run.missing().is_some())
            .then_some(hook.run.installation.as_str());
        let failed = |name: &&str| hook.run.failed.iter().any(|(known, _)| known == name);
        let all = own.into_iter().chain(hook.run.lacking.iter().map(String::as_str));
        for name in all.filter(|name| !failed(name)) {
            let name = shown(name, hook);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Programs that hooks need and that could not be installed, each with why.
fn failed_programs(hooks: &[SnapshotHook]) -> Vec<(String, String)> {
    let mut programs: Vec<(String, String)> = Vec::new();
    for hook in hooks {
        for (name, problem) in &hook.run.failed {
            let name = shown(name, hook);
            if !programs.iter().any(|(known, _)| *known == name) {
                programs.push((name, problem.clone()));
            }
        }
    }
    programs
}

fn shown(program: &str, hook: &SnapshotHook) -> String {
    format!("`{program}` of plugin `{}`", hook.plugin)
}

/// What tells the use of a tool from others, before and after it: the agent's name for it, else
/// what is used with what.
fn tool_keys(decoded: &Decoded) -> Vec<String> {
    if !decoded.input.event().is_tool_event() {
        return Vec::new();
    }
    if let Some(id) = &decoded.tool_use_id {
        return vec![id.clone()];
    }
    let (name, input) = native_of(decoded);
    let text = serde_json::to_vec(&(name, crate::agents::json::arguments(input)));
    let hash = Sha256::digest(text.unwrap_or_default());
    vec![crate::text::hex(&hash)[..32].to_owned()]
}
