//! The rules of the formats, as tables.

use std::path::Path;

use super::*;
use crate::plugins::model::{McpServer, SkillSource, Transport};
use crate::workspace::UNOBSERVED;

const SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP: &str = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

fn put(dir: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }
}

/// The package in a folder with these files.
fn package(files: &[(&str, &str)]) -> Option<ReadPackage> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    put(dir.path(), files);
    read_in(dir.path())
}

fn read_in(dir: &Path) -> Option<ReadPackage> {
    let place = Place { source: "s", source_root: dir, dir, entry: None };
    read(&place, &OnDisk::new(dir, &UNOBSERVED))
}

/// The plugin of a folder with these files.
fn plugin(files: &[(&str, &str)]) -> Plugin {
    let read = package(files).expect("is a package");
    read.plugin.unwrap_or_else(|| panic!("refused: {:?}", read.diagnostics))
}

/// What is noted as the mistakes of its authors.
fn mistakes(plugin: &Plugin) -> Vec<String> {
    let mistakes = plugin.not_taken().iter().filter(|found| found.is_mistake);
    mistakes.map(|found| format!("{}: {}", found.what, found.why)).collect()
}

/// A manifest with further members.
fn manifest(more: &str) -> String {
    let more = if more.is_empty() { String::new() } else { format!(",{more}") };
    format!("{{\"$schema\":\"{SCHEMA}\",\"name\":\"p\"{more}}}")
}

/// What becomes of one server of an Agent Plugin.
fn server(value: &str) -> Result<McpServer, String> {
    let servers = format!("{{\"$schema\":\"{MCP}\",\"mcpServers\":{{\"s\":{value}}}}}");
    let files = [("plugin.json", &*manifest("")), ("mcp.json", &servers), ("bin/x", "")];
    let mut plugin = plugin(&files);
    match plugin.servers.pop() {
        Some(server) => Ok(server),
        None => Err(mistakes(&plugin).join("; ")),
    }
}

#[test]
fn agent_plugins_5_what_breaks_a_rule_of_the_manifest_refuses_the_package() {
    let long = "x".repeat(65);
    for (text, why) in [
        ("{".to_owned() + SCHEMA, "no JSON"),
        (format!("[\"{SCHEMA}\"]"), ""),
        (format!("{{\"$schema\":\"{SCHEMA}\"}}"), "no `name`"),
        (format!("{{\"$schema\":\"{SCHEMA}\",\"name\":7}}"), "no `name`"),
        (manifest("").replace("1.0.0", "2.0.0"), "is understood"),
        (manifest("\"version\":1"), "`version` is no string"),
        (manifest("\"description\":null"), "`description` is no string"),
        (manifest("\"homepage\":[]"), "`homepage` is no string"),
        (manifest("\"keywords\":\"x\""), "`keywords` is no list"),
        (manifest("\"keywords\":[1]"), "`keywords` is no list"),
        (manifest("\"author\":\"me\""), "`author` is no object"),
        (manifest("\"author\":{\"name\":1}"), "`author` is no object"),
        (manifest("\"author\":{\"nick\":\"x\"}"), "`author` is no object"),
        (manifest("\"extensions\":{\"a.b\":1}"), "a member of `extensions`"),
    ] {
        let read = package(&[("plugin.json", &text), ("skills/a/SKILL.md", "")]);
        let Some(read) = read else {
            assert!(why.is_empty(), "{text}");
            continue;
        };
        assert!(read.plugin.is_none(), "{text}");
        let told = read.diagnostics[0].to_string();
        assert!(told.contains(why) && told.contains("plugin.json:1:"), "{text}: {told}");
    }
    for name in ["My-Plugin", "-start", "end-", "has--double", "too.many..dots", "", "a_b", &long] {
        let text = manifest("").replace("\"p\"", &format!("\"{name}\""));
        let read = package(&[("plugin.json", &text)]).expect("is meant to be one");
        assert!(read.plugin.is_none(), "{name}");
    }
    for name in ["my-plugin", "acme.tools", "lint3r", "a", "0", &long[1..]] {
        let text = manifest("").replace("\"p\"", &format!("\"{name}\""));
        assert_eq!(plugin(&[("plugin.json", &text)]).name, name);
    }
}

#[test]
fn agent_plugins_5_what_is_only_odd_costs_nothing() {
    for more in [
        "\"version\":\"not semver\"",
        "\"homepage\":\"no url\",\"repository\":\"\",\"license\":\"mine\"",
        "\"author\":{\"email\":\"x\",\"url\":\"y\"}",
        "\"extensions\":{\"com.example.client\":{\"anything\":[1]}}",
    ] {
        let plugin = plugin(&[("plugin.json", &manifest(more))]);
        assert!(plugin.not_taken().is_empty(), "{more}: {:?}", plugin.not_taken());
    }
    let with_mark = format!("\u{feff}{}", manifest("\"version\":\"1.2.0\""));
    assert_eq!(plugin(&[("plugin.json", &with_mark)]).version.as_deref(), Some("1.2.0"));
    for (more, what) in
        [("\"hooks\":\"./h\"", "`hooks` in"), ("\"extensions\":[]", "`extensions` in")]
    {
        let plugin = plugin(&[("plugin.json", &manifest(more))]);
        assert!(mistakes(&plugin)[0].starts_with(what), "{more}");
    }
}

#[test]
fn files_of_others_that_are_called_plugin_json_are_no_packages() {
    for text in
        ["{}", "{\"name\":\"x\"}", "{\"$schema\":\"https://example.com/plugin.json\"}", "no"]
    {
        assert!(package(&[("plugin.json", text)]).is_none(), "{text}");
    }
    assert!(package(&[]).is_none());
}

#[test]
fn agent_plugins_6_and_7_components_are_found_in_their_places_alone() {
    let text = manifest("");
    let with = |more: &[(&str, &str)]| plugin(&[&[("plugin.json", text.as_str())], more].concat());
    assert!(with(&[]).skills.is_empty() && with(&[]).servers.is_empty());
    let plugin = with(&[("skills/a/SKILL.md", ""), ("skills/a/b/SKILL.md", "")]);
    assert_eq!(plugin.skills[0].source, SkillSource::Path("skills".to_owned()));
    assert_eq!(plugin.skill_depths(), 1..=1);
    // Not of the right kind: that component alone is left.
    let servers = format!("{{\"$schema\":\"{MCP}\",\"mcpServers\":{{}}}}");
    let plugin = with(&[("skills", "a file"), ("mcp.json", &servers)]);
    assert_eq!(mistakes(&plugin), ["`skills`: it is no folder inside the package"]);
    let plugin = with(&[("skills/a/SKILL.md", ""), ("mcp.json/x", "")]);
    assert!(mistakes(&plugin)[0].starts_with("`mcp.json`"), "{:?}", plugin.not_taken());
    assert_eq!(plugin.skills.len(), 1);
    // Hooks of Claude Code's are no part of the format without its manifest.
    assert!(with(&[("hooks/hooks.json", "{\"hooks\":{}}")]).not_taken().is_empty());
}

#[test]
fn agent_plugins_7_2_a_file_of_servers_that_breaks_a_rule_costs_all_servers_and_nothing_else() {
    let good = "{\"type\":\"stdio\",\"command\":\"x\"}";
    for (text, why) in [
        ("{".to_owned(), "no JSON"),
        ("[]".to_owned(), "no JSON object"),
        ("{\"mcpServers\":{}}".to_owned(), "its `$schema`"),
        (format!("{{\"$schema\":\"{SCHEMA}\",\"mcpServers\":{{}}}}"), "its `$schema`"),
        (format!("{{\"$schema\":\"{MCP}\"}}"), "no object `mcpServers`"),
        (format!("{{\"$schema\":\"{MCP}\",\"mcpServers\":[{good}]}}"), "no object `mcpServers`"),
        (format!("{{\"$schema\":\"{MCP}\",\"mcpServers\":{{\"a\":{good}}},\"x\":1}}"), "`x`"),
    ] {
        let manifest = manifest("");
        let files = [("plugin.json", &*manifest), ("mcp.json", &text), ("skills/a/SKILL.md", "")];
        let plugin = plugin(&files);
        assert!(plugin.servers.is_empty() && plugin.skills.len() == 1, "{text}");
        assert!(mistakes(&plugin)[0].contains(why), "{text}: {:?}", mistakes(&plugin));
    }
}

#[test]
fn agent_plugins_7_2_each_server_is_judged_by_itself() {
    for good in [
        r#"{"type":"stdio","command":"npx"}"#,
        r#"{"type":"stdio","command":"./bin/x","args":["-v"],"env":{"A":"${PLUGIN_DATA}"}}"#,
        r#"{"type":"stdio","command":"x","cwd":"./data"}"#,
        r#"{"type":"stdio","command":"x","cwd":"${PLUGIN_ROOT}"}"#,
        r#"{"type":"stdio","command":"x","cwd":"${PLUGIN_DATA}/a"}"#,
        r#"{"type":"streamable-http","url":"https://example.com/mcp?a=b"}"#,
        r#"{"type":"sse","url":"http://127.0.0.1:80/sse","headers":{"X-A":"b"}}"#,
        r#"{"type":"streamable-http","url":"http://localhost/x"}"#,
        r#"{"type":"streamable-http","url":"http://[::1]:8/x"}"#,
    ] {
        assert!(server(good).is_ok(), "{good}: {:?}", server(good));
    }
    for (bad, why) in [
        ("7", "no object"),
        (r#"{"command":"x"}"#, "no `type`"),
        (r#"{"type":"http","url":"https://e.com"}"#, "which there is not"),
        (r#"{"type":"stdio"}"#, "`command`"),
        (r#"{"type":"stdio","command":""}"#, "`command`"),
        (r#"{"type":"stdio","command":"npx -y x"}"#, "neither a program's name"),
        (r#"{"type":"stdio","command":"../bin/x"}"#, "neither a program's name"),
        (r#"{"type":"stdio","command":"./../x"}"#, "leads out"),
        (r#"{"type":"stdio","command":"/usr/bin/x"}"#, "neither a program's name"),
        (r#"{"type":"stdio","command":"${PLUGIN_ROOT}/x"}"#, "neither a program's name"),
        (r#"{"type":"stdio","command":"x","url":"https://e.com"}"#, "field `url`"),
        (r#"{"type":"stdio","command":"x","timeout":1}"#, "field `timeout`"),
        (r#"{"type":"stdio","command":"x","args":"-v"}"#, "`args`"),
        (r#"{"type":"stdio","command":"x","args":[1]}"#, "`args`"),
        (r#"{"type":"stdio","command":"x","env":{"A":1}}"#, "`env`"),
        (r#"{"type":"stdio","command":"x","env":{"PLUGIN_ROOT":"/"}}"#, "PLUGIN_ROOT"),
        (r#"{"type":"stdio","command":"x","env":{"plugin_data":"/"}}"#, "plugin_data"),
        (r#"{"type":"stdio","command":"x","cwd":"data"}"#, "begins with none"),
        (r#"{"type":"stdio","command":"x","cwd":"../x"}"#, "begins with none"),
        (r#"{"type":"stdio","command":"x","cwd":"./../x"}"#, "leads out"),
        (r#"{"type":"stdio","command":"x","cwd":"${PLUGIN_ROOT}/../x"}"#, "leads out"),
        (r#"{"type":"stdio","command":"x","cwd":"${PLUGIN_DATA}/../x"}"#, "leads out"),
        (r#"{"type":"stdio","command":"x","cwd":"${PLUGIN_ROOTS}"}"#, "begins with none"),
        (r#"{"type":"sse"}"#, "`url`"),
        (r#"{"type":"sse","url":"ftp://e.com"}"#, "no http or https"),
        (r#"{"type":"sse","url":"http://e.com"}"#, "not https"),
        (r#"{"type":"sse","url":"http://127.0.0.1.e.com"}"#, "not https"),
        (r#"{"type":"sse","url":"https://me@e.com"}"#, "names a user"),
        (r##"{"type":"sse","url":"https://e.com/#x"}"##, "fragment"),
        (r#"{"type":"sse","url":"https://e.com","headers":{"a b":"c"}}"#, "`a b`"),
        (r#"{"type":"sse","url":"https://e.com","headers":{"A":"1","a":"2"}}"#, "twice"),
        (r#"{"type":"sse","url":"https://e.com","headers":{"A":"${TOKEN}"}}"#, "variable"),
    ] {
        let problem = server(bad).expect_err(bad);
        assert!(problem.contains(why), "{bad}: {problem}");
    }
    // Its own mistake only.
    let text = format!(
        "{{\"$schema\":\"{MCP}\",\"mcpServers\":{{\"a\":1,\"b c\":{{\"type\":\"stdio\",\
         \"command\":\"x\"}},\"d\":{{\"type\":\"stdio\",\"command\":\"x\"}}}}}}"
    );
    let plugin = plugin(&[("plugin.json", &manifest("")), ("mcp.json", &text)]);
    assert_eq!(plugin.servers.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["d"]);
    assert_eq!(mistakes(&plugin).len(), 2);
}

#[test]
fn agent_plugins_7_2_a_server_starts_in_the_package_s_folder() {
    let server = server(r#"{"type":"stdio","command":"x"}"#).expect("is good");
    assert_eq!(server.cwd.as_deref(), Some("./"));
}

#[cfg(unix)]
#[test]
fn agent_plugins_4_1_links_stay_inside_or_cost_what_is_behind_them() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().join("p");
    put(
        dir.path(),
        &[("out/skills/a/SKILL.md", ""), ("out/x", ""), ("out/plugin.json", &manifest(""))],
    );
    put(&root, &[("in/a/SKILL.md", "")]);
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).expect("links");
    link("../out/plugin.json", "plugin.json");
    assert!(read_in(&root).is_none_or(|read| read.plugin.is_none()), "the manifest leads out");
    std::fs::remove_file(root.join("plugin.json")).expect("removes");
    put(&root, &[("plugin.json", &manifest(""))]);
    link("../out/skills", "skills");
    let plugin = read_in(&root).and_then(|read| read.plugin).expect("the rest is there");
    assert!(plugin.skills.is_empty());
    assert_eq!(mistakes(&plugin), ["`skills`: it is no folder inside the package"]);
    std::fs::remove_file(root.join("skills")).expect("removes");
    link("in", "skills");
    let plugin = read_in(&root).and_then(|read| read.plugin).expect("is one");
    assert_eq!(plugin.skills.len(), 1, "a link inside is followed");
}

#[test]
fn a_package_says_when_it_applies_or_waits_for_the_user() {
    let gate = |said: &str| {
        let more = format!("\"extensions\":{{\"dev.symposium\":{said}}}");
        plugin(&[("plugin.json", &manifest(&more))])
    };
    assert!(plugin(&[("plugin.json", &manifest(""))]).gate.is_dormant());
    assert!(gate("{}").gate.is_dormant());
    assert_eq!(gate(r#"{"crates":"serde"}"#).gate.crates_named(), ["serde"]);
    let both = gate(r#"{"depends-on":["serde>=1","x"],"predicates":["env(CI)"]}"#);
    assert_eq!(both.gate.crates_named(), ["serde", "x"]);
    assert_eq!(both.gate.predicates.len(), 1);
    // What can't be read never makes it apply more widely, and does not wait to be asked for.
    for odd in [
        r#"{"crates":7}"#,
        r#"{"crates":["="]}"#,
        r#"{"crates":"serde","depends-on":"x"}"#,
        r#"{"predicates":{}}"#,
        r#"{"predicates":"what()("}"#,
    ] {
        let plugin = gate(odd);
        assert!(!plugin.gate.is_dormant() && !mistakes(&plugin).is_empty(), "{odd}");
        let unread = |predicate: &crate::plugins::model::Predicate| {
            matches!(predicate, crate::plugins::model::Predicate::Unsupported(_))
        };
        assert!(plugin.gate.predicates.iter().any(unread), "{odd}: {:?}", plugin.gate);
    }
    assert!(!mistakes(&gate(r#"{"crate":"serde"}"#)).is_empty());
}

const CLAUDE: &str = "{\"name\":\"p\",\"version\":\"0.3.0\"}";

#[test]
fn a_claude_package_brings_skills_hooks_and_servers_and_says_what_is_left() {
    let hooks = r#"{"description":"d","hooks":{
        "PreToolUse":[{"matcher":"Bash|Write","hooks":[
            {"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/g.sh","timeout":5},
            {"type":"prompt","prompt":"?"},
            {"type":"command","command":"node","args":["${CLAUDE_PLUGIN_ROOT}/x y.js"]}]}],
        "SessionStart":[{"matcher":"startup|clear","hooks":[
            {"type":"command","command":"echo hi","async":false}]}],
        "Notification":[{"hooks":[{"type":"command","command":"x"}]}],
        "PostToolUse":[{"hooks":[{"type":"command","command":"x","async":true},
            {"type":"command","command":"x","if":"Bash(rm *)"},{"command":"x"}]}]}}"#;
    let servers = r#"{"mcpServers":{
        "db":{"command":"${CLAUDE_PLUGIN_ROOT}/db","args":["--x"],"env":{"T":"${TOK}"}},
        "api":{"type":"http","url":"https://e.com/mcp","headers":{"A":"Bearer ${TOK}"}},
        "old":{"type":"sse","url":"https://e.com/sse"},
        "ws":{"type":"ws","url":"wss://e.com"},
        "dep":{"type":"http","url":"https://${HOST}/x"}}}"#;
    let plugin = plugin(&[
        (".claude-plugin/plugin.json", CLAUDE),
        ("skills/a/SKILL.md", ""),
        ("hooks/hooks.json", hooks),
        (".mcp.json", servers),
        ("commands/deploy.md", ""),
        ("commands/review.md", ""),
        ("agents/checker.md", ""),
        ("output-styles/x.md", ""),
        (".lsp.json", "{}"),
    ]);
    assert_eq!((plugin.name.as_str(), plugin.version.as_deref()), ("p", Some("0.3.0")));
    assert!(plugin.gate.is_dormant());
    let hooks: Vec<_> = plugin
        .hooks
        .iter()
        .map(|hook| (hook.name.as_str(), hook.matcher.as_deref(), hook.timeout.as_secs()))
        .collect();
    assert_eq!(
        hooks,
        [
            ("PreToolUse-1", Some("Bash|Write"), 5),
            ("PreToolUse-2", Some("Bash|Write"), 600),
            ("SessionStart-1", Some("startup|clear"), 600),
        ]
    );
    assert!(plugin.hooks.iter().all(|hook| hook.format == "claude" && hook.is_portable));
    let commands = plugin.installations.iter().filter_map(|known| known.args.as_ref()?.get(1));
    assert_eq!(
        commands.collect::<Vec<_>>(),
        ["${CLAUDE_PLUGIN_ROOT}/g.sh", "exec \"node\" \"${CLAUDE_PLUGIN_ROOT}/x y.js\"", "echo hi",]
    );
    let servers: Vec<_> = plugin.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(servers, ["db", "api", "old"]);
    assert!(matches!(plugin.servers[1].transport, Transport::Http { .. }));
    let told: Vec<_> =
        plugin.not_taken().iter().map(|it| format!("{}: {}", it.what, it.why)).collect();
    expect_test::expect![[r#"
        a hook on `PreToolUse`: its type is `prompt`, and only commands are run
        hooks on `Notification`: Symposium has no such event
        a hook on `PostToolUse`: it runs in the background, so that nobody waits for its answer
        a hook on `PostToolUse`: its `if` is a rule of Claude Code's permissions, which Symposium does not have
        a hook on `PostToolUse`: it has no `type`
        server `ws`: its `type` is `ws`, which Symposium does not know
        server `dep`: its address depends on a variable, which not every agent puts in
        2 commands: deploy, review: only Claude Code has this
        subagent `checker`: only Claude Code has this
        output style `x`: only Claude Code has this
        file of language servers `.lsp.json`: only Claude Code has this"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn paths_of_a_claude_package_stay_inside_it() {
    for path in ["../x", "/etc", "./a/../../x", "C:/x"] {
        let text = format!(
            "{{\"name\":\"p\",\"skills\":\"{path}\",\"hooks\":\"{path}\",\"mcpServers\":[\"{path}\"]}}"
        );
        let plugin = plugin(&[(".claude-plugin/plugin.json", &text)]);
        assert!(plugin.skills.is_empty() && plugin.hooks.is_empty(), "{path}");
        assert_eq!(mistakes(&plugin).len(), 3, "{path}: {:?}", mistakes(&plugin));
    }
    let text = "{\"name\":\"p\",\"skills\":[\"./more/\",\"none\"],\"hooks\":\"./h.json\"}";
    let hooks = "{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}";
    let files = [
        (".claude-plugin/plugin.json", text),
        ("skills/a/SKILL.md", ""),
        ("more/b/SKILL.md", ""),
        ("h.json", hooks),
    ];
    let plugin = plugin(&files);
    let folders: Vec<_> = plugin.skills.iter().map(|group| group.source.clone()).collect();
    let path = |path: &str| SkillSource::Path(path.to_owned());
    assert_eq!(folders, [path("skills"), path("more")]);
    assert_eq!(plugin.hooks.len(), 1);
    assert_eq!(mistakes(&plugin), ["`none` in `skills`: there is no such folder"]);
}

#[test]
fn a_claude_package_without_a_usable_name_or_that_is_no_json_is_refused() {
    for text in
        ["{", "[]", "{}", "{\"name\":1}", "{\"name\":\"a b\"}", "{\"name\":\"cargo-agents\"}"]
    {
        let read = package(&[(".claude-plugin/plugin.json", text)]).expect("is meant to be one");
        assert!(read.plugin.is_none() && read.diagnostics[0].is_error(), "{text}");
    }
}

#[test]
fn a_package_for_both_formats_has_the_hooks_of_the_second() {
    let hooks =
        "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}";
    let plugin = plugin(&[
        ("plugin.json", &manifest("\"version\":\"1\"")),
        (".claude-plugin/plugin.json", "{\"name\":\"other\"}"),
        ("hooks/hooks.json", hooks),
        ("commands/c.md", ""),
    ]);
    assert_eq!((plugin.name.as_str(), plugin.format()), ("p", "agent-plugins"));
    assert_eq!(plugin.hooks.len(), 1);
    assert_eq!(plugin.not_taken()[0].what, "command `c`");
}
