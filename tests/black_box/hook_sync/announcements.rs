//! What a sync brought is announced to the agent, once.

use super::{skill_dir, unsynced};
use crate::hook_kit::*;
use crate::skill;

#[test]
fn f69_decision_28_the_first_event_installs_skills_and_says_where_they_are() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = unsynced(agent);
        let told = Told::in_ws(&sandbox);
        let start = send(&sandbox, agent, Event::SessionStart, &told);
        let path = format!("{}/widget-basics/SKILL.md", skill_dir(agent));
        assert!(sandbox.has(&format!("ws/{path}")), "{agent}");
        // Goose can't be told anything.
        if *agent == "goose" {
            assert_eq!(start.context, None, "{agent}");
        } else {
            let text = start.context.expect(agent);
            let line =
                format!("\n- widget-basics: What it is for. ({}/{path})", sandbox.ws().display());
            assert!(text.contains(&line), "{agent}: {text}");
        }
        for event in [Event::UserPromptSubmit, Event::PreToolUse, Event::PostToolUse] {
            assert_eq!(send(&sandbox, agent, event, &told).context, None, "{agent}: said once");
        }
        // In the next session it is there from the start.
        let next = send(&sandbox, agent, Event::SessionStart, &told.session("s2"));
        assert_eq!(next.context, None, "{agent}");
    });
}

#[test]
fn decision_28_what_comes_in_mid_session_is_announced_at_the_next_event_that_can() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = unsynced(agent);
        sandbox.package(&[]);
        let told = Told::in_ws(&sandbox);
        assert_eq!(send(&sandbox, agent, Event::SessionStart, &told).context, None, "{agent}");
        sandbox.package(&[("widget", "1.2.3")]);
        // The dependency arrives while a tool runs.
        let before = send(&sandbox, agent, Event::PreToolUse, &told);
        assert!(sandbox.has(&format!("ws/{}/widget-basics", skill_dir(agent))), "{agent}");
        let after = send(&sandbox, agent, Event::PostToolUse, &told);
        let (now, later) = (before.context, after.context);
        match *agent {
            "goose" => assert_eq!((now, later), (None, None)),
            "gemini" | "qwen" | "opencode" => {
                assert!(now.is_none() && later.expect(agent).contains("widget-basics"));
            }
            _ => assert!(now.expect(agent).contains("widget-basics") && later.is_none()),
        }
        let prompt = send(&sandbox, agent, Event::UserPromptSubmit, &told);
        assert_eq!(prompt.context, None, "{agent}: said once");
        // And goes again.
        sandbox.package(&[]);
        assert_eq!(send(&sandbox, agent, Event::PostToolUse, &told).context, None, "{agent}");
        assert!(!sandbox.has(&format!("ws/{}/widget-basics", skill_dir(agent))), "{agent}");
    });
}

#[test]
fn decision_28_servers_and_subcommands_that_match_from_now_on_are_one_line() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = with_agents(&[agent]);
        let more = "\n[[mcp_servers]]\nname = \"docs\"\ncommand = \"serve-docs\"\n\n\
                    [subcommand.inspect]\ndescription = \"Look\"\ncommand = { script = \"w.sh\" }\n";
        for (name, krate) in [("old", "gadget"), ("new", "widget")] {
            let names = more.replace("docs\"\nc", &format!("{name}-docs\"\nc"));
            let names = names.replace("inspect", &format!("{name}-inspect"));
            let manifest = format!("name = \"{name}\"\ncrates = [\"{krate}\"]\n{names}");
            sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
            sandbox.user_plugin(&format!("{name}/w.sh"), "");
        }
        sandbox.package(&[("gadget", "1.0.0")]);
        let told = Told::in_ws(&sandbox);
        // The session before, so that nothing of this is news.
        send(&sandbox, agent, Event::SessionStart, &told.clone().session("s0"));
        let start = send(&sandbox, agent, Event::SessionStart, &told).context;
        assert!(!start.is_some_and(|text| text.contains("docs")), "{agent}");
        sandbox.package(&[("gadget", "1.0.0"), ("widget", "1.2.3")]);
        let line = "New for this workspace's crates: MCP servers, there in the next session: \
                    new-docs; commands, which `cargo agents --help` explains: new-inspect.";
        let said = send(&sandbox, agent, Event::PostToolUse, &told).context;
        let expected = (*agent != "goose").then(|| line.to_owned());
        assert_eq!(said, expected, "{agent}");
        for event in [Event::UserPromptSubmit, Event::PreToolUse, Event::PostToolUse] {
            let again = send(&sandbox, agent, event, &told.clone().id("2")).context;
            assert_eq!(again, None, "{agent}: said once");
        }
    });
}

#[test]
fn decision_28_a_session_whose_start_nobody_told_us_of_hears_of_what_came_since() {
    let sandbox = unsynced("claude");
    let told = Told::in_ws(&sandbox);
    let first = send(&sandbox, "claude", Event::UserPromptSubmit, &told);
    assert!(first.context.expect("news").contains("widget-basics"));
    // What a sync of the user's own brings counts as well.
    let other = told.session("s2");
    assert_eq!(send(&sandbox, "claude", Event::UserPromptSubmit, &other).context, None);
    sandbox.user_plugin("widget/skills/more/SKILL.md", &skill("more", "More."));
    sandbox.run(&["sync"]).ok();
    let text = send(&sandbox, "claude", Event::PostToolUse, &other).context.expect("news");
    assert!(text.contains("- more: More.") && !text.contains("widget-basics"), "{text}");
}

#[test]
fn decision_28_only_what_the_agent_reads_and_only_so_much() {
    let sandbox = unsynced("kiro");
    let told = Told::in_ws(&sandbox);
    // Only Kiro is configured, and Claude reads other folders.
    assert_eq!(send(&sandbox, "claude", Event::SessionStart, &told).context, None);
    let sandbox = unsynced("claude");
    for number in 0..40 {
        let name = format!("skill-{number:02}");
        let description = "word ".repeat(100);
        sandbox.user_plugin(
            &format!("widget/skills/{name}/SKILL.md"),
            &skill(&name, description.trim()),
        );
    }
    let text = send(&sandbox, "claude", Event::SessionStart, &told.clone().session("s3")).context;
    let text = text.expect("news");
    assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
    let told_of = text.matches("SKILL.md)").count();
    let more = format!("\nand {} more: `cargo agents status`", 41 - told_of);
    assert!(told_of > 2 && text.ends_with(&more), "{text}");
}
