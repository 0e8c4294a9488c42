//! The real agent programs: where they are, what a user of each has in the home folder, how one
//! turn is started, and what their tools are called.
//!
//! One file each. What is stated there was measured with the versions that
//! `tests/agents/package.json` pins, unless another source is named.

mod acp;
mod adapter;
mod claude;
mod claude_sdk;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod kiro;
mod launch;
mod npm;
mod opencode;
mod pi;
mod qwen;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::model::ToolCall;

pub(crate) use acp::play as play_acp;
pub use launch::Finished;
pub(crate) use launch::{finish, finish_with};
pub use npm::INSTALL;

/// A program that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program's file, or what its interpreter runs.
    pub path: PathBuf,
    /// Its version; empty where it was not asked.
    pub version: String,
}

/// The folders of a test, and the model's address.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The folder that holds everything.
    pub dir: &'a Path,
    /// The home folder.
    pub home: &'a Path,
    /// The model's address, `http://127.0.0.1:<port>`.
    pub model: &'a str,
}

impl Place<'_> {
    /// The projects that the user trusts.
    pub fn projects(&self) -> [String; 2] {
        ["ws", "other"].map(|name| self.dir.join(name).to_string_lossy().into_owned())
    }
}

/// What the model wants done, whatever the client calls it.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Run a shell command.
    Shell(String),
    /// Read a file.
    Read(PathBuf),
    /// Activate a skill.
    Skill(String),
    /// Use a tool of an MCP server.
    Server {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// What it is given, an object.
        arguments: Value,
    },
    /// Exactly this.
    Tool(ToolCall),
}

/// How a turn is to be started.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// What the user says.
    pub text: &'a str,
    /// Whether the session of the turn before goes on.
    pub resume: bool,
    /// Whether hooks run that the user did not review, where the client asks for a review.
    pub unreviewed: bool,
}

/// What a client's `mcp add` takes beside the server's name and its command line.
#[derive(Debug, Clone, Copy)]
pub struct McpAdd {
    /// Before the name.
    pub before: &'static [&'static str],
    /// Between the name and the command line.
    pub between: &'static [&'static str],
}

/// One of the clients.
pub trait Client: Sync + Debug {
    /// Its name in `test-agents.toml`.
    fn name(&self) -> &'static str;

    /// Symposium's name for the agent; mostly the same.
    fn agent(&self) -> &'static str {
        self.name()
    }

    /// The name people know it by.
    fn title(&self) -> &'static str;

    /// What its package in `tests/agents/package.json` begins with; empty where it has none.
    fn package(&self) -> &'static str {
        ""
    }

    /// The program, installed below `agents` (the folder `tests/agents`) or on `PATH`.
    ///
    /// # Errors
    /// What is needed to run it.
    fn program(&self, agents: &Path) -> Result<Program, String>;

    /// Whether all that it takes of ours is skills, which it finds where another agent reads them.
    fn skills_only(&self) -> bool {
        false
    }

    /// Whether its model can be the scripted one.
    fn scripted(&self) -> bool {
        true
    }

    /// Writes what a user of the client has in the home folder.
    fn settle(&self, place: Place<'_>);

    /// The program, with the variables that every run of it needs.
    fn start(&self, program: &Program, place: Place<'_>) -> Command;

    /// The command of one turn without a screen. Arguments, variables and nothing else: the rest of
    /// the environment is the same for all.
    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command;

    /// The call that does `action`.
    fn call(&self, action: &Action) -> ToolCall;

    /// The client's own command that lists the servers it would use.
    fn list_servers(&self, program: &Program, place: Place<'_>) -> Option<Command> {
        self.mcp_add()?;
        let mut command = self.start(program, place);
        command.args(["mcp", "list"]);
        Some(command)
    }

    /// How its `mcp add` is put; `None` where it has no such commands.
    fn mcp_add(&self) -> Option<McpAdd> {
        None
    }

    /// What the list says of the server `name`: its line, or lines.
    fn listed(&self, said: &str, name: &str) -> Sight {
        sight(said, name, &["connected"], &["enabled"])
    }

    /// The client's own command that adds a server of the user's, a program, for all projects.
    fn add_server(
        &self,
        program: &Program,
        place: Place<'_>,
        name: &str,
        server: &[String],
    ) -> Option<Command> {
        let words = self.mcp_add()?;
        let mut command = self.start(program, place);
        command.args(["mcp", "add"]).args(words.before).arg(name).args(words.between).args(server);
        Some(command)
    }

    /// Gives the user hooks of their own, in files that may hold other things already: each adds
    /// its event's name, as [`EVENTS`] has it, to `log`. Returns whether the client has hooks.
    fn add_hooks(&self, _: Place<'_>, _log: &Path) -> bool {
        false
    }

    /// Where it reads a workspace's skills, below the workspace's folder.
    fn skills_folder(&self) -> &'static str {
        ".agents/skills"
    }
}

/// What a client's own list says of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It was reached.
    Connected,
    /// It would be used; the list does not say whether it can be reached.
    Enabled,
    /// It is not there, or would not be used.
    Missing,
}

/// Looks for the line that has `name`, and in it for words that say which it is.
fn sight(said: &str, name: &str, connected: &[&str], enabled: &[&str]) -> Sight {
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let lines = said.lines().map(str::to_lowercase).filter(|line| line.contains(name));
    let mut best = Sight::Missing;
    for line in lines {
        let no = ["disconnected", "not connected", "disabled", "failed", "pending", "needs"];
        if has(&line, &no) {
            continue;
        }
        if has(&line, connected) {
            return Sight::Connected;
        }
        if has(&line, enabled) {
            best = Sight::Enabled;
        }
    }
    best
}

/// The events that the user's own hooks are for, by their canonical names.
pub const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];

/// The shell command of a user's hook that notes `event`.
fn noting(event: &str, log: &Path) -> String {
    format!("echo {event} >> '{}'", log.display())
}

/// Hooks in nested groups, as several clients have them, under the clients' own `names` of
/// [`EVENTS`].
fn nested_hooks(names: [&str; 4], log: &Path) -> Value {
    let hooks = names.into_iter().zip(EVENTS).map(|(name, event)| {
        let hook = json!({ "type": "command", "command": noting(event, log) });
        (name.to_owned(), json!([{ "hooks": [hook] }]))
    });
    Value::Object(hooks.collect())
}

/// Changes a file of JSON, which may be absent.
fn edit_json(path: &Path, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read(path).unwrap_or_else(|_| b"{}".to_vec());
    let mut value = serde_json::from_slice(&text).expect("the file is JSON");
    change(&mut value);
    write_json(path, &value);
}

/// The clients of the npm registry, in the order in which people see them.
pub const CLIENTS: [&dyn Client; 10] = [
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &copilot::Copilot,
    &opencode::OpenCode,
    &qwen::Qwen,
    &adapter::CLAUDE,
    &adapter::CODEX,
    &pi::Pi,
    &cline::Cline,
];

/// The agent that Symposium is set up for where a client takes nothing but skills.
const NEIGHBOUR: &str = "codex";

/// Clients that are run only where they are on `PATH`.
pub const OTHERS: [&dyn Client; 4] =
    [&goose::Goose, &kiro::Kiro, &claude_sdk::ClaudeSdk, &kiro::KiroAcp];

/// The client with this name in `test-agents.toml`.
pub fn by_name(name: &str) -> Option<&'static dyn Client> {
    CLIENTS.into_iter().chain(OTHERS).find(|client| client.name() == name)
}

/// The folder with the pinned clients, and what is needed to run them.
pub fn agents_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("agents")
}

/// Folders that clients need on `PATH` beside the system's: node for Gemini CLI, ripgrep for
/// OpenCode, which would fetch it.
pub fn tool_folders() -> Vec<PathBuf> {
    let modules = agents_folder().join("node_modules");
    let ripgrep = modules.join(format!("@vscode/ripgrep-{}/bin", npm::platform()));
    let node = npm::on_path("node").and_then(|node| node.parent().map(Path::to_path_buf));
    [ripgrep].into_iter().filter(|folder| folder.is_dir()).chain(node).collect()
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    let parent = path.parent().expect("a file is in a folder");
    std::fs::create_dir_all(parent).expect("the folder can be created");
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn write_json(path: &Path, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("a value is JSON");
    write(path, text + "\n");
}

/// A call with one argument.
fn with(tool: &str, key: &str, value: impl AsRef<Path>) -> ToolCall {
    ToolCall::new(tool, json!({ key: value.as_ref().to_string_lossy() }))
}
