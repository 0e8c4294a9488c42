//! What an event with a tool's result costs: one without errors, a long one, and errors about items of
//! a dependency.

use std::fs;
use std::path::Path;

use crate::Bench;

const ERROR: &str = "error[E0425]: cannot find function `turn` in crate `widget`\n --> src/main.rs:2:13\n  |\n\
    2 |     widget::turn();\n  |             ^^^^ not found in `widget`\n\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"1.0.0\"\ndependencies = [\n \"widget\",\n]\n\n\
    [[package]]\nname = \"widget\"\nversion = \"1.0.0\"\n\
    source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
const MEGABYTE: usize = 1_000_000;

impl Bench {
    /// Prints a line for each kind of result.
    pub(crate) fn results(&self) {
        let home = self.home("home-results", 0, 0);
        let folder = self.dir.join("results");
        lay(&home, &folder);
        self.sync(&home, &folder);
        let line = "   Compiling serde_derive v1.0.228 (/home/dev/shop/vendor/serde_derive)\n";
        let long = line.repeat(MEGABYTE / line.len());
        let json = |text: &str| {
            let message =
                serde_json::json!({"reason": "compiler-message", "message": {"rendered": text}});
            format!("{message}\n").repeat(MEGABYTE / (text.len() + 60))
        };
        let other = ERROR.replace("turn", "other_");
        let many: String = (0..MEGABYTE / other.len())
            .map(|number| other.replace("other_", &format!("other_{number}")))
            .collect();
        for (case, is_new, text) in [
            ("ten lines without errors, in a session", false, line.repeat(10)),
            ("1 MB without errors, in a session", false, long.clone()),
            ("ten lines without errors, a session's first", true, line.repeat(10)),
            ("an error about a dependency, a session's first", true, ERROR.to_owned()),
            ("1 MB that ends with it, a session's first", true, format!("{long}{ERROR}")),
            ("1 MB of JSON messages with it, a session's first", true, json(ERROR)),
            ("1 MB of errors about many items, a session's first", true, many),
        ] {
            let stdin = |number: usize| {
                let session =
                    if is_new { format!("{case} {number}") } else { "results".to_owned() };
                let event = serde_json::json!({
                    "session_id": session,
                    "transcript_path": "/dev/null",
                    "cwd": folder,
                    "hook_event_name": "PostToolUse",
                    "tool_name": "Bash",
                    "tool_input": { "command": "cargo check" },
                    "tool_response": { "stdout": "", "stderr": text },
                    "tool_use_id": format!("toolu_{number}"),
                });
                event.to_string()
            };
            let args = ["hook", "claude", "post-tool-use"];
            self.compare(&format!("result: {case}"), self.runs / 5, &stdin, &|_| {
                self.command(&home, &folder, &args)
            });
        }
    }
}

/// A package on a crate that has sources of 60 files and a changelog of 100 kB.
fn lay(home: &Path, folder: &Path) {
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, text).expect("writes");
    };
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n{more}")
    };
    write(&folder.join("Cargo.toml"), &package("shop", "[dependencies]\nwidget = \"1\"\n"));
    write(&folder.join("Cargo.lock"), LOCK);
    write(&folder.join("src/main.rs"), "fn main() {\n    widget::turn();\n}\n");
    let index = ".cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
    let source = home.join(index).join("widget-1.0.0");
    write(&source.join("Cargo.toml"), &package("widget", ""));
    let modules: String = (0..60).map(|number| format!("pub mod part{number};\n")).collect();
    write(&source.join("src/lib.rs"), &modules);
    for number in 0..60 {
        let code = format!("/// Turns.\npub fn rotate_{number}(by: u8) {{\n    drop(by);\n}}\n\n");
        write(&source.join(format!("src/part{number}.rs")), &code.repeat(100));
    }
    let lines = "- Something was mended (#123).\n".repeat(3_000);
    let changelog = format!("# Changelog\n\n## 1.0.0\n\n- Renamed `turn` to `rotate_1`.\n{lines}");
    write(&source.join("CHANGELOG.md"), &changelog);
}
