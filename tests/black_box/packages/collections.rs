//! Sources in the shape of what is published: they list cleanly, and git updates them.

use symposium_testlib::{Manner, Server};

use super::*;

/// A repository with this file in it.
fn commit(sandbox: &Sandbox, files: &[(&str, &str)]) {
    for (path, text) in files {
        sandbox.write(&format!("repos/c/{path}"), text);
    }
    if !sandbox.has("repos/c/.git") {
        sandbox.git_in("repos/c", &["init", "-q"]);
    }
    sandbox.git_in("repos/c", &["add", "-A"]);
    sandbox.git_in("repos/c", &["commit", "-qm", "x"]);
}

fn source(sandbox: &Sandbox, said: &str) {
    sandbox.package(&[("widget", "1.2.3")]);
    let url = sandbox.dir().join("repos/c");
    let source = format!("[[plugin-source]]\nname = \"c\"\ngit = {url:?}\n{said}\n");
    let agent = "[[agent]]\nname = \"claude\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{source}{agent}{NO_BUILTIN}"));
}

const A: &str = "---\nname: a\ndescription: d\n---\nx\n";
const B: &str = "---\nname: b\ndescription: d\n---\nx\n";
const HOOKS: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}],
    "SubagentStop":[{"hooks":[{"type":"command","command":"true"}]}]}}"#;

/// Name of the shape, its files, the names of plugins and of skills by themselves in it.
type Shape = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    &'static [&'static str],
);

const SHAPES: [Shape; 6] = [
    (
        "skills alone, beside other files",
        &[("README.md", "x"), ("skills/a/SKILL.md", A), ("skills/b/SKILL.md", B)],
        &[],
        &["a", "b"],
    ),
    (
        "an index whose entries share the repository's folder",
        &[
            (
                ".claude-plugin/marketplace.json",
                r#"{"name":"m","owner":{"name":"o"},"metadata":{"version":"1.0.0"},"plugins":[
                {"name":"first","source":"./","strict":false,"skills":["./skills/a"]},
                {"name":"second","source":"./","strict":false,"version":"2.1.0",
                 "skills":["./skills/b"]}]}"#,
            ),
            ("skills/a/SKILL.md", A),
            ("skills/b/SKILL.md", B),
            ("template/SKILL.md", "---\nname: template\ndescription: d\n---\n"),
        ],
        &["first", "second"],
        &[],
    ),
    (
        "an index of folders and of other repositories",
        &[
            (
                ".claude-plugin/marketplace.json",
                r#"{"name":"m","owner":{"name":"o"},"plugins":[
                {"name":"in-folder","source":"./plugins/in-folder","category":"x"},
                {"name":"by-entry","source":"./plugins/by-entry","strict":false,
                 "lspServers":{"rust":{"command":"rust-analyzer"}}},
                {"name":"elsewhere","source":{"source":"github","repo":"o/r","sha":
                 "0123456789012345678901234567890123456789"}},
                {"name":"of-npm","source":{"source":"npm","package":"@o/p"}}]}"#,
            ),
            ("plugins/in-folder/.claude-plugin/plugin.json", r#"{"name":"in-folder"}"#),
            ("plugins/in-folder/commands/x.md", "x"),
            ("plugins/in-folder/hooks/hooks.json", HOOKS),
            ("plugins/by-entry/README.md", "x"),
            ("external/unlisted/.claude-plugin/plugin.json", r#"{"name":"unlisted"}"#),
        ],
        &["by-entry", "elsewhere", "in-folder", "of-npm", "unlisted"],
        &[],
    ),
    (
        "a repository that is one package, and its own index",
        &[
            (
                ".claude-plugin/marketplace.json",
                r#"{"name":"m","owner":{"name":"o"},"plugins":[{"name":"powers","source":"./",
                "version":"4.0.0"}]}"#,
            ),
            (".claude-plugin/plugin.json", r#"{"name":"powers","version":"4.0.1"}"#),
            ("skills/a/SKILL.md", A),
            ("commands/x.md", "x"),
            ("hooks/hooks.json", HOOKS),
        ],
        &["powers"],
        &[],
    ),
    (
        "packages without an index",
        &[
            ("one/.claude-plugin/plugin.json", r#"{"name":"one","keywords":["x"],"odd":{}}"#),
            ("one/.mcp.json", r#"{"one-db":{"type":"sse","url":"https://e.com/sse"}}"#),
            ("one/agents/x.md", "x"),
            ("two/.claude-plugin/plugin.json", r#"{"name":"two","author":"me"}"#),
            ("two/skills/a/SKILL.md", A),
        ],
        &["one", "two"],
        &[],
    ),
    (
        "Agent Plugins, and files of others that are called so",
        &[
            (
                "portable/plugin.json",
                r#"{"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
                "name":"portable"}"#,
            ),
            ("portable/skills/a/SKILL.md", A),
            ("portable/com.example.client/hooks/hooks.json", "{}"),
            ("dashboard/src/plugin.json", r#"{"type":"panel","id":"x"}"#),
        ],
        &["portable"],
        &[],
    ),
];

#[test]
fn published_collections_list_cleanly_and_wait_for_the_user() {
    for (shape, files, plugins, skills) in SHAPES {
        let sandbox = sandbox();
        commit(&sandbox, files);
        source(&sandbox, "");
        let run = sandbox.run(&["sync"]).ok();
        let list = sandbox.run(&["plugin", "list"]).ok();
        for run in [&run, &list] {
            assert!(complaints(run).is_empty(), "{shape}: {}", run.stderr);
        }
        assert!(!sandbox.has("ws/.claude/skills"), "{shape}: nobody asked for any");
        let list = document(&sandbox.run(&["plugin", "list", "--json"]).ok());
        let names = |list: &Value| {
            let all = list.as_array().expect("a list").iter();
            let mut names: Vec<String> =
                all.map(|it| it["name"].as_str().expect("a name").to_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&list["plugins"]), plugins, "{shape}");
        assert_eq!(names(&list["skills"]), skills, "{shape}");
        let all = list["plugins"].as_array().into_iter().chain(list["skills"].as_array()).flatten();
        for found in all {
            assert_eq!(found["verdict"], "skipped", "{shape}: {found:#}");
        }
        // By the user's word they are for a crate.
        source(&sandbox, "crates = [\"widget\"]");
        let run = sandbox.run(&["sync"]).ok();
        assert!(complaints(&run).is_empty(), "{shape}: {}", run.stderr);
        let has_skill = files.iter().any(|(path, _)| path.ends_with("a/SKILL.md"));
        assert_eq!(sandbox.has("ws/.claude/skills/a/SKILL.md"), has_skill, "{shape}");
    }
}

#[test]
fn entries_of_an_index_have_their_own_skills_and_versions() {
    let sandbox = sandbox();
    commit(&sandbox, SHAPES[1].1);
    source(&sandbox, "[plugin-source.plugins.second]\ncrates = [\"widget\"]");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.claude/skills/b") && !sandbox.has("ws/.claude/skills/a"));
    assert_eq!(listed(&sandbox, "second")["version"], "2.1.0");
    assert!(listed(&sandbox, "first").get("version").is_none());
    let shown = sandbox.run(&["plugin", "show", "second"]).ok();
    assert!(shown.stdout.contains("marketplace.json#second"), "{}", shown.stdout);
}

/// A source `more` whose index names two packages in repositories of their own.
fn index_of_repositories(sandbox: &Sandbox) -> Server {
    for name in ["wanted", "other"] {
        sandbox
            .write(&format!("repos/{name}/in/.claude-plugin/plugin.json"), "{\"name\":\"inner\"}");
        commit_skill(sandbox, name, &format!("of-{name}"));
    }
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    let entry = |name: &str| {
        serde_json::json!({ "name": name, "version": "3.0.0", "source": {
            "source": "git-subdir", "url": server.url(&format!("{name}/.git")), "path": "in",
        } })
    };
    let index = serde_json::json!({ "name": "m", "plugins": [entry("wanted"), entry("other")] });
    sandbox.write("more/.claude-plugin/marketplace.json", index.to_string());
    let path = sandbox.dir().join("more");
    let source = format!("[[plugin-source]]\nname = \"more\"\npath = {path:?}\n");
    let agent = "[[agent]]\nname = \"claude\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{source}{agent}{NO_BUILTIN}"));
    server
}

/// A further skill in the repository of the package `name`.
fn commit_skill(sandbox: &Sandbox, name: &str, of: &str) {
    let repository = format!("repos/{name}");
    sandbox.write(&format!("{repository}/in/skills/{of}/SKILL.md"), skill(of, "d"));
    if !sandbox.has(&format!("{repository}/.git")) {
        sandbox.git_in(&repository, &["init", "-q"]);
    }
    sandbox.git_in(&repository, &["add", "-A"]);
    sandbox.git_in(&repository, &["commit", "-qm", "x"]);
}

#[test]
fn what_an_index_names_elsewhere_is_fetched_for_those_who_ask_for_it_alone() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    let server = index_of_repositories(&sandbox);
    let run = sandbox.run(&["sync"]).ok();
    assert!(complaints(&run).is_empty(), "{}", run.stderr);
    let why = sandbox.run(&["why", "wanted", "--json"]);
    assert!(why.stdout.contains("`cargo agents use wanted` fetches it"), "{}", why.stdout);
    assert!(server.requests().is_empty(), "nobody asked for it: {:?}", server.requests());
    sandbox.run(&["use", "wanted"]).ok();
    assert!(sandbox.has("ws/.claude/skills/of-wanted/SKILL.md"));
    let found = listed(&sandbox, "wanted");
    assert_eq!((&found["source"], &found["version"]), (&"more/wanted".into(), &"3.0.0".into()));
    let other = server.requests().iter().any(|request| request.contains("other"));
    assert!(!other, "{:?}", server.requests());
    // Away, it stays as it was.
    drop(server);
    sandbox.run(&["--offline", "sync"]).ok();
    assert!(sandbox.has("ws/.claude/skills/of-wanted/SKILL.md"));
}

#[test]
fn plugin_sync_refreshes_what_an_index_names_elsewhere() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    let server = index_of_repositories(&sandbox);
    sandbox.run(&["use", "wanted"]).ok();
    // By itself, by its source's name, and by nobody else's.
    for (args, is_new) in [
        (&["plugin", "sync"][..], true),
        (&["plugin", "sync", "more"], true),
        (&["plugin", "sync", "user-plugins"], false),
    ] {
        let name = format!("next-{}", args.join("-").len());
        commit_skill(&sandbox, "wanted", &name);
        let run = sandbox.run(args).ok();
        assert_eq!(run.stderr.contains("more/wanted"), is_new, "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.contains("Fetched"), is_new, "{args:?}: {}", run.stderr);
        sandbox.run(&["--update", "none", "sync"]).ok();
        assert_eq!(sandbox.has(&format!("ws/.claude/skills/{name}")), is_new, "{args:?}");
    }
    let other = server.requests().iter().any(|request| request.contains("other"));
    assert!(!other, "nobody asked for it: {:?}", server.requests());
    std::fs::remove_dir_all(sandbox.dir().join("repos/wanted")).expect("removes");
    let run = sandbox.run(&["plugin", "sync"]).code(1);
    assert!(run.stderr.contains("more/wanted"), "{}", run.stderr);
}

#[test]
fn git_brings_a_package_s_next_version() {
    let sandbox = sandbox();
    let of = |version: &str| format!("{{\"name\":\"p\",\"version\":\"{version}\"}}");
    commit(&sandbox, &[(".claude-plugin/plugin.json", &of("1.0.0")), ("skills/a/SKILL.md", A)]);
    source(&sandbox, "crates = [\"widget\"]");
    sandbox.run(&["sync"]).ok();
    assert_eq!(listed(&sandbox, "p")["version"], "1.0.0");
    commit(&sandbox, &[(".claude-plugin/plugin.json", &of("1.1.0")), ("skills/b/SKILL.md", B)]);
    sandbox.run(&["plugin", "sync", "c"]).ok();
    sandbox.run(&["sync"]).ok();
    assert_eq!(listed(&sandbox, "p")["version"], "1.1.0");
    assert!(sandbox.has("ws/.claude/skills/b/SKILL.md"));
}

#[test]
fn an_index_that_can_t_be_used_is_told_and_costs_nothing_else() {
    let sandbox = sandbox();
    for (text, told) in [
        ("{", "no JSON"),
        ("{}", "no list `plugins`"),
        (r#"{"plugins":[{"name":"x","source":"../x"}]}"#, "leads out"),
        (r#"{"plugins":[{"name":"x","source":"./none"}]}"#, "there is no folder"),
        (r#"{"plugins":[{"name":"a b","source":"./p"}]}"#, "can't be a plugin's name"),
        (r#"{"plugins":[{"name":"x"}]}"#, "has no `source`"),
        (r#"{"plugins":[{"name":"x","source":{"source":"url","url":"/etc"}}]}"#, "on this machine"),
    ] {
        sandbox.write("more/.claude-plugin/marketplace.json", text);
        sandbox.write("more/p/.claude-plugin/plugin.json", "{\"name\":\"p\"}");
        let run = sandbox.run(&["plugin", "validate", "../more"]);
        assert_eq!(run.code, 1, "{text}: {}", run.stderr);
        assert!(run.stderr.contains(told), "{text}: {}", run.stderr);
        let path = sandbox.dir().join("more");
        let source = format!("[[plugin-source]]\nname = \"more\"\npath = {path:?}\n");
        sandbox.write("home/.symposium/config.toml", format!("{source}{NO_BUILTIN}"));
        assert_eq!(listed(&sandbox, "p")["format"], "claude", "{text}");
    }
}
