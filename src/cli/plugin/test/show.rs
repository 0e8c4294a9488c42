//! What people see of it.

use super::model::{
    CaseRun, EventFed, GateTested, Honoured, HookRun, Listing, ServerTried, SkillListed,
    SubjectTested, Told, Want,
};
use crate::Symposium;
use crate::cli::screen::{Screen, column, count};

/// Characters of a text that are shown where it is only one among many.
const BRIEF: usize = 300;

/// `whole`: the answer is shown as the agent reads it.
pub(super) fn subject(sym: &Symposium, tested: &SubjectTested, whole: bool) -> String {
    let mut screen = Screen::new(sym.report.width());
    screen.heading(&tested.name);
    screen.line(2, &sym.report.path(&tested.path));
    let place = match (&tested.workspace.root, &tested.workspace.made_up) {
        (Some(root), _) => format!("in {}", sym.report.path(root)),
        (None, Some(made_up)) if !made_up.is_empty() => {
            format!("in a workspace made up for it, which depends on {}", made_up.join(", "))
        }
        _ => "in a workspace made up for it, without dependencies".to_owned(),
    };
    screen.line(2, &place);
    gates(&mut screen, &tested.gates);
    skills(&mut screen, &tested.skills);
    servers(&mut screen, &tested.servers);
    for event in &tested.events {
        fed(&mut screen, event, whole);
    }
    cases(sym, &mut screen, &tested.cases);
    if !tested.problems.is_empty() {
        screen.heading("Problems");
        tested.problems.iter().for_each(|problem| screen.line(2, problem));
    }
    screen.finish()
}

/// The plugin, and those of its parts that stand otherwise.
fn gates(screen: &mut Screen, gates: &[GateTested]) {
    let Some((whole, parts)) = gates.split_first() else { return };
    screen.line(2, &format!("{}: {}", whole.standing.label(), whole.standing.reason));
    for part in parts.iter().filter(|part| part.standing.is_active() != whole.standing.is_active())
    {
        let GateTested { kind, name, standing } = part;
        screen.line(2, &format!("{kind} {name} {}: {}", standing.label(), standing.reason));
    }
}

fn skills(screen: &mut Screen, skills: &[SkillListed]) {
    if skills.is_empty() {
        return;
    }
    screen.heading("Skills, as agents list them");
    for skill in skills {
        screen.line(2, &skill.name);
        if !skill.standing.is_active() {
            screen.line(4, &format!("{}: {}", skill.standing.label(), skill.standing.reason));
        }
        screen.line(4, &skill.description);
        let cut: Vec<&Listing> = skill.agents.iter().filter(|listing| listing.is_cut).collect();
        if cut.len() == skill.agents.len() {
            screen.line(4, "all agents: it is too long, and is cut there when it is installed");
            continue;
        }
        for listing in cut {
            let length = listing.shown.chars().count();
            let end: String = listing.shown.chars().skip(length.saturating_sub(40)).collect();
            screen
                .line(4, &format!("{} cuts it after {length} characters: “…{end}”", listing.agent));
        }
    }
}

fn servers(screen: &mut Screen, servers: &[ServerTried]) {
    if servers.is_empty() {
        return;
    }
    screen.heading("Servers");
    for server in servers {
        if let Some(why) = &server.passed_over {
            screen.line(2, &format!("{}: not asked: {why}", server.name));
            continue;
        }
        let mut words: Vec<String> = server.calls_itself.iter().cloned().collect();
        words.extend(server.protocol.iter().map(|version| format!("protocol {version}")));
        words.push(count(server.tools.len(), "tool"));
        words.push(seconds(server.seconds));
        screen.line(2, &format!("{}: {}", server.name, words.join(", ")));
        for tool in &server.tools {
            screen.line(4, &format!("{}: {}", tool.name, tool.description));
        }
        said(screen, "standard error", &server.stderr);
        if let Some(problem) = &server.problem {
            screen.line(4, &format!("failed: {problem}"));
        }
    }
}

fn fed(screen: &mut Screen, event: &EventFed, whole: bool) {
    screen.heading(&match &event.tool {
        Some(tool) => format!("{} of {tool}", event.event),
        None => event.event.to_owned(),
    });
    let mut shown: Vec<&HookRun> = Vec::new();
    for hook in event.agents.iter().flat_map(|told| &told.hooks) {
        // With another agent the same comes of it, nearly always.
        if !shown.iter().any(|known| is_the_same(known, hook)) {
            shown.push(hook);
            hook_run(screen, hook);
        }
    }
    for hook in &event.not_asked {
        screen.line(2, &format!("hook {} is not asked: {}", hook.name, hook.reason));
    }
    if shown.is_empty() && event.not_asked.is_empty() {
        screen.line(2, "no hook is for this event");
    }
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    for want in event.agents.iter().flat_map(|told| &told.wants) {
        if !wanted.contains(&(&want.what, &want.text)) {
            wanted.push((&want.what, &want.text));
            screen.line(2, &format!("wants {}: {}", want.what, brief(&want.text)));
        }
    }
    let width = column(event.agents.iter().map(|told| told.agent.as_str()), 16);
    for told in &event.agents {
        screen.entry(&told.agent, width, &[told_words(told)]);
        if whole {
            said(screen, "answer", &told.stdout);
            said(screen, "answer on standard error", &told.stderr);
            if told.exit != 0 {
                screen.line(4, &format!("answer's exit code: {}", told.exit));
            }
        }
    }
}

fn is_the_same(one: &HookRun, other: &HookRun) -> bool {
    let parts = |run: &HookRun| {
        let HookRun { name, ended, stderr, answer, problem, .. } = run.clone();
        (name, ended, stderr, answer, problem)
    };
    parts(one) == parts(other)
}

fn hook_run(screen: &mut Screen, hook: &HookRun) {
    let ended = hook.ended.as_deref().unwrap_or("not started");
    let time = seconds(hook.seconds);
    screen.line(2, &format!("hook {}: {ended}, {time}: {}", hook.name, brief(&hook.answer)));
    // The reason of a denial by exit code is there already.
    if !brief(&hook.answer).contains(&brief(&hook.stderr)) {
        said(screen, "standard error", &hook.stderr);
    }
    for note in &hook.notes {
        screen.line(4, &format!("note: {note}"));
    }
    if let Some(problem) = &hook.problem {
        screen.line(4, &format!("failed: {problem}"));
        said(screen, "standard output", &hook.stdout);
    }
}

/// What the agent does, in one line.
fn told_words(told: &Told) -> String {
    if let Some(never) = &told.never {
        return format!("– {never}");
    }
    if told.wants.is_empty() {
        return "goes on".to_owned();
    }
    let words = told.wants.iter().map(|Want { what, honoured, instead, .. }| match honoured {
        Honoured::Yes => format!("✓ {what}"),
        Honoured::Instead => format!("~ {what}: {}", instead.as_deref().unwrap_or_default()),
        Honoured::No => format!("✗ {what}: not honoured"),
    });
    words.collect::<Vec<_>>().join("; ")
}

fn cases(sym: &Symposium, screen: &mut Screen, cases: &[CaseRun]) {
    if cases.is_empty() {
        return;
    }
    screen.heading("Cases");
    for case in cases {
        if case.failures.is_empty() {
            screen.line(2, &format!("ok    {}", case.name));
            continue;
        }
        screen.line(2, &format!("FAIL  {}", case.name));
        let line = case.location.line.map(|line| format!(":{line}")).unwrap_or_default();
        screen.line(8, &format!("{}{line}", sym.report.path(&case.location.path)));
        case.failures.iter().for_each(|failure| screen.line(8, failure));
    }
}

/// What a program said, line by line.
fn said(screen: &mut Screen, what: &str, text: &str) {
    for line in text.trim_end().lines() {
        screen.line(4, &format!("{what}: {line}"));
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

fn brief(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(BRIEF) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
