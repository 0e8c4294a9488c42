//! Tests that run on prepared folders: with our program alone, or with a real agent as well.
//!
//! A fixture is a folder below `tests/fixtures/`. Its folder that holds a `config.toml` becomes the
//! user's folder of Symposium, its topmost folder with a `Cargo.toml` the workspace; whatever else
//! is in it keeps its place below the test's folder. Several are laid over each other. In texts
//! `$TEST_DIR` and `$BINARY` stand for the test's folder and our program.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::clients::{self, Client, Program};
use crate::harness::{self, Binary};
use crate::selection::Selected;
use crate::simulated::{self, HookAgent, HookStep, SimulatedTurn};
use crate::{Run, Sandbox, Step, World, selection};

/// What a test needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestMode {
    /// Our program alone: it runs once.
    SimulationOnly,
    /// A real agent: it runs once for each.
    AgentOnly,
    /// Either: it runs once with our program alone, and once for each agent.
    Any,
}

/// A test on fixtures.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The test's name.
    pub name: &'static str,
    /// What it needs.
    pub mode: TestMode,
    /// The fixtures, each over those before it.
    pub fixtures: &'static [&'static str],
    /// The test. It fails with an error or a panic.
    pub run: fn(&mut Context) -> anyhow::Result<()>,
}

/// Where a test runs.
#[derive(Debug)]
pub struct Context {
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Simulation(Sandbox),
    Agent(World),
}

/// What came of a prompt, or of the events that stand for one.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The events that reached our program, and what it said.
    pub hooks: Vec<HookCall>,
    /// What the agent said in the end; nothing without one.
    pub response: Option<String>,
    /// What the model was shown, request by request; nothing without an agent.
    shown: Vec<String>,
}

/// One event that reached our program: a line of `SYMPOSIUM_HOOK_TRACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// The agent's name.
    pub agent: String,
    /// The event, as our program's argument has it: `pre-tool-use`.
    pub event: String,
    /// What the agent told of the event.
    pub input: Value,
    /// What our program answered.
    pub stdout: String,
    /// The exit code of the answer.
    pub exit: i64,
}

impl Answer {
    /// Whether the model was shown `words`; without an agent, whether an answer has them.
    pub fn has_context_containing(&self, words: &str) -> bool {
        if self.response.is_some() {
            return self.shown.iter().any(|text| text.contains(words));
        }
        self.hooks.iter().any(|call| call.stdout.contains(words))
    }
}

impl Context {
    /// The folders.
    pub fn sandbox(&self) -> &Sandbox {
        match &self.stage {
            Stage::Simulation(sandbox) => sandbox,
            Stage::Agent(world) => &world.sandbox,
        }
    }

    /// The real agent, where there is one.
    pub fn world(&self) -> Option<&World> {
        match &self.stage {
            Stage::Simulation(_) => None,
            Stage::Agent(world) => Some(world),
        }
    }

    /// Our program in the workspace, with these arguments.
    ///
    /// # Errors
    /// When it does not end with code 0.
    pub fn symposium(&self, args: &[&str]) -> anyhow::Result<Run> {
        let run = self.sandbox().run(args);
        anyhow::ensure!(run.code == 0, "{args:?}: {}\n{}", run.code, run.stderr);
        Ok(run)
    }

    /// A prompt to the real agent, whose model does `script` and then says `Done.`
    ///
    /// # Errors
    /// Without an agent, and when the turn does not come to its end.
    pub fn prompt(&self, text: &str, script: &[Step]) -> anyhow::Result<Answer> {
        let world = self.world().context("there is no agent here")?;
        let mut script = script.to_vec();
        script.push(Step::say("Done."));
        let turn = world.try_turn("ws", text, &script);
        let told = turn.told();
        let ended = turn.finished.code == Some(0) && turn.left == 0;
        anyhow::ensure!(ended, "the turn did not come to its end\n{told}");
        Ok(Answer {
            hooks: turn.trace.iter().map(call).collect(),
            response: Some(turn.finished.stdout.clone()),
            shown: turn.main().map(|request| request.body.to_string()).collect(),
        })
    }

    /// Without an agent, the events `steps` as `agent` tells of them; with one, a prompt, whose model
    /// uses the tools that the steps tell of. The steps' events must then reach our program.
    ///
    /// # Errors
    /// When our program fails, the turn does not come to its end, or an event is missing.
    pub fn prompt_or_hook(
        &self,
        text: &str,
        steps: &[HookStep],
        agent: HookAgent,
    ) -> anyhow::Result<Answer> {
        match &self.stage {
            Stage::Simulation(sandbox) => simulate(sandbox, text, steps, agent),
            Stage::Agent(_) => {
                let answer = self.prompt(text, &simulated::script(steps))?;
                for step in steps {
                    let event = step.event();
                    let there = answer.hooks.iter().any(|call| call.event == event);
                    anyhow::ensure!(there, "no event {event}: {:?}", answer.hooks);
                }
                Ok(answer)
            }
        }
    }
}

static SESSIONS: AtomicUsize = AtomicUsize::new(0);

fn simulate(
    sandbox: &Sandbox,
    text: &str,
    steps: &[HookStep],
    agent: HookAgent,
) -> anyhow::Result<Answer> {
    let trace = sandbox.dir().join("trace.jsonl");
    let _ = std::fs::remove_file(&trace);
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    let (session, cwd) = (format!("simulated-{number}"), sandbox.ws());
    let turn = SimulatedTurn { session: &session, prompt: text, cwd: &cwd };
    for step in steps {
        let payload = agent.payload(step, turn).to_string();
        let mut command = sandbox.command(&["hook", agent.name(), step.event()]);
        command.env("SYMPOSIUM_HOOK_TRACE", &trace).env("SYMPOSIUM_NO_BACKGROUND", "1");
        let run = crate::Run::of(&mut command, payload.as_bytes());
        anyhow::ensure!(run.code == 0 || run.code == 2, "{}: {}", run.code, run.stderr);
    }
    let lines = std::fs::read_to_string(&trace).unwrap_or_default();
    let lines: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
    let hooks: Vec<HookCall> = lines?.iter().map(call).collect();
    anyhow::ensure!(hooks.len() == steps.len(), "not each event is traced: {hooks:?}");
    Ok(Answer { hooks, response: None, shown: Vec::new() })
}

fn call(line: &Value) -> HookCall {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    HookCall {
        agent: text("agent"),
        event: text("event"),
        input: line["input"].clone(),
        stdout: text("stdout"),
        exit: line["exit"].as_i64().unwrap_or_default(),
    }
}

/// Runs `body` on the fixtures, in each way that `mode` asks for. With a real agent, `init
/// --add-agent` and `sync` ran before. Agents that are not installed are told of and left out. When
/// the test fails, its folder stays.
///
/// # Errors
/// Those of `body`, and fixtures that can't be laid out.
pub fn with_fixture(
    mode: TestMode,
    fixtures: &[&str],
    body: impl Fn(&mut Context) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let binary = Binary::of_this_test()?;
    if mode != TestMode::AgentOnly {
        simulation(&binary, fixtures, &body)?;
    }
    if mode == TestMode::SimulationOnly {
        return Ok(());
    }
    for Selected { client, program } in agents() {
        match harness::ready(client, &program) {
            Ok(program) => on_agent(&binary, fixtures, client, program, &body)?,
            Err(needs) => harness::say(&format!("ignored: {}: {needs}\n", client.name())),
        }
    }
    Ok(())
}

/// The chosen clients that have hooks: a scenario asks for those.
fn agents() -> impl Iterator<Item = Selected> {
    selection::selection().into_iter().filter(|one| !one.client.skills_only())
}

/// The scenarios as tests: one for our program alone and one for each agent, as their modes ask.
pub fn trials(scenarios: &'static [Scenario], binary: &str) -> Vec<Trial> {
    let mut trials = Vec::new();
    for scenario in scenarios {
        let binary = Binary(PathBuf::from(binary));
        if scenario.mode != TestMode::AgentOnly {
            let binary = binary.clone();
            trials.push(Trial::test(format!("simulation::{}", scenario.name), move || {
                let done = simulation(&binary, scenario.fixtures, &scenario.run);
                done.map_err(|error| format!("{error:#}").into())
            }));
        }
        if scenario.mode == TestMode::SimulationOnly {
            continue;
        }
        for Selected { client, program } in agents() {
            let binary = binary.clone();
            trials.push(harness::trial(client, &program, scenario.name, move |program| {
                let done = on_agent(&binary, scenario.fixtures, client, program, &scenario.run);
                done.map_err(|error| format!("{error:#}").into())
            }));
        }
    }
    trials
}

fn simulation(
    binary: &Binary,
    fixtures: &[&str],
    body: &impl Fn(&mut Context) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let sandbox = laid_out(binary, fixtures)?;
    run(Context { stage: Stage::Simulation(sandbox) }, body)
}

fn on_agent(
    binary: &Binary,
    fixtures: &[&str],
    client: &'static dyn Client,
    program: Program,
    body: &impl Fn(&mut Context) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let world = World::around(laid_out(binary, fixtures)?, client, program);
    world.init(&[]);
    world.sync();
    run(Context { stage: Stage::Agent(world) }, body)
}

fn run(
    mut context: Context,
    body: &impl Fn(&mut Context) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let done = body(&mut context);
    if done.is_err() {
        match &mut context.stage {
            Stage::Simulation(sandbox) => sandbox.keep(),
            Stage::Agent(world) => world.sandbox.keep(),
        }
    }
    done
}

/// A sandbox with the fixtures in it.
fn laid_out(binary: &Binary, fixtures: &[&str]) -> anyhow::Result<Sandbox> {
    let sandbox = Sandbox::bare(&binary.0);
    let variables = [
        ("$TEST_DIR", sandbox.dir().to_string_lossy().into_owned()),
        ("$BINARY", binary.0.to_string_lossy().into_owned()),
    ];
    for name in fixtures {
        let from = clients::agents_folder().with_file_name("fixtures").join(name);
        anyhow::ensure!(from.is_dir(), "no fixture {}", from.display());
        overlay(&from, &sandbox, &variables)?;
    }
    Ok(sandbox)
}

fn overlay(from: &Path, sandbox: &Sandbox, variables: &[(&str, String)]) -> anyhow::Result<()> {
    let files = files_below(from)?;
    let holder = |name: &str| {
        let found = files.iter().filter(|file| file.file_name().is_some_and(|own| own == name));
        found.filter_map(|file| file.parent()).min_by_key(|folder| folder.components().count())
    };
    let (user, workspace) = (holder("config.toml"), holder("Cargo.toml"));
    for file in &files {
        let inside = |folder: Option<&Path>| file.strip_prefix(folder?).ok();
        let target = match (inside(user), inside(workspace)) {
            (Some(rest), _) => sandbox.home().join(".symposium").join(rest),
            (None, Some(rest)) => sandbox.ws().join(rest),
            (None, None) => sandbox.dir().join(file.strip_prefix(from)?),
        };
        let bytes = std::fs::read(file)?;
        let bytes = String::from_utf8(bytes).map_or_else(
            |error| error.into_bytes(),
            |text| {
                let expand =
                    |text: String, (name, value): &(&str, String)| text.replace(name, value);
                variables.iter().fold(text, expand).into_bytes()
            },
        );
        std::fs::create_dir_all(target.parent().context("a file is in a folder")?)?;
        std::fs::write(&target, bytes)?;
        std::fs::set_permissions(&target, std::fs::metadata(file)?.permissions())?;
    }
    Ok(())
}

fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f309_a_fixture_goes_where_its_files_belong_with_its_variables_expanded() {
        let fixture = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &[u8]| {
            let path = fixture.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            std::fs::write(path, text).expect("writes");
        };
        write("dot/config.toml", b"# $BINARY\n");
        write("dot/plugins/a/SYMPOSIUM.toml", b"name = \"a\"\n");
        write("project/Cargo.toml", b"[package]\n");
        write("project/member/Cargo.toml", b"[package]\n");
        write("notes/raw", b"$TEST_DIR\xff");
        write("notes/text", b"in $TEST_DIR");
        let sandbox = Sandbox::bare("/bin/us");
        let dir = sandbox.dir().to_string_lossy().into_owned();
        let variables = [("$TEST_DIR", dir.clone()), ("$BINARY", "/bin/us".to_owned())];
        overlay(fixture.path(), &sandbox, &variables).expect("can be laid out");
        assert_eq!(sandbox.read("home/.symposium/config.toml"), "# /bin/us\n");
        for path in
            ["home/.symposium/plugins/a/SYMPOSIUM.toml", "ws/Cargo.toml", "ws/member/Cargo.toml"]
        {
            assert!(sandbox.has(path), "{path}");
        }
        assert_eq!(sandbox.read("notes/text"), format!("in {dir}"));
        let raw = std::fs::read(sandbox.dir().join("notes/raw")).expect("is there");
        assert_eq!(raw, b"$TEST_DIR\xff", "no text, so nothing is expanded");
    }

    #[test]
    fn f309_each_fixture_registers_in_the_project() {
        let folder = clients::agents_folder().with_file_name("fixtures");
        let configs = files_below(&folder).expect("reads").into_iter();
        let configs: Vec<_> = configs
            .filter(|file| file.file_name().is_some_and(|name| name == "config.toml"))
            .collect();
        assert!(!configs.is_empty());
        for config in configs {
            let text = std::fs::read_to_string(&config).expect("reads");
            let table: toml::Table = toml::from_str(&text).expect("TOML");
            assert_eq!(
                table.get("hook-scope").and_then(toml::Value::as_str),
                Some("project"),
                "{}",
                config.display()
            );
        }
    }
}
