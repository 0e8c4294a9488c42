//! What others copy into their CI does what it says: the action's steps and the pre-commit hook are run
//! on the sources of our own fixtures, and on a broken plugin.

use std::path::{Path, PathBuf};

use serde_yaml::Value;
use symposium_testlib::{Run, Sandbox};

use crate::sandbox;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn yaml(name: &str) -> Value {
    let text = std::fs::read_to_string(root().join(name)).expect("reads");
    serde_yaml::from_str(&text).expect("is YAML")
}

/// A sandbox in which `cargo-agents` is on `PATH`.
fn installed() -> Sandbox {
    let mut sandbox = sandbox();
    sandbox.install_in("bin");
    sandbox.first_on_path("bin");
    sandbox
}

/// The fixtures that are sources of plugins; one of them holds a misnamed manifest on purpose.
fn sources() -> [String; 2] {
    ["plugins0/dot-symposium/plugins", "recommendations"]
        .map(|path| root().join("tests/fixtures").join(path).display().to_string())
}

/// Runs the steps of the action with these inputs.
fn run_action(sandbox: &Sandbox, inputs: &[(&str, &str)]) -> Run {
    let action = yaml("action.yml");
    let value = |name: &str| {
        let given = inputs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let default = action["inputs"][name]["default"].as_str();
        given.or(default).unwrap_or_else(|| panic!("no input {name}")).to_owned()
    };
    let mut last = None;
    for step in action["runs"]["steps"].as_sequence().expect("steps") {
        assert_eq!(step["shell"].as_str(), Some("bash"));
        let mut command = sandbox.shell("exec bash --noprofile --norc -eo pipefail -c \"$STEP\"");
        command.env("STEP", step["run"].as_str().expect("a script")).current_dir(sandbox.dir());
        command.env("GITHUB_ACTION_PATH", root()).env("GITHUB_ACTIONS", "true");
        for (name, text) in step["env"].as_mapping().into_iter().flatten() {
            let text = text.as_str().expect("a string");
            let input = text.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}"));
            command.env(name.as_str().expect("a name"), value(input.expect("an input")));
        }
        let run = Run::of(&mut command, b"");
        if run.code != 0 {
            return run;
        }
        last = Some(run);
    }
    last.expect("a step")
}

fn broken(sandbox: &Sandbox) -> PathBuf {
    sandbox.write("broken/SYMPOSIUM.toml", "name = \"broken\"\ncrates = [\"serde\"]\ncratse = 1\n");
    sandbox.dir().join("broken")
}

#[test]
fn the_action_passes_our_fixtures_sources_and_marks_a_broken_plugin() {
    let sandbox = installed();
    let [sound, odd] = sources();
    run_action(&sandbox, &[("paths", &sound), ("check-crates", "false")]).ok();
    let both = format!("{sound} {odd}");
    let looks = [("paths", both.as_str()), ("check-crates", "false"), ("test", "false")];
    let run = run_action(&sandbox, &looks).code(1);
    assert!(run.stdout.contains("::warning file="), "{}", run.stdout);
    let lenient = [&looks[..], &[("deny-warnings", "false")]].concat();
    run_action(&sandbox, &lenient).ok();
    // A program of the odd ones is not on this machine, so that they can't be tried out.
    let run = run_action(&sandbox, &[&lenient[..2], &lenient[3..]].concat()).code(1);
    assert!(run.stdout.contains("there is no program"), "{}", run.stdout);
    broken(&sandbox);
    let run = run_action(&sandbox, &[("paths", "broken"), ("check-crates", "false")]).code(1);
    let told = "::error file=broken/SYMPOSIUM.toml,line=3";
    assert!(run.stdout.contains(told), "{}", run.stdout);
}

#[test]
fn the_pre_commit_hooks_take_what_they_are_given() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let sandbox = installed();
    for hook in hooks.as_sequence().expect("hooks") {
        let entry = hook["entry"].as_str().expect("an entry");
        if hook["pass_filenames"].as_bool() == Some(false) {
            let mut command = sandbox.shell(entry);
            command.current_dir(root().join("tests/fixtures/plugins0/dot-symposium/plugins"));
            Run::of(&mut command, b"").ok();
            continue;
        }
        let files = regex::Regex::new(hook["files"].as_str().expect("a pattern")).expect("valid");
        let source = root().join("tests/fixtures/recommendations");
        let all = walkdir::WalkDir::new(source).into_iter().map(|entry| entry.expect("reads"));
        let mut given: Vec<String> = all.map(|entry| entry.path().display().to_string()).collect();
        given.retain(|path| files.is_match(path));
        assert!(given.len() >= 3, "{given:?}");
        let run = |files: &[String]| {
            let mut command = sandbox.shell(&format!("{entry} \"$@\""));
            command.arg("sh").args(files).current_dir(sandbox.dir());
            Run::of(&mut command, b"")
        };
        run(&given).ok();
        let wrong = broken(&sandbox).join("SYMPOSIUM.toml").display().to_string();
        assert!(files.is_match(&wrong));
        run(&[wrong]).code(1);
    }
}

#[test]
fn the_job_for_teams_passes_on_our_fixture_and_our_ci_sees_when_it_no_longer_fails() {
    let sandbox = sandbox();
    let run = |agents: &str| {
        let mut command = sandbox.shell("exec bash \"$0\"");
        command.arg(root().join(".ci/check-team-job")).env("AGENTS", agents);
        Run::of(&mut command, b"")
    };
    let passed = run(&sandbox.binary().display().to_string()).ok();
    assert_eq!(passed.stdout.matches("fails as it should").count(), 8, "{}", passed.stdout);
    let blind = run("true").code(1);
    assert!(blind.stdout.contains("the job passes though"), "{}", blind.stdout);
    let ours = std::fs::read_to_string(root().join(".ci/run")).expect("reads");
    assert!(ours.contains(".ci/check-team-job"), "our own CI runs it");
}
