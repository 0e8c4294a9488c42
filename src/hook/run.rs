//! Running one plugin hook and reading what it says.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symposium_hook::{Decision, Event};

use crate::agents::AgentSpec;
use crate::agents::canonical;
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::wire::{ChildAnswer, Outcome};
use crate::config::Environment;
use crate::plugins::model::OnFailure;
use crate::process::{Child, Output, Status, run};
use crate::sync::snapshot::SnapshotHook;

/// What a hook is run with.
pub struct Call<'a> {
    /// The agent's formats.
    pub spec: &'a dyn AgentSpec,
    /// The event.
    pub event: Event,
    /// The workspace's root.
    pub root: &'a Path,
    /// Where the agent works.
    pub cwd: &'a Path,
    /// Our surroundings.
    pub env: &'a Environment,
    /// What the hook reads: the agent's bytes for its own format, canonical JSON otherwise.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub limit: Duration,
}

/// What came of one hook.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What it wants.
    pub outcome: Outcome,
    /// Whether no further hook runs: it blocked by its exit code.
    pub last: bool,
}

impl SnapshotHook {
    /// Whether it speaks the format that is nobody's own.
    pub fn is_canonical(&self) -> bool {
        self.format == CANONICAL
    }

    /// What it is called in logs and reasons.
    pub fn who(&self) -> String {
        format!("hook `{}` of plugin `{}`", self.name, self.plugin)
    }
}

/// Runs `hook`. Whatever goes wrong is logged and means "no opinion", unless the hook is a guard
/// (`on-failure = "block"`).
pub fn run_hook(hook: &SnapshotHook, call: &Call<'_>) -> Verdict {
    let failed = |problem: &str| failure(hook, problem, Outcome::default());
    if let Some(problem) = hook.run.missing() {
        return failed(&problem);
    }
    if call.limit.is_zero() {
        return failed("the hooks before it took all the time there was");
    }
    let argv = hook.run.argv.as_deref().unwrap_or_default();
    let Some(child) = child(hook, argv, call) else { return failed("it names no program") };
    match run(&child) {
        Err(problem) => failed(&problem.to_string()),
        Ok(output) => match output.status {
            Status::TimedOut => failed(&format!(
                "it took longer than {}",
                humantime::format_duration(Duration::from_millis(
                    u64::try_from(child.limit.as_millis()).unwrap_or(u64::MAX)
                ))
            )),
            Status::Signalled(signal) => failed(&format!("signal {signal} ended it")),
            Status::Exited(code) => exited(hook, call, &output, code),
        },
    }
}

fn exited(hook: &SnapshotHook, call: &Call<'_>, output: &Output, code: i32) -> Verdict {
    let (stdout, stderr) = (output.stdout_text(), output.stderr_text());
    if !stderr.trim().is_empty() {
        tracing::debug!("{} says: {}", hook.who(), stderr.trim());
    }
    let answer = ChildAnswer { stdout: &stdout, stderr: &stderr, exit: Some(code) };
    let (mut outcome, notes) = if hook.is_canonical() {
        canonical::decode_answer(call.event, &answer)
    } else {
        (call.spec.decode_answer(call.event, &answer), Vec::new())
    };
    for note in notes {
        tracing::warn!("{}: {note}", hook.who());
    }
    if output.truncated && outcome.is_empty() {
        return failure(hook, "it wrote more than can be read", outcome);
    }
    if !matches!(code, 0 | 2) {
        return failure(hook, &format!("it ended with exit code {code}"), outcome);
    }
    let denied = outcome.decision == Some(Decision::Deny);
    if denied && outcome.reasons.iter().all(|reason| reason.trim().is_empty()) {
        outcome.reasons = vec![format!("blocked by {}", hook.who())];
    }
    Verdict { last: denied && code == 2, outcome }
}

/// A failure: what the hook said nevertheless counts, and a guard that decided nothing blocks.
fn failure(hook: &SnapshotHook, problem: &str, mut outcome: Outcome) -> Verdict {
    tracing::warn!("{} failed: {problem}", hook.who());
    if hook.on_failure == OnFailure::Block && outcome.decision.is_none() {
        outcome.decision = Some(Decision::Deny);
        outcome.reasons = vec![format!("{} guards this and failed: {problem}", hook.who())];
    }
    Verdict { outcome, last: false }
}

fn child(hook: &SnapshotHook, argv: &[String], call: &Call<'_>) -> Option<Child> {
    let (program, args) = argv.split_first()?;
    let mut child = Child::new(program)
        .args(args)
        .stdin(call.stdin.clone())
        .limit(call.limit)
        .env("SYMPOSIUM_AGENT", call.spec.name())
        .env("SYMPOSIUM_EVENT", call.event.name())
        .env("SYMPOSIUM_WORKSPACE", call.root);
    for (name, value) in &hook.run.env {
        child = child.env(name, value);
    }
    if !hook.run.path.is_empty() {
        child = child.env("PATH", prefixed_path(&hook.run.path, call.env));
    }
    Some(if call.cwd.is_dir() { child.cwd(call.cwd) } else { child.cwd(call.root) })
}

fn prefixed_path(folders: &[PathBuf], env: &Environment) -> OsString {
    let inherited = env.var("PATH").map(OsString::from).unwrap_or_default();
    let all = folders.iter().cloned().chain(std::env::split_paths(&inherited));
    std::env::join_paths(all).unwrap_or(inherited)
}
