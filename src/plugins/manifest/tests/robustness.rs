use proptest::prelude::*;

use super::*;

#[test]
fn f125_without_a_usable_name_there_is_no_plugin() {
    for text in ["", "crates = [\"*\"]", "name = 1", "name = \"\"", "name = \"../x\"", "name = \"a"]
    {
        let parsed = parse(text, Strictness::Load);
        assert!(parsed.plugin.is_none(), "{text}");
        assert!(parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    }
}

#[test]
fn decision_27_unknown_keys_are_warnings_when_loading_and_errors_when_validating() {
    let text = "name = \"w\"\ncrates = [\"*\"]\ncolour = 1\n[[skills]]\nsorce = 1\n\
                source.path = \"s\"\n";
    let (plugin, said) = loaded(text);
    assert_eq!(plugin.skills.len(), 1);
    assert_eq!(said.matches("S003").count(), 2, "{said}");
    let strict = parse(text, Strictness::Validate);
    assert!(strict.diagnostics.iter().all(Diagnostic::is_error));
    assert!(shown(&strict).contains("`sorce` in `skills[0]` (did you mean `source`?)"));
}

#[test]
fn a_broken_entry_costs_only_itself() {
    let (plugin, said) = loaded(
        r#"
name = "w"
crates = ["*"]
[[installations]]
name = "good"
source = "cargo"
crate = "good"
[[installations]]
name = "bad"
source = "npm"
[[hooks]]
name = "one"
event = "Nope"
command = "good"
[[hooks]]
name = "two"
event = "PreToolUse"
requirements = ["bad", "absent", { source = "npm" }, "good"]
command = "good"
[[hooks]]
name = "three"
event = "PreToolUse"
command = "bad"
[[mcp_servers]]
name = "s"
command = 1
[[mcp_servers]]
name = "t"
command = "t"
[subcommand.init]
description = "d"
command = "good"
[subcommand.fine]
description = "d"
command = "good"
"#,
    );
    assert_eq!(plugin.installations.len(), 1);
    let hooks: Vec<_> = plugin.hooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(hooks, ["two"]);
    assert_eq!(plugin.hooks[0].requirements, ["good"], "f168");
    assert_eq!(plugin.servers.len(), 1);
    assert_eq!(plugin.subcommands.len(), 1);
    expect_test::expect![[r#"
        warning S020 w/SYMPOSIUM.toml:10:10: unknown source `npm`; accepted: cargo, github, binary; this installation is left out
        warning S012 w/SYMPOSIUM.toml:13:9: unknown event `Nope`; accepted: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop; this hook is left out
        warning S021 w/SYMPOSIUM.toml:18:24: no installation is named `absent`; installations: bad, good; the requirement is skipped
        warning S020 w/SYMPOSIUM.toml:18:45: unknown source `npm`; accepted: cargo, github, binary; this requirement is left out
        warning S035 w/SYMPOSIUM.toml:23:11: the installation `bad` was left out; this hook is left out
        warning S002 w/SYMPOSIUM.toml:26:11: `mcp_servers[0].command` must be a string, found an integer; this server is left out
        warning S029 w/SYMPOSIUM.toml:30:13: the subcommand name `init` is reserved; reserved: agents, audit, complete, completions, crate-info, doctor, help, hook, init, lock, man, mcp, plugin, run-server, self-update, status, symposium, sync, uninstall, use, version, why; this subcommand is left out
    "#]]
    .assert_eq(&said);
}

#[test]
fn what_cannot_be_read_never_makes_a_plugin_apply_more_widely() {
    for gate in [
        "crates = 1",
        "crates = [1]",
        "crates = [\"a b\"]",
        "crates = [\"*\"]\ndepends-on = [\"x\"]",
        "depends-on = {}",
        "crates = true",
        "crates = [[]]",
        "crates = [\"*\", 1]",
        "predicates = 3",
        "predicates = [3]",
        "crates = []\npredicates = {}",
    ] {
        let (plugin, _) = loaded(&format!("name = \"w\"\n{gate}\n"));
        assert_eq!(plugin.gate.crates, Some(Vec::new()), "{gate}");
        assert!(!plugin.gate.is_dormant(), "`use` wakes {gate}");
    }
    let (plugin, _) = loaded("name = \"w\"\ncrates = [\"*\"]\npredicates = [\"oops\"]\n");
    assert_eq!(plugin.gate.predicates, [Predicate::Unsupported("oops".to_owned())]);
    let (plugin, _) = loaded("name = \"w\"\ncrates = [\"a b\", \"x\"]\n");
    assert_eq!(atoms(&plugin.gate), ["x"]);
    let group = "name = \"w\"\ncrates = [\"*\"]\n[[skills]]\ncrates = 1\nsource.path = \"s\"\n";
    assert!(loaded(group).0.skills.is_empty());
}

#[test]
fn f236_a_hook_with_an_odd_matcher_or_agent_is_kept() {
    let text = "name = \"w\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
                matcher = \"(\"\nagent = \"nova\"\ncommand = { script = \"x.sh\" }\n";
    let (plugin, said) = loaded(text);
    assert_eq!(plugin.hooks.len(), 1);
    assert!(said.contains("S013") && said.contains("S014"), "{said}");
    assert_eq!(
        parse(text, Strictness::Validate).diagnostics.iter().filter(|d| d.is_error()).count(),
        2
    );
}

#[test]
fn f176_descriptions_are_made_safe_on_load() {
    let text = format!(
        "name = \"w\"\ncrates = [\"*\"]\n[subcommand.s]\ndescription = \"a\\nb\\u001b {}\"\n\
         command = {{ script = \"x.sh\" }}\n",
        "é".repeat(2000)
    );
    let (plugin, said) = loaded(&text);
    let description = &plugin.subcommands[0].description;
    assert!(description.starts_with("a b é"), "{description}");
    assert_eq!(description.chars().count(), 1024);
    assert_eq!(said.matches("S030").count(), 2);
}

#[test]
fn secret_values_are_not_in_what_is_said() {
    let text = "name = \"w\"\ncrates = [\"*\"]\n[[mcp_servers]]\nname = \"s\"\ntype = \"http\"\n\
                url = \"https://x\"\nheaders = { A = \"hunter2\\n\", B = { c = \"hunter2\" } }\n";
    let said = shown(&parse(text, Strictness::Validate));
    assert!(said.contains("S031") && said.contains("S002"), "{said}");
    assert!(!said.contains("hunter2"));
}

#[test]
fn f169_inline_installations_of_one_name_are_shared_or_refused() {
    let hooks = |one: &str, two: &str| {
        let text = format!(
            "name = \"w\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
             command = {{ script = \"{one}\" }}\n[[hooks]]\nname = \"h\"\n\
             event = \"SessionStart\"\ncommand = {{ script = \"{two}\" }}\n"
        );
        let (plugin, said) = loaded(&text);
        (plugin.hooks.len(), plugin.installations.len(), said.contains("S006"))
    };
    assert_eq!(hooks("a.sh", "a.sh"), (2, 1, false));
    assert_eq!(hooks("a.sh", "b.sh"), (1, 1, true));
}

/// Values that a confused author might write anywhere.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("true".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("[{ name = \"a\", value = \"b\" }, 1]".to_owned()),
        Just(
            "{ source = \"cargo\", crate = \"x\", requirements = [{ script = \"a\" }] }".to_owned()
        ),
        "[ -~é]{0,12}".prop_map(|text| format!("{text:?}")),
        "(crate|cargo|\\*|PreToolUse|claude|not\\(env\\(A\\)\\)|a>=1, <2|\\.\\./x|https://x/)"
            .prop_map(|text| format!("{text:?}")),
        "(serde|\\*|a>=)".prop_map(|text| format!("[{text:?}, {text:?}]")),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("name"),
        Just("crates"),
        Just("depends-on"),
        Just("predicates"),
        Just("source"),
        Just("source.path"),
        Just("source.cargo"),
        Just("event"),
        Just("command"),
        Just("script"),
        Just("executable"),
        Just("args"),
        Just("requirements"),
        Just("env"),
        Just("headers"),
        Just("url"),
        Just("sha256"),
        Just("type"),
        Just("timeout"),
        Just("description"),
        Just("subcommand"),
        Just("hooks"),
        Just("matcher"),
        Just("é"),
    ];
    let header = prop_oneof![
        Just("[[installations]]"),
        Just("[[skills]]"),
        Just("[[hooks]]"),
        Just("[[plugins]]"),
        Just("[[mcp_servers]]"),
        Just("[subcommand.x]"),
        Just("[subcommand.\"\"]"),
        Just("[defaults]"),
        Just("[[predicate]]"),
        Just("[hooks]"),
    ];
    prop_oneof![
        4 => (key, value()).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => header.prop_map(ToOwned::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = parse(&text, Strictness::Validate);
    }

    #[test]
    fn any_manifest_is_read_and_loading_never_errs_where_there_is_a_plugin(
        lines in proptest::collection::vec(line(), 0..12),
    ) {
        let text = format!("name = \"w\"\n{}\n", lines.join("\n"));
        for strictness in [Strictness::Load, Strictness::Validate] {
            let parsed = parse(&text, strictness);
            prop_assert!(parsed.diagnostics.iter().all(|d| d.code.is_some()));
            if let (Some(plugin), Strictness::Load) = (&parsed.plugin, strictness) {
                prop_assert!(parsed.diagnostics.iter().all(|d| !d.is_error()));
                for hook in &plugin.hooks {
                    let known = |name: &String| plugin.installations.iter().any(|i| i.name == *name);
                    prop_assert!(known(&hook.command));
                    prop_assert!(hook.requirements.iter().all(known));
                }
                let names: std::collections::BTreeSet<_> =
                    plugin.installations.iter().map(|one| &one.name).collect();
                prop_assert_eq!(names.len(), plugin.installations.len());
            }
        }
    }
}
