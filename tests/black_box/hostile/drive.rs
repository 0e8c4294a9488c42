//! Every command and every event over one hostile place, and what must hold of each run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use symposium_testlib::simulated::SimulatedTurn;
use symposium_testlib::{AGENTS, HookAgent, HookStep, Run, Sandbox, Tree};

use crate::hook_kit::{configure, logs};
use crate::skill;

/// Stands in every file outside, none of which is anybody's to show or copy.
const SECRET: &str = "c4nary-of-the-user";
/// The seconds that a run takes at most: a debug build on a busy machine, with git and cargo beside it.
const TIME: u64 = 120;
/// The addresses that a run may have, in KB.
const MEMORY: u64 = 1_500_000;

/// A place with a user's secrets beside it, into which an attack is put.
pub(super) struct Place {
    pub sandbox: Sandbox,
    said: String,
    /// Further command lines that the attack is about.
    pub more: Vec<Vec<OsString>>,
    outside: Option<Tree>,
    brief: bool,
}

impl Place {
    /// All agents; a workspace that uses `widget`, of which the sources are there; and the plugin `trap`
    /// with one of everything.
    pub(super) fn new() -> Self {
        let mut sandbox = crate::sandbox();
        configure(&sandbox, &AGENTS, "");
        sandbox.set("CARGO_NET_OFFLINE", "true");
        sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
        sandbox.package(&[("widget", "1.2.3")]);
        sandbox.registry_crate(
            "widget",
            "1.2.3",
            &[
                ("src/lib.rs", "pub struct Trap;\n"),
                ("CHANGELOG.md", "## 1.2.3\n- `Trap` is new.\n"),
                ("skills/of-widget/SKILL.md", &skill("of-widget", "d")),
            ],
        );
        sandbox.user_plugin(
            "trap/SYMPOSIUM.toml",
            "name = \"trap\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
             [[skills]]\nsource = \"crate\"\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = { script = \"hook.sh\" }\n\
             [[mcp_servers]]\nname = \"served\"\ncommand = \"true\"\n\
             [subcommand.trap]\ndescription = \"d\"\ncommand = \"true\"\n",
        );
        sandbox.user_plugin("trap/hook.sh", "cat >/dev/null\n");
        sandbox.user_plugin("trap/skills/of-trap/SKILL.md", &skill("of-trap", "d"));
        sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "d"));
        sandbox.write("outside/secret/SKILL.md", skill("stolen", SECRET));
        sandbox.write("outside/secret/file.md", SECRET);
        sandbox.write("outside/Cargo.toml", format!("# {SECRET}\n[package]\nname = \"stolen\"\n"));
        sandbox.write("home/.ssh/id", SECRET);
        let place =
            Self { sandbox, said: String::new(), more: Vec::new(), outside: None, brief: false };
        place
            .sandbox
            .program("outside/bin/run", &format!("#!/bin/sh\n{}\n", place.leaves_a_mark()));
        place
    }

    /// As [`Place::new`], for an attack that comes in a dozen forms: over each of them go, unless
    /// `SYMPOSIUM_TEST_HOSTILE` is set, only the commands that differ in what they read.
    pub(super) fn one_of_many() -> Self {
        Self { brief: std::env::var_os("SYMPOSIUM_TEST_HOSTILE").is_none(), ..Self::new() }
    }

    /// A command for a shell that must never run.
    pub(super) fn leaves_a_mark(&self) -> String {
        format!("touch {}", self.sandbox.dir().join("ran").display())
    }

    /// What lies outside, and nobody may read into anything.
    pub(super) fn outside(&self) -> PathBuf {
        self.sandbox.dir().join("outside")
    }

    pub(super) fn also<S: AsRef<OsStr>>(&mut self, args: &[S]) {
        self.more.push(args.iter().map(|arg| arg.as_ref().to_owned()).collect());
    }

    /// Every command and every event; `said` is what they have to say of it, each of its entries
    /// somewhere.
    pub(super) fn endures(mut self, said: &[&str]) {
        self.outside = Some(Tree::of(&self.outside()));
        self.sessions_begin();
        for command in commands(BEFORE_EVENTS, self.brief) {
            self.command(command);
        }
        for more in std::mem::take(&mut self.more) {
            self.run(&more, b"", &[0, 1, 2]);
        }
        self.events();
        for command in commands(AFTER_EVENTS, self.brief) {
            self.command(command);
        }
        self.nothing_got_out("once it is all taken back");
        let log = logs(&self.sandbox);
        for words in said {
            let is_said = self.said.contains(words) || log.contains(words);
            if !is_said {
                self.sandbox.write("said", &self.said);
            }
            assert!(is_said, "nothing says `{words}`; all that was said is in the file `said`");
        }
    }

    fn command(&mut self, line: &str) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let stdin = if line == "mcp --offline" { mcp_session() } else { String::new() };
        self.run(&args, stdin.as_bytes(), &[0, 1]);
        if line == "sync" {
            self.nothing_got_out("after a sync");
        }
    }

    fn run(&mut self, args: &[OsString], stdin: &[u8], codes: &[i32]) {
        let what = args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let what: String = what.chars().take(120).collect();
        let run = self.bounded(args, stdin);
        assert!(codes.contains(&run.code), "`{what}` ends with {}:\n{}", run.code, run.stderr);
        self.shows_nothing(&what, &run);
        assert!(!self.sandbox.has("ran"), "`{what}` runs the attacker's program");
        let printed = format!(" {} {}", run.stdout, run.stderr);
        self.said.extend(printed.split_whitespace().flat_map(|word| [word, " "]));
    }

    /// Neither a secret, nor letters that steer a terminal or turn a text, nor a panic.
    fn shows_nothing(&self, what: &str, run: &Run) {
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(SECRET), "`{what}` shows what is outside:\n{text}");
            let found = text.chars().find(|letter| is_misleading(*letter));
            assert_eq!(found, None, "`{what}` prints {found:?}:\n{text:?}");
            assert!(!text.contains("panicked at"), "`{what}`:\n{text}");
        }
    }

    fn bounded(&self, args: &[OsString], stdin: &[u8]) -> Run {
        let limits = format!("ulimit -v {MEMORY}; exec timeout -s KILL {TIME} \"$@\"");
        let mut command = self.sandbox.shell(&limits);
        command.arg("sh").arg(self.sandbox.binary()).args(args).stdout(Stdio::piped());
        Run::of(&mut command, stdin)
    }

    fn events(&mut self) {
        let ws = self.sandbox.ws();
        let turn = SimulatedTurn { session: "s", prompt: "please widget", cwd: &ws };
        let mut steps = vec![
            HookStep::session_start(),
            HookStep::user_prompt_submit(),
            HookStep::pre_tool_use("cargo check"),
            HookStep::post_tool_use(
                "cargo check",
                "error[E0432]: unresolved import `widget::Gone`",
            ),
        ];
        if self.brief {
            steps.truncate(3);
            steps.remove(1);
        }
        for agent in HookAgent::ALL {
            for step in &steps {
                self.event(agent.name(), step.event(), &agent.payload(step, turn));
            }
            if !self.brief {
                let payload = agent.payload(&HookStep::SessionStart, turn);
                self.event(agent.name(), "stop", &payload);
            }
        }
        let log = logs(&self.sandbox);
        assert!(!log.contains("panicked at") && !log.contains(SECRET), "{log}");
    }

    fn sessions_begin(&mut self) {
        let ws = self.sandbox.ws();
        let turn = SimulatedTurn { session: "first", prompt: "", cwd: &ws };
        for agent in HookAgent::ALL {
            let payload = agent.payload(&HookStep::SessionStart, turn);
            self.event(agent.name(), "session-start", &payload);
        }
    }

    fn event(&mut self, agent: &str, event: &str, payload: &Value) {
        let args = ["hook", agent, event].map(OsString::from);
        self.run(&args, payload.to_string().as_bytes(), &[0]);
    }

    /// What is outside is as it was, and nowhere else.
    fn nothing_got_out(&self, when: &str) {
        let now = Tree::of(&self.outside());
        let before = self.outside.as_ref().expect("taken at the beginning");
        assert_eq!(now.changes_since(before), [""; 0], "{when}");
        for folder in ["home", "ws"] {
            let all = walkdir::WalkDir::new(self.sandbox.dir().join(folder)).into_iter().flatten();
            for entry in all.filter(|entry| entry.file_type().is_file()) {
                let is_small = entry.metadata().is_ok_and(|found| found.len() < 1 << 20);
                if !is_small || entry.path().ends_with(".ssh/id") {
                    continue;
                }
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                let found = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
                assert!(!found, "{when}: {}", entry.path().display());
            }
        }
    }
}

/// What no message of ours may have, whoever's text is in it.
fn is_misleading(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Every command, those with a `*` also where it is to be brief.
const BEFORE_EVENTS: &str = "
    * status
    * doctor --json
    * why widget
    * plugin list -v
    plugin show trap
    plugin review
    plugin allow trap
    sync --dry-run -v
    * sync --check --json
    * sync
    sync --json
    sync --force --offline
    sync --background
    lock
    sync --locked --check
    use widget
    plugin sync
    plugin update --dry-run
    * plugin validate --no-check-crates . ../home/.symposium/plugins
    plugin validate --no-check-crates --format sarif ../home/.symposium/plugins/trap
    plugin validate --no-check-crates --format json ../home/.cargo/registry/src
    plugin test ../home/.symposium/plugins/trap
    plugin test .agents/skills/own
    plugin publish --dry-run ../home/.symposium/plugins/trap
    plugin export trap --format claude ../exported
    plugin new made --with hook,skills --dir ../made
    plugin schema manifest
    plugin explain S001
    crate-info widget
    * crate-info widget Trap
    crate-info widget --since 0.1.0
    * mcp --offline
    trap
    run-server served
    init --add-agent claude --hook-scope project --mcp
    init --hook-scope global --no-mcp
    self-update --check --offline
    completions bash
    man ../man
    complete 2 cargo-agents plugin show
    help";

/// As [`BEFORE_EVENTS`], where the agents have what there is.
const AFTER_EVENTS: &str = "
    status -v
    status --json
    status --use
    * doctor -v
    doctor --fix
    why of-trap
    why own --json
    plugin review trap
    plugin list --json
    plugin show trap --json
    plugin deny trap
    use widget --remove
    sync -v
    uninstall --dry-run
    * uninstall --all-workspaces";

/// Every command, in an order in which each has something to do.
pub(crate) fn every_command() -> impl Iterator<Item = &'static str> {
    commands(BEFORE_EVENTS, false).chain(commands(AFTER_EVENTS, false))
}

fn commands(all: &'static str, brief: bool) -> impl Iterator<Item = &'static str> {
    let lines = all.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter_map(move |line| match line.strip_prefix("* ") {
        Some(line) => Some(line),
        None => (!brief).then_some(line),
    })
}

/// A client that calls every tool.
pub(crate) fn mcp_session() -> String {
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let call = |tool, arguments| ("tools/call", json!({"name": tool, "arguments": arguments}));
    let asked = [
        ("initialize", hello),
        ("tools/list", json!({})),
        call("dependencies", json!({})),
        call("crate_info", json!({"name": "widget"})),
        call("crate_changes", json!({"name": "widget", "since": "0.1.0"})),
        call("crate_item", json!({"name": "widget", "path": "Trap"})),
        call("skills", json!({})),
        call("read_skill", json!({"name": "own"})),
    ];
    let mut lines = String::new();
    for (id, (method, params)) in asked.into_iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        lines.push_str(&format!("{request}\n"));
        if id == 0 {
            lines.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        }
    }
    lines
}

/// Bytes as an argument or a name.
pub(super) fn os(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

/// Runs `test` for each of `cases`, two at a time: more would only wait for each other.
pub(super) fn two_at_a_time<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    for pair in cases.chunks(2) {
        crate::hook_kit::in_parallel(pair, &test);
    }
}
