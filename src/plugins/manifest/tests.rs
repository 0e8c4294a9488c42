use std::time::Duration;

use symposium_hook::Event;

use super::*;
use crate::plugins::git::GitPlace;
use crate::plugins::model::{
    Audience, Checksum, CrateAtom, InstallSource, OnFailure, Predicate, Runnable, SkillSource,
    Transport,
};

mod mistakes;
mod robustness;

fn parse(text: &str, strictness: Strictness) -> Parsed {
    let place = Place {
        source: "acme",
        source_root: Path::new("/source"),
        manifest: Path::new("/source/widget/SYMPOSIUM.toml"),
    };
    Manifest::parse(Source::new("w/SYMPOSIUM.toml", text), &place, strictness)
}

/// The plugin of a manifest that has nothing wrong.
fn valid(text: &str) -> Plugin {
    let parsed = parse(text, Strictness::Validate);
    assert_eq!(shown(&parsed), "", "validates");
    let plugin = parsed.plugin.expect("a plugin");
    let loaded = parse(text, Strictness::Load);
    assert_eq!(shown(&loaded), "", "loads");
    assert_eq!(loaded.plugin.as_ref(), Some(&plugin));
    plugin
}

/// The plugin as loaded, with what was said of it.
fn loaded(text: &str) -> (Plugin, String) {
    let parsed = parse(text, Strictness::Load);
    assert!(parsed.diagnostics.iter().all(|diagnostic| !diagnostic.is_error()));
    let said = shown(&parsed);
    (parsed.plugin.expect("a plugin"), said)
}

fn shown(parsed: &Parsed) -> String {
    parsed
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let code = diagnostic.code.expect("every problem has a code");
            format!("{} {code} {diagnostic}\n", diagnostic.severity.word())
        })
        .collect()
}

fn atoms(gate: &Gate) -> Vec<&str> {
    let text = |atom| match atom {
        &CrateAtom::Any => "*",
        CrateAtom::Crate { text, .. } => text.as_str(),
    };
    gate.crates.as_ref().expect("crates").iter().map(text).collect()
}

#[test]
fn f127_every_section_of_the_book() {
    let plugin = valid(
        r#"
name = "widget"
crates = ["widget", "widget-core>=1.2"]

[[installations]]
name = "tool"
source = "cargo"
crate = "widget-tool"
version = "13.0.0"
executable = "widget-tool"
args = ["--fast"]

[[installations]]
name = "scripts"
source = "github"
url = "https://github.com/example/scripts"
requirements = ["tool"]

[[installations]]
name = "setup"
install_commands = ["ln -sf a b", "true"]

[[skills]]
source = "crate"

[[skills]]
crates = "widget=1.0"
source.git = "https://github.com/example/widget/tree/main/skills"

[[skills]]
source.path = "skills"

[[hooks]]
name = "rewrite"
event = "PreToolUse"
matcher = "Bash"
requirements = ["setup", { source = "cargo", crate = "ripgrep" }]
command = "scripts"
script = "hooks/rewrite.sh"
args = ["--format"]
agent = "claude"
format = "claude"
timeout = 5
on-failure = "block"

[[hooks]]
name = "check"
event = "SessionStart"
command = { script = "scripts/check.sh", args = ["--strict"] }

[[mcp_servers]]
name = "widget-mcp"
command = "/usr/local/bin/widget-mcp"
args = ["--stdio"]
env = [{ name = "LEVEL", value = "1" }]

[[mcp_servers]]
name = "remote"
type = "http"
crates = ["*"]
url = "http://localhost:8080/mcp"
headers = { Authorization = "Bearer x" }

[[mcp_servers]]
name = "stream"
type = "sse"
url = "https://example.com/sse"
headers = []

[subcommand.demo]
description = "Run the demo"
command = "tool"

[subcommand.count]
description = "Count widgets"
audience = "humans"
crates = ["widget>=2"]
command = { source = "cargo", crate = "widget-count" }
"#,
    );
    assert_eq!(plugin.name, "widget");
    assert_eq!(plugin.source, "acme");
    assert_eq!(plugin.dir, Path::new("/source/widget"));
    assert_eq!(atoms(&plugin.gate), ["widget", "widget-core>=1.2"]);
    let names: Vec<_> = plugin.installations.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["tool", "scripts", "setup", "rewrite__req_1", "check", "count"], "f169");
    assert_eq!(plugin.installations[1].requirements, ["tool"]);
    assert_eq!(plugin.installations[2].install_commands, ["ln -sf a b", "true"]);
    let sources: Vec<_> = plugin.skills.iter().map(|group| group.source.clone()).collect();
    assert_eq!(
        sources,
        [
            SkillSource::Crate { tried_first: None },
            SkillSource::Git(GitPlace {
                url: "https://github.com/example/widget/tree/main/skills".into(),
                ..GitPlace::default()
            }),
            SkillSource::Path("skills".to_owned()),
        ]
    );
    assert_eq!(atoms(&plugin.skills[1].gate), ["widget=1.0"], "decision 2: a string");
    check_hooks(&plugin);
    check_servers(&plugin);
    let subcommands: Vec<_> = plugin
        .subcommands
        .iter()
        .map(|one| (one.name.as_str(), one.command.as_str(), one.audience))
        .collect();
    assert_eq!(
        subcommands,
        [("demo", "tool", Audience::Agents), ("count", "count", Audience::Humans)]
    );
}

fn check_hooks(plugin: &Plugin) {
    let [rewrite, check] = plugin.hooks.as_slice() else { panic!("two hooks") };
    assert_eq!(rewrite.event, Event::PreToolUse);
    assert_eq!(rewrite.matcher.as_deref(), Some("Bash"));
    assert_eq!(rewrite.requirements, ["setup", "rewrite__req_1"]);
    assert_eq!(rewrite.runnable, Some(Runnable::Script("hooks/rewrite.sh".to_owned())));
    assert_eq!(rewrite.args, Some(vec!["--format".to_owned()]));
    assert_eq!((rewrite.agent.as_deref(), rewrite.format.as_str()), (Some("claude"), "claude"));
    assert_eq!(rewrite.timeout, Duration::from_secs(5));
    assert_eq!(rewrite.on_failure, OnFailure::Block);
    assert_eq!((check.command.as_str(), check.format.as_str()), ("check", "symposium"));
    assert_eq!((check.timeout, check.on_failure), (Duration::from_secs(30), OnFailure::Continue));
    assert_eq!(check.runnable, None);
}

fn check_servers(plugin: &Plugin) {
    let [stdio, http, sse] = plugin.servers.as_slice() else { panic!("three servers") };
    assert_eq!(
        stdio.transport,
        Transport::Stdio {
            command: "/usr/local/bin/widget-mcp".to_owned(),
            args: vec!["--stdio".to_owned()],
            env: vec![("LEVEL".to_owned(), "1".to_owned())],
        }
    );
    assert_eq!(
        http.transport,
        Transport::Http {
            url: "http://localhost:8080/mcp".into(),
            headers: vec![("Authorization".to_owned(), "Bearer x".to_owned())],
        }
    );
    assert!(matches!(sse.transport, Transport::Sse { .. }));
}

#[test]
fn decision_2b_the_later_schema() {
    let text = r#"
name = "widget"
depends-on = ["widget>=1, <3", "*"]
predicates = ["env(CI)", "not(path_exists(widget.toml))"]

[defaults]
skills = false

[[skills]]
depends-on = "widget"
predicates = "any(workspace-member(), depends-on(other))"
source.crate_path = "docs/skills"

[[plugins]]
source.cargo = "widget-extras"

[[plugins]]
depends-on = ["widget>=2"]
source.cargo = { name = "widget-more", version = ">=1.0" }

[[hooks]]
name = "guard"
event = "PostToolUse"
predicates = ["env(GUARD=1)"]
command = { source = "cargo", crate = "guard" }
"#;
    let plugin = valid(text);
    assert_eq!(atoms(&plugin.gate), ["widget>=1, <3", "*"]);
    assert_eq!(plugin.gate.predicates.len(), 2);
    let [own, extras, more] = plugin.skills.as_slice() else { panic!("three groups") };
    assert_eq!(own.source, SkillSource::Crate { tried_first: Some("docs/skills".to_owned()) });
    assert_eq!(atoms(&own.gate), ["widget"]);
    assert!(matches!(own.gate.predicates.as_slice(), [Predicate::Any(list)] if list.len() == 2));
    assert_eq!(
        extras.source,
        SkillSource::NamedCrate { name: "widget-extras".to_owned(), requirement: None }
    );
    let SkillSource::NamedCrate { requirement: Some(requirement), .. } = &more.source else {
        panic!("a requirement")
    };
    assert_eq!(requirement.to_string(), ">=1.0");
    assert_eq!(plugin.hooks[0].gate.predicates.len(), 1);
}

#[test]
fn decision_11_binaries() {
    let sum = "AB".repeat(32);
    let text = format!(
        r#"
name = "widget"
crates = ["widget"]
[[installations]]
name = "one"
source = "binary"
url = "https://example.com/{{version}}/tool-{{target}}.tar.gz"
version = "1.2.3"
sha256 = "{sum}"
executable = "bin/tool"
[[installations]]
name = "many"
source = "binary"
url = "http://127.0.0.1:1/tool-{{arch}}-{{os}}"
sha256 = {{ x86_64-unknown-linux-gnu = "{sum}" }}
"#
    );
    let plugin = valid(&text);
    let InstallSource::Binary { sha256, version, .. } =
        plugin.installations[0].source.as_ref().expect("a source")
    else {
        panic!("a binary")
    };
    assert_eq!(*sha256, Checksum::One(sum.to_lowercase()));
    assert_eq!(version.as_deref(), Some("1.2.3"));
    let Some(InstallSource::Binary { sha256: Checksum::ByTarget(sums), .. }) =
        &plugin.installations[1].source
    else {
        panic!("a binary")
    };
    assert_eq!(sums["x86_64-unknown-linux-gnu"], sum.to_lowercase());
}

#[test]
fn decision_26_paths_may_leave_the_plugin_but_not_its_source() {
    let with = |path: &str| {
        format!("name = \"w\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"{path}\"\n")
    };
    for path in ["skills", ".", "./a", "../shared/skills"] {
        valid(&with(path));
    }
    for path in ["../../x", "/etc", "~/skills", "", "a/../../.."] {
        let (plugin, said) = loaded(&with(path));
        assert!(plugin.skills.is_empty(), "{path}");
        assert!(said.contains("S025"), "{path}: {said}");
    }
}

#[test]
fn f154_f161_what_a_hook_runs() {
    let hook = |installation: &str, hook: &str| {
        let text = format!(
            "name = \"w\"\ncrates = [\"*\"]\n[[installations]]\nname = \"i\"\n{installation}\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"i\"\n{hook}\n"
        );
        let found = parse(&text, Strictness::Validate).diagnostics;
        found.iter().filter_map(|diagnostic| diagnostic.code).collect::<Vec<_>>().join(" ")
    };
    let cargo = "source = \"cargo\"\ncrate = \"x\"";
    let github = "source = \"github\"\nurl = \"https://example.com/x\"";
    for (one, two, expected) in [
        (cargo.to_owned(), "", ""),
        (format!("{cargo}\nglobal = true"), "", "S023"),
        (format!("{cargo}\nglobal = true"), "executable = \"x\"", ""),
        (format!("{cargo}\ngit = \"https://example.com/x\""), "", "S023"),
        (format!("{cargo}\ngit = \"https://example.com/x\"\nexecutable = \"x\""), "", ""),
        (cargo.to_owned(), "executable = \"bin/x\"", "S025"),
        (github.to_owned(), "", "S023"),
        (github.to_owned(), "script = \"a/b.sh\"", ""),
        (github.to_owned(), "script = \"../b.sh\"", "S025"),
        (github.to_owned(), "script = \"/b.sh\"", "S025"),
        (format!("{github}\nscript = \"a.sh\""), "executable = \"b\"", "S022"),
        (github.to_owned(), "script = \"a.sh\"\nexecutable = \"b\"", "S022"),
        ("executable = \"/usr/bin/x\"".to_owned(), "", ""),
        ("executable = \"bin/x\"".to_owned(), "", ""),
        ("executable = \"~/x\"".to_owned(), "", "S025"),
        ("install_commands = [\"true\"]".to_owned(), "", "S023"),
        ("executable = \"x\"\nargs = []".to_owned(), "args = [\"a\"]", "S024"),
        ("executable = \"x\"\nargs = [\"a\"]".to_owned(), "", ""),
    ] {
        assert_eq!(hook(&one, two), expected, "{one} / {two}");
    }
}

#[test]
fn f105_a_plugin_says_somewhere_which_crates_it_is_for() {
    let (plugin, said) = loaded("name = \"w\"\n[[skills]]\nsource.path = \"s\"\n");
    assert_eq!(plugin.gate.crates, Some(Vec::new()), "dormant");
    assert!(said.contains("S010"), "{said}");
    for somewhere in [
        "crates = [\"*\"]",
        "[[skills]]\ncrates = \"x\"\nsource.path = \"s\"",
        "[[mcp_servers]]\nname = \"s\"\ncrates = \"x\"\ncommand = \"s\"",
        "[subcommand.s]\ndescription = \"d\"\ncrates = \"x\"\n\
         command = { source = \"cargo\", crate = \"s\" }",
    ] {
        valid(&format!("name = \"w\"\n{somewhere}\n"));
    }
    let text = "name = \"w\"\n[[skills]]\ncrates = \"x\"\nsource.path = \"s\"\n\
                [[mcp_servers]]\nname = \"s\"\ncommand = \"s\"\n";
    let (plugin, said) = loaded(text);
    assert!(plugin.servers.is_empty() && said.contains("S010"), "{said}");
}

#[test]
fn f113_crate_sources_need_a_crate() {
    let groups = |crates: &str, group: &str| {
        let text = format!("name = \"w\"\n{crates}\n[[skills]]\n{group}\nsource = \"crate\"\n");
        let parsed = parse(&text, Strictness::Load);
        parsed.plugin.expect("a plugin").skills.len()
    };
    for (crates, group, expected) in [
        ("crates = [\"*\"]", "", 0),
        ("crates = []", "crates = \"*\"", 0),
        ("crates = [\"*\"]", "crates = \"x\"", 1),
        ("crates = [\"*\", \"x\"]", "", 1),
        ("crates = \"*\"", "predicates = [\"depends-on(x)\"]", 1),
        ("crates = \"*\"", "predicates = [\"not(depends-on(x))\"]", 0),
    ] {
        assert_eq!(groups(crates, group), expected, "{crates} / {group}");
    }
}

/// What `validate` tells of a group whose source has these lines.
fn of_group(source: &str) -> (Option<SkillSource>, Vec<String>) {
    let text = format!("name = \"w\"\ncrates = [\"w\"]\n\n[[skills]]\n{source}\n");
    let place = Place {
        source: "s",
        source_root: Path::new("/s"),
        manifest: Path::new("/s/SYMPOSIUM.toml"),
    };
    let read = Manifest::parse(
        crate::text::Source::new("w/SYMPOSIUM.toml", text),
        &place,
        Strictness::Validate,
    );
    let group = read.plugin.and_then(|mut plugin| plugin.skills.pop());
    (group.map(|group| group.source), read.diagnostics.iter().map(ToString::to_string).collect())
}

#[test]
fn a_git_group_takes_rev_and_subdir_as_a_plugin_source_does() {
    let (source, told) = of_group(
        "source.git = \"https://host/a/b\"\nsource.rev = \"v1.2\"\nsource.subdir = \"skills\"",
    );
    assert_eq!(told, [""; 0]);
    let place = GitPlace {
        url: "https://host/a/b".into(),
        rev: Some("v1.2".to_owned()),
        subdir: Some("skills".to_owned()),
    };
    assert_eq!(source, Some(SkillSource::Git(place)));
}

#[test]
fn validate_judges_git_addresses_as_the_fetch_does() {
    let good = "source.git = \"https://host/a/b\"";
    for (written, place, part) in [
        ("source.git = \"http://host/a\"".to_owned(), "5:14", "not protected on its way"),
        ("source.git = \"https://host\"".to_owned(), "5:14", "names no repository"),
        ("source.git = \"owner/name\"".to_owned(), "5:14", "has no host"),
        ("source.git = \"file:///srv/a\"".to_owned(), "5:14", "on this machine"),
        ("source.git = \"/srv/a\"".to_owned(), "5:14", "on this machine"),
        ("source.git = \"ext::sh -c x\"".to_owned(), "5:14", "remote helper"),
        (format!("{good}\nsource.rev = \"-x\""), "6:14", "can't be a branch"),
        (format!("{good}\nsource.subdir = \"../x\""), "6:17", "leads out"),
        ("source.path = \"a\"\nsource.rev = \"x\"".to_owned(), "6:8", "goes with `source.git`"),
    ] {
        let (_, told) = of_group(&written);
        let [problem] = told.as_slice() else { panic!("{written}: {told:?}") };
        assert!(
            problem.starts_with(&format!("w/SYMPOSIUM.toml:{place}: ")),
            "{written}: {problem}"
        );
        assert!(problem.contains(part), "{written}: {problem}");
    }
}
