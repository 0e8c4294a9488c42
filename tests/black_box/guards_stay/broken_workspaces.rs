//! A workspace whose manifest can't be read has its guards still.

use super::{guard, tool_in};
use crate::hook_kit::*;

#[test]
fn decision_43_a_workspace_that_breaks_keeps_its_guards() {
    for broken in ["[[\n", "", "[workspace]\nmembers = [\"nope\"]\n", "[package]\nname = 3\n"] {
        let sandbox = lab();
        guard(&sandbox, "mine", "widget");
        assert!(tool_in(&sandbox, "claude", "before", "ws").is_some());
        sandbox.write("ws/Cargo.toml", broken);
        for session in ["before", "after"] {
            assert!(tool_in(&sandbox, "claude", session, "ws").is_some(), "{session}: {broken}");
        }
        // Nor does a folder in its place mean that there is none, or a link that leads nowhere.
        let manifest = sandbox.ws().join("Cargo.toml");
        std::fs::remove_file(&manifest).expect("removes");
        std::fs::create_dir(&manifest).expect("creates");
        assert!(tool_in(&sandbox, "claude", "folder", "ws").is_some());
        std::fs::remove_dir(&manifest).expect("removes");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", &manifest).expect("links");
            assert!(tool_in(&sandbox, "claude", "link", "ws").is_some());
        }
    }
}
