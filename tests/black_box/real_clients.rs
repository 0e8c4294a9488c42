//! The agents' own checkers, asked what they make of our entries.
//!
//! The programs are those in `tests/agents/node_modules` (or in the folder that
//! `SYMPOSIUM_TEST_CLIENTS` names), else those on `PATH`. Where one is missing, or there is no way to
//! keep it from the network, the test says so and ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use symposium_testlib::Sandbox;

/// The names that each checker must show.
const SERVERS: [&str; 3] = ["anywhere", "widget-docs", "widget-http"];

/// A sandbox whose servers need no network: programs that end, and a closed port.
fn sandbox() -> Sandbox {
    let sandbox = crate::registration::sandbox();
    sandbox.user_plugin(
        "widget/SYMPOSIUM.toml",
        r#"name = "widget"
crates = ["widget"]

[[mcp_servers]]
name = "widget-docs"
command = "/bin/false"
args = ["a"]
env = { WIDGET_TOKEN = "s3cret" }

[[mcp_servers]]
name = "widget-http"
type = "http"
url = "http://127.0.0.1:9/mcp"
headers = { Authorization = "Bearer s3cret" }
"#,
    );
    sandbox.user_plugin(
        "anywhere/SYMPOSIUM.toml",
        "name = \"anywhere\"\ncrates = [\"*\"]\n\n[[mcp_servers]]\nname = \"anywhere\"\ncommand = \"/bin/false\"\n",
    );
    sandbox
}

/// A client: its path among the installed packages, and its name on `PATH`.
fn client(package: &str, name: &str) -> Option<PathBuf> {
    let installed = std::env::var_os("SYMPOSIUM_TEST_CLIENTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/node_modules"),
        PathBuf::from,
    );
    let found = installed.join(package);
    if found.exists() {
        return Some(found);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// How programs are kept from the network here.
fn offline() -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["unshare", "-n"], &["unshare", "-rn"]];
    ways.into_iter().find(|way| {
        let (first, rest) = way.split_first().expect("a program");
        let output = Command::new(first).args(rest).arg("true").stderr(Stdio::null()).status();
        output.is_ok_and(|status| status.success())
    })
}

/// What the client says; `None`, with the reason told, where it can't be asked.
fn ask(sandbox: &Sandbox, package: &str, name: &str, args: &[&str]) -> Option<String> {
    let ignored = |why: &str| {
        eprintln!("ignored: {why}");
        None
    };
    let Some(program) = client(package, name) else {
        return ignored(&format!("{name} is not installed (tests/agents, or PATH)"));
    };
    let Some(offline) = offline() else {
        return ignored("`unshare` can't keep a program from the network here");
    };
    let mut command = Command::new(offline[0]);
    command.args(&offline[1..]).args(["timeout", "100"]);
    if program.extension().is_some_and(|extension| extension == "js") {
        command.arg("node");
    }
    let tmp = sandbox.dir().join("tmp");
    std::fs::create_dir_all(&tmp).expect("creates");
    command.arg(program).args(args).current_dir(sandbox.ws()).env_clear();
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("GEMINI_API_KEY", "none"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("npm_config_offline", "true"),
    ] {
        command.env(name, value);
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", sandbox.home()).env("TMPDIR", tmp);
    let output = command.stdin(Stdio::null()).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let more = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}{more}");
    Some(said)
}

fn shows_all(said: &str) {
    for server in SERVERS {
        assert!(said.contains(server), "{server} is not in:\n{said}");
    }
}

#[test]
fn case_29_claude_sees_our_servers() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let package = "@anthropic-ai/claude-code-linux-x64/claude";
    let Some(said) = ask(&sandbox, package, "claude", &["mcp", "list"]) else { return };
    shows_all(&said);
    let said = ask(&sandbox, package, "claude", &["mcp", "get", "widget-http"]).expect("is there");
    assert!(said.contains("private to you in this project") && said.contains("http"), "{said}");
    // Claude keeps what we wrote, and we find it again.
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    assert!(!sandbox.read("home/.claude.json").contains("widget"));
}

#[test]
fn case_29_codex_sees_our_servers() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    // The project's servers are read in a trusted project only.
    let config = sandbox.read("home/.codex/config.toml");
    let trust = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", sandbox.ws().display());
    sandbox.write("home/.codex/config.toml", format!("{config}\n{trust}"));
    let package = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    let Some(said) = ask(&sandbox, package, "codex", &["mcp", "list", "--json"]) else { return };
    shows_all(&said);
    let servers: serde_json::Value = serde_json::from_str(&said).expect("parses");
    let docs = servers
        .as_array()
        .and_then(|servers| servers.iter().find(|server| server["name"] == "widget-docs"))
        .expect("is there");
    assert_eq!(docs["transport"]["command"], "/bin/false");
    assert_eq!(docs["transport"]["env"]["WIDGET_TOKEN"], "s3cret");
}

#[test]
fn case_29_gemini_sees_our_servers() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "gemini"]).ok();
    let package = "@google/gemini-cli/bundle/gemini.js";
    let Some(said) = ask(&sandbox, package, "gemini", &["mcp", "list"]) else { return };
    shows_all(&said);
}

#[test]
fn case_29_opencode_sees_our_servers_and_our_plugin() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "opencode"]).ok();
    let package = "opencode-linux-x64/bin/opencode";
    let Some(said) = ask(&sandbox, package, "opencode", &["debug", "config"]) else { return };
    shows_all(&said);
    let config: serde_json::Value = serde_json::from_str(&said).expect("parses");
    assert_eq!(config["mcp"]["widget-docs"]["command"], serde_json::json!(["/bin/false", "a"]));
    assert!(said.contains("plugins/symposium.js"), "{said}");
}

#[test]
fn case_29_copilot_sees_the_user_s_servers() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "copilot"]).ok();
    let package = "@github/copilot-linux-x64/copilot";
    // Those of the folder are shown only once the user trusts it.
    let Some(said) = ask(&sandbox, package, "copilot", &["mcp", "list"]) else { return };
    assert!(said.contains("anywhere"), "{said}");
}
