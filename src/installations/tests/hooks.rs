//! Hooks and subcommands, ready to be started.

use super::*;

pub(super) fn hook(command: &str) -> Hook {
    Hook {
        gate: crate::plugins::model::Gate::default(),
        name: "hook".to_owned(),
        event: symposium_hook::Event::PreToolUse,
        matcher: None,
        command: command.to_owned(),
        runnable: None,
        args: None,
        requirements: Vec::new(),
        agent: None,
        format: "symposium".to_owned(),
        is_portable: false,
        timeout: Duration::from_secs(10),
        on_failure: OnFailure::Continue,
        detach: false,
    }
}

pub(super) fn prepared(
    house: &House,
    plugin: &Plugin,
    hook: &Hook,
) -> Result<Prepared, InstallError> {
    Acquirer::new(&house.sym, &house.fetcher()).hook(plugin, hook, Mode::Explicit)
}

fn requiring(installation: Installation, names: &[&str]) -> Installation {
    let requirements = names.iter().map(|&name| name.to_owned()).collect();
    Installation { requirements, ..installation }
}

#[test]
fn f164_a_script_is_run_by_sh_with_its_arguments_and_its_tools() {
    let house = House::new();
    let text = "echo \"$@\"; rg; echo $SYMPOSIUM_rg; echo $SYMPOSIUM_DIR_rg; echo $SYMPOSIUM_check";
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    house.write("source/plugin/check.sh", text);
    let plugin = house.plugin(vec![bare("check"), crate_of("rg", Some("1.0.0"))]);
    let mut hook = hook("check");
    hook.runnable = Some(Runnable::Script("check.sh".to_owned()));
    hook.args = Some(vec!["--strict".to_owned(), "a b".to_owned()]);
    hook.requirements = vec!["rg".to_owned()];
    let prepared = prepared(&house, &plugin, &hook).expect("is ready");
    let child = prepared.child().args(["from the caller"]);
    let output = crate::process::run(&child).expect("starts");
    let root = house.binaries().join("rg/1.0.0");
    let expected = format!(
        "--strict a b from the caller\nrg 1.0.0\n{}\n{}\n{}\n",
        root.join("bin/rg").display(),
        root.display(),
        house.path("source/plugin/check.sh").display()
    );
    assert_eq!(output.stdout_text(), expected, "{}", output.stderr_text());
}

#[test]
fn f167_requirements_are_expanded_by_one_level_prerequisites_first() {
    let house = House::new();
    let plugin = house.plugin(vec![
        requiring(bare("command"), &["c"]),
        requiring(bare("a"), &["b", "c"]),
        requiring(bare("b"), &["deep"]),
        bare("c"),
        requiring(bare("d"), &["command", "missing"]),
        bare("deep"),
    ]);
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        super::super::acquire::expanded(&plugin, "command", &names)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&[]), ["c"]);
    assert_eq!(of(&["a"]), ["b", "c", "a"]);
    assert_eq!(of(&["d", "a", "a"]), ["missing", "d", "b", "c", "a"]);
}

#[test]
fn f168_a_requirement_that_fails_does_not_keep_the_hook_from_running() {
    let house = House::new();
    house.write("fail", "");
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    house.write("source/plugin/x.sh", "");
    let plugin = house.plugin(vec![
        requiring(script(bare("x"), "x.sh"), &["rg", "nobody"]),
        crate_of("rg", Some("1.0.0")),
    ]);
    let ready = prepared(&house, &plugin, &hook("x")).expect("is ready");
    let missing: Vec<_> = ready.missing.iter().map(|error| &error.trouble).collect();
    assert!(matches!(missing.as_slice(), [Trouble::Failed(_), Trouble::Unknown]));
    let acquirer_errors = {
        let mut plugin = plugin.clone();
        plugin.hooks = vec![hook("x"), hook("x")];
        plugin.subcommands = vec![Subcommand {
            name: "sub".to_owned(),
            description: String::new(),
            audience: Default::default(),
            command: "nobody".to_owned(),
            gate: Gate::default(),
        }];
        let fetcher = house.fetcher();
        Acquirer::new(&house.sym, &fetcher).everything(&plugin, Mode::Explicit)
    };
    assert_eq!(acquirer_errors.len(), 2, "each is told once: {acquirer_errors:?}");
}

#[test]
fn f154_f155_f156_what_is_said_twice_or_not_at_all_is_an_error() {
    let house = House::new();
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    house.write("source/plugin/x.sh", "");
    let own_args = Installation { args: Some(Vec::new()), ..script(bare("own"), "x.sh") };
    let plugin = house.plugin(vec![own_args, bare("setup")]);
    let say = |hook: &Hook| prepared(&house, &plugin, hook).expect_err("fails").to_string();
    let mut twice = hook("own");
    twice.args = Some(Vec::new());
    assert!(say(&twice).ends_with("`args` is given twice"));
    let mut twice = hook("own");
    twice.runnable = Some(Runnable::Script("x.sh".to_owned()));
    assert!(say(&twice).ends_with("what to run is given twice"));
    assert!(say(&hook("setup")).ends_with("so there is nothing to run"));
    assert_eq!(say(&hook("none")), "plugin `plugin` has no installation `none`");
}

#[test]
fn a_program_at_a_path_of_another_system_is_refused_as_that() {
    let house = House::new();
    let plugin = house.plugin(vec![bare("x")]);
    let mut hook = hook("x");
    let path = if cfg!(windows) { "/usr/local/bin/x" } else { "C:\\tools\\x.exe" };
    hook.runnable = Some(Runnable::Executable(path.to_owned()));
    let error = prepared(&house, &plugin, &hook).expect_err("is refused").to_string();
    assert!(error.ends_with(&format!("`{path}` is a path of another system")), "{error}");
}

#[test]
fn decision_7_a_script_that_is_missing_is_found_out_before_sh_is_asked() {
    let house = House::new();
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    let plugin = house.plugin(vec![bare("x")]);
    let mut hook = hook("x");
    hook.runnable = Some(Runnable::Script("scripts/gone.sh".to_owned()));
    let error = prepared(&house, &plugin, &hook).expect_err("is not there").to_string();
    assert!(error.ends_with("scripts/gone.sh is not there"), "{error}");
}

#[test]
fn a_server_may_be_an_installation_or_any_program() {
    let house = House::new();
    let mut serve = crate_of("rg", Some("1.0.0"));
    serve.args = Some(vec!["--stdio".to_owned()]);
    let plugin = house.plugin(vec![serve]);
    let fetcher = house.fetcher();
    let acquirer = Acquirer::new(&house.sym, &fetcher);
    assert!(acquirer.server(&plugin, "/usr/bin/server", Mode::Explicit).is_none());
    let server = acquirer.server(&plugin, "rg", Mode::Explicit).expect("is one").expect("is ready");
    assert_eq!(server.invocation.path, house.binaries().join("rg/1.0.0/bin/rg"));
    assert_eq!(server.invocation.args, ["--stdio"]);
}
