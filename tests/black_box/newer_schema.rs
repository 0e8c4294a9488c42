//! A source wholly in the newer schema offers what one in the older schema does (decision 2b).

use symposium_testlib::{Sandbox, Tree};

use crate::{NO_BUILTIN, sandbox, skill};

const OLD: [(&str, &str); 4] = [
    (
        "own/SYMPOSIUM.toml",
        "name = \"own\"\ncrates = [\"widget>=1\"]\n[[skills]]\nsource.path = \"skills\"\n",
    ),
    (
        "of-crate/SYMPOSIUM.toml",
        "name = \"of-crate\"\ncrates = [\"gadget\"]\n[[skills]]\nsource = \"crate\"\n",
    ),
    (
        "no/SYMPOSIUM.toml",
        "name = \"no\"\ncrates = [\"absent\"]\n[[skills]]\nsource.path = \"skills\"\n",
    ),
    ("alone/SKILL.md", "---\nname: alone\ndescription: d\ncrates: widget\n---\nx\n"),
];

const NEW: [(&str, &str); 4] = [
    (
        "own/SYMPOSIUM.toml",
        "name = \"own\"\ndepends-on = [\"widget>=1\"]\npredicates = [\"not(env(NO_SUCH_VARIABLE))\"]\n\
         [[skills]]\nsource.path = \"skills\"\n",
    ),
    (
        "of-crate/SYMPOSIUM.toml",
        "name = \"of-crate\"\n[[plugins]]\ndepends-on = \"gadget\"\nsource.cargo = \"gadget\"\n",
    ),
    (
        "no/SYMPOSIUM.toml",
        "name = \"no\"\npredicates = [\"any(depends-on(absent), all(depends-on(widget), env(NO_SUCH)))\"]\n\
         [[skills]]\nsource.path = \"skills\"\n",
    ),
    ("alone/SKILL.md", "---\nname: alone\ndescription: d\ndepends-on: widget\n---\nx\n"),
];

/// The workspace's skills from a source of these files and a crate with this metadata.
fn skills(files: &[(&str, &str)], metadata: &str) -> Tree {
    let sandbox = world(files, &[("Cargo.toml", &format!("{GADGET}{metadata}"))]);
    installed(&sandbox)
}

const GADGET: &str = "[package]\nname = \"gadget\"\nversion = \"2.0.0\"\n";

fn world(files: &[(&str, &str)], of_crate: &[(&str, &str)]) -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.package(&[("gadget", "2.0.0"), ("widget", "1.0.0")]);
    for (path, text) in files {
        sandbox.user_plugin(path, text);
    }
    sandbox.user_plugin("own/skills/mine/SKILL.md", &skill("mine", "m"));
    sandbox.user_plugin("no/skills/never/SKILL.md", &skill("never", "n"));
    let (default, guide) = (skill("standard", "s"), skill("guide", "g"));
    let mut all =
        vec![("skills/standard/SKILL.md", default.as_str()), ("docs/guide/SKILL.md", &guide)];
    all.extend(of_crate);
    sandbox.registry_crate("gadget", "2.0.0", &all);
    sandbox
}

fn installed(sandbox: &Sandbox) -> Tree {
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    let mut tree = sandbox.ws_tree();
    tree.0.retain(|path, _| path.starts_with(".claude/") && path.ends_with("SKILL.md"));
    tree
}

#[test]
fn decision_2b_both_schemas_install_the_same_skills() {
    let old = skills(&OLD, "");
    let files = [
        ".claude/skills/alone/SKILL.md",
        ".claude/skills/mine/SKILL.md",
        ".claude/skills/standard/SKILL.md",
    ];
    assert_eq!(old.files(), files);
    let new = skills(&NEW, "");
    assert_eq!(new.files(), files);
    let old = skills(&OLD, "[[package.metadata.symposium.skills]]\npath = \"docs\"\n");
    let new = skills(
        &NEW,
        "[package.metadata.symposium.defaults]\nskills = false\n\
         [[package.metadata.symposium.skills]]\nsource.path = \"docs\"\n",
    );
    assert!(old.files().contains(&".claude/skills/guide/SKILL.md"), "{old}");
    assert_eq!(new.files(), old.files());
}

#[test]
fn decision_2b_a_crate_s_own_manifest_file_counts_as_its_metadata_does() {
    let metadata = skills(&NEW, "[[package.metadata.symposium.skills]]\npath = \"docs\"\n");
    let file = "[defaults]\nskills = false\n[[skills]]\nsource.path = \"docs\"\n";
    let sandbox = world(&NEW, &[("SYMPOSIUM.toml", file)]);
    let own = installed(&sandbox);
    assert_eq!(own.files(), metadata.files());
    assert!(own.files().contains(&".claude/skills/guide/SKILL.md"), "{own}");
}

#[test]
fn decision_2b_what_would_run_a_program_to_decide_never_holds_and_says_so() {
    for predicate in ["shell(true)", "not(shell(false))", "cargo-bin(x)"] {
        let manifest = format!(
            "name = \"own\"\ndepends-on = [\"widget\"]\npredicates = [\"{predicate}\"]\n\
             [[skills]]\nsource.path = \"skills\"\n"
        );
        let sandbox = world(&[("own/SYMPOSIUM.toml", &manifest)], &[]);
        let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
        assert!(run.stderr.contains("not supported"), "{predicate}: {}", run.stderr);
        assert!(!sandbox.has("ws/.claude/skills/mine"), "{predicate}");
    }
}

#[test]
fn f145_a_named_crate_with_a_version_gives_the_newest_that_meets_it() {
    let manifest = "name = \"own\"\ndepends-on = [\"widget\"]\n\
                    [[plugins]]\nsource.cargo = { name = \"guide\", version = \"<2\" }\n";
    let sandbox = world(&[("own/SYMPOSIUM.toml", manifest)], &[]);
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        let name = format!("v{}", version.replace('.', "-"));
        let text = skill(&name, "g");
        sandbox.registry_crate("guide", version, &[(&format!("skills/{name}/SKILL.md"), &text)]);
    }
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("ws/.claude/skills/v1-5-0"), "{}", run.stderr);
    assert!(!sandbox.has("ws/.claude/skills/v2-0-0"));
}
