//! What a skill would bring past us: `hooks:` that Claude reads and we do not, files that agents read
//! or run by themselves.

use crate::{configure, sandbox};
use serde_yaml::{Mapping, Value};
use symposium_testlib::{Sandbox, slashes, smuggled};

const INSTALLED: &str = "ws/.claude/skills";

/// A workspace of Claude's, and a plugin that brings skills.
fn ready() -> Sandbox {
    let sandbox = sandbox();
    configure(&sandbox, &["claude"], "");
    sandbox.package(&[("widget", "1.0.0")]);
    let manifest = "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \".\"\n";
    sandbox.user_plugin("p/SYMPOSIUM.toml", manifest);
    sandbox
}

/// The frontmatter as Claude cuts it: the first `---` anywhere ends it.
fn as_claude_cuts(text: &str) -> &str {
    let after = text.strip_prefix("---").expect("begins with a fence").trim_start();
    &after[..after.find("---").expect("ends")]
}

fn installed(sandbox: &Sandbox, name: &str) -> Option<String> {
    let path = format!("{INSTALLED}/{name}/SKILL.md");
    sandbox.has(&path).then(|| sandbox.read(&path))
}

#[test]
fn hooks_reach_no_reader_however_they_are_spelled() {
    let sandbox = ready();
    let skills = smuggled::skills(|name| format!("touch {name}"));
    assert!(skills.len() >= 60);
    for (name, text) in &skills {
        sandbox.user_plugin(&format!("p/{name}/SKILL.md"), text);
    }
    let run = sandbox.run(&["sync"]).ok();
    let mut count = 0;
    for (name, written) in &skills {
        let Some(text) = installed(&sandbox, name) else {
            assert!(
                slashes(&run.stderr).contains(&format!("{name}/SKILL.md")),
                "{name}: {}",
                run.stderr
            );
            continue;
        };
        count += 1;
        let yaml = as_claude_cuts(&text);
        let mut values: Value = serde_yaml::from_str(yaml).expect("is YAML");
        values.apply_merge().expect("has nothing to merge");
        assert!(values.get("hooks").is_none(), "{written}\n{text}");
        // Each line stands for itself, so no reader can take a part of it for a key.
        for line in yaml.lines() {
            assert!(!line.chars().any(char::is_control), "{line:?}");
            let key = line.split(':').next().unwrap_or_default().trim();
            let key = key.trim_matches(['"', '\'']);
            assert!(!["hooks", "<<", "__proto__", "[hooks]"].contains(&key), "{written}\n{text}");
        }
    }
    assert!(count > 40, "only {count} are installed");
}

#[test]
fn a_plain_frontmatter_goes_through_byte_for_byte() {
    let sandbox = ready();
    for (name, more) in [
        ("lines", "license: MIT # not\n".replace(" # not", "")),
        ("block", "# A note.\nz: |\n  a: b\n\n    c\nmetadata:\n  a: b\n  c: 'd'\n".to_owned()),
        ("lists", "allowed-tools: [Bash, \"Read\"]\ncrates:\n- widget\n".to_owned()),
        ("crlf", "z: >-\r\n  a\r\n  b\r\n".to_owned()),
    ] {
        let text = format!(
            "---\nname: {name}\ndescription: It's \"so\": no\n{more}---\n\nOne\n---\nhooks: x\n---\n"
        );
        let text = text.replace(": no", ":no");
        sandbox.user_plugin(&format!("p/{name}/SKILL.md"), &text);
        sandbox.run(&["sync"]).ok();
        assert_eq!(installed(&sandbox, name).as_ref(), Some(&text), "{name}");
    }
}

#[test]
fn any_other_frontmatter_is_written_anew_with_the_same_values() {
    let sandbox = ready();
    for (name, yaml) in [
        ("folded", "name: folded\ndescription: one\n  two\nz: \"a\n  b\"\n"),
        ("deep", "name: deep\ndescription: d # why\nmetadata: {a: {b: [c, {d: 1}]}, e: ~}\n"),
        (
            "anchors",
            "name: anchors\ndescription: &d d\nz: *d\nx: [1, 2.5, true, '7', \"\\u2028\"]\n",
        ),
        ("dashes", "name: dashes\ndescription: \"a -\\x2d- b\"\n"),
        ("flow", "{name: flow, description: 'd: e', \"a key\": [\n  x\n]}\n"),
    ] {
        sandbox.user_plugin(&format!("p/{name}/SKILL.md"), &format!("---\n{yaml}---\nBody.\n"));
        sandbox.run(&["sync"]).ok();
        let text = installed(&sandbox, name).expect("is installed");
        let made = as_claude_cuts(&text);
        let read = |yaml| serde_yaml::from_str::<Mapping>(yaml).expect("is YAML");
        assert_eq!(read(made), read(yaml), "{text}");
        assert_eq!(made.lines().count(), read(yaml).len(), "a line each: {text}");
        assert!(text.ends_with("\n---\nBody.\n"), "{text}");
    }
}

#[test]
fn a_rule_inside_the_frontmatter_is_refused_by_name() {
    let sandbox = ready();
    let texts = ["description: a --- b", "description: d\n# ---", "description: |\n  a\n  ---"];
    for (number, yaml) in texts.iter().enumerate() {
        let text = format!("---\nname: s-{number}\n{yaml}\n---\n");
        sandbox.user_plugin(&format!("p/s-{number}/SKILL.md"), &text);
    }
    let run = sandbox.run(&["sync"]).ok();
    for number in 0..texts.len() {
        assert!(slashes(&run.stderr).contains(&format!("s-{number}/SKILL.md:")), "{}", run.stderr);
        assert!(installed(&sandbox, &format!("s-{number}")).is_none());
    }
    assert!(run.stderr.contains("`---` inside the frontmatter"), "{}", run.stderr);
    let run = sandbox.run_in("home", &["plugin", "validate", ".symposium/plugins/p"]);
    let told = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(told.matches("`---` inside the frontmatter").count(), texts.len(), "{told}");
}

#[test]
fn no_file_comes_along_that_an_agent_reads_or_runs_by_itself() {
    let sandbox = ready();
    let text = "---\nname: x\ndescription: d\n---\nBody.\n";
    sandbox.user_plugin("p/x/SKILL.md", text);
    let left_out = [
        ".claude/skills/y/SKILL.md",
        ".claude-plugin/plugin.json",
        ".agents/skills/y/SKILL.md",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".github/hooks/h.json",
        ".kiro/hooks/h.json",
        ".opencode/plugin/p.js",
        ".goose/skills/y/SKILL.md",
        ".mcp.json",
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
    ];
    for path in left_out {
        for path in [path.to_owned(), format!("deep/er/{path}")] {
            sandbox.user_plugin(&format!("p/x/{path}"), text);
        }
    }
    sandbox.user_plugin("p/x/odd/.Claude/settings.json", "{}");
    sandbox.user_plugin("p/x/odd/claude.MD", "x");
    sandbox.user_plugin("p/x/skill.md", text);
    sandbox.user_plugin("p/x/docs/agents.txt", "x");
    sandbox.user_plugin("p/x/docs/my-claude.md", "x");
    let run = sandbox.run(&["sync"]).ok();
    let folder = sandbox.dir().join(INSTALLED).join("x");
    let mut found: Vec<_> = walkdir::WalkDir::new(&folder)
        .into_iter()
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(&folder).expect("is below").to_owned())
        .map(|path| slashes(&path.to_string_lossy()))
        .filter(|path| ![".symposium", ".gitignore", ".ignore"].contains(&path.as_str()))
        .collect();
    found.sort();
    assert_eq!(found, ["SKILL.md", "docs/agents.txt", "docs/my-claude.md"]);
    let stderr = slashes(&run.stderr);
    for path in left_out {
        let top = path.split('/').next().expect("has a start");
        assert!(stderr.contains(&format!("x/{top}\n")), "{top}: {stderr}");
        assert!(stderr.contains(&format!("x/deep/er/{top}\n")), "{top}: {stderr}");
    }
    assert!(stderr.contains("odd/.Claude") && stderr.contains("odd/claude.MD"));
}

#[test]
fn commands_that_claude_runs_are_told_by_validate_plugin_show_and_at_installation() {
    let sandbox = ready();
    let skill = |name: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n---\n{body}\n");
        sandbox.user_plugin(&format!("p/{name}/SKILL.md"), &text);
    };
    skill("runs", "Status: !`git status`\n\n```!\ndate\n```\nSee `references/more.md`.");
    skill("shows", "Use `!` and `x`, `vec!` and `!=`. As in `` a!`b` ``.");
    sandbox.user_plugin("p/runs/references/more.md", "!`is only read`\n");
    let told = |args: &[&str]| {
        let run = sandbox.run(args).ok();
        format!("{}{}", run.stdout, run.stderr)
    };
    for args in [
        &["plugin", "validate", "../home/.symposium/plugins/p"][..],
        &["plugin", "show", "p"],
        &["sync", "-v"],
    ] {
        let told = told(args);
        for command in ["!`git status`", "```! date ```"] {
            assert!(told.contains(command), "{args:?}: {command}\n{told}");
        }
        assert!(!told.contains("is only read"), "{args:?}: {told}");
        let runs = ["runs !", "runs `", "Claude runs this"].map(|text| told.matches(text).count());
        assert_eq!(runs.iter().sum::<usize>(), 2, "{args:?}: {told}");
    }
    assert!(installed(&sandbox, "runs").is_some_and(|text| text.contains("!`git status`")));
}
