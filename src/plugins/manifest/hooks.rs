//! `[[hooks]]`.

use std::time::Duration;

use symposium_hook::Event;

use super::context::{Context, shown};
use super::gate;
use super::installations::{Pool, runnable, values};
use super::matcher::compile_matcher;
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::{Agent, codec};
use crate::files::is_plain_name;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Hook, Installation, OnFailure};
use crate::text::toml::{Located, Table};

pub(super) const KEYS: [&str; 16] = [
    "name",
    "event",
    "matcher",
    "command",
    "executable",
    "script",
    "args",
    "requirements",
    "agent",
    "format",
    "timeout",
    "on-failure",
    "detach",
    "crates",
    "depends-on",
    "predicates",
];

/// How long a hook may take when it does not say.
const DEFAULT_TIMEOUT: u64 = 30;
/// How long a hook may take at most.
const LONGEST_TIMEOUT: u64 = 600;

/// Reads `[[hooks]]`, adding inline installations to `pool`.
pub(super) fn read(cx: &Context<'_>, root: &Table<'_>, pool: &mut Pool) -> Vec<Hook> {
    let tables = root.tables("hooks").unwrap_or_default();
    tables.iter().filter_map(|table| cx.entry("hook", || hook(cx, table, pool))).collect()
}

fn hook(cx: &Context<'_>, table: &Table<'_>, pool: &mut Pool) -> Option<Hook> {
    cx.unknown_keys(table, &KEYS);
    let name = cx.required(table, "hook", "name");
    if let Some(name) = &name {
        check_name(cx, name);
    }
    let gate = gate::read_of(cx, table, "hook");
    let event = event(cx, table);
    let matcher = matcher(cx, table, event);
    let agent = agent(cx, table, "agent");
    let format = agent_format(cx, table, agent.as_deref());
    let timeout = timeout(cx, table);
    let on_failure = cx.choice(
        table,
        "on-failure",
        &[("continue", OnFailure::Continue), ("block", OnFailure::Block)],
    );
    let detach = table.bool("detach").is_some_and(|detach| detach.value);
    let name = name?.value;
    let runnable = runnable(cx, table);
    let args = table.strings("args");
    let requirements = pool.requirements(cx, table, &name);
    let command = pool.command(cx, table, "hook", &name)?;
    let installation = pool.get(&command)?;
    // Two that exclude each other were reported; that nothing is left would be a second report.
    if runnable.is_some() || !(table.has("executable") || table.has("script")) {
        pool.check_runs(cx, &table.span, "hook", installation, runnable.as_ref());
    }
    check_args(cx, args.as_ref(), installation);
    Some(Hook {
        name,
        gate,
        event: event?,
        matcher,
        command,
        runnable: runnable.map(|(runnable, _)| runnable),
        args: args.map(values),
        requirements,
        agent,
        format,
        is_portable: false,
        timeout,
        on_failure,
        detach,
    })
}

/// A hook's name is for people and logs, and names its inline installations.
fn check_name(cx: &Context<'_>, name: &Located<String>) {
    if !is_plain_name(&name.value) || name.value.chars().count() > 100 {
        let message = format!("`{}` can't be a hook's name", shown(&name.value));
        let note = "up to 100 characters on one line, without `/`, `\\` and `:`";
        cx.reject(cx.problem(codes::BAD_NAME, &name.span, message).note(note));
    }
}

fn event(cx: &Context<'_>, table: &Table<'_>) -> Option<Event> {
    let text = cx.required(table, "hook", "event")?;
    let event = Event::from_name(&text.value);
    if event.is_none() {
        let names = Event::ALL.map(Event::name);
        cx.reject(cx.unknown_value(codes::UNKNOWN_EVENT, &text, "event", &names));
    }
    event
}

fn matcher(cx: &Context<'_>, table: &Table<'_>, event: Option<Event>) -> Option<String> {
    let text = table.string("matcher")?;
    if let Err(error) = compile_matcher(&text.value) {
        let message = format!("the matcher `{}` is no regular expression", shown(&text.value));
        let problem = cx.problem(codes::BAD_MATCHER, &text.span, message).label(error.to_string());
        cx.diagnostics.note_loss();
        cx.tolerate(problem.remark("the hook never runs"));
    } else if let Some(event) = event.filter(|event| !event.is_tool_event()) {
        let message = format!("`matcher` has no effect: {} is not about a tool", event.name());
        cx.advise(cx.problem(codes::NO_EFFECT, &text.span, message));
    }
    Some(text.value)
}

fn agent(cx: &Context<'_>, table: &Table<'_>, key: &str) -> Option<String> {
    let text = table.string(key)?;
    if codec(&text.value).is_none() {
        let what = if key == "agent" { "agent" } else { "format" };
        let agents = Agent::ALL.into_iter().map(Agent::name);
        let known: Vec<&str> = agents.chain(std::iter::once(CANONICAL)).collect();
        let problem = cx.unknown_value(codes::UNKNOWN_AGENT, &text, what, &known);
        cx.tolerate(problem.remark("the hook never runs"));
    }
    Some(text.value)
}

fn agent_format(cx: &Context<'_>, table: &Table<'_>, agent_name: Option<&str>) -> String {
    let format = agent(cx, table, "format").unwrap_or_else(|| CANONICAL.to_owned());
    if let (Some(agent), Some(span)) = (agent_name, table.key_span("format"))
        && format != CANONICAL
        && agent != format
    {
        let message = format!(
            "this hook never runs: it is for {} only, in the format of {}",
            shown(agent),
            shown(&format)
        );
        cx.advise(cx.problem(codes::NO_EFFECT, &span, message));
    }
    format
}

fn timeout(cx: &Context<'_>, table: &Table<'_>) -> Duration {
    let Some(written) = table.integer("timeout") else {
        return Duration::from_secs(DEFAULT_TIMEOUT);
    };
    let seconds = match u64::try_from(written.value) {
        Ok(seconds @ 1..=LONGEST_TIMEOUT) => return Duration::from_secs(seconds),
        Ok(0) | Err(_) => DEFAULT_TIMEOUT,
        Ok(_) => LONGEST_TIMEOUT,
    };
    let message = format!("`timeout` is {} seconds", written.value);
    cx.tolerate(
        cx.problem(codes::BAD_VALUE, &written.span, message)
            .note(format!("accepted: 1 to {LONGEST_TIMEOUT}; {seconds} are used")),
    );
    Duration::from_secs(seconds)
}

/// Checks that arguments stand in one place.
pub(super) fn check_args(
    cx: &Context<'_>,
    args: Option<&Located<Vec<Located<String>>>>,
    installation: &Installation,
) {
    if let (Some(args), Some(_)) = (args, &installation.args) {
        let message =
            format!("the installation `{}` already has `args`", shown(&installation.name));
        let note = "arguments stand in one of the two places";
        cx.reject(cx.problem(codes::TWO_ARGS, &args.span, message).note(note));
    }
}
