//! What a sync keeps for hooks, help and subcommands: the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use symposium_hook::Event;

use super::offers::offer;
use super::programs::{is_fetchable, run_of};
use super::{Header, Snapshot, SnapshotHook, Stored};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::OWN_SERVER;
use crate::config::now_in_ms;
use crate::installations::{InstallError, Prepared, awaited};
use crate::plugins::model::SkillSource;
use crate::plugins::registry::Registry;
use crate::plugins::source::SourceKind;
use crate::report::Action;
use crate::symposium::VERSION;
use crate::sync::bounds::NEUTRAL;
use crate::sync::facts::Facts;
use crate::sync::placing::desired_skills::DesiredSkills;
use crate::sync::placing::parents::Parents;
use crate::sync::placing::plan::{Parent, Plan};
use crate::sync::request::{Caller, Mode, SyncContext, Synced};
use crate::workspace::Fingerprint;

/// Makes the snapshot and keeps it for the next process. Trouble costs speed only, so it is logged.
pub(in crate::sync) fn remember(
    sync: &SyncContext<'_>,
    registry: &Registry,
    observed: Observed,
    facts: &Facts<'_>,
    chosen: &DesiredSkills,
    (agents, synced, prepared): (&[Agent], &Synced, &[PreparedHook]),
) -> Option<Stored> {
    let SyncContext { sym, request, loaded, .. } = sync;
    let is_outside = *sync.root() == Snapshot::outside(&sym.dirs);
    let before = Stored::of(&sym.dirs, sync.root());
    let offer = offer(sync, facts, chosen, agents, (before.as_ref(), synced));
    let acts = request.mode == Mode::Apply;
    let changed_at = match &before {
        Some(before) if before.offer() == offer && !(acts && synced.is_change()) => {
            before.header.changed_at
        }
        _ => now_in_ms(),
    };
    let value = |name: String| {
        let value = sym.env.text(&name).map(str::to_owned);
        (name, value)
    };
    let hooks = hooks(sync, facts, prepared);
    let fingerprint = with_programs(observed.fingerprint, facts);
    // A person does not notice that; an agent waits for each of its hooks.
    if acts && request.caller != Caller::Hook {
        fingerprint.wait_until_old();
    }
    let snapshot = Snapshot {
        header: Header {
            layout: 0,
            program: VERSION.to_owned(),
            root: sync.root().to_path_buf(),
            fingerprint,
            env: observed.variables.into_iter().map(value).collect(),
            changed_at,
            servers: servers(sym, facts),
            refreshable: !is_outside && is_refreshable(registry, facts),
            outside: is_outside,
            unsynced: !acts && before.as_ref().is_none_or(|before| before.header.unsynced),
            failed: synced.failed,
            hooks: BTreeMap::new(),
        },
        hooks,
        offer,
        member_entry_dirs: loaded.member_entry_dirs.clone(),
    };
    let stored =
        snapshot.store().inspect_err(|error| tracing::warn!("no snapshot: {error}")).ok()?;
    // One that was only looked at must not pass for a sync that was done, unless none is wanted,
    // nor for a workspace that could not be read.
    let is_done = acts || (!sym.config.auto_sync && !loaded.is_unknown);
    if (is_done || is_outside)
        && !before.is_some_and(|before| before.says_the_same(&stored))
        && let Err(error) = stored.save(&Snapshot::path(&sym.dirs, sync.root()))
    {
        tracing::warn!("no snapshot: {error}");
    }
    Some(stored)
}

/// The names of servers whose tools an agent may call.
fn servers(sym: &Symposium, facts: &Facts<'_>) -> Vec<String> {
    let own = sym.config.register_mcp.then(|| OWN_SERVER.to_owned());
    let plugins = facts.servers.iter().map(|(_, server, _)| server.name.clone());
    own.into_iter().chain(plugins).collect()
}

/// If a program was removed while the sync looked for it, the snapshot must not hold: the next event
/// looks again.
fn with_programs(mut fingerprint: Fingerprint, facts: &Facts<'_>) -> Fingerprint {
    let unseen = |path: &PathBuf| !fingerprint.paths().any(|known| known == path);
    let awaited = facts.active.iter().flat_map(|plugin| awaited(plugin));
    let gone: Vec<PathBuf> = awaited.filter(unseen).collect();
    gone.iter().for_each(|path| fingerprint.distrust(path));
    fingerprint
}

/// What runs a hook, or why nothing does.
pub(in crate::sync) type PreparedHook = Result<Prepared, InstallError>;

fn hooks(
    sync: &SyncContext<'_>,
    facts: &Facts<'_>,
    prepared: &[PreparedHook],
) -> BTreeMap<Event, Vec<SnapshotHook>> {
    let mut hooks: BTreeMap<_, Vec<SnapshotHook>> = BTreeMap::new();
    let files = facts.hook_files.iter();
    for (((plugin, hook), prepared), files) in facts.hooks.iter().zip(prepared).zip(files) {
        hooks.entry(hook.event).or_default().push(SnapshotHook {
            plugin: plugin.name.clone(),
            name: hook.name.clone(),
            matcher: hook.matcher.clone(),
            agent: hook.agent.clone(),
            format: hook.format.clone(),
            is_portable: hook.is_portable,
            timeout: u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
            on_failure: hook.on_failure,
            detach: hook.detach,
            run: run_of(sync.sym, plugin, &hook.command, prepared),
            allowed_files: files.clone(),
        });
    }
    hooks
}

/// What a snapshot is made from.
pub(in crate::sync) struct Observed {
    fingerprint: Fingerprint,
    variables: BTreeSet<String>,
}

impl Observed {
    /// What must not change for the snapshot to hold: what was observed, by the time it was read, of
    /// the workspace, the plugin sources (`sources`) and all that skills and gates led to.
    pub(in crate::sync) fn by(
        sync: &SyncContext<'_>,
        sources: Fingerprint,
        plan: &Plan,
        parents: &Parents,
    ) -> Self {
        let (mut fingerprint, variables) = sync.observer.findings();
        fingerprint.merge(sources);
        fingerprint.merge(sync.loaded.fingerprint.clone());
        if let Some(neutral) = parents.neutral() {
            accept_own(&mut fingerprint, sync.root(), plan, &parents.list[neutral]);
        }
        // The configuration and the team's file were read before they are observed: they must still
        // say the same.
        let SyncContext { sym, .. } = sync;
        let mut settings = vec![sym.dirs.config_file()];
        settings.extend(sym.team.iter().flat_map(|team| [team.path.clone(), team.record.clone()]));
        settings.iter().for_each(|file| fingerprint.observe(file));
        let now = sym.reread();
        if now.config != sym.config || now.team != sym.team {
            settings.iter().for_each(|file| fingerprint.distrust(file));
        }
        Self { fingerprint, variables }
    }
}

/// The skill folders that `plan` made and removed beside the workspace's own skills are no news.
fn accept_own(fingerprint: &mut Fingerprint, root: &Path, plan: &Plan, parent: &Parent) {
    let steps = plan.steps.iter().filter(|step| step.parent == *parent);
    let ours: Vec<(&str, bool)> =
        steps.map(|step| (&*step.name, step.action != Action::Install)).collect();
    if ours.is_empty() {
        return;
    }
    let neutral = root.join(NEUTRAL);
    if let (Some(above), Some(name)) = (neutral.parent(), neutral.file_name()) {
        let was_there = fingerprint.was_folder(&neutral);
        fingerprint.accept(above, &[(&name.to_string_lossy(), was_there)]);
    }
    fingerprint.accept(&neutral, &ours);
    if parent.path != neutral {
        fingerprint.accept(&parent.path, &ours);
    }
}

/// Whether there is anything that a refresh with the network could bring.
fn is_refreshable(registry: &Registry, facts: &Facts<'_>) -> bool {
    let elsewhere = |source: &SkillSource| {
        matches!(source, SkillSource::Git(_) | SkillSource::NamedCrate { .. })
    };
    registry.sources.iter().any(|source| source.kind == SourceKind::Git)
        || !facts.missing.is_empty()
        || facts.active.iter().any(|plugin| {
            plugin.installations.iter().any(is_fetchable)
                || plugin.skills.iter().any(|group| elsewhere(&group.source))
        })
}
