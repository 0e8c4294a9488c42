//! Checks of real clients as tests: one for each client and check, and a table at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::clients::{self, Client, Program};
use crate::selection::Selected;
use crate::{World, book, isolation, roles, selection};

/// How many clients run at once.
const AT_ONCE: usize = 2;
/// Where a client that can't run is a failure instead of an ignored test.
const REQUIRED: &str = "SYMPOSIUM_TEST_AGENTS_REQUIRED";

/// What a check came to, when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// What the check says is so.
    Holds,
    /// The client can't do it, for this reason, and the check made sure that it still can't.
    Cant(&'static str),
}

/// One of the things that are promised.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// A word for the table.
    pub name: &'static str,
    /// What is shown of the client.
    pub checks: &'static [Check],
}

/// One thing that is shown of a client.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The test's name.
    pub name: &'static str,
    /// What is so when the check holds: a sentence of the book.
    pub says: &'static str,
    /// Shows it, or panics.
    pub run: fn(&Bench) -> Finding,
}

/// What a check works with.
#[derive(Debug, Clone)]
pub struct Bench {
    /// Our program.
    pub binary: PathBuf,
    /// The client.
    pub client: &'static dyn Client,
    /// The client's program.
    pub program: Program,
}

impl Bench {
    /// A new machine.
    pub fn world(&self) -> World {
        World::new(&self.binary, self.client, self.program.clone())
    }

    /// Whether the client is Symposium's agent of this name.
    pub fn is(&self, agent: &str) -> bool {
        self.client.agent() == agent
    }
}

/// What was found of one client: by check, nothing where it did not run to its end.
pub(crate) type Findings = BTreeMap<&'static str, Finding>;
type Results = Arc<Mutex<BTreeMap<&'static str, Findings>>>;
/// Checks that failed once, with what they said.
type Repeated = Arc<Mutex<Vec<String>>>;

/// Runs the checks on every selected client, and `others` besides; then prints a table and compares
/// the book with it. For a test binary without a harness of its own.
pub fn main(
    binary: &str,
    points: &'static [Point],
    others: impl FnOnce() -> Vec<Trial>,
) -> ExitCode {
    if let Some(code) = roles::play() {
        return code;
    }
    let selected = selection::selection();
    // One that is asked for and has a model of its own must reach it.
    let online = |one: &Selected| !one.client.scripted() && one.program.is_ok();
    let isolated = !selected.iter().any(online) && isolation::isolate();
    let mut args = Arguments::from_args();
    args.test_threads.get_or_insert(AT_ONCE);
    let (results, repeated) = (Results::default(), Repeated::default());
    let mut trials = others();
    for client in &selected {
        trials.extend(trials_of(client, Path::new(binary), points, &results, &repeated));
    }
    let conclusion = libtest_mimic::run(&args, trials);
    if args.list {
        return ExitCode::SUCCESS;
    }
    let results = results.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut told = table(&selected, points, &results);
    for note in notes(&selected, isolated, &results) {
        let _ = writeln!(told, "{note}");
    }
    for once in repeated.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(told, "shown at the second try: {once}");
    }
    let mut failed = conclusion.has_failed();
    if let Err(problem) = book::keep_in_step(&selected, points, &results) {
        let _ = writeln!(told, "{problem}");
        failed = true;
    }
    say(&told);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[allow(clippy::disallowed_macros, reason = "a test's result is for its standard output")]
pub(crate) fn say(text: &str) {
    print!("{text}");
}

fn trials_of(
    selected: &Selected,
    binary: &Path,
    points: &'static [Point],
    results: &Results,
    repeated: &Repeated,
) -> Vec<Trial> {
    let client = selected.client;
    if !client.scripted() {
        return vec![trial_of_events(selected, binary)];
    }
    let trial = |check: &'static Check| {
        let (results, repeated) = (Arc::clone(results), Arc::clone(repeated));
        let binary = binary.to_path_buf();
        trial(client, &selected.program, check.name, move |program| {
            let finding = run(check, &Bench { binary, client, program }, &repeated);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.entry(client.name()).or_default().insert(check.name, finding);
            Ok(())
        })
    };
    shown_of(client, points).map(trial).collect()
}

/// The checks of clients that take nothing of ours but skills.
const OF_SKILLS: [&str; 3] = [
    "skills_are_offered_once_each",
    "a_skill_and_its_files_can_be_read",
    "skills_of_a_removed_dependency_are_gone",
];

/// What is shown of a client.
pub(crate) fn shown_of<'p>(
    client: &dyn Client,
    points: &'p [Point],
) -> impl Iterator<Item = &'p Check> {
    let few = client.skills_only();
    let checks = points.iter().flat_map(|point| point.checks);
    checks.filter(move |check| !few || OF_SKILLS.contains(&check.name))
}

/// Runs a check, and once more on a new machine if it fails: the clients have races of their own when
/// they start and end. What needed that is named at the end.
fn run(check: &'static Check, bench: &Bench, repeated: &Repeated) -> Finding {
    let first = catch_unwind(AssertUnwindSafe(|| (check.run)(bench)));
    first.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let once = format!("{}::{}, after: {said}", bench.client.name(), check.name);
        say(&format!("{once}\n"));
        repeated.lock().unwrap_or_else(PoisonError::into_inner).push(once);
        (check.run)(bench)
    })
}

/// What can be shown of a client whose model says what it likes: a prompt's events reach us.
fn trial_of_events(selected: &Selected, binary: &Path) -> Trial {
    let client = selected.client;
    let binary = binary.to_path_buf();
    let name = "a_prompt_s_events_reach_our_program";
    needing(client, name, needed(&selected.program), move |program| {
        let world = World::new(&binary, client, program);
        world.sandbox.package(&[]);
        world.init(&[]);
        let turn = world.try_turn("ws", "Say hello.", &[]).complete();
        for event in ["session-start", "user-prompt-submit"] {
            let count = turn.events().into_iter().filter(|found| *found == event).count();
            assert_eq!(count, 1, "{event}\n{}", turn.told());
        }
        Ok(())
    })
}

/// A test that needs the client's program, with a script for its model.
pub(crate) fn trial(
    client: &'static dyn Client,
    program: &Result<Program, String>,
    name: &str,
    run: impl FnOnce(Program) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    needing(client, name, ready(client, program), run)
}

fn needing(
    client: &'static dyn Client,
    name: &str,
    program: Result<Program, String>,
    run: impl FnOnce(Program) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(format!("{}::{name}", client.name()), move || match program {
        Ok(program) => run(program).map(|()| Completion::Completed),
        Err(needs) if std::env::var_os(REQUIRED).is_some() => Err(Failed::from(needs)),
        Err(needs) => Ok(Completion::ignored_with(needs)),
    })
}

/// Our program.
#[derive(Debug, Clone)]
pub(crate) struct Binary(pub(crate) PathBuf);

impl Binary {
    /// The one that was built for the test that runs.
    pub(crate) fn of_this_test() -> anyhow::Result<Self> {
        // Cargo says it to the tests of the package that has the program.
        if let Some(path) = std::env::var_os("CARGO_BIN_EXE_cargo-agents") {
            return Ok(Self(PathBuf::from(path)));
        }
        let this = std::env::current_exe()?;
        let name = format!("cargo-agents{}", std::env::consts::EXE_SUFFIX);
        // A test lies in `deps`, beside it.
        let beside = this.ancestors().skip(1).take(2).map(|folder| folder.join(&name));
        let mut found = beside.filter(|path| path.is_file());
        found.next().map(Self).ok_or_else(|| anyhow::anyhow!("{name} is not built"))
    }
}

/// The client's program, or what is needed to run the check.
pub(crate) fn ready(
    client: &dyn Client,
    program: &Result<Program, String>,
) -> Result<Program, String> {
    let program = needed(program)?;
    if client.scripted() { Ok(program) } else { Err("its model is its own".to_owned()) }
}

fn needed(program: &Result<Program, String>) -> Result<Program, String> {
    program.clone().map_err(|needs| format!("needs {needs}"))
}

fn notes(
    selected: &[Selected],
    isolated: bool,
    results: &BTreeMap<&'static str, Findings>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let install = clients::INSTALL;
    if selected.iter().any(|one| one.program.as_ref().is_err_and(|needs| needs == install)) {
        notes.push(format!("agents are missing, and their tests ignored: run {install}"));
    }
    if !isolated && !results.is_empty() {
        notes.push("no network namespace: the agents' settings alone kept them at home".to_owned());
    }
    notes
}

/// The table: a row a client, a column a point.
fn table(
    selected: &[Selected],
    points: &[Point],
    results: &BTreeMap<&'static str, Findings>,
) -> String {
    let mut rows = vec![["client", "version"].map(str::to_owned).to_vec()];
    rows[0].extend(points.iter().map(|point| point.name.to_owned()));
    for one in selected {
        let Some(found) = results.get(one.client.name()) else { continue };
        let version = one.program.as_ref().map_or("", |program| program.version.as_str());
        let mut row = vec![one.client.title().to_owned(), version.to_owned()];
        row.extend(points.iter().map(|point| summary(one.client, point, found)));
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    let columns = rows[0].len();
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// What one point came to: passed, can't in so many checks, failed, or not run.
fn summary(client: &dyn Client, point: &Point, found: &Findings) -> String {
    let checks: Vec<&Check> = shown_of(client, std::slice::from_ref(point)).collect();
    let of = |check: &&&Check| found.get(check.name);
    let missing = checks.iter().filter(|check| of(check).is_none()).count();
    let cant = checks.iter().filter(|check| matches!(of(check), Some(Finding::Cant(_)))).count();
    match (missing, cant) {
        (missing, _) if missing == checks.len() => "-".to_owned(),
        (0, 0) => "passed".to_owned(),
        (0, cant) => format!("passed, can't {cant} of {}", checks.len()),
        (missing, _) => format!("{missing} of {} not shown", checks.len()),
    }
}
