//! Screens in the book are what the program draws. `UPDATE_EXPECT=1` writes them anew.

use std::path::Path;

use crate::{NO_BUILTIN, plugin_with_skill, sandbox, skill};
use symposium_testlib::{Sandbox, slashes};

/// Compares the block of `page` whose first lines are `start` with `drawn`.
#[track_caller]
pub(crate) fn keep_in_step(page: &str, start: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("md").join(page);
    let text = std::fs::read_to_string(&path).expect("the page reads");
    let at = text.find(&format!("\n{start}")).unwrap_or_else(|| panic!("{page} has no {start:?}"));
    let length = text[at + 1..].find("\n```").expect("a block ends");
    let block = &text[at + 1..=at + length];
    if block == drawn {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        let new = [&text[..=at], drawn, &text[at + 1 + length..]].concat();
        std::fs::write(&path, new).expect("the page can be written");
        return;
    }
    panic!("{page} has\n{block}\n\nand the program draws\n{drawn}");
}

/// A small shop with a bit of everything.
fn webshop() -> Sandbox {
    let mut sandbox = sandbox();
    sandbox.install();
    sandbox.package(&[("axum", "0.8.4"), ("sqlx", "0.8.6"), ("memchr", "2.7.4")]);
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("home/src/webshop/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    let no_recommendations = NO_BUILTIN.replace("builtin = false\n", "");
    sandbox.write(
        "home/.symposium/config.toml",
        format!("[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"codex\"\n{no_recommendations}"),
    );
    plugin_with_skill(&sandbox, "axum", "axum>=0.8", "axum-extractors");
    sandbox
        .user_plugin("axum/skills/axum-testing/SKILL.md", &skill("axum-testing", "How to test."));
    plugin_with_skill(&sandbox, "bevy", "bevy", "bevy-ecs");
    sandbox.user_plugin(
        "sqlx/SYMPOSIUM.toml",
        "name = \"sqlx\"\ncrates = [\"sqlx\"]\n\n\
         [[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\n\
         command = { script = \"hooks/no-clean.sh\" }\n\n\
         [[mcp_servers]]\nname = \"sqlx-tools\"\ncommand = \"npx\"\nargs = [\"-y\", \"sqlx-tools\"]\n\n\
         [subcommand.sqlx-check]\ndescription = \"Check queries\"\n\
         command = { source = \"cargo\", crate = \"sqlx-check\", version = \"0.3.1\", \
         executable = \"sqlx-check\" }\n",
    );
    sandbox.user_plugin("sqlx/hooks/no-clean.sh", "exit 0\n");
    sandbox.registry_crate("axum", "0.8.4", &[]);
    sandbox.registry_crate("sqlx", "0.8.6", &[]);
    let text = skill("search", "How to search.");
    sandbox.registry_crate("memchr", "2.7.4", &[("skills/search/SKILL.md", &text)]);
    let project = sandbox.path("home/src/webshop").display().to_string();
    let trust = format!("[projects.{project:?}]\ntrust_level = \"trusted\"\n");
    sandbox.write("home/.codex/config.toml", trust);
    sandbox.set("COLUMNS", "80");
    // Whether this machine has it is not what the screens are about.
    sandbox.program(if cfg!(windows) { "bin/npx.cmd" } else { "bin/npx" }, "#!/bin/sh\n");
    sandbox.first_on_path("bin");
    sandbox
}

#[test]
fn the_screen_of_status() {
    let sandbox = webshop();
    sandbox.run_in("home/src/webshop", &["sync"]).ok();
    let screen = sandbox.run_in("home/src/webshop", &["status"]).ok().stdout;
    let age = regex::Regex::new("synced [a-z0-9 ]+,").expect("an expression");
    let drawn = age.replace(screen.trim_end(), "synced 3 minutes ago,");
    keep_in_step("reference/status.md", "Workspace\n", &drawn);
}

#[test]
fn the_screen_of_audit() {
    let sandbox = webshop();
    let folder = "home/src/webshop/.claude/skills/clean/SKILL.md";
    sandbox.write(folder, skill("clean", "Cleans.").replace("# clean", "!`rm -rf target`"));
    let run = sandbox.run_in("home/src/webshop", &["audit"]).ok();
    // As on a terminal, where the last line is told last.
    let (findings, end) = run.stderr.trim_end().rsplit_once('\n').expect("several lines");
    let drawn = format!("{findings}\n{}\n{end}", run.stdout.trim_end());
    keep_in_step("reference/audit.md", "warning[", &slashes(&drawn));
}

#[cfg(unix)]
#[test]
fn the_first_question_of_init() {
    let mut sandbox = sandbox();
    crate::init_terminal::program(&sandbox, "codex", "exit 0");
    sandbox.write("home/.claude/settings.json", "{}\n");
    sandbox.set("PATH", format!("{}:/usr/bin:/bin", sandbox.dir().join("bin").display()));
    let mut terminal = crate::terminal::Terminal::start(&sandbox.command(&["init"]), 80, 30);
    terminal.wait_for("OpenCode");
    let drawn = terminal.screen();
    terminal.press("\u{1b}");
    terminal.end();
    keep_in_step("guide/first-steps.md", "? Which agents do you use?", &drawn);
}
