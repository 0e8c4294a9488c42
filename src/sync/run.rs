//! One sync, from start to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::apply::apply;
use super::content::hex;
use super::facts::{Facts, Gatherer};
use super::observe::observe;
use super::parents::Parents;
use super::plan::{Plan, plan};
use super::programs::{resolve_server, run_of};
use super::registration::{Desired, Registered, Registrar};
use super::setup::{Setup, Sweep};
use super::snapshot::{
    Header, Offer, Snapshot, SnapshotHook, SnapshotServer, SnapshotSkill, SnapshotSubcommand,
    Stored,
};
use super::wanted::{self, Chosen};
use crate::Symposium;
use crate::agents::Agent;
use crate::documents::exclude;
use crate::fetch::git::Policy;
use crate::files::{Lock, LockError};
use crate::installations::{Acquirer, Mode as InstallMode, Network};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::{Change, Event, Kind, Verdict};
use crate::skills::crate_source::fetch::Fetcher;
use crate::skills::crate_source::{CrateDisk, CrateSources, OnDemand};
use crate::text::Diagnostic;
use crate::workspace::{Loaded, Workspace};

/// Whether a sync changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It only says what it would do.
    Plan,
    /// It does it.
    #[default]
    Apply,
}

/// On whose behalf a sync runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caller {
    /// The user: it may take its time and use the network.
    #[default]
    Command,
    /// A background process of ours: it may, too, and tells nobody.
    Background,
    /// A hook: quick, and with what is on disk.
    Hook,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A folder of the workspace.
    pub start: PathBuf,
    /// Agents to place skills for instead of the configured ones.
    pub named: Option<Vec<Agent>>,
    /// Replace what was edited in place.
    pub force: bool,
    /// Whether something is changed.
    pub mode: Mode,
    /// On whose behalf.
    pub caller: Caller,
    /// What of our hooks in the other scope is cleaned.
    pub sweep: Sweep,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            start: PathBuf::new(),
            named: None,
            force: false,
            mode: Mode::Apply,
            caller: Caller::Command,
            sweep: Sweep::Recorded,
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Synced {
    /// What was, or would be, done to skill folders.
    pub plan: Plan,
    /// All changes, as people see them.
    pub changes: Vec<Change>,
    /// What there is now: `14 skills, 1 server for claude and codex`.
    pub summary: String,
    /// Whether something could not be done.
    pub failed: bool,
    /// The workspace's root.
    pub root: PathBuf,
}

impl Synced {
    /// Whether anything changed, or would.
    pub fn is_change(&self) -> bool {
        self.changes.iter().any(|change| change.action.is_change())
    }
}

/// The configured agents that we know; the others are told about.
pub fn configured_agents(sym: &Symposium) -> Vec<Agent> {
    let mut agents = Vec::new();
    for name in &sym.config.agents {
        match Agent::from_name(name) {
            Some(agent) => agents.push(agent),
            None => {
                let known: Vec<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
                sym.report.diagnostic(
                    &Diagnostic::warning(format!("there is no agent `{name}`; the others go on"))
                        .in_file(sym.dirs.config_file())
                        .note(format!("the agents are {}", known.join(", "))),
                );
            }
        }
    }
    agents
}

/// Brings a workspace's agents up to date.
///
/// # Errors
/// When there is no workspace, its manifests are broken, or another sync holds it for too long.
/// What concerns single skills, plugins or files is told and does not stop the rest.
pub fn sync(sym: &Symposium, request: &Request) -> anyhow::Result<Synced> {
    let loaded = Workspace::load(&request.start, &sym.env)?.ok_or_else(|| {
        Diagnostic::error(format!("there is no Rust workspace in {}", request.start.display()))
            .note("run it in a folder with a Cargo.toml, or below one")
    })?;
    let _lock = match request.mode {
        Mode::Apply => lock(sym, &loaded.workspace.root, request.caller)?,
        Mode::Plan => None,
    };
    Sync { sym, request, loaded: &loaded, now: now() }.run()
}

/// The lock that one sync a workspace holds. Where no lock file can be made we go on without.
fn lock(sym: &Symposium, root: &Path, caller: Caller) -> anyhow::Result<Option<Lock>> {
    let hash = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
    let path = sym.dirs.locks().join(format!("workspace-{}.lock", &hash[..16]));
    let patience = match caller {
        Caller::Command => Duration::from_secs(120),
        Caller::Background => Duration::from_secs(30),
        Caller::Hook => Duration::from_millis(100),
    };
    match Lock::acquire(&path, patience) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Io { .. }) => Ok(None),
        Err(error @ LockError::Busy { .. }) => Err(error.into()),
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

struct Sync<'a> {
    sym: &'a Symposium,
    request: &'a Request,
    loaded: &'a Loaded,
    now: u64,
}

impl Sync<'_> {
    fn run(&self) -> anyhow::Result<Synced> {
        let (sym, workspace) = (self.sym, &self.loaded.workspace);
        self.tell_workspace();
        let agents = self.request.named.clone().unwrap_or_else(|| configured_agents(sym));
        if agents.is_empty() {
            sym.report.event(&Event::status(
                "Note",
                "no agents are configured: `cargo agents init`, or name one with `--agent`",
            ));
        }
        let registry = Registry::load(sym, &self.refresh());
        for source in &registry.sources {
            if let Some(event) = source.event() {
                sym.report.event(&event);
            }
        }
        sym.report.diagnostics(&registry.diagnostics);
        let facts = self.gather(&registry);
        let parents = self.parents();
        let disk = observe(&parents.list);
        let mut chosen = wanted::choose(sym, &facts, &agents, &parents, &disk);
        chosen.wanted.force = self.request.force;
        chosen.wanted.spared = self.spared(&parents, &agents);
        sym.report.diagnostics(&chosen.diagnostics);
        for event in facts.explanations.iter().chain(&chosen.explanations) {
            sym.report.event(event);
        }
        let plan = plan(&chosen.wanted, &disk);
        let mut failed = false;
        let mut changes = self.apply(&plan, &mut failed);
        let registered = self.register(&agents, &facts, &mut failed)?;
        changes.extend(registered.changes);
        for change in &changes {
            sym.report.event(&Event::Change(change.clone()));
        }
        let synced = Synced {
            summary: summary(&chosen, &facts, &agents),
            plan,
            changes,
            failed,
            root: workspace.root.clone(),
        };
        if self.request.mode == Mode::Apply && self.request.named.is_none() {
            self.snapshot(&registry, &facts, &chosen, &agents, &synced);
        }
        Ok(synced)
    }

    fn tell_workspace(&self) {
        let workspace = &self.loaded.workspace;
        let mut names: Vec<_> =
            workspace.dependencies.iter().map(|dependency| &dependency.name).collect();
        names.dedup();
        self.sym.report.event(&Event::Workspace {
            root: workspace.root.clone(),
            members: workspace.members.len(),
            dependencies: names.len(),
        });
        self.sym.report.diagnostics(&self.loaded.diagnostics);
    }

    fn refresh(&self) -> Refresh<'static> {
        match self.request.caller {
            Caller::Command => Refresh::for_command(self.sym),
            Caller::Background => Refresh::for_sync(self.sym, None),
            Caller::Hook => Refresh::cached(),
        }
    }

    fn gather<'r>(&self, registry: &'r Registry) -> Facts<'r> {
        let (sym, workspace) = (self.sym, &self.loaded.workspace);
        let vendored = crate::workspace::vendored(&workspace.root, &sym.env);
        let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs).with_vendor(vendored.folders);
        let fetching = self.request.caller != Caller::Hook && !sym.options.offline;
        let policy = match self.request.caller {
            Caller::Hook => Policy::cached(),
            _ => Policy::for_command(&sym.options),
        };
        let crates: Box<dyn CrateSources + '_> = if fetching {
            let fetcher = Fetcher {
                env: &sym.env,
                dirs: &sym.dirs,
                limit: sym.options.timeout,
                offline: sym.options.offline,
            };
            Box::new(OnDemand::new(disk, fetcher, false))
        } else {
            Box::new(disk)
        };
        let gatherer = Gatherer { sym, workspace, crates: crates.as_ref(), policy };
        let facts = gatherer.gather(registry);
        sym.report.diagnostics(&facts.diagnostics);
        for missing in &facts.missing {
            let crate_ = match &missing.version {
                Some(version) => format!("{} {version}", missing.name),
                None => missing.name.clone(),
            };
            let reason = missing.reason.as_deref().unwrap_or("its source is not on this machine");
            sym.report.event(&Event::explain(Kind::Crate, &crate_, Verdict::Unavailable, reason));
            if self.request.caller == Caller::Command {
                sym.report.diagnostic(
                    &Diagnostic::warning(format!("no skills of {crate_}: {reason}"))
                        .note("`cargo fetch` puts the sources of dependencies on disk"),
                );
            }
        }
        facts
    }

    fn parents(&self) -> Parents {
        let root = &self.loaded.workspace.root;
        let checkout = exclude::find(root).map_or_else(|| root.clone(), |found| found.top);
        let parents = Parents::of(root, &checkout, self.request.caller == Caller::Command);
        self.sym.report.diagnostics(&parents.diagnostics);
        parents
    }

    /// With `--agent`, folders of other configured agents are left as they are.
    fn spared(&self, parents: &Parents, agents: &[Agent]) -> std::collections::BTreeSet<usize> {
        if self.request.named.is_none() {
            return std::collections::BTreeSet::new();
        }
        let configured = self.sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
        configured
            .filter(|agent| !agents.contains(agent))
            .flat_map(|agent| agent.spec().skill_dirs().project.iter())
            .filter_map(|dir| parents.index(dir))
            .collect()
    }

    fn apply(&self, plan: &Plan, failed: &mut bool) -> Vec<Change> {
        let mut changes = plan.changes();
        if self.request.mode == Mode::Plan {
            return changes;
        }
        for done in apply(plan) {
            if let Err(error) = done.result {
                *failed = true;
                self.sym.report.diagnostic(&Diagnostic::error(format!(
                    "can't {} the skill `{}`: {error}",
                    done.step.action.future().to_lowercase(),
                    done.step.name
                )));
                changes.retain(|change| change.name != done.step.name);
            }
        }
        for change in &mut changes {
            change.planned = false;
        }
        changes
    }

    /// Hooks and servers of the configured agents. `--agent` places skills only.
    fn register(
        &self,
        agents: &[Agent],
        facts: &Facts<'_>,
        failed: &mut bool,
    ) -> anyhow::Result<Registered> {
        if self.request.named.is_some() {
            return Ok(Registered::default());
        }
        let (sym, root) = (self.sym, &self.loaded.workspace.root);
        let setup = Setup::new(sym, Some(root), self.request.caller == Caller::Command)?;
        let apply = self.request.mode == Mode::Apply;
        let (mut registrar, diagnostics) = Registrar::open(sym, Some(root), apply);
        sym.report.diagnostics(&diagnostics);
        if self.request.caller == Caller::Hook {
            registrar.for_hook();
        }
        let mut desired = Desired::default();
        let notes = setup.hooks(&mut desired, agents, registrar.ledgers(), self.request.sweep);
        if self.request.caller == Caller::Command {
            sym.report.diagnostics(&notes);
        }
        let fetcher = Network::new(sym);
        let acquirer = Acquirer::new(sym, &fetcher);
        for (plugin, server, everywhere) in &facts.servers {
            match resolve_server(&acquirer, plugin, server, self.install_mode()) {
                Ok(resolved) => {
                    for agent in agents {
                        let placement = setup.placement(*agent, sym.config.hook_scope, "");
                        desired.server(*agent, &resolved, *everywhere, &placement);
                    }
                }
                Err(error) => {
                    // What is registered already stays until its program can be had again.
                    registrar.keep_server(&mut desired, &server.name);
                    sym.report.warn(error.to_string());
                }
            }
        }
        let registered = registrar.carry_out(desired);
        *failed |= registered.failed();
        sym.report.diagnostics(&registered.diagnostics);
        Ok(registered)
    }

    fn install_mode(&self) -> InstallMode {
        match (self.request.mode, self.request.caller) {
            (Mode::Apply, Caller::Command) => InstallMode::Explicit,
            (Mode::Apply, Caller::Background) => InstallMode::Detached,
            _ => InstallMode::Dispatch { budget: Duration::ZERO },
        }
    }

    /// Keeps what hooks, help and subcommands need. Trouble costs speed only, so it is logged.
    fn snapshot(
        &self,
        registry: &Registry,
        facts: &Facts<'_>,
        chosen: &Chosen,
        agents: &[Agent],
        synced: &Synced,
    ) {
        let sym = self.sym;
        let root = &self.loaded.workspace.root;
        let path = Snapshot::path(&sym.dirs, root);
        let before = Stored::load(&path, crate::symposium::VERSION, root);
        let offer = self.offer(facts, chosen, agents, before.as_ref());
        let changed_at = match &before {
            Some(before) if before.offer() == offer && !synced.is_change() => {
                before.header.changed_at
            }
            _ => now(),
        };
        let snapshot = Snapshot {
            header: Header {
                layout: 0,
                program: crate::symposium::VERSION.to_owned(),
                root: root.clone(),
                fingerprint: self.fingerprint(registry, facts),
                env: facts
                    .env
                    .iter()
                    .map(|name| (name.clone(), sym.env.text(name).map(str::to_owned)))
                    .collect(),
                changed_at,
                hooks: BTreeMap::new(),
            },
            hooks: self.hooks(facts),
            offer,
        };
        if let Err(error) = snapshot.save(&path) {
            tracing::debug!("no snapshot: {error}");
        }
    }

    fn hooks(&self, facts: &Facts<'_>) -> BTreeMap<symposium_hook::Event, Vec<SnapshotHook>> {
        let fetcher = Network::new(self.sym);
        let acquirer = Acquirer::new(self.sym, &fetcher);
        let mut hooks: BTreeMap<_, Vec<SnapshotHook>> = BTreeMap::new();
        for (plugin, hook) in &facts.hooks {
            let prepared = acquirer.hook(plugin, hook, self.install_mode());
            if let Err(error) = &prepared
                && self.request.caller == Caller::Command
            {
                self.sym.report.warn(error.to_string());
            }
            hooks.entry(hook.event).or_default().push(SnapshotHook {
                plugin: plugin.name.clone(),
                name: hook.name.clone(),
                matcher: hook.matcher.clone(),
                agent: hook.agent.clone(),
                format: hook.format.clone(),
                timeout: u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
                on_failure: hook.on_failure,
                run: run_of(self.sym, plugin, &hook.command, &prepared),
            });
        }
        hooks
    }

    fn offer(
        &self,
        facts: &Facts<'_>,
        chosen: &Chosen,
        agents: &[Agent],
        before: Option<&Stored>,
    ) -> Offer {
        let old = before.map(Stored::offer).unwrap_or_default();
        let root = &self.loaded.workspace.root;
        let since_skill = |name: &str| {
            old.skills.iter().find(|skill| skill.name == name).map_or(self.now, |skill| skill.since)
        };
        let skills =
            chosen.wanted.skills.iter().zip(&chosen.descriptions).map(|(skill, description)| {
                let dirs = skill.parents.iter().map(|index| {
                    let path = chosen.wanted.parents[*index].path.join(&skill.name);
                    let relative = path.strip_prefix(root).unwrap_or(&path);
                    relative.to_string_lossy().replace('\\', "/")
                });
                SnapshotSkill {
                    name: skill.name.clone(),
                    description: description.clone(),
                    dirs: dirs.collect(),
                    since: since_skill(&skill.name),
                }
            });
        let servers = facts.servers.iter().filter(|_| !agents.is_empty()).map(|(_, server, _)| {
            let known = old.servers.iter().find(|known| known.name == server.name);
            SnapshotServer {
                name: server.name.clone(),
                since: known.map_or(self.now, |known| known.since),
            }
        });
        let fetcher = Network::new(self.sym);
        let acquirer = Acquirer::new(self.sym, &fetcher);
        let quiet = InstallMode::Dispatch { budget: Duration::ZERO };
        let subcommands = facts.subcommands.iter().map(|(plugin, subcommand, needs)| {
            let run = needs.is_none().then(|| {
                let prepared = acquirer.subcommand(plugin, subcommand, quiet);
                run_of(self.sym, plugin, &subcommand.command, &prepared)
            });
            SnapshotSubcommand {
                name: subcommand.name.clone(),
                plugin: plugin.name.clone(),
                source: plugin.source.clone(),
                description: subcommand.description.clone(),
                audience: subcommand.audience,
                run,
                needs: needs.clone(),
            }
        });
        Offer {
            skills: skills.collect(),
            servers: servers.collect(),
            subcommands: subcommands.collect(),
        }
    }

    /// What must not change for the snapshot to hold.
    fn fingerprint(&self, registry: &Registry, facts: &Facts<'_>) -> crate::workspace::Fingerprint {
        let mut fingerprint = self.loaded.fingerprint.clone();
        let root = &self.loaded.workspace.root;
        let mut inputs: Vec<PathBuf> = registry.inputs.clone();
        inputs.push(self.sym.dirs.config_file());
        inputs.push(root.join(".agents"));
        inputs.push(root.join(".agents/skills"));
        inputs.extend(facts.paths.iter().map(|path| root.join(path)));
        for skill in facts.skills.iter().chain(&facts.own_skills) {
            inputs.extend(wanted::inputs(self.sym, skill));
        }
        inputs.sort();
        inputs.dedup();
        for path in inputs {
            fingerprint.observe(&path);
        }
        fingerprint
    }
}

fn summary(chosen: &Chosen, facts: &Facts<'_>, agents: &[Agent]) -> String {
    let count =
        |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if chosen.wanted.skills.is_empty() {
        parts.push("no skills apply".to_owned());
    } else {
        parts.push(count(chosen.wanted.skills.len(), "skill"));
    }
    if !facts.servers.is_empty() {
        parts.push(count(facts.servers.len(), "server"));
    }
    if !facts.hooks.is_empty() {
        parts.push(count(facts.hooks.len(), "hook"));
    }
    let names: Vec<_> = agents.iter().map(|agent| agent.name()).collect();
    let whom = match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" for {last}"),
        Some((last, rest)) => format!(" for {} and {last}", rest.join(", ")),
    };
    format!("{}{whom}", parts.join(", "))
}
