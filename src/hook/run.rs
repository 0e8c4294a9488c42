//! Running one plugin hook and reading what it says.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use symposium_hook::{Decision, Event};

use crate::agents::AgentSpec;
use crate::agents::canonical;
use crate::agents::wire::{ChildAnswer, Outcome};
use crate::config::Environment;
use crate::plugins::model::OnFailure;
use crate::process::{Child, Output, Status, run};
use crate::sync::snapshot::SnapshotHook;

/// What a hook is run with.
pub struct Call<'a> {
    /// The agent's name, or `symposium`.
    pub agent: &'a str,
    /// The agent's formats; `None` for the canonical one.
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
    /// How long it may take, whatever it asked for.
    pub limit: Duration,
}

/// What came of one hook.
pub struct Verdict {
    /// What it wants.
    pub outcome: Outcome,
    /// Whether no further hook runs: it blocked by its exit code.
    pub last: bool,
}

/// Runs `hook`. Whatever goes wrong is logged and means "no opinion", unless the hook is a guard
/// (`on-failure = "block"`).
pub fn run_hook(hook: &SnapshotHook, call: Call<'_>) -> Verdict {
    let who = format!("hook `{}` of plugin `{}`", hook.name, hook.plugin);
    let Some(argv) = hook.run.argv.as_ref().filter(|argv| !argv.is_empty()) else {
        return failure(hook, &who, "its program is not installed yet");
    };
    if let Some(missing) = missing_file(argv) {
        return failure(hook, &who, &format!("there is no {missing}"));
    }
    let child = child(hook, argv, &call);
    let output = match run(&child) {
        Ok(output) => output,
        Err(error) => return failure(hook, &who, &error.to_string()),
    };
    if output.truncated {
        tracing::warn!("{who} wrote more than {} bytes; the rest was dropped", child.output_cap);
    }
    match output.status {
        Status::TimedOut => {
            let problem = format!("it took longer than {} s", child.limit.as_secs_f32());
            failure(hook, &who, &problem)
        }
        Status::Signalled(signal) => failure(hook, &who, &format!("signal {signal} ended it")),
        Status::Exited(code) => exited(hook, &who, &call, &output, code),
    }
}

fn exited(hook: &SnapshotHook, who: &str, call: &Call<'_>, output: &Output, code: i32) -> Verdict {
    let (stdout, stderr) = (output.stdout_text(), output.stderr_text());
    if !stderr.trim().is_empty() {
        tracing::debug!("{who} says: {}", stderr.trim());
    }
    let answer = ChildAnswer { stdout: &stdout, stderr: &stderr, exit: Some(code) };
    let (mut outcome, notes) = if hook.format == "symposium" {
        canonical::decode_answer(call.event, &answer)
    } else {
        (call.spec.decode_answer(call.event, &answer), Vec::new())
    };
    for note in notes {
        tracing::warn!("{who}: {note}");
    }
    if code != 0 && code != 2 && outcome.is_empty() {
        return failure(hook, who, &format!("it ended with exit code {code}"));
    }
    let denied = outcome.decision == Some(Decision::Deny);
    if denied && outcome.reasons.iter().all(|reason| reason.trim().is_empty()) {
        outcome.reasons = vec![format!("blocked by {who}")];
    }
    Verdict { last: denied && code == 2, outcome }
}

fn failure(hook: &SnapshotHook, who: &str, problem: &str) -> Verdict {
    tracing::warn!("{who} failed: {problem}");
    let outcome = match hook.on_failure {
        OnFailure::Continue => Outcome::default(),
        OnFailure::Block => Outcome {
            decision: Some(Decision::Deny),
            reasons: vec![format!("{who} guards this and failed: {problem}")],
            ..Outcome::default()
        },
    };
    Verdict { outcome, last: false }
}

/// A script or program by path that is gone: found here, because `sh` would answer with a code that
/// says nothing.
fn missing_file(argv: &[String]) -> Option<&str> {
    let is_script = argv[0] == "sh" && argv.len() > 1;
    let file = if is_script { &argv[1] } else { &argv[0] };
    let path = Path::new(file);
    (path.is_absolute() && !path.exists()).then_some(file)
}

fn child(hook: &SnapshotHook, argv: &[String], call: &Call<'_>) -> Child {
    let mut child = Child::new(&argv[0])
        .args(&argv[1..])
        .stdin(call.stdin.clone())
        .limit(call.limit.min(Duration::from_millis(hook.timeout)))
        .env("SYMPOSIUM_AGENT", call.agent)
        .env("SYMPOSIUM_EVENT", call.event.name())
        .env("SYMPOSIUM_WORKSPACE", call.root);
    for (name, value) in &hook.run.env {
        child = child.env(name, value);
    }
    if !hook.run.path.is_empty() {
        child = child.env("PATH", prefixed_path(&hook.run.path, call.env));
    }
    if call.cwd.is_dir() { child.cwd(call.cwd) } else { child.cwd(call.root) }
}

fn prefixed_path(folders: &[std::path::PathBuf], env: &Environment) -> OsString {
    let inherited = env.var("PATH").map(OsString::from).unwrap_or_default();
    let all = folders.iter().cloned().chain(std::env::split_paths(&inherited));
    std::env::join_paths(all).unwrap_or(inherited)
}
