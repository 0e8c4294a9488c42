//! `plugin test`: a plugin is tried out from its folder, on the road that an agent's event takes, and
//! nothing of it is left in the home folder.

use serde_json::Value;
use symposium_testlib::{Run, Sandbox, Tree};

use crate::{sandbox, skill};

const MANIFEST: &str = r#"
name = "helper"
crates = ["widget>=1.2"]

[[skills]]
source.path = "skills"

[[hooks]]
name = "guard"
event = "PreToolUse"
matcher = "Bash"
command = { script = "guard.sh" }

[[hooks]]
name = "new-only"
event = "PreToolUse"
crates = ["widget>=2"]
command = { script = "guard.sh" }

[[mcp_servers]]
name = "docs"
command = "docs-server"
args = ["hello"]

[[installations]]
name = "docs-server"
script = "server.sh"
"#;

const GUARD: &str = r#"
event=$(cat)
echo "asked by $SYMPOSIUM_AGENT" >&2
case $event in
*forbidden*) echo 'not that' >&2; exit 2 ;;
*curious*) echo '{"PreToolUse": {"decision": "ask", "reason": "sure?", "additionalContext": "mind it"}}' ;;
*other*) echo '{"PreToolUse": {"updatedInput": {"command": "ls"}}}' ;;
*broken*) exit 7 ;;
esac
"#;

const SERVER: &str = r#"
while IFS= read -r message; do
    case $message in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"docs","version":"3.1.4"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
        echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"'"$1"'","description":"d","inputSchema":{}}]}}' ;;
    esac
done
"#;

/// The plugin in `ws/helper`.
fn with_plugin() -> Sandbox {
    let sandbox = sandbox();
    for (path, text) in [
        ("SYMPOSIUM.toml", MANIFEST),
        ("guard.sh", GUARD),
        ("server.sh", SERVER),
        ("skills/basics/SKILL.md", &skill("basics", "How to begin.")),
    ] {
        sandbox.write(&format!("ws/helper/{path}"), text);
    }
    sandbox
}

fn test(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.run(&[&["plugin", "test", "helper"], args].concat())
}

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let run = test(sandbox, &[args, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

/// What each agent is told of the event, by its name.
fn told<'v>(document: &'v Value, agent: &str) -> &'v Value {
    let agents = document["subjects"][0]["events"][0]["agents"].as_array().expect("agents");
    agents.iter().find(|told| told["agent"] == agent).expect("is among them")
}

#[test]
fn a_plugin_is_tried_whole_in_a_workspace_made_up_for_it_and_leaves_nothing_behind() {
    let sandbox = with_plugin();
    let before = Tree::of(&sandbox.dir());
    let run = test(&sandbox, &[]).ok();
    for said in [
        "which depends on widget 2.0.0",
        "active: widget 2.0.0",
        "How to begin.",
        "docs: docs 3.1.4, protocol 2025-06-18, 1 tool",
        "hello: d",
        "PreToolUse of Bash",
        "hook guard: exit code 0",
        "standard error: asked by symposium",
        "goes on",
    ] {
        assert!(run.stdout.contains(said), "no {said:?} in\n{}", run.stdout);
    }
    let after = Tree::of(&sandbox.dir());
    assert_eq!(after.changes_since(&before), Vec::<String>::new());
}

#[test]
fn each_agent_is_told_in_its_own_words_and_it_is_said_what_it_does_not_honour() {
    let sandbox = with_plugin();
    let event = ["--agent", "all", "--tool", "Bash", "--input"];
    let denied = json(&sandbox, &[&event[..], &["forbidden"]].concat());
    for agent in symposium_testlib::AGENTS {
        let told = told(&denied, agent);
        let want = &told["wants"][0];
        let hook = &told["hooks"][0];
        assert_eq!((&want["what"], &want["honoured"]), (&"denial".into(), &"yes".into()), "{told}");
        assert_eq!(hook["ended"], "exit code 2");
        assert_eq!(hook["stderr"], format!("asked by {agent}\nnot that\n"));
        let answer = format!("{}{}", told["stdout"], told["stderr"]);
        assert!(answer.contains("not that"), "{told}");
    }
    let asked = json(&sandbox, &[&event[..], &["curious"]].concat());
    let claude = told(&asked, "claude");
    assert!(claude["wants"].as_array().is_some_and(|wants| wants.len() == 2), "{claude}");
    assert_eq!(told(&asked, "codex")["wants"][0]["honoured"], "instead");
    assert_eq!(told(&asked, "goose")["wants"][1]["honoured"], "no");
    let people = test(&sandbox, &[&event[..], &["curious"]].concat()).ok().stdout;
    let people = people.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(people.contains("✗ words for the model: not honoured"), "{people}");
    assert!(people.contains("~ question to the user: a denial that says so"), "{people}");
    let never =
        json(&sandbox, &["--agent", "all", "--event", "user-prompt-submit", "--input", "x"]);
    let never = told(&never, "antigravity")["never"].as_str().expect("a reason").to_owned();
    assert!(never.contains("it has no event for a prompt"), "{never}");
}

#[test]
fn an_event_that_an_agent_wrote_is_fed_as_it_is_in_the_workspace() {
    let sandbox = with_plugin();
    sandbox.write(
        "ws/captured.json",
        r#"{"session_id":"s","cwd":"/gone","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"other"}}"#,
    );
    let args = ["--captured", "captured.json", "--agent", "gemini"];
    let document = json(&sandbox, &args);
    let told = told(&document, "gemini");
    assert_eq!(told["wants"][0]["what"], "other input", "{told}");
    assert_eq!(told["wants"][0]["text"], r#"{"command":"ls"}"#);
    let refused = test(&sandbox, &["--captured", "captured.json"]).code(1);
    assert!(refused.stderr.contains("whose event is it"), "{}", refused.stderr);
    let elsewhere = json(&sandbox, &["--captured", "captured.json", "--agent", "claude"]);
    let never = self::told(&elsewhere, "claude")["never"].as_str().map(str::to_owned);
    assert!(never.is_some_and(|never| never.contains("BeforeTool")));
}

#[test]
fn gates_are_explained_against_the_workspace_that_is_named() {
    let sandbox = with_plugin();
    sandbox.package(&[("widget", "1.3.0")]);
    let run = test(&sandbox, &["--workspace", "."]).ok();
    assert!(run.stdout.contains("active: widget 1.3.0"), "{}", run.stdout);
    assert!(run.stdout.contains("hook new-only inactive: "), "{}", run.stdout);
    assert!(run.stdout.contains("hook new-only is not asked: it does not apply"), "{}", run.stdout);
    sandbox.package(&[("gadget", "1.0.0")]);
    let run = test(&sandbox, &["--workspace", "."]).ok();
    assert!(run.stdout.contains("inactive: widget is not"), "{}", run.stdout);
    let refused = test(&sandbox, &["--workspace", "/"]).code(1);
    assert!(refused.stderr.contains("there is no Rust workspace"), "{}", refused.stderr);
}

#[test]
fn what_does_not_work_is_a_failure_with_its_reason() {
    let sandbox = with_plugin();
    let run = test(&sandbox, &["--input", "broken"]).code(1);
    assert!(run.stdout.contains("failed: it ended with exit code 7"), "{}", run.stdout);
    for (server, said) in [
        ("exit 3\n", "it ended before it answered `initialize` (exit code 3)"),
        ("echo hello\nsleep 9\n", "what is no message stands on its standard output"),
        (
            "read -r x\necho '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"no\"}}'\n",
            "`initialize` is answered with an error: no",
        ),
    ] {
        sandbox.write("ws/helper/server.sh", server);
        let run = test(&sandbox, &[]).code(1);
        assert!(run.stdout.contains(said), "{}", run.stdout);
    }
    sandbox.write("ws/helper/server.sh", SERVER);
    std::fs::remove_file(sandbox.ws().join("helper/guard.sh")).expect("removes");
    let run = test(&sandbox, &[]).code(1);
    assert!(run.stdout.contains("hook guard: not started"), "{}", run.stdout);
}

#[test]
fn the_suite_says_with_its_place_what_is_not_as_expected() {
    let sandbox = with_plugin();
    let good = r#"
[[case]]
name = "that is denied"
input = { command = "forbidden" }
agents = ["all"]
expect = { decision = "deny", reason = "not that", hooks = ["guard"] }

[[case]]
name = "the rest goes on"
input = { command = "ls" }
expect.decision = "none"

[[case]]
name = "it gets another input"
input = { command = "other" }
expect.input = { command = "ls" }

[[case]]
name = "an old widget has no hook"
crates = ["widget@0.9.0"]
input = { command = "forbidden" }
expect = { hooks = [], skills = [] }

[[case]]
name = "there is what there should be"
expect = { skills = ["basics"], tools = { docs = ["hello"] } }
"#;
    sandbox.write("ws/helper/tests/good.toml", good);
    let run = test(&sandbox, &[]).ok();
    assert_eq!(run.stdout.matches("  ok    ").count(), 5, "{}", run.stdout);
    let bad = r#"[[case]]
name = "that goes on"
input = { command = "forbidden" }
expect = { decision = "allow", context = "hello" }

[[case]]
name = "there is more"
expect = { skills = ["more"], tools = { docs = ["bye"], far = [] } }
"#;
    sandbox.write("ws/helper/tests/bad.toml", bad);
    let run = test(&sandbox, &[]).code(1);
    for said in [
        "FAIL  that goes on",
        "helper/tests/bad.toml:1",
        "decision: allow expected, it is deny",
        "context: `hello` expected, there is none",
        "helper/tests/bad.toml:6",
        "skills: `more` expected, there are `basics`",
        "tools of `docs`: `bye` expected, there are `hello`",
        "server `far` expected, none of that name applies",
    ] {
        assert!(run.stdout.contains(said), "no {said:?} in\n{}", run.stdout);
    }
    assert!(run.stderr.contains("7 cases, 2 failed"), "{}", run.stderr);
}

#[test]
fn a_suite_that_can_t_be_understood_is_an_error_with_file_and_line() {
    let sandbox = with_plugin();
    for (text, place, said) in [
        ("[[case]]\nname = \"x\"\nexpects = 1\n", "bad.toml:3:1", "unknown field `expects`"),
        ("[[case]]\nname = \"x\"\nexpect = {}\n", "bad.toml:1", "expects nothing"),
        ("[[case]]\nname = \"x\"\nexpect.decision = \"deny\"\n", "bad.toml:1", "has no event"),
        (
            "[[case]]\nname = \"x\"\nevent = \"PreToolUs\"\nexpect.decision = \"deny\"\n",
            "bad.toml:1",
            "did you mean `PreToolUse`?",
        ),
        (
            "[[case]]\nname = \"x\"\nagents = [\"claud\"]\ntool = \"Bash\"\nexpect.decision = \"deny\"\n",
            "bad.toml:1",
            "did you mean `claude`?",
        ),
        ("[[case]]\nname = \"x\"\nexpect.decision = \"refuse\"\n", "bad.toml:3", "`refuse`"),
        ("case = 1\n", "bad.toml:1", ""),
    ] {
        sandbox.write("ws/helper/tests/bad.toml", text);
        let refused = test(&sandbox, &[]).code(1);
        assert!(refused.stderr.contains(place), "{text}\n{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{text}\n{}", refused.stderr);
    }
}

#[test]
fn a_crate_s_skills_and_a_skill_by_itself_are_listed_as_agents_do() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let long = format!("Use it for everything. {}", "And more. ".repeat(99));
    sandbox.write("ws/skills/shop-basics/SKILL.md", skill("shop-basics", "How to shop."));
    let run = sandbox.run(&["plugin", "test"]).ok();
    assert!(run.stdout.contains("shop-basics\n    How to shop."), "{}", run.stdout);
    sandbox.write("ws/alone/SKILL.md", skill("alone", &long));
    let run = sandbox.run(&["plugin", "test", "alone", "--json"]).ok();
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let listed = &document["subjects"][0]["skills"][0];
    assert_eq!(listed["name"], "alone");
    let cut = |agent: &str| {
        let agents = listed["agents"].as_array().expect("agents");
        let listing = agents.iter().find(|listing| listing["agent"] == agent).expect("is there");
        listing["is_cut"].as_bool().expect("a flag")
    };
    assert!(!cut("claude") && !cut("gemini"), "{listed}");
    sandbox.write("ws/alone/SKILL.md", skill("alone", &format!("{long}{long}")));
    let run = sandbox.run(&["plugin", "test", "alone"]).ok();
    assert!(run.stdout.contains("all agents: it is too long"), "{}", run.stdout);
}

#[test]
fn a_program_that_was_just_built_is_run_in_place_of_one_that_cargo_would_install() {
    let sandbox = sandbox();
    sandbox.write(
        "ws/Cargo.toml",
        "[package]\nname = \"guard\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    let manifest = "name = \"p\"\ncrates = [\"*\"]\n\n[[hooks]]\nname = \"g\"\nevent = \"PreToolUse\"\n\
                    command = { source = \"cargo\", crate = \"guard\", executable = \"guard\", args = [\"--hook\"] }\n";
    sandbox.write("ws/plugin/SYMPOSIUM.toml", manifest);
    let run = sandbox.run(&["plugin", "test", "plugin"]).code(1);
    assert!(run.stdout.contains("`cargo build -p guard` builds it"), "{}", run.stdout);
    sandbox.program("ws/target/debug/guard", "#!/bin/sh\necho \"no, $1\" >&2\nexit 2\n");
    let run = sandbox.run(&["plugin", "test", "plugin"]).ok();
    assert!(run.stdout.contains("wants denial: no, --hook"), "{}", run.stdout);
}

#[test]
fn a_folder_of_plugins_is_tried_one_by_one_and_an_empty_one_is_an_error() {
    let sandbox = with_plugin();
    sandbox.write("ws/other/SYMPOSIUM.toml", "name = \"other\"\ncrates = [\"*\"]\n");
    let document = sandbox.run(&["plugin", "test", ".", "--json"]).ok().stdout;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let names: Vec<_> =
        document["subjects"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["helper", "other"]);
    sandbox.write("ws/empty/note.txt", "");
    let refused = sandbox.run(&["plugin", "test", "empty"]).code(1);
    assert!(refused.stderr.contains("there is no plugin and no skill"), "{}", refused.stderr);
    sandbox.write("ws/typo/SYMPOSIUM.toml", "name = \"typo\ncrates = [\"*\"]\n");
    let refused = sandbox.run(&["plugin", "test", "typo"]).code(1);
    assert!(refused.stderr.contains("typo/SYMPOSIUM.toml:1"), "{}", refused.stderr);
}

#[test]
fn it_is_done_again_when_a_file_changes() {
    use crate::terminal::Terminal;

    let sandbox = with_plugin();
    let command = sandbox.command(&["plugin", "test", "helper", "--input", "ls", "--watch"]);
    let mut terminal = Terminal::start(&command, 100, 40);
    terminal.wait_for("all is well");
    sandbox.write("ws/helper/guard.sh", "echo 'changed' >&2\nexit 2\n");
    terminal.wait_for("wants denial: changed");
    terminal.press("\u{3}");
    terminal.end();
}

/// An agent that answers as Claude Code does without a screen: it does better where there is a skill.
const STAND_IN: &str = r#"#!/bin/sh
printf '%s\n' "$@" > args.txt
tokens=7
text="I guess."
if [ -e .claude/skills/basics/SKILL.md ]; then text="I know."; tokens=9; fi
[ -e .claude/skills/basics/evals ] && text="It cheats."
cat data.csv >/dev/null || exit 4
printf '{"type":"result","result":"%s","usage":{"input_tokens":40,"output_tokens":%s}}' "$text" "$tokens"
"#;

#[test]
fn an_agent_does_a_skill_s_tasks_with_it_and_without() {
    let mut sandbox = with_plugin();
    sandbox.program("bin/claude", STAND_IN);
    sandbox.first_on_path("bin");
    let evals = r#"{"skill_name": "basics", "evals": [{"id": 1, "prompt": "Count the rows.",
        "expected_output": "Three rows.", "files": ["evals/files/data.csv"],
        "expectations": ["It says three."]}]}"#;
    let missing = test(&sandbox, &["--eval", "--agent", "claude"]).code(1);
    assert!(
        missing.stderr.contains("no skill here has an `evals/evals.json`"),
        "{}",
        missing.stderr
    );
    sandbox.write("ws/helper/skills/basics/evals/evals.json", evals);
    let missing = test(&sandbox, &["--eval", "--agent", "claude"]).code(1);
    assert!(missing.stderr.contains("is not in the skill's folder"), "{}", missing.stderr);
    let evals = evals.replace("evals/files/data.csv", "data.csv");
    sandbox.write("ws/helper/skills/basics/evals/evals.json", &evals);
    sandbox.write("ws/helper/skills/basics/data.csv", "1\n2\n3\n");
    let before = Tree::of(&sandbox.dir());
    let run = test(&sandbox, &["--eval", "--agent", "claude", "--", "--model", "small"]).ok();
    for said in
        ["Count the rows.", "expected: Three rows.", "expected: It says three.", "+ args.txt"]
    {
        assert!(run.stdout.contains(said), "no {said:?} in\n{}", run.stdout);
    }
    let row = run.stdout.lines().find(|line| line.contains("I know.")).expect("the answer");
    assert!(row.contains("│ I guess."), "{}", run.stdout);
    assert!(
        run.stdout.contains("40 tokens in, 9 out") && run.stdout.contains("40 tokens in, 7 out")
    );
    let changed = Tree::of(&sandbox.dir()).changes_since(&before);
    assert_eq!(changed, Vec::<String>::new());
    let run = test(&sandbox, &["--eval", "--agent", "claude", "--json"]).ok();
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let task = &document["skills"][0]["tasks"][0];
    assert_eq!(
        (&task["with"]["text"], &task["without"]["text"]),
        (&"I know.".into(), &"I guess.".into())
    );
    sandbox.program("bin/claude", "#!/bin/sh\necho 'no key' >&2\nexit 1\n");
    let failed = test(&sandbox, &["--eval", "--agent", "claude"]).code(1);
    assert!(failed.stdout.contains("failed: exit code 1: no key"), "{}", failed.stdout);
    let broken = "{\"evals\": [\n  {\"id\": 1}]}";
    sandbox.write("ws/helper/skills/basics/evals/evals.json", broken);
    let refused = test(&sandbox, &["--eval", "--agent", "claude"]).code(1);
    assert!(refused.stderr.contains("evals.json:2"), "{}", refused.stderr);
    let refused = test(&sandbox, &["--eval", "--agent", "antigravity"]).code(1);
    assert!(refused.stderr.contains("without a screen is not known"), "{}", refused.stderr);
}

#[test]
fn what_of_a_manifest_has_no_effect_is_a_failure() {
    let sandbox = with_plugin();
    sandbox
        .write("ws/helper/SYMPOSIUM.toml", format!("{MANIFEST}\n[subcommand.docs]\ncommand = 1\n"));
    let run = test(&sandbox, &[]).code(1);
    assert!(
        run.stdout.contains("Problems") && run.stdout.contains("SYMPOSIUM.toml:"),
        "{}",
        run.stdout
    );
}
