//! One page an agent: each scope and each kind of file, before and after.

use std::fmt::Write as _;

use expect_test::expect_file;
use symposium_testlib::readers::{GOOSE_CONFIG, Reader, Refusal};
use symposium_testlib::{Node, Run, Sandbox, Tree};

use super::diff::diff;
use super::variants::{Kind, VARIANTS, text};
use super::{outside, sandbox};

/// The files that an agent shares with its user, at a scope.
fn shared(agent: &str, scope: &str) -> Vec<(&'static str, Kind)> {
    let mcp = Kind::Servers("mcpServers");
    match (agent, scope) {
        ("claude", "global") => {
            vec![("home/.claude/settings.json", Kind::Hooks), ("home/.claude.json", mcp)]
        }
        ("claude", _) => vec![("ws/.claude/settings.json", Kind::Hooks), ("ws/.mcp.json", mcp)],
        ("codex", "global") => vec![
            ("home/.codex/hooks.json", Kind::Hooks),
            ("home/.codex/config.toml", Kind::Toml),
            ("ws/.codex/config.toml", Kind::Toml),
        ],
        ("codex", _) => {
            vec![("ws/.codex/hooks.json", Kind::Hooks), ("ws/.codex/config.toml", Kind::Toml)]
        }
        ("copilot", "global") => {
            vec![("home/.copilot/mcp-config.json", mcp), ("ws/.github/mcp.json", mcp)]
        }
        ("copilot", _) => vec![("ws/.mcp.json", mcp)],
        ("gemini", "global") => {
            vec![("home/.gemini/settings.json", Kind::Hooks), ("ws/.gemini/settings.json", mcp)]
        }
        ("gemini", _) => vec![("ws/.gemini/settings.json", Kind::Hooks)],
        ("antigravity", "global") => vec![
            ("home/.gemini/config/hooks.json", Kind::Hooks),
            ("home/.gemini/config/mcp_config.json", mcp),
            ("ws/.agents/mcp_config.json", mcp),
        ],
        ("antigravity", _) => {
            vec![("ws/.agents/hooks.json", Kind::Hooks), ("ws/.agents/mcp_config.json", mcp)]
        }
        ("qwen", "global") => {
            vec![("home/.qwen/settings.json", Kind::Hooks), ("ws/.qwen/settings.json", mcp)]
        }
        ("qwen", _) => vec![("ws/.qwen/settings.json", Kind::Hooks)],
        ("goose", "global") => {
            vec![(GOOSE_CONFIG, Kind::Yaml), ("ws/.agents/plugins/symposium/.mcp.json", mcp)]
        }
        ("goose", _) => vec![("ws/.agents/plugins/symposium/.mcp.json", mcp)],
        ("kiro", "global") => {
            vec![("home/.kiro/settings/mcp.json", mcp), ("ws/.kiro/settings/mcp.json", mcp)]
        }
        ("kiro", _) => vec![("ws/.kiro/settings/mcp.json", mcp)],
        ("opencode", "global") => vec![
            ("home/.config/opencode/opencode.json", Kind::Servers("mcp")),
            ("ws/opencode.json", Kind::Servers("mcp")),
        ],
        _ => vec![("ws/opencode.json", Kind::Servers("mcp"))],
    }
}

/// The page. Each variant is set up, registered, registered again and taken back. On Windows other
/// commands are registered, which one variant is enough to show.
fn page(agent: &str) -> String {
    let mut page = String::new();
    for scope in ["global", "project"] {
        for variant in VARIANTS {
            let before = page.len();
            let _ = writeln!(page, "==== {scope}: {variant}");
            round_trip(agent, scope, variant, &mut page);
            if cfg!(windows) && variant != VARIANTS[0] {
                page.truncate(before);
            }
        }
    }
    page
}

fn round_trip(agent: &str, scope: &str, variant: &str, page: &mut String) {
    let sandbox = sandbox();
    for (path, kind) in shared(agent, scope) {
        if let Some(text) = text(kind, variant) {
            sandbox.write(path, text);
        }
    }
    let before = outside(&sandbox);
    let wrong_before = refused(&sandbox, agent);
    let status = sandbox.git(&["status", "--porcelain"]);
    let added = sandbox.run(&["init", "--add-agent", agent, "--hook-scope", scope]);
    let after = outside(&sandbox);
    if added.code == 0 {
        let mut wrong = refused(&sandbox, agent);
        wrong.retain(|refusal| !wrong_before.contains(refusal));
        assert_eq!(wrong, [], "{agent} {scope} {variant}");
    }
    show_errors(&sandbox, &added, page);
    show_changes(&sandbox, &before, &after, page);
    if scope == "global" {
        assert_eq!(sandbox.git(&["status", "--porcelain"]), status, "git sees nothing new");
    }

    let again = sandbox.run(&["sync"]);
    assert_eq!(again.code, added.code, "{}", again.stderr);
    assert_eq!(
        outside(&sandbox).changes_since(&after),
        [""; 0],
        "a second time: {agent} {variant}"
    );
    if added.code == 0 {
        assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    }

    sandbox.run(&["init", "--remove-agent", agent]).ok();
    let back = outside(&sandbox);
    assert_eq!(back.changes_since(&before), [""; 0], "taken back: {agent}, {scope}, {variant}");
}

/// What Goose and Kiro, as far as their rules are known, do not take. What the user had before (`mine`)
/// may be wrong as it was.
fn refused(sandbox: &Sandbox, agent: &str) -> Vec<Refusal> {
    Reader::ALL
        .into_iter()
        .filter(|reader| reader.agent() == agent)
        .flat_map(|reader| reader.load(&sandbox.home(), &sandbox.ws()).refused)
        .filter(|refusal| !refusal.place.contains(".mine"))
        .collect()
}

fn show_errors(sandbox: &Sandbox, run: &Run, page: &mut String) {
    if run.code != 0 {
        let lines: Vec<&str> = run.stderr.lines().collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("error"))
        {
            let _ = writeln!(page, "{line}");
            let detail = |line: &&&str| line.trim_start().starts_with(['=', '-']);
            // Said only within two seconds of the file's change, which a busy machine may miss.
            let is_of_the_moment = |line: &&&str| line.contains("it was changed a moment ago");
            let details = lines[index + 1..].iter().take_while(detail);
            for more in details.filter(|line| !is_of_the_moment(line)) {
                let more = sandbox.redact(more.trim());
                let _ = writeln!(page, "    {more}");
            }
        }
    }
}

fn show_changes(sandbox: &Sandbox, before: &Tree, after: &Tree, page: &mut String) {
    let text = |tree: &Tree, path: &str| match tree.0.get(path) {
        Some(Node::File(bytes, _)) => String::from_utf8(bytes.clone()).expect("UTF-8"),
        _ => String::new(),
    };
    for change in after.changes_since(before) {
        let path = change.split_once(' ').expect("a sign and a path").1;
        if matches!(after.0.get(path), Some(Node::Folder)) {
            continue;
        }
        // The plugin for OpenCode is long, and its tests are elsewhere.
        if path.ends_with("symposium.js") {
            let _ = writeln!(page, "-- {change}");
            continue;
        }
        let shown = sandbox.redact(&diff(&text(before, path), &text(after, path)));
        if page.contains(&format!("-- {change}\n{shown}")) {
            let _ = writeln!(page, "-- {change} (as above)");
        } else {
            let _ = write!(page, "-- {change}\n{shown}");
        }
    }
}

macro_rules! pages {
    ($($agent:ident)*) => {
        $(
            #[test]
            fn $agent() {
                let agent = stringify!($agent);
                let on_windows = if cfg!(windows) { "windows/" } else { "" };
                let golden = format!("../../fixtures/registration/{on_windows}{agent}.txt");
                expect_file![golden].assert_eq(&page(agent));
            }
        )*
    };
}

pages! { claude codex copilot gemini antigravity qwen goose kiro opencode }
