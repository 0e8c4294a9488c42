//! The steps of an event, in order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use symposium_hook::Event;

use super::arrival::await_programs;
use super::claims::{Claim, Claims};
use super::conversation::Conversation;
use super::dispatch::{self, Dispatch};
use super::quick::Seen;
use super::select::{Occasion, select};
use super::session::{self, Store};
use super::trace;
use super::wishes::log_unmet;
use crate::agents::merge::settle;
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::agents::{self, Codec};
use crate::config::{Dirs, Environment};
use crate::sync::background::Background;
use crate::sync::current::{self, Question};
use crate::sync::snapshot::{SnapshotHook, Stored};

/// A call of our program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The arguments after `hook`.
    pub(super) args: &'a [OsString],
    /// Standard input, whole.
    pub(super) stdin: &'a [u8],
    /// Whether a person at a terminal calls us.
    pub(super) by_hand: bool,
    /// Our surroundings.
    pub(super) env: &'a Environment,
    /// Our folders.
    pub(super) dirs: &'a Dirs,
}

/// Who is asked about an event, and with what.
struct Asking<'a> {
    /// What there is where the agent works.
    stored: &'a Stored,
    /// The hooks of it that run.
    hooks: &'a [SnapshotHook],
    /// Those that are in force besides, for the workspace at this root: the session began there.
    kept: Option<(Option<&'a Path>, &'a [SnapshotHook])>,
    /// Names of the servers in both.
    servers: &'a [String],
    /// Where the agent works.
    cwd: &'a Path,
}

/// One event being answered.
struct Turn<'a> {
    spec: &'static dyn Codec,
    event: Event,
    env: &'a Environment,
    dirs: &'a Dirs,
    started: Instant,
    arrived: u64,
}

/// The answer to a call of which something may have been found out.
pub(super) fn answer(call: &Call<'_>, seen: Box<Seen>) -> Answer {
    current::panic_where_asked(call.env, "start");
    let started = Instant::now();
    let (spec, event) = match understood(call.args) {
        Ok(understood) => understood,
        Err(problem) => return refuse(call, &problem),
    };
    let turn =
        Turn { spec, event, env: call.env, dirs: call.dirs, started, arrived: session::now() };
    let answer = turn.answer(call.stdin, seen);
    trace::record(call.env, spec.name(), event.cli_name(), call.stdin, &answer, started.elapsed());
    answer
}

/// Whom and what the arguments name. The event may have our name, the manifests' or the agent's
/// own; what stands behind it is for later versions to say.
pub(super) fn understood(args: &[OsString]) -> Result<(&'static dyn Codec, Event), String> {
    let mut words = args.iter().map(|arg| arg.to_string_lossy());
    let (Some(name), Some(event)) = (words.next(), words.next()) else {
        return Err("an agent and an event are needed".to_owned());
    };
    let spec = agents::codec(&name).ok_or_else(|| format!("there is no agent `{name}`"))?;
    Event::ALL
        .into_iter()
        .find(|known| [known.cli_name(), known.name(), spec.event_name(*known)].contains(&&*event))
        .map(|event| (spec, event))
        .ok_or_else(|| format!("there is no event `{event}`"))
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

impl Turn<'_> {
    fn answer(&self, stdin: &[u8], seen: Box<Seen>) -> Answer {
        let decode = || self.spec.decode(self.event, stdin, self.env);
        let mut decoded = match seen.decoded.map_or_else(decode, Ok) {
            Ok(decoded) => decoded,
            Err(problem) => {
                tracing::warn!("{problem}");
                // The event says nothing, but it is one: the skills may be brought up to date.
                if let Some(cwd) = self.env.cwd() {
                    let _ = self.found(cwd);
                }
                return Answer::carry_on();
            }
        };
        if decoded.foreign {
            return Answer::carry_on();
        }
        let Some(cwd) = cwd_of(self.env, &decoded) else { return Answer::carry_on() };
        let known = seen.stored.filter(|stored| !(self.insists() && stored.header.failed));
        let here = known.map(|known| *known).or_else(|| self.found(&cwd));
        let began = self.began(&decoded, here.as_ref());
        let Some(stored) = here.as_ref().or(began.as_ref()) else { return Answer::carry_on() };
        // A server's tool can be told from its native name only where the servers are known.
        let mut servers = stored.header.servers.clone();
        servers.extend(began.iter().flat_map(|began| began.header.servers.iter().cloned()));
        name_tool(self.spec, &mut decoded, &servers);
        let hooks = matching(self.spec, self.event, stored, &decoded);
        let mut kept = began
            .as_ref()
            .map_or_else(Vec::new, |began| matching(self.spec, self.event, began, &decoded));
        // What is in force in both is asked once.
        kept.retain(|hook| !hooks.contains(hook));
        let asked = Asking {
            stored,
            hooks: &hooks,
            kept: began.as_ref().map(|began| (root_in(began), kept.as_slice())),
            servers: &servers,
            cwd: &cwd,
        };
        // What we say of ourselves at a tool's use is remembered as said in any case.
        let counts = !hooks.is_empty() || !kept.is_empty() || !self.event.is_tool_event();
        let claims = counts.then(|| Claims::new(self.dirs, &decoded)).flatten();
        let outcome = match &claims {
            None => self.consult(&asked, stdin, &decoded).0,
            Some(claims) => match claims.claim(self.left()) {
                // The plugins' word stands, and nothing is said twice.
                Claim::Repeated(outcome) => *outcome,
                Claim::First(held) => {
                    let (outcome, rewritten) = self.consult(&asked, stdin, &decoded);
                    claims.answered(held, &outcome, rewritten.as_ref());
                    outcome
                }
            },
        };
        current::panic_where_asked(self.env, "end");
        self.spec.encode(self.event, &outcome)
    }

    /// What is left of the time for everything.
    fn left(&self) -> Duration {
        dispatch::budget(self.spec, self.event).saturating_sub(self.started.elapsed())
    }

    /// Our own word and the plugins', and the event as the last of them rewrote it.
    fn consult(
        &self,
        asking: &Asking<'_>,
        stdin: &[u8],
        decoded: &Decoded,
    ) -> (Outcome, Option<Decoded>) {
        let Asking { stored, hooks, .. } = *asking;
        let root = &stored.header.root;
        let conversation = Conversation {
            spec: self.spec,
            event: self.event,
            dirs: self.dirs,
            arrived: self.arrived,
            stored,
            store: decoded.input.session_id().map(|id| Store::new(self.dirs, id)),
        };
        let choose = |now: &Stored| matching(self.spec, self.event, now, decoded);
        let arrival = await_programs(&conversation, hooks, (self.env, root, self.left()), choose);
        let hooks = arrival.hooks.as_deref().unwrap_or(hooks);
        let mut outcome = Outcome::default();
        let refresh = conversation.join(decoded, hooks, &mut outcome);
        let dispatch = Dispatch {
            spec: self.spec,
            event: self.event,
            env: self.env,
            started: self.started,
            cwd: asking.cwd,
            servers: asking.servers,
        };
        let kept =
            asking.kept.iter().flat_map(|(root, hooks)| hooks.iter().map(|hook| (*root, hook)));
        let all = hooks.iter().map(|hook| (root_in(stored), hook)).chain(kept);
        let rewritten = dispatch.run(&all.collect::<Vec<_>>(), stdin, decoded, &mut outcome);
        settle(&mut outcome);
        log_unmet(self.spec, self.event, &outcome);
        conversation.hold_back(&mut outcome, std::iter::once(decoded).chain(&rewritten));
        if refresh && !arrival.is_running && stored.header.refreshable {
            let _running = Background::of(self.dirs, root).start();
        }
        (outcome, rewritten)
    }

    /// The snapshot of the workspace that `cwd` is in, or of what applies outside of one.
    fn found(&self, cwd: &Path) -> Option<Stored> {
        self.current(&current::root_of(self.env, self.dirs, cwd))
    }

    /// The snapshot of the workspace in which the session began, where that is another one than
    /// `here`. What guards there must not be passed by going elsewhere.
    fn began(&self, decoded: &Decoded, here: Option<&Stored>) -> Option<Stored> {
        let session = Store::new(self.dirs, decoded.input.session_id()?).read()?;
        let is_here = |root: &PathBuf| here.is_some_and(|here| here.header.root == *root);
        let began = self.current(&session.root.filter(|root| !is_here(root))?)?;
        (!is_here(&began.header.root)).then_some(began)
    }

    /// Whether a sync that failed is tried again.
    fn insists(&self) -> bool {
        self.event == Event::SessionStart
    }

    fn current(&self, root: &Path) -> Option<Stored> {
        let insist = self.insists();
        current::for_hook(&Question { env: self.env, dirs: self.dirs, root, insist })
    }
}

/// The root, where it is a workspace.
fn root_in(stored: &Stored) -> Option<&Path> {
    (!stored.header.outside).then_some(stored.header.root.as_path())
}

/// Where the agent works: what the event says, else our own folder.
pub(super) fn cwd_of(env: &Environment, decoded: &Decoded) -> Option<PathBuf> {
    let own = env.cwd();
    match decoded.input.cwd().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) if Path::new(cwd).is_absolute() => Some(PathBuf::from(cwd)),
        Some(cwd) => own.map(|own| own.join(cwd)),
        None => own.map(Path::to_path_buf),
    }
}

/// The hooks that run for this event, in order.
pub(super) fn matching(
    spec: &dyn Codec,
    event: Event,
    stored: &Stored,
    decoded: &Decoded,
) -> Vec<SnapshotHook> {
    if stored.count(event) == 0 {
        return Vec::new();
    }
    let hooks = stored.hooks(event);
    let names = decoded.tool_names();
    let occasion = Occasion { agent: spec.name(), tool_names: &names };
    select(&hooks, &occasion).into_iter().cloned().collect()
}

/// Gives a server's tool its canonical name, where that takes knowing the servers.
pub(super) fn name_tool(spec: &dyn Codec, decoded: &mut Decoded, servers: &[String]) {
    if !servers.is_empty() {
        let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
        spec.name_mcp_tool(decoded, &servers);
    }
}
