//! Kiro's command line, where it is on `PATH` and can log in. Its model is its own, so nothing that
//! needs a script is asked of it: only that its events reach our program. Not run so far; from its
//! documentation.

use std::path::Path;
use std::process::Command;

use super::{Action, Client, Place, Program, Prompt, acp, npm, with};
use crate::model::ToolCall;

/// Kiro's key for use without a screen.
const KEY: &str = "KIRO_API_KEY";

/// `kiro-cli chat`.
#[derive(Debug)]
pub(super) struct Kiro;

/// `kiro-cli acp`: the agent client protocol.
#[derive(Debug)]
pub(super) struct KiroAcp;

fn program() -> Result<Program, String> {
    let path = npm::on_path("kiro-cli").ok_or("kiro-cli on PATH")?;
    match std::env::var_os(KEY) {
        Some(_) => Ok(Program { version: npm::version_of(&path), path }),
        None => Err(format!("{KEY}, a key to log in with")),
    }
}

/// Up to version 2, hooks run only for the agent that has them.
fn chosen(place: Place<'_>) -> &'static [&'static str] {
    let legacy = [place.home.to_path_buf(), place.dir.join("ws")]
        .iter()
        .any(|folder| folder.join(".kiro/agents/symposium.json").is_file());
    if legacy { &["--agent", "symposium"] } else { &[] }
}

fn call(action: &Action) -> ToolCall {
    let shell = |command: &str| with("execute_bash", "command", command);
    match action {
        Action::Shell(command) => shell(command),
        Action::Read(path) => shell(&format!("cat '{}'", path.display())),
        Action::Skill(name) => shell(&format!("cat .kiro/skills/{name}/SKILL.md")),
        Action::Server { server, tool, arguments } => {
            ToolCall::new(format!("@{server}/{tool}"), arguments.clone())
        }
        Action::Tool(call) => call.clone(),
    }
}

impl Client for Kiro {
    fn name(&self) -> &'static str {
        "kiro"
    }

    fn title(&self) -> &'static str {
        "Kiro"
    }

    fn program(&self, _: &Path) -> Result<Program, String> {
        program()
    }

    fn scripted(&self) -> bool {
        false
    }

    fn settle(&self, _: Place<'_>) {}

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command.envs(std::env::var_os(KEY).map(|key| (KEY, key)));
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["chat", "--no-interactive", "--trust-all-tools"]);
        command.args(chosen(place));
        if prompt.resume {
            command.arg("--resume");
        }
        command.arg(prompt.text);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        call(action)
    }

    fn skills_folder(&self) -> &'static str {
        ".kiro/skills"
    }
}

impl Client for KiroAcp {
    fn name(&self) -> &'static str {
        "kiro-cli-acp"
    }

    fn agent(&self) -> &'static str {
        "kiro"
    }

    fn title(&self) -> &'static str {
        "Kiro, by the agent client protocol"
    }

    fn program(&self, _: &Path) -> Result<Program, String> {
        program()
    }

    fn scripted(&self) -> bool {
        false
    }

    fn settle(&self, _: Place<'_>) {}

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        Kiro.start(program, place)
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut agent = self.start(program, place);
        agent.arg("acp").args(chosen(place));
        acp::command(&agent, place, prompt)
    }

    fn call(&self, action: &Action) -> ToolCall {
        call(action)
    }

    fn skills_folder(&self) -> &'static str {
        ".kiro/skills"
    }
}
