//! A secret of its own in every place that may hold one: none comes out anywhere, whatever is run and
//! fails.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use symposium_testlib::simulated::SimulatedTurn;
use symposium_testlib::{AGENTS, HookAgent, HookStep, Run, Sandbox};

use crate::hook_kit::logs;
use crate::hostile::drive::{every_command, mcp_session};
use crate::{NO_BUILTIN, skill};

/// How each secret begins; what follows says where it stands.
const CANARY: &str = "c4n4ry-";

/// Where a secret's own place is, below the sandbox's folder: what the user or a plugin's author wrote,
/// and the settings of agents, which need the values of servers.
const OWN_PLACES: [&str; 14] = [
    "home/.symposium/config.toml",
    "home/.symposium/plugins/",
    // What a manifest last said, addresses included: a guard of a source that is away is installed by it.
    "home/.symposium/last-good/",
    "home/.cargo/",
    "home/.gitconfig",
    "home/.netrc",
    "home/.claude.json",
    "home/.config/goose/config.yaml",
    "home/.copilot/mcp-config.json",
    "home/.gemini/",
    "home/.qwen/",
    "home/.kiro/",
    "home/.codex/config.toml",
    "home/.config/opencode/",
];

/// Those in the checkout, and what is exported.
const OWN_PLACES_IN_THE_CHECKOUT: [&str; 13] = [
    // A package says what its manifest says.
    "exported/",
    "ws/Cargo.toml",
    "ws/Cargo.lock",
    "ws/.cargo/config.toml",
    "ws/.mcp.json",
    "ws/.agents/plugins/symposium-servers/",
    "ws/.agents/mcp_config.json",
    "ws/.codex/config.toml",
    "ws/.gemini/settings.json",
    "ws/.qwen/settings.json",
    "ws/.kiro/settings/mcp.json",
    "ws/opencode.json",
    "ws/.github/mcp.json",
];

fn planted() -> Sandbox {
    let mut sandbox = crate::sandbox();
    let agents: String =
        AGENTS.iter().map(|name| format!("[[agent]]\nname = \"{name}\"\n")).collect();
    let sources = [
        "https://me:c4n4ry-source-password@127.0.0.1:1/a/b",
        "https://c4n4ry-source-user@127.0.0.1:1/a/c",
        "https://127.0.0.1:1/a/d?token=c4n4ry-source-query",
        "ssh://me:c4n4ry-ssh-password@127.0.0.1:1/a/e",
        "https://rewritten.invalid/x",
    ];
    let sources = sources
        .iter()
        .enumerate()
        .map(|(number, url)| format!("[[plugin-source]]\nname = \"s{number}\"\ngit = \"{url}\"\n"));
    sandbox.write(
        "home/.symposium/config.toml",
        format!(
            "[logging]\nlevel = \"trace\"\n{agents}{}{NO_BUILTIN}",
            sources.collect::<String>()
        ),
    );
    sandbox.write(
        "home/.gitconfig",
        "[url \"https://me:c4n4ry-rewritten@127.0.0.1:1/\"]\ninsteadOf = https://rewritten.invalid/\n\
         [http]\nextraHeader = \"Authorization: Bearer c4n4ry-git-header\"\n",
    );
    sandbox.write("home/.netrc", "machine 127.0.0.1 login me password c4n4ry-netrc\n");
    sandbox.write(
        "home/.cargo/config.toml",
        "[registries.own]\nindex = \"sparse+https://me:c4n4ry-index@127.0.0.1:1/index/\"\n\
         token = \"c4n4ry-config-token\"\n[http]\nproxy = \"http://me:c4n4ry-cargo-proxy@127.0.0.1:1\"\n",
    );
    sandbox.write(
        "home/.cargo/credentials.toml",
        "[registries.own]\ntoken = \"c4n4ry-credentials\"\n",
    );
    for (name, value) in [
        ("CARGO_REGISTRIES_OWN_TOKEN", "c4n4ry-cargo-variable"),
        ("CARGO_REGISTRY_TOKEN", "c4n4ry-crates-io"),
        ("GITHUB_TOKEN", "c4n4ry-github"),
        ("HTTPS_PROXY", "http://me:c4n4ry-proxy@127.0.0.1:1"),
        ("API_KEY", "c4n4ry-referred-to"),
        ("CARGO_NET_RETRY", "0"),
        ("SYMPOSIUM_NO_BACKGROUND", "1"),
    ] {
        sandbox.set(name, value);
    }
    sandbox.user_plugin(
        "trap/SYMPOSIUM.toml",
        "name = \"trap\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
         [[skills]]\nsource.git = \"https://me:c4n4ry-skills@127.0.0.1:1/s\"\n\
         [[installations]]\nname = \"get\"\nsource = \"binary\"\nurl = \"https://127.0.0.1:1/x?sig=c4n4ry-download\"\n\
         sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\nexecutable = \"x\"\n\
         [[installations]]\nname = \"clone\"\nsource = \"github\"\nurl = \"https://c4n4ry-clone@127.0.0.1:1/x\"\nexecutable = \"x\"\n\
         [[installations]]\nname = \"build\"\nsource = \"cargo\"\ncrate = \"build\"\ngit = \"https://c4n4ry-build@127.0.0.1:1/x\"\n\
         [subcommand.trap]\ndescription = \"d\"\ncommand = \"get\"\n\
         [subcommand.cloned]\ndescription = \"d\"\ncommand = \"clone\"\n\
         [subcommand.built]\ndescription = \"d\"\ncommand = \"build\"\n\
         [[hooks]]\nname = \"fails\"\nevent = \"PreToolUse\"\ncommand = { script = \"fails.sh\" }\n\
         [[hooks]]\nname = \"odd\"\nevent = \"PostToolUse\"\ncommand = { script = \"odd.sh\" }\n\
         [[hooks]]\nname = \"gone\"\nevent = \"UserPromptSubmit\"\ncommand = { script = \"gone.sh\" }\n\
         [[mcp_servers]]\nname = \"served\"\ncommand = \"no-such-program\"\n\
         env = [{ name = \"TOKEN\", value = \"c4n4ry-variable\" }, { name = \"KEY\", value = \"${API_KEY}\" }]\n\
         [[mcp_servers]]\nname = \"web\"\ntype = \"http\"\nurl = \"https://me:c4n4ry-url@127.0.0.1:1/x?key=c4n4ry-url-query\"\n\
         headers = [{ name = \"Authorization\", value = \"Bearer c4n4ry-header\" }]\n\
         [[mcp_servers]]\nname = \"wrong\"\ntype = \"htp\"\nurl = \"https://me:c4n4ry-wrong@127.0.0.1:1/x\"\n\
         headers = [{ name = \"X\", value = \"c4n4ry-wrong-header\" }]\n",
    );
    sandbox.user_plugin("trap/fails.sh", "cat >/dev/null\nexit 7\n");
    sandbox.user_plugin("trap/odd.sh", "cat >/dev/null\necho '{\"no\": '\n");
    sandbox.user_plugin("trap/skills/of-trap/SKILL.md", &skill("of-trap", "d"));
    sandbox.write(
        "home/.claude.json",
        "{\"mcpServers\":{\"web\":{\"type\":\"http\",\"url\":\"https://me:c4n4ry-theirs@h/\",\
         \"headers\":{\"X\":\"c4n4ry-their-header\"}},\"served\":{\"command\":\"x\",\"env\":{\"A\":\"c4n4ry-their-variable\"}}}}\n",
    );
    sandbox.package(&[("widget", "1.2.3")]);
    let manifest = sandbox.read("ws/Cargo.toml");
    sandbox.write(
        "ws/Cargo.toml",
        format!(
            "{manifest}forked = {{ git = \"https://me:c4n4ry-dependency@127.0.0.1:1/f\" }}\n\
             private = {{ version = \"1\", registry = \"own\" }}\n"
        ),
    );
    let lock = sandbox.read("ws/Cargo.lock");
    sandbox.write(
        "ws/Cargo.lock",
        format!(
            "{lock}\n[[package]]\nname = \"forked\"\nversion = \"1.0.0\"\n\
             source = \"git+https://me:c4n4ry-dependency@127.0.0.1:1/f#0123456789012345678901234567890123456789\"\n\
             \n[[package]]\nname = \"private\"\nversion = \"1.0.0\"\n\
             source = \"sparse+https://me:c4n4ry-index@127.0.0.1:1/index/\"\n"
        ),
    );
    sandbox
}

/// The secrets in a text.
fn canaries(text: &str) -> BTreeSet<String> {
    let found = text.match_indices(CANARY).map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        rest[..end.unwrap_or(rest.len())].to_owned()
    });
    found.collect()
}

/// What the user said and an agent did stands nowhere else; what agents are answered may repeat it.
fn keeps_quiet(what: &str, run: &Run) {
    let found = canaries(&format!("{}{}", run.stdout, run.stderr));
    assert!(found.is_empty(), "`{what}` shows {found:?}:\n{}\n{}", run.stdout, run.stderr);
}

fn tell_all_events(sandbox: &Sandbox) {
    let ws = sandbox.ws();
    let turn = SimulatedTurn { session: "s", prompt: "log in with c4n4ry-prompt", cwd: &ws };
    let steps = [
        HookStep::session_start(),
        HookStep::user_prompt_submit(),
        HookStep::pre_tool_use("curl -H 'X: c4n4ry-tool-input' https://me:c4n4ry-tool-url@h/"),
        HookStep::post_tool_use("echo c4n4ry-tool-input", "error[E0432]: c4n4ry-tool-output"),
    ];
    for agent in HookAgent::ALL {
        for step in &steps {
            let mut payload = agent.payload(step, turn);
            payload["c4n4ry-key"] = json!({"unknown": "c4n4ry-field"});
            let whole = payload.to_string();
            tell(sandbox, agent, step, &whole);
            // Half of it is no JSON; and what should be a text is none.
            tell(sandbox, agent, step, &whole[..whole.len() - 3]);
            for field in ["tool_input", "toolArgs", "tool_name", "prompt", "session_id", "cwd"] {
                if payload.get(field).is_some() {
                    let mut odd = payload.clone();
                    odd[field] = Value::from(vec!["c4n4ry-wrong-type"]);
                    tell(sandbox, agent, step, &odd.to_string());
                }
            }
        }
    }
}

fn tell(sandbox: &Sandbox, agent: HookAgent, step: &HookStep, payload: &str) {
    let run = sandbox.feed(&["hook", agent.name(), step.event()], payload.as_bytes());
    keeps_quiet(&format!("hook {} {}", agent.name(), step.event()), &run);
}

/// No file below the home and the checkout has a secret but in the place that it came from or that needs
/// it.
fn stand_only_in_their_places(sandbox: &Sandbox) {
    for entry in walkdir::WalkDir::new(sandbox.dir()).into_iter().flatten() {
        let below = entry.path().strip_prefix(sandbox.dir()).expect("is below").to_string_lossy();
        let mut own = OWN_PLACES.iter().chain(&OWN_PLACES_IN_THE_CHECKOUT);
        if !entry.file_type().is_file() || own.any(|place| below.starts_with(place)) {
            continue;
        }
        let text =
            String::from_utf8_lossy(&std::fs::read(entry.path()).expect("reads")).into_owned();
        let found = canaries(&text);
        assert!(found.is_empty(), "{below} has {found:?}");
    }
}

#[test]
fn secrets_of_every_place_come_out_nowhere() {
    let sandbox = planted();
    let own = [
        "cloned",
        "built",
        "run-server web",
        "why forked -v",
        "why private --json",
        "why web -v",
        "crate-info forked",
        "crate-info private --json",
        "plugin show trap -v",
        "plugin sync s0",
        "plugin sync s4 --json",
        "plugin add https://me:c4n4ry-argument@127.0.0.1:1/x",
        "plugin add https://127.0.0.1:1/x?c4n4ry-argument-query",
    ];
    for round in 0..2 {
        for line in every_command().chain(own) {
            let args: Vec<&str> = line.split(' ').collect();
            let stdin = if line == "mcp --offline" { mcp_session() } else { String::new() };
            let run = sandbox.feed(&args, stdin.as_bytes());
            keeps_quiet(line, &run);
            if round == 0 && line == "sync" {
                // The round ends with an uninstallation.
                tell_all_events(&sandbox);
                stand_only_in_their_places(&sandbox);
            }
        }
        stand_only_in_their_places(&sandbox);
    }
    let log = logs(&sandbox);
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "nothing was logged: {log}");
    for place in ["home/.symposium/sessions", "home/.symposium/state.toml"] {
        assert!(sandbox.has(place), "{place} was never made");
    }
}

/// What is deeper lies behind these.
#[test]
fn folders_of_ours_are_the_users_alone_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let sandbox = planted();
        let run = |line: &str, stdin: &[u8]| {
            let script = format!("umask {umask}; exec '{}' {line}", sandbox.binary().display());
            Run::of(&mut sandbox.shell(&script), stdin)
        };
        for line in every_command().filter(|line| !line.starts_with("uninstall")) {
            run(line, b"");
        }
        let ws = sandbox.ws();
        let turn = SimulatedTurn { session: "s", prompt: "p", cwd: &ws };
        for agent in HookAgent::ALL {
            let step = HookStep::session_start();
            let payload = agent.payload(&step, turn).to_string();
            run(&format!("hook {} {}", agent.name(), step.event()), payload.as_bytes()).ok();
        }
        let mut seen = BTreeSet::new();
        for entry in std::fs::read_dir(sandbox.home().join(".symposium")).expect("is there") {
            let entry = entry.expect("reads");
            let name = entry.file_name().to_string_lossy().into_owned();
            // What the test itself wrote.
            if !["plugins", "config.toml"].contains(&&*name) {
                let mode = entry.metadata().expect("is there").permissions().mode();
                assert_eq!(mode & 0o077, 0, "umask {umask}: {name} has {mode:o}");
                seen.insert(name);
            }
        }
        for folder in ["cache", "ledgers", "logs", "sessions", "trust"] {
            assert!(seen.contains(folder), "umask {umask}: nothing is in {folder}: {seen:?}");
        }
    }
}
