//! OpenCode's two configuration files, which it merges: of one name the `.jsonc`'s entry is used
//! (measured with OpenCode 1.18.33).

use symposium_testlib::Sandbox;

use crate::registration::sandbox;

const PLAIN: &str = "ws/opencode.json";
const COMMENTED: &str = "ws/opencode.jsonc";

/// A file with a comment and the user's server of the name of a plugin's.
const MINE: &str =
    "{\n  // mine\n  \"mcp\": {\"widget-docs\": {\"type\": \"local\", \"command\": [\"x\"]}}\n}\n";
const EMPTY: &str = "{\n  // nothing yet\n}\n";

fn with(plain: Option<&str>, commented: Option<&str>) -> Sandbox {
    let sandbox = sandbox();
    for (path, text) in [(PLAIN, plain), (COMMENTED, commented)] {
        if let Some(text) = text {
            sandbox.write(path, text);
        }
    }
    sandbox
}

/// Whether the file has an entry of that name.
fn has(sandbox: &Sandbox, path: &str, name: &str) -> bool {
    sandbox.has(path) && sandbox.read(path).contains(&format!("\"{name}\""))
}

#[test]
fn ours_goes_into_the_file_that_wins() {
    for (plain, commented, file) in [
        (Some(EMPTY), Some(EMPTY), COMMENTED),
        (Some(EMPTY), None, PLAIN),
        (None, Some(EMPTY), COMMENTED),
    ] {
        let sandbox = with(plain, commented);
        sandbox.run(&["init", "--add-agent", "opencode"]).ok();
        for path in [PLAIN, COMMENTED] {
            assert_eq!(has(&sandbox, path, "widget-docs"), path == file, "{path}");
        }
        sandbox.run(&["sync", "--check"]).ok();
        sandbox.run(&["uninstall"]).ok();
        for (path, text) in [(PLAIN, plain), (COMMENTED, commented)] {
            assert_eq!(sandbox.has(path).then(|| sandbox.read(path)).as_deref(), text, "{path}");
        }
    }
}

#[test]
fn a_server_of_the_user_s_in_either_file_is_theirs_and_said() {
    for (plain, commented) in [(MINE, EMPTY), (EMPTY, MINE), (MINE, MINE)] {
        let sandbox = with(Some(plain), Some(commented));
        let run = sandbox.run(&["init", "--add-agent", "opencode"]).ok();
        assert!(run.stderr.contains("`widget-docs`") && run.stderr.contains("not Symposium's"));
        for (path, text) in [(PLAIN, plain), (COMMENTED, commented)] {
            assert_eq!(has(&sandbox, path, "widget-docs"), text == MINE, "{path}");
        }
        // The other servers are there, in the file that wins.
        assert!(has(&sandbox, COMMENTED, "widget-http"));
        let doctor = sandbox.run(&["doctor"]);
        assert!(doctor.stdout.contains("widget-docs"), "{}", doctor.stdout);
        sandbox.run(&["uninstall"]).ok();
        assert_eq!([PLAIN, COMMENTED].map(|path| sandbox.read(path)), [plain, commented]);
    }
}

#[test]
fn a_second_file_that_comes_later_moves_ours_or_takes_its_place() {
    let sandbox = with(Some(EMPTY), None);
    sandbox.run(&["init", "--add-agent", "opencode"]).ok();
    sandbox.write(COMMENTED, EMPTY);
    sandbox.run(&["sync"]).ok();
    assert!(has(&sandbox, COMMENTED, "widget-docs") && !has(&sandbox, PLAIN, "widget-docs"));
    sandbox.write(PLAIN, MINE);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("`widget-docs` in opencode.json"), "{}", run.stderr);
    assert!(!has(&sandbox, COMMENTED, "widget-docs"));
    assert_eq!(sandbox.read(PLAIN), MINE);
    sandbox.write(PLAIN, EMPTY);
    sandbox.run(&["sync"]).ok();
    assert!(has(&sandbox, COMMENTED, "widget-docs"));
}
