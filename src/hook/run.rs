//! Runs one plugin hook and reads its answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symposium_hook::{Decision, Event};

use crate::agents::canonical::{self, ParsedAnswer};
use crate::agents::merge::merge;
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::wire::{ChildAnswer, Outcome};
use crate::agents::{self, Codec};
use crate::config::Environment;
use crate::installations::syntax_error;
use crate::plugins::model::OnFailure;
use crate::plugins::trust::files::is_as_allowed;
use crate::process::{Child, Leftovers, Output, Status, run};
use crate::sync::snapshot::SnapshotHook;

/// What a hook is run with.
pub(super) struct HookCall<'a> {
    /// The agent's formats.
    pub codec: &'a dyn Codec,
    /// The event.
    pub event: Event,
    /// The root of the workspace that the hook is in force for; none outside of one.
    pub root: Option<&'a Path>,
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
pub(super) struct Verdict {
    /// What it wants.
    pub outcome: Outcome,
    /// Whether no further hook runs: it blocked by its exit code.
    pub last: bool,
    /// Why it counts as failed.
    pub problem: Option<String>,
    /// What in its answer was passed over.
    pub notes: Vec<String>,
    /// How its program ended, and what it wrote; `None` where it was not started.
    pub output: Option<Output>,
}

impl SnapshotHook {
    /// Whether it speaks the format that is nobody's own.
    pub(crate) fn is_canonical(&self) -> bool {
        self.format == CANONICAL
    }

    /// The format that it speaks, where that is another agent's than `agent`.
    pub(super) fn foreign_format(&self, agent: &dyn Codec) -> Option<&'static dyn Codec> {
        let is_foreign = !self.is_canonical() && self.format != agent.name();
        agents::codec(&self.format).filter(|_| is_foreign)
    }

    /// What it is called in logs and reasons.
    pub(crate) fn who(&self) -> String {
        format!("hook `{}` of plugin `{}`", self.name, self.plugin)
    }
}

/// Runs `hook`. Whatever goes wrong is logged and means "no opinion", unless the hook is a guard
/// (`on-failure = "block"`).
pub(super) fn run_hook(hook: &SnapshotHook, call: &HookCall<'_>) -> Verdict {
    let failed = |problem: &str| failure(hook, problem, Outcome::default());
    if let Some(problem) = hook.run.missing() {
        return failed(&problem);
    }
    let changed = hook.allowed_files.iter().find(|(file, sum)| !is_as_allowed(file, sum));
    if let Some((file, _)) = changed {
        // What the user did not allow must not run, and what does not run blocks nothing.
        tracing::warn!("{} is inert: {} changed since", hook.who(), file.display());
        return Verdict::default();
    }
    if call.limit.is_zero() {
        return failed("the hooks before it took all the time there was");
    }
    let argv = hook.run.argv.as_deref().unwrap_or_default();
    let Some(child) = child(hook, argv, call) else { return failed("it names no program") };
    match run(&child) {
        Err(problem) => failed(&problem.to_string()),
        Ok(output) => {
            let verdict = ended(hook, call, &output, child.limit);
            Verdict { output: Some(output), ..verdict }
        }
    }
}

/// What comes of a hook's answer and of how it ended.
fn ended(hook: &SnapshotHook, call: &HookCall<'_>, output: &Output, limit: Duration) -> Verdict {
    let (stdout, stderr) = (output.stdout_text(), output.stderr_text());
    if !stderr.trim().is_empty() {
        tracing::debug!("{} says: {}", hook.who(), stderr.trim());
    }
    let unreadable = unreadable_script(hook, output.status, &stderr);
    let code = match output.status {
        Status::Exited(code) if unreadable.is_none() => Some(code),
        Status::Exited(_) | Status::Signalled(_) | Status::TimedOut => None,
    };
    let answer = ChildAnswer { stdout: &stdout, stderr: &stderr, exit: code };
    let ParsedAnswer { mut outcome, notes, is_unclear } = parse_answer(hook, call, &answer);
    for note in &notes {
        tracing::warn!("{}: {note}", hook.who());
    }
    if !matches!(code, Some(0 | 2)) && outcome.decision != Some(Decision::Deny) {
        // A printed denial counts, however the program ended.
        let printed = parse_answer(hook, call, &ChildAnswer { exit: Some(0), ..answer }).outcome;
        if printed.decision == Some(Decision::Deny) {
            let (decision, reasons) = (printed.decision, printed.reasons);
            outcome = Outcome { decision, reasons, ..Outcome::default() };
        }
    }
    let denied = outcome.decision == Some(Decision::Deny);
    if is_unclear && !denied && hook.on_failure == OnFailure::Block {
        // What was not understood may have been a denial, which no other decision undoes.
        outcome.decision = None;
    }
    if denied && outcome.reasons.iter().all(|reason| reason.trim().is_empty()) {
        outcome.reasons = vec![format!("blocked by {}", hook.who())];
    }
    if let Some(message) = unreadable {
        let problem = format!("the shell can't read its script: {message}");
        return Verdict { notes, ..failure(hook, &problem, outcome) };
    }
    let problem = match output.status {
        Status::TimedOut => {
            let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            let limit = humantime::format_duration(Duration::from_millis(millis));
            format!("it took longer than {limit}")
        }
        Status::Signalled(signal) => format!("signal {signal} ended it"),
        Status::Exited(0 | 2) if output.truncated && outcome.decision.is_none() => {
            "it wrote more than can be read".to_owned()
        }
        Status::Exited(0) if is_unclear => "what it wrote is no answer".to_owned(),
        Status::Exited(0 | 2) => {
            let last = denied && code == Some(2);
            return Verdict { outcome, last, notes, ..Verdict::default() };
        }
        Status::Exited(code) => format!("it ended with exit code {code}"),
    };
    Verdict { notes, ..failure(hook, &problem, outcome) }
}

/// What the shell said of a script that it can't read. It then exits with 2, as a script does that
/// blocks: it is the shell only where it says the same when it is asked for nothing but that.
fn unreadable_script(hook: &SnapshotHook, status: Status, stderr: &str) -> Option<String> {
    if status != Status::Exited(2) || stderr.trim().is_empty() {
        return None;
    }
    let error = syntax_error(hook.run.argv.as_deref()?).ok()??;
    let first = error.lines().next()?;
    stderr.lines().any(|line| line == first).then(|| first.to_owned())
}

/// Reads a hook's answer in its format.
fn parse_answer(
    hook: &SnapshotHook,
    call: &HookCall<'_>,
    answer: &ChildAnswer<'_>,
) -> ParsedAnswer {
    let mut parsed = if hook.is_canonical() {
        canonical::decode_answer(call.event, answer)
    } else {
        let foreign = hook.foreign_format(call.codec);
        let mut parsed = parse_native(foreign.unwrap_or(call.codec), call.event, answer);
        if foreign.is_some() {
            // Fields that we do not know mean something to that agent alone.
            parsed.outcome.extra.clear();
        }
        parsed
    };
    let is_open = parsed.outcome.decision != Some(Decision::Deny);
    if is_open
        && call.event != Event::SessionStart
        && canonical::denies_under_a_repeated_key(answer.stdout)
    {
        let reasons = vec!["its answer has a key twice, and denies by one of them".to_owned()];
        let decision = Some(Decision::Deny);
        merge(&mut parsed.outcome, Outcome { decision, reasons, ..Outcome::default() });
    }
    parsed
}

/// Reads an answer in an agent's own format.
fn parse_native(codec: &dyn Codec, event: Event, answer: &ChildAnswer<'_>) -> ParsedAnswer {
    let identity = codec.identity();
    let whole = codec.decode_answer(event, answer);
    let text = answer.stdout.trim().trim_start_matches('\u{feff}');
    let found = canonical::objects(text);
    if answer.exit == Some(2) {
        return ParsedAnswer { outcome: whole, ..ParsedAnswer::default() };
    }
    let is_unclear = found.has_fragment
        || found.objects.iter().any(|(_, object)| identity.has_unknown_decision(object));
    if found.objects.iter().any(|(object, _)| object.len() == text.len()) {
        let is_answer = found.objects.iter().all(|(_, object)| identity.is_answer(object));
        let is_unclear = is_unclear || !is_answer;
        return ParsedAnswer { outcome: whole, is_unclear, ..ParsedAnswer::default() };
    }
    // Answers with something around them, which the agent would take for plain text.
    let mut outcome = Outcome::default();
    for (object, _) in &found.objects {
        let answer = ChildAnswer { stdout: object, ..*answer };
        let mut one = codec.decode_answer(event, &answer);
        one.extra.clear();
        // Not every agent reads JSON.
        one.context.retain(|context| context != object);
        merge(&mut outcome, one);
    }
    if !outcome.is_empty() {
        return ParsedAnswer { outcome, is_unclear, ..ParsedAnswer::default() };
    }
    let is_text = !text.starts_with(['{', '[']) && !whole.is_empty();
    let is_unclear = is_unclear || (!text.is_empty() && !is_text);
    ParsedAnswer { outcome: whole, is_unclear, ..ParsedAnswer::default() }
}

/// A failure: what the hook answered counts all the same, and a guard that decided nothing blocks.
fn failure(hook: &SnapshotHook, problem: &str, mut outcome: Outcome) -> Verdict {
    tracing::warn!("{} failed: {problem}", hook.who());
    if hook.on_failure == OnFailure::Block && outcome.decision.is_none() {
        outcome.decision = Some(Decision::Deny);
        outcome.reasons = vec![format!("{} guards this and failed: {problem}", hook.who())];
    }
    Verdict { outcome, problem: Some(problem.to_owned()), ..Verdict::default() }
}

fn child(hook: &SnapshotHook, argv: &[String], call: &HookCall<'_>) -> Option<Child> {
    let (program, args) = argv.split_first()?;
    let mut child = Child::new(program)
        .args(args)
        .stdin(call.stdin.clone())
        .limit(call.limit)
        .leftovers(if hook.detach { Leftovers::Keep } else { Leftovers::EndAll })
        .env("SYMPOSIUM_AGENT", call.codec.name())
        .env("SYMPOSIUM_EVENT", call.event.name());
    child = match call.root {
        Some(root) => child.env("SYMPOSIUM_WORKSPACE", root),
        None => child.env_remove("SYMPOSIUM_WORKSPACE"),
    };
    // What the agent itself says comes first.
    let format = agents::codec(&hook.format).and_then(|codec| codec.identity().project_variable);
    if let Some(variable) = format.filter(|variable| call.env.var(variable).is_none()) {
        child = child.env(variable, call.root.unwrap_or(call.cwd));
    }
    for (name, value) in &hook.run.env {
        child = child.env(name, value);
    }
    if !hook.run.path.is_empty() {
        child = child.env("PATH", prefixed_path(&hook.run.path, call.env));
    }
    let folder = Some(call.cwd).filter(|cwd| cwd.is_dir()).or(call.root);
    Some(match folder {
        Some(folder) => child.cwd(folder),
        None => child,
    })
}

fn prefixed_path(folders: &[PathBuf], env: &Environment) -> OsString {
    let inherited = env.var("PATH").map(OsString::from).unwrap_or_default();
    let all = folders.iter().cloned().chain(std::env::split_paths(&inherited));
    std::env::join_paths(all).unwrap_or(inherited)
}
