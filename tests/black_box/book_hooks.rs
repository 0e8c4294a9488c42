//! The scripts that the book shows as hooks are hooks: they deny what they say, and nothing else.

use std::path::Path;

use crate::hook_kit::{Event, Told, lab, send};

/// The scripts in the book's page about hooks.
fn scripts() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("md/authors/hooks.md");
    let text = std::fs::read_to_string(page).expect("reads");
    let blocks = text.split("```").skip(1).step_by(2);
    let scripts = blocks.filter_map(|block| block.split_once('\n')).map(|(_, script)| script);
    scripts
        .filter(|script| script.starts_with("#!") && script.contains("push --force"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_book_s_hooks_deny_what_they_say_and_nothing_else() {
    let scripts = scripts();
    assert_eq!(scripts.len(), 2, "{scripts:?}");
    for script in scripts {
        let sandbox = lab();
        let manifest = "name = \"p\"\ncrates = [\"widget\"]\n[[hooks]]\nname = \"h\"\nevent = \
                        \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = { executable = \"hook\" }\n";
        sandbox.user_plugin("p/SYMPOSIUM.toml", manifest);
        sandbox.program("home/.symposium/plugins/p/hook", &script);
        for (command, is_denied) in [("git push --force", true), ("git status", false)] {
            let told = Told::in_ws(&sandbox).session("claude").command(command);
            let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
            let reason = effect.refused.unwrap_or_default();
            assert_eq!(
                reason.contains("force-with-lease"),
                is_denied,
                "{command}: {reason}\n{script}"
            );
        }
    }
}
