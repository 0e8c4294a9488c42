//! Updates of Symposium itself (F211–F219, decision 1): with a script in cargo's place, and with
//! the real cargo and a registry on a loopback port.

mod on_the_way;
mod real_cargo;

use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::sandbox;
use symposium_testlib::{Sandbox, Terminal};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// In the place of cargo's own name for crates.io.
pub(crate) const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What cargo notes of a package beside its name, version and source.
const FIELDS: &str = r#"{"version_req":null,"bins":["cargo-agents"],"features":[],"all_features":false,"no_default_features":false,"profile":"release","target":null,"rustc":null}"#;

/// What stands in cargo's place. It notes what it is asked for in `asked`; `info` is what `cargo
/// info` prints, and `install` runs for `cargo install`.
pub(crate) fn fake_cargo(sandbox: &Sandbox, info: &str, install: &str) {
    script(
        sandbox,
        "fake/cargo",
        &format!(
            "echo \"$*\" >> {dir}/asked\npwd >> {dir}/asked-in\ncase $1 in\ninfo) {info} ;;\n\
             search) {{ [ -f {dir}/search ] && cat {dir}/search; }} || exit 101 ;;\n\
             add) exit 101 ;;\ninstall) {install} ;;\n*) exit 99 ;;\nesac\n",
            dir = sandbox.dir().display()
        ),
    );
}

fn script(sandbox: &Sandbox, path: &str, text: &str) {
    sandbox.program(
        path,
        &format!(
            "#!/bin/sh
{text}"
        ),
    );
}

/// A sandbox whose program lies in cargo's folder, as if `source` had brought it.
pub(crate) fn installed(source: &str) -> Sandbox {
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.install();
    record(&sandbox, VERSION, source);
    sandbox.set("SYMPOSIUM_CARGO", sandbox.dir().join("fake/cargo"));
    sandbox.set("SYMPOSIUM_TEST_SWITCHES", format!("repository={OURS}"));
    sandbox
}

fn record(sandbox: &Sandbox, version: &str, source: &str) {
    let text = format!("{{\"installs\":{{\"symposium {version} ({source})\":{FIELDS}}}}}");
    sandbox.write("home/.cargo/.crates2.json", text);
}

/// Shell commands that put a program of version 99.0.0 into our place, and note that in cargo's
/// record. The program shows how it was called.
pub(crate) fn install_99(sandbox: &Sandbox) -> String {
    script(
        sandbox,
        "fake/new",
        "case $1 in --version) echo 'cargo-agents 99.0.0'; exit ;; esac\n\
         for arg; do echo \"new[$arg]\"; done\necho \"from[$SYMPOSIUM_UPDATED_FROM]\"\nexit 5\n",
    );
    sandbox.write(
        "fake/record",
        format!("{{\"installs\":{{\"symposium 99.0.0 ({CRATES_IO})\":{FIELDS}}}}}"),
    );
    let dir = sandbox.dir().display().to_string();
    let cargo = format!("{dir}/home/.cargo");
    format!(
        "cp {dir}/fake/new {cargo}/bin/new && mv {cargo}/bin/new {cargo}/bin/cargo-agents && cp \
         {dir}/fake/record {cargo}/.crates2.json"
    )
}

/// The `repository` of our package.
pub(crate) const OURS: &str = "https://git.example/symposium";

/// What `cargo info` says of a version of our package.
pub(crate) fn info(version: &str) -> String {
    format!(
        "printf 'symposium #ai\\nversion: {version}\\nlicense: MIT\\nrepository: {OURS}.git/\\n'"
    )
}

/// The same of version 99.0.0.
pub(crate) fn info_99() -> String {
    info("99.0.0")
}

/// Runs the program at a terminal.
fn at_terminal(sandbox: &Sandbox, args: &[&str]) -> (i32, String) {
    Terminal::start(sandbox.command(args), 100).finish()
}

fn asked(sandbox: &Sandbox) -> Vec<String> {
    let path = sandbox.dir().join("asked");
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn state(sandbox: &Sandbox) -> String {
    let path = sandbox.home().join(".symposium/state.toml");
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Makes the remembered times `hours` older.
fn let_pass(sandbox: &Sandbox, hours: u64) {
    let time = SystemTime::now() - Duration::from_secs(hours * 3600 + 60);
    let time = humantime(time);
    let text: String = state(sandbox)
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some((key, _)) if key.ends_with("update-check") => format!("{key} = \"{time}\"\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    sandbox.write("home/.symposium/state.toml", text);
}

fn humantime(time: SystemTime) -> String {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%SZ", "-d"])
        .arg(format!(
            "@{}",
            time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs()
        ))
        .output()
        .expect("date runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn f211_decision_1_self_update_looks_with_info_and_installs() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), &install_99(&sandbox));
    let run = sandbox.run(&["self-update"]).ok();
    assert!(
        run.stderr.contains(&format!("updated symposium {VERSION} → 99.0.0")),
        "{}",
        run.stderr
    );
    assert_eq!(
        asked(&sandbox),
        [
            "info symposium --registry crates-io",
            "install symposium --force --locked --version 99.0.0"
        ]
    );
    assert!(state(&sandbox).contains("newest-version = \"99.0.0\""), "{}", state(&sandbox));
    assert!(state(&sandbox).contains("last-update-check"), "{}", state(&sandbox));
    // An empty folder of ours.
    for folder in sandbox.read("asked-in").lines() {
        assert!(folder.contains("/.symposium/cache/self-update/"), "{folder}");
    }
    let left = std::fs::read_dir(sandbox.home().join(".symposium/cache/self-update"));
    assert_eq!(left.expect("is there").count(), 0);
}

#[test]
fn f211_search_is_the_second_way() {
    let sandbox = installed(CRATES_IO);
    let info = format!("[ $2 = symposium@99.0.0 ] || exit 101; {}", info_99());
    fake_cargo(&sandbox, &info, &install_99(&sandbox));
    sandbox.write("search", "symposium = \"99.0.0\"    # Teach\n");
    sandbox.run(&["self-update"]).ok();
    assert_eq!(
        asked(&sandbox),
        [
            "info symposium --registry crates-io",
            "search symposium --limit 1",
            "info symposium@99.0.0 --registry crates-io",
            "install symposium --force --locked --version 99.0.0"
        ]
    );
}

#[test]
fn f212_up_to_date_is_a_message() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info(VERSION), "exit 1");
    let run = sandbox.run(&["self-update"]).ok();
    assert!(run.stderr.contains("is the newest version"), "{}", run.stderr);
    assert_eq!(asked(&sandbox).len(), 1);
}

#[test]
fn a_newer_one_than_the_newest_is_left_alone() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info("0.0.1"), "exit 1");
    let run = sandbox.run(&["self-update"]).ok();
    assert!(run.stderr.contains("newer than the newest published one, 0.0.1"), "{}", run.stderr);
}

#[test]
fn f211_pre_releases_do_not_count() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info("99.0.0-rc.1"), "exit 1");
    sandbox.write("search", "symposium = \"99.0.0-rc.1\"\n");
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("99.0.0-rc.1 is a pre-release"), "{}", run.stderr);
    assert!(
        !asked(&sandbox).iter().any(|line| line.starts_with("install")),
        "{:?}",
        asked(&sandbox)
    );
}

#[test]
fn check_only_looks() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 1");
    let run = sandbox.run(&["self-update", "--check"]).code(1);
    assert!(run.stderr.contains("symposium 99.0.0 is available"), "{}", run.stderr);
    assert_eq!(asked(&sandbox).len(), 1);
}

#[test]
fn a_version_that_the_compiler_can_not_build_is_not_asked_for() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info("99.0.0 (latest 100.0.0)"), &install_99(&sandbox));
    sandbox.run(&["self-update"]).ok();
    assert_eq!(asked(&sandbox)[1], "install symposium --force --locked --version 99.0.0");
}

#[test]
fn another_registry_s_program_is_updated_from_there() {
    let sandbox = installed("sparse+https://registry.example/index/");
    fake_cargo(&sandbox, &info_99(), &install_99(&sandbox));
    sandbox.run(&["self-update"]).ok();
    let index = "--index sparse+https://registry.example/index/";
    assert_eq!(
        asked(&sandbox),
        [
            format!("info symposium {index}"),
            format!("install symposium --force --locked --version 99.0.0 {index}")
        ]
    );
}

#[test]
fn decision_1_what_cargo_did_not_bring_from_a_registry_is_not_replaced() {
    for (source, how) in [
        ("git+https://github.com/x/symposium#0123456789", "from the repository"),
        ("path+file:///src/symposium", "from the folder /src/symposium"),
    ] {
        let sandbox = installed(source);
        fake_cargo(&sandbox, &info_99(), "exit 1");
        let run = sandbox.run(&["self-update"]).code(1);
        assert!(run.stderr.contains("installed from a registry"), "{}", run.stderr);
        assert!(run.stderr.contains(how), "{}", run.stderr);
        let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
        assert_eq!(code, 0, "{screen}");
        sandbox.run(&["sync", "--background"]).ok();
        // No registry has anything to do with it.
        assert_eq!(asked(&sandbox), Vec::<String>::new());
    }
}

#[test]
fn a_failure_leaves_the_old_program_and_says_why() {
    let sandbox = installed(CRATES_IO);
    let exe = sandbox.home().join(".cargo/bin/cargo-agents");
    let before = std::fs::metadata(&exe).expect("is there").len();
    fake_cargo(&sandbox, &info_99(), "echo 'error: could not compile' >&2; exit 101");
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("could not compile"), "{}", run.stderr);
    assert!(run.stderr.contains("exit code 101"), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("symposium {VERSION} is still there")), "{}", run.stderr);
    assert_eq!(std::fs::metadata(&exe).expect("is there").len(), before);
    // Cargo says that all is well, and nothing happened.
    fake_cargo(&sandbox, &info_99(), "exit 0");
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains(&format!("is still {VERSION}")), "{}", run.stderr);
}

#[test]
fn two_at_once_install_once() {
    let sandbox = installed(CRATES_IO);
    let install = format!("sleep 1; {}", install_99(&sandbox));
    fake_cargo(&sandbox, &info_99(), &install);
    let start = || {
        let mut command = sandbox.command(&["self-update"]);
        command.stderr(std::process::Stdio::piped()).spawn().expect("it starts")
    };
    let all = [start(), start(), start()];
    let outputs = all.map(|child| child.wait_with_output().expect("it ends"));
    let said: String =
        outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
    assert!(outputs.iter().all(|output| output.status.success()), "{said}");
    let installs = asked(&sandbox).iter().filter(|line| line.starts_with("install")).count();
    assert_eq!(installs, 1, "{said}");
    assert_eq!(said.matches("symposium 99.0.0 is the newest version").count(), 2, "{said}");
}

#[test]
fn offline_says_so() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 1");
    let run = sandbox.run(&["--offline", "self-update"]).code(1);
    assert!(run.stderr.contains("without the network"), "{}", run.stderr);
    assert_eq!(asked(&sandbox), Vec::<String>::new());
}

#[test]
fn another_program_s_package_of_our_name_is_never_offered_and_never_installed() {
    let theirs = |repository: &str| {
        format!("printf 'symposium\\nversion: 99.0.0\\nlicense: MIT\\n{repository}'")
    };
    let said = "the package `symposium` in the registry is another program";
    for (repository, named) in [
        ("repository: https://git.example/other\\n", "https://git.example/other"),
        ("", "99.0.0 names no repository"),
    ] {
        let sandbox = installed(CRATES_IO);
        fake_cargo(&sandbox, &theirs(repository), "exit 1");
        for args in [&["self-update"][..], &["self-update", "--check"]] {
            let run = sandbox.run(args).code(1);
            assert!(run.stderr.contains(said), "{}", run.stderr);
            assert!(run.stderr.contains(named) && run.stderr.contains(OURS), "{}", run.stderr);
        }
        let_pass(&sandbox, 24);
        let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
        assert_eq!(code, 0, "{screen}");
        assert!(!screen.contains("99.0.0"), "{screen}");
        let count = asked(&sandbox).len();
        at_terminal(&sandbox, &["sync", "--dry-run"]);
        assert_eq!(asked(&sandbox).len(), count, "once a day");
        assert!(!state(&sandbox).contains("99.0.0"), "{}", state(&sandbox));
        assert!(!asked(&sandbox).iter().any(|line| line.starts_with("install")));
    }
}

#[test]
fn a_build_that_names_no_repository_can_not_tell_its_package_from_others() {
    let mut sandbox = installed(CRATES_IO);
    sandbox.set("SYMPOSIUM_TEST_SWITCHES", "repository=");
    fake_cargo(&sandbox, "printf 'version: 99.0.0\\n'", "exit 1");
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("names no `repository`"), "{}", run.stderr);
    assert!(!asked(&sandbox).iter().any(|line| line.starts_with("install")));
}
