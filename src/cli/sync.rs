//! `cargo agents sync`.

use crate::report::ExitCode;
use std::time::Instant;

use super::CommandResult;
use super::grammar::SyncArgs;
use super::screen::count;
use super::self_update;
use crate::Symposium;
use crate::agents::Agent;
use crate::report::Change;
use crate::sync::background::Background;
use crate::sync::{Caller, Mode, Request, Synced, sync};

pub(super) fn run(sym: &mut Symposium, args: &SyncArgs) -> CommandResult {
    let start = Instant::now();
    let named = named_agents(&args.agent)?;
    let mode = match args {
        SyncArgs { dry_run: true, .. } | SyncArgs { check: true, .. } => Mode::Plan,
        // An event started us, and its user wants no sync by events.
        SyncArgs { background: true, .. } if !sym.config.auto_sync => Mode::Look,
        _ => Mode::Apply,
    };
    let request = Request {
        start: sym.cwd()?,
        named: (!named.is_empty()).then_some(named),
        force: args.force,
        mode,
        caller: if args.background { Caller::Background } else { Caller::Command },
        ..Request::default()
    };
    if args.background {
        let background = Background::of(&sym.dirs, &request.start);
        let work = || {
            let done = sync(sym, &request).map(drop);
            self_update::check_in_background(sym);
            done
        };
        background.run(&sym.env, work).transpose()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut synced = sync(sym, &request)?;
    finish(sym, &synced, mode, start);
    if mode == Mode::Apply && super::ask::about_candidates(sym, &synced)? {
        let start = Instant::now();
        synced = sync(sym, &request)?;
        finish(sym, &synced, mode, start);
    }
    let found = args.check && synced.is_change();
    Ok(if synced.failed || found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The agents of `--agent`, each once.
fn named_agents(names: &[String]) -> anyhow::Result<Vec<Agent>> {
    let mut agents = Vec::new();
    for name in names {
        let agent = Agent::from_name(name).ok_or_else(|| Agent::unknown(name))?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

pub(super) fn finish(sym: &Symposium, synced: &Synced, mode: Mode, start: Instant) {
    let changes = Change::count(&synced.changes);
    let summary = match (mode, changes) {
        (Mode::Plan, 1..) => planned(changes),
        (_, 0) if synced.failed => "nothing was done; see the errors above".to_owned(),
        _ if synced.failed => format!("in part: {}; see the errors above", synced.summary),
        (_, 0) => format!("nothing to do ({})", synced.summary),
        _ => synced.summary.clone(),
    };
    sym.report.finished(start, summary, changes, mode == Mode::Plan);
}

/// The summary of a dry run that found `changes` to make.
pub(super) fn planned(changes: usize) -> String {
    let them = if changes == 1 { "it" } else { "them" };
    format!("{}; run without --dry-run to make {them}", count(changes, "change"))
}
