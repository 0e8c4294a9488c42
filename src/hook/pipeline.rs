//! The one road of an event: decode → session context → current snapshot → dispatch → encode.
//!
//! Most events change nothing and ask no plugin. They take the same road and find nothing on it: the
//! stored snapshot is current, no hook matches, and the session has nothing to hear or to remember.
//! So each step must cost nothing where it has nothing to do: no thread, no lock, no log file and no
//! manifest of the workspace.

use std::path::Path;
use std::time::{Duration, Instant};

use symposium_hook::Event;

use super::builtin;
use super::dedup::{Dedup, Occurrence};
use super::dispatch::{self, Dispatch};
use super::end_of_turn;
use super::event::{Call, cwd_of, name_tool, parse_args};
use super::install_wait::{Installing, wait_for_programs};
use super::select::hooks_for;
use super::session::{Session, Store};
use super::session_context::SessionContext;
use super::trace;
use super::unsupported::log_unsupported;
use crate::agents::Codec;
use crate::agents::merge::settle;
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::config::now_in_ms;
use crate::sync::background::Background;
use crate::sync::current;
use crate::sync::snapshot::{SnapshotHook, Stored};

/// One event being answered.
struct EventHandler<'a> {
    call: &'a Call<'a>,
    codec: &'static dyn Codec,
    event: Event,
    started: Instant,
    /// As `started`, in milliseconds since 1970.
    arrived: u64,
}

/// The hooks that are asked about an event, and where.
struct HooksInForce<'a> {
    /// Those of the workspace that the agent works in.
    here: &'a [SnapshotHook],
    /// Those of the workspace that the session began in, where that is another one, with its root.
    began: Option<(Option<&'a Path>, &'a [SnapshotHook])>,
    /// Names of the MCP servers in both.
    servers: &'a [String],
    /// Where the agent works.
    cwd: &'a Path,
}

/// The answer to a call.
pub(super) fn answer(call: &Call<'_>) -> Answer {
    let started = Instant::now();
    call.env.test_switches().panic_at("start");
    let (codec, event) = match parse_args(call.args) {
        Ok(parsed) => parsed,
        Err(problem) => return refuse(call, &problem),
    };
    let handler = EventHandler { call, codec, event, started, arrived: now_in_ms() };
    let answer = handler.answer().unwrap_or_else(Answer::carry_on);
    trace::record(call.env, codec.name(), event.cli_name(), call.stdin, &answer, started.elapsed());
    answer
}

/// Nothing an agent's configuration of another day calls us with may stop the agent.
fn refuse(call: &Call<'_>, problem: &str) -> Answer {
    tracing::warn!("`hook` was called in a way this version does not know: {problem}");
    let mut answer = Answer::carry_on();
    if call.by_hand {
        let events = Event::ALL.map(Event::cli_name).join(", ");
        answer.stderr = format!(
            "{problem}\nusage: cargo agents hook AGENT EVENT < event.json\nevents: {events}\n"
        );
    }
    answer
}

impl EventHandler<'_> {
    /// The answer; `None` where nothing is known of the event or of the place.
    fn answer(&self) -> Option<Answer> {
        let Call { env, dirs, .. } = *self.call;
        let mut decoded = self.decode()?;
        if decoded.foreign {
            return None;
        }
        let store = decoded.input.session_id().map(|id| Store::new(dirs, id));
        let known = store.as_ref().and_then(Store::read);
        let has_started = known.as_ref().is_some_and(|session| session.started_at != 0);
        if self.event == Event::SessionStart && self.codec.repeats_start() && has_started {
            return None;
        }
        let cwd = cwd_of(env, &decoded)?;
        let here = current::of_folder(env, dirs, &cwd, self.retries_failed_sync());
        let began = self.began_in(known.as_ref(), here.as_ref());
        let stored = here.as_ref().or(began.as_ref())?;
        let mut servers = stored.header.servers.clone();
        servers.extend(began.iter().flat_map(|began| began.header.servers.iter().cloned()));
        name_tool(self.codec, &mut decoded, &servers);
        let session = SessionContext {
            codec: self.codec,
            event: self.event,
            env,
            dirs,
            arrived: self.arrived,
            stored,
            store,
            known,
        };
        let hooks = hooks_for(self.codec, self.event, stored, &decoded);
        let elsewhere = began.as_ref().map(|began| {
            let mut hooks_there = hooks_for(self.codec, self.event, began, &decoded);
            // A hook that is in force in both is asked once.
            hooks_there.retain(|hook| !hooks.contains(hook));
            (workspace_root(began), hooks_there)
        });
        let in_force = HooksInForce {
            here: &hooks,
            began: elsewhere.as_ref().map(|(root, hooks)| (*root, hooks.as_slice())),
            servers: &servers,
            cwd: &cwd,
        };
        let outcome = self.answer_once(&session, &in_force, &decoded);
        env.test_switches().panic_at("end");
        Some(match decoded.failed {
            true => self.codec.encode_failure(&outcome),
            false => self.codec.encode(self.event, &outcome),
        })
    }

    /// The event, understood. One that the agent never sends says nothing, but the skills may still
    /// be brought up to date.
    fn decode(&self) -> Option<Decoded> {
        let Call { env, dirs, stdin, .. } = *self.call;
        let decoded = self.codec.decode(self.event, stdin, env);
        decoded
            .inspect_err(|problem| {
                tracing::warn!("{problem}");
                if let Some(witness) = self.call.witness {
                    witness.undecoded(&problem.to_string());
                }
                if let Some(cwd) = env.cwd() {
                    let _ = current::of_folder(env, dirs, cwd, self.retries_failed_sync());
                }
            })
            .ok()
    }

    /// What the plugins and we want. An event that two registrations deliver is answered once. Where
    /// no hook is asked about a tool's use there is nothing to deduplicate: the session remembers
    /// what it was told.
    fn answer_once(
        &self,
        session: &SessionContext<'_>,
        in_force: &HooksInForce<'_>,
        decoded: &Decoded,
    ) -> Outcome {
        let asks_hooks =
            !in_force.here.is_empty() || in_force.began.is_some_and(|(_, hooks)| !hooks.is_empty());
        let dedup = match &session.store {
            Some(store) if asks_hooks || !self.event.is_tool_event() => Dedup::new(store, decoded),
            _ => None,
        };
        let Some(dedup) = dedup else { return self.consult(session, in_force, decoded).0 };
        match dedup.begin(self.left()) {
            // The plugins' decision is repeated, without the context.
            Occurrence::Repeat(outcome) => *outcome,
            Occurrence::First(lock) => {
                let (outcome, rewritten) = self.consult(session, in_force, decoded);
                dedup.finish(lock, &outcome, rewritten.as_ref());
                outcome
            }
        }
    }

    /// What is left of the time for everything.
    fn left(&self) -> Duration {
        dispatch::budget(self.codec, self.event).saturating_sub(self.started.elapsed())
    }

    /// What we and the plugins' hooks want, and the event as the last hook rewrote it.
    fn consult(
        &self,
        session: &SessionContext<'_>,
        in_force: &HooksInForce<'_>,
        decoded: &Decoded,
    ) -> (Outcome, Option<Decoded>) {
        let Call { env, dirs, stdin, .. } = *self.call;
        let stored = session.stored;
        let choose = |now: &Stored| hooks_for(self.codec, self.event, now, decoded);
        let installing = match self.call.witness {
            None => wait_for_programs(session, in_force.here, env, self.left(), choose),
            Some(_) => Installing::default(),
        };
        let hooks = installing.hooks.as_deref().unwrap_or(in_force.here);
        let mut outcome = Outcome::default();
        let refresh = session.join(decoded, hooks, &mut outcome);
        session.explain_errors(decoded, stdin, in_force.cwd, &mut outcome);
        let dispatch = Dispatch {
            codec: self.codec,
            event: self.event,
            env,
            started: self.started,
            cwd: in_force.cwd,
            servers: in_force.servers,
            witness: self.call.witness,
        };
        let elsewhere =
            in_force.began.iter().flat_map(|(root, hooks)| hooks.iter().map(|hook| (*root, hook)));
        let all = hooks.iter().map(|hook| (workspace_root(stored), hook)).chain(elsewhere);
        let rewritten = dispatch.run(&all.collect::<Vec<_>>(), stdin, decoded, &mut outcome);
        settle(&mut outcome);
        end_of_turn::bound(session.store.as_ref(), decoded, &mut outcome);
        if let Some(witness) = self.call.witness {
            witness.settled(&outcome);
        }
        log_unsupported(self.codec, self.event, &outcome);
        session.defer(&mut outcome, std::iter::once(decoded).chain(&rewritten));
        // A workspace that has nothing to refresh is where a newer Symposium is looked for, too.
        let looks = || {
            let starts = self.event == Event::SessionStart && !stored.header.outside;
            starts && builtin::update_check_is_due(env, dirs)
        };
        if self.call.witness.is_none()
            && refresh
            && !installing.is_running
            && (stored.header.refreshable || looks())
        {
            let _running = Background::of(dirs, &stored.header.root).start();
        }
        (outcome, rewritten)
    }

    /// The snapshot of the workspace in which the session began, where that is another one than
    /// `here`. What guards there must not be passed by going elsewhere.
    fn began_in(&self, session: Option<&Session>, here: Option<&Stored>) -> Option<Stored> {
        let is_here = |root: &Path| here.is_some_and(|here| here.header.root == root);
        let root = session?.root.as_deref().filter(|root| !is_here(root))?;
        let Call { env, dirs, .. } = *self.call;
        let insist = self.retries_failed_sync();
        let began = current::for_hook(env, dirs, root, insist)?;
        (!is_here(&began.header.root)).then_some(began)
    }

    /// Whether a sync that failed is tried again although nothing changed since.
    fn retries_failed_sync(&self) -> bool {
        self.event == Event::SessionStart
    }
}

/// The root of the snapshot's workspace; none outside of one.
fn workspace_root(stored: &Stored) -> Option<&Path> {
    (!stored.header.outside).then_some(stored.header.root.as_path())
}
