//! Tests on fixtures with our program alone.

use symposium_testlib::{HookAgent, HookStep, TestMode, with_fixture};

#[test]
fn f309_a_fixture_s_plugins_answer_events_of_every_agent() {
    with_fixture(TestMode::SimulationOnly, &["plugins0", "workspace-empty0"], |context| {
        for agent in HookAgent::ALL {
            let steps = [
                HookStep::session_start(),
                HookStep::user_prompt_submit(),
                HookStep::pre_tool_use("echo hi"),
                HookStep::post_tool_use("echo hi", "hi"),
            ];
            let answer = context.prompt_or_hook("Say hello", &steps, agent)?;
            assert_eq!(answer.hooks.len(), steps.len(), "{agent:?}");
            // The plugin knew the event's session, tool and command, whatever the agent calls them.
            let told = context.sandbox().read("commands");
            let told: serde_json::Value = serde_json::from_str(&told)?;
            assert_eq!(told["PreToolUse"]["tool_name"], "Bash", "{agent:?}");
            assert_eq!(told["PreToolUse"]["tool_input"]["command"], "echo hi", "{agent:?}");
            std::fs::remove_file(context.sandbox().dir().join("commands"))?;
            // Goose takes no context.
            if agent != HookAgent::Goose {
                assert!(answer.has_context_containing("symposium start"), "{agent:?}: {answer:?}");
            }
        }
        Ok(())
    })
    .expect("the fixture's plugins answer");
}

#[test]
fn f311_a_test_that_fails_keeps_its_folder() {
    let mut folder = None;
    let seen = std::sync::Mutex::new(&mut folder);
    let failed = with_fixture(TestMode::SimulationOnly, &["workspace-empty0"], |context| {
        **seen.lock().expect("one test") = Some(context.sandbox().dir());
        anyhow::bail!("on purpose")
    });
    assert_eq!(failed.expect_err("it fails").to_string(), "on purpose");
    let folder = folder.expect("it ran");
    assert!(folder.join("ws/Cargo.toml").is_file());
    std::fs::remove_dir_all(folder).expect("it was kept for us");
}
