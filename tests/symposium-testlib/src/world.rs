//! A user's machine in a temporary folder: a real client, our program beside it, a scripted model.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clients::{self, Action, Client, Finished, Place, Program, Prompt};
use crate::model::{Model, Reply, Request};
use crate::{Run, Sandbox};

/// How long one turn may take. The slowest client takes 8 seconds on two idle cores.
pub const TURN_LIMIT: Duration = Duration::from_secs(120);

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The model says something, and the turn is over.
    Say(String),
    /// The model wants something done.
    Do(Action),
}

impl Step {
    /// The model says something.
    pub fn say(words: &str) -> Self {
        Self::Say(words.to_owned())
    }

    /// The model runs a shell command.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Do(Action::Shell(command.into()))
    }

    /// The model reads a file.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self::Do(Action::Read(path.into()))
    }

    /// The model uses the tool of a server of [`crate::mcp`].
    pub fn ping(server: &str) -> Self {
        Self::ask(server, &crate::mcp::tool(server), json!({}))
    }

    /// The model uses a tool of an MCP server.
    pub fn ask(server: &str, tool: &str, arguments: Value) -> Self {
        Self::Do(Action::Server { server: server.to_owned(), tool: tool.to_owned(), arguments })
    }
}

/// What came of a turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// How the client ended.
    pub finished: Finished,
    /// What the model was asked.
    pub requests: Vec<Request>,
    /// How many replies of the script were not asked for.
    pub left: usize,
    /// The events that reached our program, as `SYMPOSIUM_HOOK_TRACE` has them.
    pub trace: Vec<Value>,
}

impl Turn {
    /// The turn, which must have come to its end: the script is played, the client ended well.
    ///
    /// # Panics
    /// When it did not.
    pub fn complete(self) -> Self {
        let told = self.told();
        assert!(!self.finished.timed_out, "the turn did not end in time\n{told}");
        assert_eq!(self.finished.code, Some(0), "the client failed\n{told}");
        assert_eq!(self.left, 0, "the model was not asked for the whole script\n{told}");
        self
    }

    /// The requests of the conversation, without those of titles and the like.
    pub fn main(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| request.main)
    }

    /// Whether the model was shown `words` in any request of the conversation.
    pub fn shows(&self, words: &str) -> bool {
        self.main().any(|request| request.shows(words))
    }

    /// How often `words` are in the request of the conversation with this number.
    ///
    /// # Panics
    /// When there was no such request.
    pub fn count_in(&self, number: usize, words: &str) -> usize {
        let found = self.main().nth(number);
        found.unwrap_or_else(|| panic!("no request {number}\n{}", self.told())).count(words)
    }

    /// The results of tools that the model was shown, in order.
    pub fn results(&self) -> Vec<String> {
        let last = self.main().last();
        last.map(|request| request.results().into_iter().map(str::to_owned).collect())
            .unwrap_or_default()
    }

    /// What the client showed on its screen.
    pub fn screen(&self) -> String {
        format!("{}{}", self.finished.stdout, self.finished.stderr)
    }

    /// What the model was shown around `words`, for the report of a failure.
    pub fn around(&self, words: &str) -> String {
        let texts = self.main().map(|request| request.body.to_string());
        let cut = |text: &str, at: usize| {
            let start = text.floor_char_boundary(at.saturating_sub(200));
            text[start..text.ceil_char_boundary(at + words.len() + 200)].to_owned()
        };
        texts
            .filter_map(|text| text.find(words).map(|at| cut(&text, at)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The events that reached our program, by name, in order.
    pub fn events(&self) -> Vec<&str> {
        self.trace.iter().filter_map(|line| line["event"].as_str()).collect()
    }

    /// Everything worth knowing when a test fails.
    pub fn told(&self) -> String {
        let tail = |text: &str| {
            let cut = text.char_indices().rev().nth(3000).map_or(0, |(at, _)| at);
            text[cut..].to_owned()
        };
        let results = self.results().join("\n---\n");
        let trace: Vec<String> = self.trace.iter().map(Value::to_string).collect();
        format!(
            "code {:?} after {:?}; {} requests, {} of the conversation\n== stdout\n{}\n== stderr\n{}\n\
             == results\n{}\n== trace\n{}",
            self.finished.code,
            self.finished.took,
            self.requests.len(),
            self.main().count(),
            tail(&self.finished.stdout),
            tail(&self.finished.stderr),
            tail(&results),
            tail(&trace.join("\n")),
        )
    }
}

/// The machine.
#[derive(Debug)]
pub struct World {
    /// The folders, and our program in them.
    pub sandbox: Sandbox,
    client: &'static dyn Client,
    program: Program,
    model: Model,
}

impl World {
    /// A machine with `client` on it, settled as a user has it, and our program installed where
    /// `cargo install` puts it. `ws/` is a git repository; the client trusts it, and `other/`.
    pub fn new(binary: &Path, client: &'static dyn Client, program: Program) -> Self {
        Self::around(Sandbox::new(binary), client, program)
    }

    /// A machine around folders that are there.
    pub(crate) fn around(
        mut sandbox: Sandbox,
        client: &'static dyn Client,
        program: Program,
    ) -> Self {
        sandbox.install();
        for folder in ["tmp", "other", "home/.cache"] {
            std::fs::create_dir_all(sandbox.dir().join(folder)).expect("creates a folder");
        }
        sandbox.set("PATH", path(&sandbox));
        sandbox.git(&["init", "--quiet"]);
        let world = Self { sandbox, client, program, model: Model::start() };
        let (dir, home, model) = (world.sandbox.dir(), world.sandbox.home(), world.model.url());
        client.settle(Place { dir: &dir, home: &home, model: &model });
        world
    }

    /// The client.
    pub fn client(&self) -> &'static dyn Client {
        self.client
    }

    /// Where our program is.
    pub fn own_program(&self) -> &Path {
        self.sandbox.binary()
    }

    /// `init` with this agent and further arguments; in the workspace, so it syncs too.
    pub fn init(&self, args: &[&str]) -> Run {
        self.init_in("ws", args)
    }

    /// `init` in a folder below the sandbox's.
    pub fn init_in(&self, folder: &str, args: &[&str]) -> Run {
        let mut all = vec!["init", "--add-agent", self.client.agent()];
        if self.client.agent() == "codex" {
            all.push("--trust-codex-hooks");
        }
        all.extend(args);
        self.sandbox.run_in(folder, &all).ok()
    }

    /// `init` by somebody else, whose home folder is of this name, with this agent and further
    /// arguments.
    ///
    /// # Panics
    /// When it fails.
    pub fn init_as(&self, who: &str, args: &[&str]) {
        let home = self.sandbox.dir().join(who);
        std::fs::create_dir_all(&home).expect("creates a folder");
        let mut command = self.sandbox.command(&["init", "--add-agent", self.client.agent()]);
        command.args(args).env("HOME", &home).env("CARGO_HOME", home.join(".cargo"));
        let output = command.stdin(std::process::Stdio::null()).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
    }

    /// `sync`.
    pub fn sync(&self) -> Run {
        self.sandbox.run(&["sync"]).ok()
    }

    /// A prompt in the workspace, with a script that it must play to its end.
    pub fn turn(&self, script: &[Step]) -> Turn {
        self.try_turn("ws", "Please do as you think best.", script).complete()
    }

    /// A prompt in a folder below the sandbox's, however it ends.
    pub fn try_turn(&self, folder: &str, prompt: &str, script: &[Step]) -> Turn {
        self.prompt(folder, Prompt { text: prompt, resume: false, unreviewed: false }, script)
    }

    /// A further prompt of the session before.
    pub fn resume(&self, prompt: &str, script: &[Step]) -> Turn {
        self.prompt("ws", Prompt { text: prompt, resume: true, unreviewed: false }, script)
    }

    /// As [`World::turn`], with hooks that the user did not review.
    pub fn turn_with_unreviewed_hooks(&self, script: &[Step]) -> Turn {
        let text = "Please do as you think best.";
        self.prompt("ws", Prompt { text, resume: false, unreviewed: true }, script).complete()
    }

    /// Asks the client, with its own command, which servers it would use in the workspace. `None`
    /// when it has no such command.
    ///
    /// # Panics
    /// When the command fails.
    pub fn listed_servers(&self) -> Option<String> {
        self.own_command(|place| self.client.list_servers(&self.program, place))
    }

    /// Has the client add a server of the user's, with its own command. `None` when it has no such
    /// command.
    ///
    /// # Panics
    /// When the command fails.
    pub fn add_server(&self, name: &str, command: &[String]) -> Option<String> {
        self.own_command(|place| self.client.add_server(&self.program, place, name, command))
    }

    /// Gives the user hooks of their own that note their events in `log`, and tells whether there
    /// can be any.
    pub fn add_hooks(&self, log: &Path) -> bool {
        let (dir, home, model) = (self.sandbox.dir(), self.sandbox.home(), self.model.url());
        self.client.add_hooks(Place { dir: &dir, home: &home, model: &model }, log)
    }

    /// Runs our program where the client is on the `PATH` and its model plays `script`: what came of it, and
    /// what the model was asked.
    ///
    /// # Panics
    /// When the program can't be started.
    pub fn run_beside_client(&self, args: &[&str], script: &[Step]) -> (Run, Vec<Request>) {
        self.play(script);
        let (dir, home, model) = (self.sandbox.dir(), self.sandbox.home(), self.model.url());
        let start =
            self.client.start(&self.program, Place { dir: &dir, home: &home, model: &model });
        let words = std::iter::once(start.get_program()).chain(start.get_args());
        let words: Vec<String> =
            words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        let name = format!("bin/{}", self.client.agent());
        self.sandbox.program(&name, &format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")));
        let mut command = Command::new(self.sandbox.binary());
        command.args(args);
        for (name, value) in start.get_envs() {
            command.envs(value.map(|value| (name, value)));
        }
        self.surround(&mut command, &dir.join("trace.jsonl"));
        let inherited = path(&self.sandbox);
        let folders = std::iter::once(dir.join("bin")).chain(std::env::split_paths(&inherited));
        command.env("PATH", std::env::join_paths(folders).expect("no separator in a name"));
        command.current_dir(self.sandbox.ws());
        (Run::of(&mut command, b""), self.model.requests())
    }

    /// Has the model play `script`.
    fn play(&self, script: &[Step]) {
        let reply = |step: &Step| match step {
            Step::Say(words) => Reply::Say(words.clone()),
            Step::Do(action) => Reply::Call(vec![self.client.call(action)]),
        };
        self.model.play(script.iter().map(reply).collect());
    }

    fn own_command(&self, command: impl FnOnce(Place<'_>) -> Option<Command>) -> Option<String> {
        let (dir, home, model) = (self.sandbox.dir(), self.sandbox.home(), self.model.url());
        let mut command = command(Place { dir: &dir, home: &home, model: &model })?;
        self.surround(&mut command, &dir.join("trace-of-commands.jsonl"));
        command.current_dir(self.sandbox.ws());
        let finished = clients::finish(&mut command, TURN_LIMIT, &dir);
        let said = format!("{}{}", finished.stdout, finished.stderr);
        assert_eq!(finished.code, Some(0), "{command:?} after {:?}\n{said}", finished.took);
        Some(said)
    }

    fn prompt(&self, folder: &str, prompt: Prompt<'_>, script: &[Step]) -> Turn {
        self.play(script);
        let (dir, home, model) = (self.sandbox.dir(), self.sandbox.home(), self.model.url());
        let place = Place { dir: &dir, home: &home, model: &model };
        let trace = dir.join("trace.jsonl");
        let _ = std::fs::remove_file(&trace);
        let mut command = self.client.command(&self.program, place, prompt);
        self.surround(&mut command, &trace);
        command.current_dir(dir.join(folder));
        let finished = clients::finish(&mut command, TURN_LIMIT, &dir);
        let lines = std::fs::read_to_string(trace).unwrap_or_default();
        Turn {
            finished,
            requests: self.model.requests(),
            left: self.model.left(),
            trace: lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        }
    }

    /// The environment of a client: what it sets itself, and no more than a user has. All of it is
    /// inside the sandbox.
    fn surround(&self, command: &mut Command, trace: &Path) {
        let own: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let (dir, home) = (self.sandbox.dir(), self.sandbox.home());
        command
            .env_clear()
            .env("HOME", &home)
            .env("PATH", path(&self.sandbox))
            .env("TMPDIR", dir.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("SYMPOSIUM_HOOK_TRACE", trace)
            // It would outlive the turn, and the folder.
            .env("SYMPOSIUM_NO_BACKGROUND", "1")
            .envs(self.sandbox.switches())
            .envs(own);
    }
}

/// `PATH` as a user of cargo has it, with what the clients need.
fn path(sandbox: &Sandbox) -> std::ffi::OsString {
    let mut folders = vec![sandbox.home().join(".cargo/bin")];
    folders.extend(clients::tool_folders());
    folders.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    // Explicit commands ask cargo.
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    folders
        .extend(std::env::split_paths(&inherited).filter(|folder| folder.join("cargo").is_file()));
    std::env::join_paths(folders).expect("no folder has a separator in its name")
}
