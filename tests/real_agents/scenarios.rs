//! Tests on fixtures, most of them both with our program alone and with each agent.

use anyhow::Context as _;
use libtest_mimic::Trial;
use symposium_testlib::clients::Action;
use symposium_testlib::{Context, HookAgent, HookStep, Scenario, Step, TestMode, fixture};

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a_greeting_reaches_the_model",
        mode: TestMode::Any,
        fixtures: &["plugins0", "workspace-empty0"],
        run: a_greeting_reaches_the_model,
    },
    Scenario {
        name: "a_tool_s_events_reach_the_plugin",
        mode: TestMode::Any,
        fixtures: &["plugins0", "workspace-empty0"],
        run: a_tool_s_events_reach_the_plugin,
    },
    Scenario {
        name: "a_skill_of_a_new_dependency_is_used",
        mode: TestMode::AgentOnly,
        fixtures: &["plugin-widget-weather0", "workspace-empty0"],
        run: a_skill_of_a_new_dependency_is_used,
    },
    Scenario {
        name: "tasks_are_done_with_a_skill_and_without",
        mode: TestMode::AgentOnly,
        fixtures: &["workspace-empty0"],
        run: tasks_are_done_with_a_skill_and_without,
    },
    Scenario {
        name: "init_and_sync_put_a_skill_in_place",
        mode: TestMode::SimulationOnly,
        fixtures: &["plugin-widget-weather0", "workspace0"],
        run: init_and_sync_put_a_skill_in_place,
    },
];

/// The scenarios as tests.
pub(crate) fn trials(binary: &str) -> Vec<Trial> {
    fixture::trials(SCENARIOS, binary)
}

fn a_greeting_reaches_the_model(context: &mut Context) -> anyhow::Result<()> {
    let steps = [HookStep::session_start(), HookStep::user_prompt_submit()];
    let answer = context.prompt_or_hook("Say hello", &steps, HookAgent::Claude)?;
    assert!(!answer.hooks.is_empty());
    for words in ["symposium start", "symposium prompt"] {
        anyhow::ensure!(answer.has_context_containing(words), "no `{words}`: {answer:?}");
    }
    Ok(())
}

fn a_tool_s_events_reach_the_plugin(context: &mut Context) -> anyhow::Result<()> {
    let command = "echo OUT-OF-IT";
    let steps = [HookStep::pre_tool_use(command), HookStep::post_tool_use(command, "OUT-OF-IT")];
    // Without an agent, each of those whose answers can hold context.
    for agent in [HookAgent::Claude, HookAgent::Codex, HookAgent::Copilot, HookAgent::Gemini] {
        let answer = context.prompt_or_hook("Please do it", &steps, agent)?;
        let said = answer.has_context_containing("symposium result");
        anyhow::ensure!(said, "{agent:?}: {answer:?}");
        let told = context.sandbox().read("commands");
        anyhow::ensure!(told.contains(command), "{agent:?} told {told}");
        std::fs::remove_file(context.sandbox().dir().join("commands"))?;
        if context.world().is_some() {
            break;
        }
    }
    Ok(())
}

fn a_skill_of_a_new_dependency_is_used(context: &mut Context) -> anyhow::Result<()> {
    // What `cargo add widget` would do, without the network.
    let add = "printf 'widget = \"1.0.0\"\\n' >> Cargo.toml; printf '[[package]]\\nname = \
               \"widget\"\\nversion = \"1.0.0\"\\nsource = \
               \"registry+https://github.com/rust-lang/crates.io-index\"\\n' >> Cargo.lock; sed -i \
               '/name = \"shop\"/,$ s/^version = \"0.1.0\"/&\\ndependencies = [\"widget\"]/' Cargo.lock";
    context.prompt("Add the crate widget please!", &[Step::shell(add), Step::shell("echo hi")])?;
    let skill = Step::Do(Action::Skill("widget-weather".to_owned()));
    let answer = context.prompt("Use the widget-weather skill", &[skill])?;
    anyhow::ensure!(answer.has_context_containing("THE-WIDGET-SINGS"), "{answer:?}");
    anyhow::ensure!(answer.response.context("it says something")?.contains("Done."));
    Ok(())
}

fn init_and_sync_put_a_skill_in_place(context: &mut Context) -> anyhow::Result<()> {
    context.symposium(&["init", "--add-agent", "claude"])?;
    context.symposium(&["sync"])?;
    let sandbox = context.sandbox();
    anyhow::ensure!(sandbox.has("ws/.claude/skills/widget-weather/SKILL.md"));
    anyhow::ensure!(sandbox.read("ws/.claude/settings.json").contains("hook claude"));
    anyhow::ensure!(!sandbox.has("home/.claude"), "the fixture registers in the project");
    Ok(())
}

const ABOUT: &str = "How widgets are counted. Use when somebody counts widgets.";

fn tasks_are_done_with_a_skill_and_without(context: &mut Context) -> anyhow::Result<()> {
    let client = context.world().context("there is a client")?.client();
    if client.name() != client.agent() {
        // An editor's way to an agent; tasks are done by the agent's own program, which has its test.
        return Ok(());
    }
    let skill = format!("---\nname: counting\ndescription: {ABOUT}\n---\n\nOne by one.\n");
    context.sandbox().write("ws/counting/SKILL.md", skill);
    let evals =
        r#"{"evals": [{"id": 1, "prompt": "Count the widgets.", "expected_output": "Three."}]}"#;
    context.sandbox().write("ws/counting/evals/evals.json", evals);
    let world = context.world().context("there is a client")?;
    let agent = world.client().agent();
    let mut args = vec!["plugin", "test", "counting", "--eval", "--agent", agent, "--json"];
    if agent == "gemini" {
        args.extend(["--", "-m", "gemini-2.5-flash"]);
    }
    let script = [Step::say("THREE-WITH-IT"), Step::say("TWO-WITHOUT-IT")];
    let (run, requests) = world.run_beside_client(&args, &script);
    let run = run.ok();
    let document: serde_json::Value = serde_json::from_str(&run.stdout)?;
    let task = &document["skills"][0]["tasks"][0];
    for (which, said) in [("with", "THREE-WITH-IT"), ("without", "TWO-WITHOUT-IT")] {
        anyhow::ensure!(
            task[which]["text"].as_str().is_some_and(|text| text.contains(said)),
            "{task}"
        );
        let tells = ["claude", "codex", "gemini", "qwen", "opencode"].contains(&agent);
        let tokens = task[which]["tokens"]["output"].as_u64();
        anyhow::ensure!(tokens.is_some_and(|count| count > 0) == tells, "{task}");
    }
    let told: Vec<bool> = requests
        .iter()
        .filter(|request| request.main)
        .map(|request| request.shows(ABOUT))
        .collect();
    anyhow::ensure!(told == [true, false], "the skill is told in {told:?}");
    Ok(())
}
