//! Real published crates that ship skills. Cargo fetches the test's workspace first (the program
//! itself fetches nothing here); where no registry can be reached, the test says so and ends.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::{NO_BUILTIN, sandbox};
use symposium_testlib::Sandbox;

/// A workspace that depends on the two crates, fetched; `None` when that can't be done here.
fn fetched() -> Option<Sandbox> {
    let mut sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.write(
        "ws/Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nerror-battery-pack = \"=0.6.5\"\ndial9-viewer = { version = \"=0.5.7\", default-features = false }\n",
    );
    sandbox.write("ws/src/lib.rs", "");
    sandbox.user_plugin(
        "battery-packs/SYMPOSIUM.toml",
        "name = \"battery-packs\"\ncrates = [\"anyhow\", \"thiserror\", \"error-battery-pack\"]\n[[skills]]\nsource = \"crate\"\n",
    );
    sandbox.user_plugin(
        "dial9/SYMPOSIUM.toml",
        "name = \"dial9\"\ncrates = [\"dial9-tokio-telemetry\", \"dial9\", \"dial9-viewer\"]\n[[skills]]\nsource.crate_path = \"skills\"\n",
    );
    fetch(&mut sandbox).then_some(sandbox)
}

/// Lets cargo fetch what the sandbox's workspace depends on, into the user's own folder, which the
/// sandbox then uses. Says why where that can't be done here.
pub(crate) fn fetch(sandbox: &mut Sandbox) -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let fetch = Command::new(env!("CARGO"))
        .args(["fetch", "--quiet"])
        .current_dir(sandbox.ws())
        .env("CARGO_NET_RETRY", "1")
        .output();
    let problem = match fetch {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    match (problem, home) {
        (None, Some(home)) => {
            sandbox.set("CARGO_HOME", home);
            true
        }
        (problem, _) => {
            let problem = problem.unwrap_or_else(|| "cargo has no folder".to_owned());
            let _ = writeln!(std::io::stderr(), "ignored: the crates can't be fetched: {problem}");
            false
        }
    }
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .expect("skills")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn published_crates_bring_their_skills_with_their_scripts() {
    let Some(sandbox) = fetched() else { return };
    let lock = sandbox.read("ws/Cargo.lock");
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    let names = installed(&sandbox);
    for name in ["application-errors", "error-handling-basics", "library-errors"] {
        assert!(names.contains(&name.to_owned()), "{names:?}\n{}", run.stderr);
    }
    let dial9: Vec<_> = names.iter().filter(|name| name.starts_with("dial9-")).collect();
    assert_eq!(dial9.len(), 9, "{names:?}");
    assert_eq!(names.len(), 12);
    assert!(sandbox.has("ws/.claude/skills/dial9-toolkit/scripts/analyze.js"));
    assert!(sandbox.has("ws/.claude/skills/dial9-zoom-window/references/viewer-urls.md"));
    assert_eq!(sandbox.read("ws/Cargo.lock"), lock);
    let again = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
}
