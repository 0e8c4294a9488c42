//! Goose and Kiro, played by their rules ([`symposium_testlib::readers`]): what `tests/real_agents`
//! shows of the clients that can be run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use symposium_testlib::readers::{Effect, GOOSE_CONFIG, Loaded, Reader, Server};
use symposium_testlib::{HookStep, Sandbox};

use crate::NO_BUILTIN;

const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];
const CARE: &str = "Take care of widgets, as a gardener would.";
const RULES: &str = "Keep to the rules of this very house.";

/// A machine with our program where `cargo install` puts it, and a client that is played.
struct Stage {
    reader: Reader,
    sandbox: Sandbox,
}

impl Stage {
    fn new(reader: Reader) -> Self {
        let mut sandbox = crate::sandbox();
        sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
        sandbox.install();
        let inherited = std::env::var_os("PATH").expect("a PATH");
        let others = std::env::split_paths(&inherited).filter(|folder| {
            !folder.join("cargo-agents").exists() && !folder.join("kiro-cli").exists()
        });
        let own = [sandbox.home().join(".cargo/bin"), sandbox.dir().join("bin")];
        let path = std::env::join_paths(own.into_iter().chain(others)).expect("a PATH");
        sandbox.set("PATH", path);
        sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
        if let Some(version) = reader.kiro_version() {
            sandbox.program("bin/kiro-cli", &format!("#!/bin/sh\necho '{version}'\n"));
        }
        sandbox.package(&[]);
        sandbox.git(&["init", "-q"]);
        Self { reader, sandbox }
    }

    /// A plugin for every workspace with a script for each of these events.
    fn plugin(&self, name: &str, more: &str, hooks: &[(&str, String)]) {
        let mut manifest = format!("name = \"{name}\"\ncrates = [\"*\"]\n");
        for (event, script) in hooks {
            manifest.push_str(&format!(
                "\n[[hooks]]\nname = \"{event}\"\nevent = \"{event}\"\n{more}\ncommand = {{ script = \
                 \"{event}.sh\" }}\n"
            ));
            self.sandbox.user_plugin(&format!("{name}/{event}.sh"), script);
        }
        self.sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
    }

    /// A plugin that notes each event and gives context with it.
    fn noting(&self) {
        let log = self.sandbox.dir().join("calls");
        let script = |event: &str| {
            let answer = json!({ event: { "additionalContext": format!("CONTEXT-OF-{event}") } });
            format!("cat >/dev/null\necho {event} >>'{}'\nprintf '%s' '{answer}'\n", log.display())
        };
        self.plugin("probe", "", &EVENTS.map(|event| (event, script(event))));
    }

    /// A crate with a skill and two servers for whoever depends on it.
    fn widget(&self) {
        let skill =
            format!("---\nname: widget-care\ndescription: {CARE}\n---\n\nSee `details.md`.\n");
        let files = [
            ("skills/widget-care/SKILL.md", skill.as_str()),
            ("skills/widget-care/details.md", "NEVER-AT-NOON"),
        ];
        self.sandbox.registry_crate("widget", "1.0.0", &files);
        let manifest = "name = \"w\"\ncrates = [\"widget\"]\n\n[[skills]]\nsource = \"crate\"\n\n\
                        [[mcp_servers]]\nname = \"local1\"\ncommand = \"widget-mcp\"\nargs = \
                        [\"--all\"]\nenv = { TOKEN = \"t\" }\n\n[[mcp_servers]]\nname = \
                        \"web1\"\ntype = \"http\"\nurl = \"https://mcp.example.com/w\"\nheaders = { \
                        A = \"b\" }\n";
        self.sandbox.user_plugin("w/SYMPOSIUM.toml", manifest);
    }

    fn depend(&self) {
        self.sandbox.package(&[("widget", "1.0.0")]);
    }

    fn init(&self, args: &[&str]) {
        let agent = self.reader.agent();
        self.sandbox.run(&[&["init", "--add-agent", agent], args].concat()).ok();
    }

    /// What the client has in the workspace, all of which it takes.
    fn load(&self) -> Loaded {
        self.load_in("ws")
    }

    fn load_in(&self, folder: &str) -> Loaded {
        let loaded = self.reader.load(&self.sandbox.home(), &self.sandbox.dir().join(folder));
        assert_eq!(loaded.refused, [], "{:?}", self.reader);
        loaded
    }

    /// One event of a session.
    fn fire(&self, session: &str, step: &HookStep) -> Vec<Effect> {
        self.reader.fire(&self.sandbox, &self.load(), session, step)
    }

    /// A turn in which a shell command runs: what came of each event.
    fn turn(&self, session: &str) -> BTreeMap<&'static str, Vec<Effect>> {
        let steps = [
            HookStep::session_start(),
            HookStep::user_prompt_submit(),
            HookStep::pre_tool_use("echo hi"),
            HookStep::post_tool_use("echo hi", "hi"),
        ];
        steps.iter().map(|step| (step.canonical(), self.fire(session, step))).collect()
    }

    fn takes_context(&self) -> bool {
        self.reader != Reader::Goose
    }

    /// The servers of the widget, by the client's files.
    fn has_servers(&self, loaded: &Loaded) -> bool {
        let map = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let command = ["widget-mcp", "--all"].map(str::to_owned).to_vec();
        let program = Server::Program { command, env: map("TOKEN", "t") };
        let url = "https://mcp.example.com/w".to_owned();
        let web = Server::Http { url, headers: map("A", "b") };
        loaded.servers.get("local1") == Some(&program) && loaded.servers.get("web1") == Some(&web)
    }

    /// The user's own hook, server and skill.
    fn own_things(&self) {
        let note = format!("echo mine >>'{}'", self.sandbox.dir().join("own-calls").display());
        let skill = "---\nname: cat-care\ndescription: Feed the cat.\n---\n\nTwice a day.\n";
        if self.reader == Reader::Goose {
            let hook = json!({ "type": "command", "command": note });
            let hooks = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } });
            self.write_json("home/.agents/plugins/mine/hooks/hooks.json", &hooks);
            let config = "# mine\nGOOSE_MODEL: m\nextensions:\n  mine:\n    enabled: true\n    type: \
                          stdio\n    name: mine\n    cmd: mine\n    args: []\n";
            self.sandbox.write(GOOSE_CONFIG, config);
            self.sandbox.write("ws/.agents/skills/cat-care/SKILL.md", skill);
            return;
        }
        let action = json!({ "type": "command", "command": note });
        let hook = json!({ "name": "mine", "trigger": "PreToolUse", "action": action });
        self.write_json("home/.kiro/hooks/mine.json", &json!({ "version": "v1", "hooks": [hook] }));
        let servers = json!({ "mcpServers": { "mine": { "command": "mine", "args": [] } } });
        self.write_json("home/.kiro/settings/mcp.json", &servers);
        self.sandbox.write("ws/.kiro/skills/cat-care/SKILL.md", skill);
    }

    fn write_json(&self, path: &str, value: &serde_json::Value) {
        self.sandbox.write(path, format!("{value:#}\n"));
    }

    /// Our hooks among those that are loaded.
    fn ours(loaded: &Loaded) -> usize {
        loaded.hooks.iter().filter(|hook| hook.command.contains("cargo-agents")).count()
    }
}

/// How many hooks we have there where no plugin wants the end of a turn: a project's files have that one
/// for whoever has such a plugin.
fn hooks(scope: &str) -> usize {
    if scope == "project" { 5 } else { 4 }
}

fn each(test: impl Fn(Stage)) {
    Reader::ALL.into_iter().for_each(|reader| test(Stage::new(reader)));
}

#[test]
fn each_event_is_answered_once_in_each_scope_and_in_both() {
    each(|stage| {
        stage.noting();
        for (number, scope) in ["global", "project", "both"].into_iter().enumerate() {
            if scope == "both" {
                let colleague = stage.sandbox.dir().join("colleague");
                let add = ["init", "--add-agent", stage.reader.agent(), "--hook-scope", "project"];
                let mut command = stage.sandbox.command(&add);
                command.env("HOME", &colleague).env("CARGO_HOME", colleague.join(".cargo"));
                assert!(command.output().expect("starts").status.success());
                stage.sandbox.git(&["add", "-A"]);
                stage.sandbox.git(&["commit", "-qm", "start"]);
                stage.init(&["--hook-scope", "global"]);
                assert_eq!(stage.sandbox.git(&["status", "--porcelain"]), "");
            } else {
                stage.init(&["--hook-scope", scope]);
            }
            let (of_home, of_project) = (hooks("global"), hooks("project"));
            let expected = match scope {
                "both" if stage.reader == Reader::Kiro3 => vec![of_home + of_project],
                // The others take one file of the two.
                "both" => vec![of_home, of_project],
                scope => vec![hooks(scope)],
            };
            let ours = Stage::ours(&stage.load());
            assert!(expected.contains(&ours), "{:?} {scope}: {ours}", stage.reader);
            let effects = stage.turn(&format!("session-{number}"));
            assert_eq!(stage.sandbox.read("calls").lines().collect::<Vec<_>>(), EVENTS);
            for event in EVENTS {
                let words = format!("CONTEXT-OF-{event}");
                let contexts = effects[event].iter().filter_map(|effect| effect.context.as_deref());
                let told = contexts.filter(|context| context.contains(&words)).count();
                assert_eq!(told, usize::from(stage.takes_context()), "{:?} {event}", stage.reader);
            }
            std::fs::remove_file(stage.sandbox.dir().join("calls")).expect("it was there");
            if scope == "project" {
                stage.sandbox.run(&["uninstall"]).ok();
                assert_eq!(stage.load().hooks, []);
            }
        }
    });
}

#[test]
fn a_denial_refuses_the_tool_and_a_rewrite_changes_nothing() {
    each(|stage| {
        let canonical = json!({ "PreToolUse": { "decision": "deny", "reason": "NOT-THAT" } });
        let rewrite = json!({ "PreToolUse": { "updatedInput": { "command": "echo new" } } });
        let scripts = [
            (format!("cat >/dev/null\nprintf '%s' '{canonical}'\n"), true),
            ("cat >/dev/null\necho NOT-THAT >&2\nexit 2\n".to_owned(), true),
            (format!("cat >/dev/null\nprintf '%s' '{rewrite}'\n"), false),
        ];
        for (number, (script, denies)) in scripts.into_iter().enumerate() {
            stage.plugin("guard", "", &[("PreToolUse", script)]);
            stage.init(&[]);
            let session = format!("session-{number}");
            let effects = stage.fire(&session, &HookStep::pre_tool_use("echo hi"));
            let blocked: Vec<_> = effects.iter().filter_map(|one| one.blocked.as_deref()).collect();
            assert_eq!(blocked.iter().any(|why| why.contains("NOT-THAT")), denies, "{effects:?}");
            assert_eq!(blocked.len(), usize::from(denies));
            if !denies {
                assert_eq!(effects, [Effect::default()], "{:?} can't rewrite", stage.reader);
            }
        }
    });
}

#[test]
fn a_prompt_is_kept_back_by_version_3_of_kiro_alone() {
    each(|stage| {
        let deny = json!({ "UserPromptSubmit": { "decision": "deny", "reason": "NOT-NOW" } });
        let script = format!("cat >/dev/null\nprintf '%s' '{deny}'\n");
        stage.plugin("guard", "", &[("UserPromptSubmit", script)]);
        stage.init(&[]);
        let effects = stage.fire("s", &HookStep::user_prompt_submit());
        let blocked = effects.iter().any(|effect| effect.blocked.is_some());
        assert_eq!(blocked, stage.reader == Reader::Kiro3, "{effects:?}");
    });
}

#[test]
fn whatever_goes_wrong_nothing_is_blocked() {
    each(|stage| {
        let all = |script: &str| EVENTS.map(|event| (event, script.to_owned()));
        stage.plugin("crash", "", &all("echo OUT\necho ERR >&2\nkill -9 $$\n"));
        stage.plugin("exit", "", &all("cat >/dev/null\necho ERR >&2\nexit 7\n"));
        stage.plugin("hang", "timeout = 1", &all("echo OUT\nsleep 600\n"));
        stage.plugin("garbage", "", &all("printf '{\"PreToolUse\": [OUT'\nprintf '\\377\\0{}'\n"));
        stage.init(&[]);
        let began = Instant::now();
        let nothing = |effects: BTreeMap<&str, Vec<Effect>>| {
            for (event, effects) in effects {
                assert_eq!(effects, [Effect::default()], "{:?} {event}", stage.reader);
            }
        };
        nothing(stage.turn("failing"));
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        let program = stage.sandbox.binary().to_path_buf();
        std::fs::remove_file(&program).expect("our program goes");
        nothing(stage.turn("gone"));
        stage.sandbox.program("home/.cargo/bin/cargo-agents", "#!/bin/sh\necho B >&2\nexit 101\n");
        nothing(stage.turn("crashing"));
    });
}

#[test]
fn skills_are_offered_once_each_can_be_read_and_go() {
    each(|stage| {
        stage.widget();
        let own = format!("---\nname: house-rules\ndescription: {RULES}\n---\n\nBe kind.\n");
        stage.sandbox.write("ws/.agents/skills/house-rules/SKILL.md", own);
        stage.depend();
        stage.init(&[]);
        let loaded = stage.load();
        for (name, description) in [("widget-care", CARE), ("house-rules", RULES)] {
            let skills = loaded.skills_named(name);
            let said: Vec<&str> = skills.iter().map(|skill| skill.description.as_str()).collect();
            assert_eq!(said, [description], "{:?}", stage.reader);
        }
        let folder = &loaded.skills_named("widget-care")[0].folder;
        let file = std::fs::read_to_string(folder.join("details.md")).expect("it is there");
        assert_eq!(file, "NEVER-AT-NOON");
        stage.sandbox.package(&[]);
        stage.sandbox.run(&["sync"]).ok();
        let loaded = stage.load();
        assert!(loaded.skills_named("widget-care").is_empty());
        assert_eq!(loaded.skills_named("house-rules").len(), 1);
    });
}

#[test]
fn a_skill_that_comes_during_a_session_is_told_where_context_is_taken_and_offered_next() {
    each(|stage| {
        stage.widget();
        stage.init(&[]);
        stage.fire("s", &HookStep::session_start());
        stage.depend();
        let told = |step: &HookStep| {
            let effects = stage.fire("s", step).into_iter().filter_map(|effect| effect.context);
            effects.map(|context| context.matches(CARE).count()).sum::<usize>()
        };
        let after = told(&HookStep::post_tool_use("cargo add widget", ""));
        assert_eq!(after, usize::from(stage.takes_context()), "{:?}", stage.reader);
        assert_eq!(told(&HookStep::post_tool_use("ls", "")), 0, "it was told before");
        assert_eq!(stage.load().skills_named("widget-care").len(), 1, "the next session");
    });
}

#[test]
fn the_first_session_of_a_workspace_is_told_of_its_skills() {
    each(|stage| {
        stage.widget();
        stage.depend();
        // Outside of any workspace.
        let agent = stage.reader.agent();
        stage.sandbox.run_in("home", &["init", "--add-agent", agent]).ok();
        assert!(stage.load().skills.is_empty(), "it synced");
        let effects = stage.fire("s", &HookStep::session_start());
        let told = effects.iter().filter_map(|effect| effect.context.as_deref());
        let told = told.filter(|context| context.contains(CARE)).count();
        assert_eq!(told, usize::from(stage.takes_context()), "{:?}", stage.reader);
        assert_eq!(stage.load().skills_named("widget-care").len(), 1, "the next session");
    });
}

#[test]
fn servers_are_there_in_their_workspace_only_and_go() {
    each(|stage| {
        stage.widget();
        for scope in ["global", "project"] {
            stage.depend();
            stage.init(&["--hook-scope", scope]);
            assert!(stage.has_servers(&stage.load()), "{:?}: {:?}", stage.reader, stage.load());
            stage
                .sandbox
                .write("other/Cargo.toml", "[package]\nname = \"o\"\nversion = \"0.1.0\"\n");
            let lock = "version = 4\n\n[[package]]\nname = \"o\"\nversion = \"0.1.0\"\n";
            stage.sandbox.write("other/Cargo.lock", lock);
            stage.sandbox.write("other/src/lib.rs", "");
            stage.sandbox.run_in("other", &["sync"]).ok();
            assert!(stage.load_in("other").servers.is_empty(), "{:?} {scope}", stage.reader);
            stage.sandbox.package(&[]);
            stage.sandbox.run(&["sync"]).ok();
            assert!(stage.load().servers.is_empty(), "{:?} {scope}", stage.reader);
        }
    });
}

#[test]
fn the_user_s_own_things_are_there_throughout_and_nothing_of_ours_is_left() {
    each(|stage| {
        stage.own_things();
        let before = stage.load();
        assert!(before.servers.contains_key("mine") || stage.reader == Reader::Kiro2);
        stage.widget();
        stage.noting();
        for scope in ["global", "project"] {
            stage.depend();
            stage.init(&["--hook-scope", scope]);
            let with = stage.load();
            let ours = (stage.has_servers(&with), Stage::ours(&with));
            assert_eq!(ours, (true, hooks(scope)), "{:?} {scope}", stage.reader);
            keeps(&stage, &before, &with);
            // Hooks of the user's are run beside ours.
            let mine = before.hooks.len();
            let ran = stage.fire(scope, &HookStep::pre_tool_use("echo hi"));
            assert_eq!(ran.len(), 1 + mine, "{:?}", stage.reader);
            let noted = stage.sandbox.has("own-calls").then(|| stage.sandbox.read("own-calls"));
            assert_eq!(noted.unwrap_or_default(), "mine\n".repeat(mine));
            let _ = std::fs::remove_file(stage.sandbox.dir().join("own-calls"));
            stage.sandbox.package(&[]);
            stage.sandbox.run(&["sync"]).ok();
            keeps(&stage, &before, &stage.load());
            stage.sandbox.run(&["uninstall"]).ok();
            assert_eq!(stage.load(), before, "{:?} {scope}", stage.reader);
        }
    });
}

/// What the user has is among what is loaded. Version 2 of Kiro has servers and skills for the agent
/// that was chosen; before ours is there, nobody chose one.
fn keeps(stage: &Stage, before: &Loaded, now: &Loaded) {
    assert!(before.hooks.iter().all(|hook| now.hooks.contains(hook)), "{:?}", stage.reader);
    assert!(now.servers.contains_key("mine"), "{:?}", stage.reader);
    assert_eq!(now.skills_named("cat-care").len(), 1, "{:?}", stage.reader);
}

#[test]
fn what_the_client_writes_meanwhile_stays_and_ours_stay_beside_it() {
    each(|stage| {
        stage.widget();
        stage.depend();
        stage.init(&[]);
        let goose = stage.reader == Reader::Goose;
        let path = if goose { GOOSE_CONFIG } else { "ws/.kiro/settings/mcp.json" };
        // As `goose configure` and `kiro-cli mcp add` leave them: a server more, and one of ours off.
        let text = if stage.sandbox.has(path) { stage.sandbox.read(path) } else { String::new() };
        if goose {
            let more = "extensions:\n  mine:\n    enabled: true\n    type: stdio\n    name: mine\n    \
                        cmd: mine\n    args: []\nplugins:\n  symposium: enabled\n";
            stage.sandbox.write(path, format!("{text}{more}"));
        } else {
            let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            value["mcpServers"]["mine"] = json!({ "command": "mine", "args": [] });
            value["mcpServers"]["web1"]["disabled"] = json!(true);
            stage.write_json(path, &value);
        }
        let run = stage.sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
        let loaded = stage.load();
        assert!(loaded.servers.contains_key("mine") && loaded.servers.contains_key("local1"));
        assert_eq!(loaded.servers.contains_key("web1"), goose, "it was switched off");
        // Ours change, and go.
        stage.sandbox.package(&[]);
        stage.sandbox.run(&["sync"]).ok();
        assert_eq!(stage.load().servers.keys().collect::<Vec<_>>(), ["mine"]);
        stage.sandbox.run(&["uninstall"]).ok();
        let reader = if goose { Reader::Goose } else { Reader::Kiro3 };
        let loaded = reader.load(&stage.sandbox.home(), &stage.sandbox.ws());
        assert_eq!(loaded.servers.keys().collect::<Vec<_>>(), ["mine"], "{:?}", stage.reader);
    });
}
