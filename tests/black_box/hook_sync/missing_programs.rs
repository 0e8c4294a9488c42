//! Programs that a hook needs and that are not installed yet.

use std::time::{Duration, Instant};

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// A plugin whose hook is run by `tool`, which `commands` make of `tool.in`: for a moment it is there
/// and empty, as a file is that is being copied or built.
fn with_missing_tool(sandbox: &Sandbox, commands: &str, keys: &str) {
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!(
            "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n\
             install_commands = [\"{commands}: >tool; sleep 0.2; cp tool.in tool; echo x >>count\"]\nscript = \"tool\"\n\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"tool\"\n{keys}\n"
        ),
    );
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "by the tool"}));
    sandbox.user_plugin("p/tool.in", &deny);
}

#[test]
fn a_program_that_is_there_in_a_moment_serves_the_event_that_missed_it() {
    in_parallel(&AGENTS, |agent| {
        let sandbox = lab();
        with_missing_tool(&sandbox, "", "");
        let told = Told::in_ws(&sandbox);
        let effect = send(&sandbox, agent, Event::PreToolUse, &told);
        let refused = effect.refused.as_deref();
        assert_eq!(refused, Some("by the tool"), "{agent}: {effect:?}\n{}", logs(&sandbox));
        assert_eq!(effect.context, None, "{agent}: there is nothing to wait for");
        // A file that somebody removed is made again.
        std::fs::remove_file(sandbox.home().join(".symposium/plugins/p/tool")).expect("removes");
        in_parallel(&["s2", "s3", "s4"], |session| {
            let told = told.clone().id(session).session(session);
            let again = send(&sandbox, agent, Event::PreToolUse, &told);
            let refused = again.refused.as_deref();
            assert_eq!(refused, Some("by the tool"), "{agent}: {again:?}\n{}", logs(&sandbox));
        });
        assert_eq!(sandbox.read("home/.symposium/plugins/p/count"), "x\nx\n", "{agent}");
    });
}

#[test]
fn a_process_that_looked_before_the_program_went_missing_is_followed_by_another() {
    let sandbox = lab();
    with_missing_tool(&sandbox, "", "");
    let told = Told::in_ws(&sandbox);
    let first = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert_eq!(first.refused.as_deref(), Some("by the tool"), "{}", logs(&sandbox));
    let locks = std::fs::read_dir(sandbox.home().join(".symposium/cache/locks")).expect("locks");
    let background = locks.flatten().map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("background-"))
    });
    // Whoever holds this lock counts as the workspace's process in the background. This one stands for
    // a process that has done its work and is about to end.
    let held =
        std::fs::File::open(background.expect("the lock of the one process")).expect("opens");
    held.lock().expect("locks");
    std::fs::remove_file(sandbox.home().join(".symposium/plugins/p/tool")).expect("removes");
    let again = std::thread::scope(|scope| {
        let told = told.clone().id("2").session("s2");
        let sandbox = &sandbox;
        let event = scope.spawn(move || send(sandbox, "claude", Event::PreToolUse, &told));
        // Until the event waits for the holder.
        std::thread::sleep(Duration::from_millis(900));
        held.unlock().expect("unlocks");
        event.join().expect("an answer")
    });
    assert_eq!(again.refused.as_deref(), Some("by the tool"), "{again:?}\n{}", logs(&sandbox));
}

#[test]
fn a_requirement_that_is_missing_is_got_too_and_the_hook_runs_all_the_same() {
    let mut sandbox = lab();
    sandbox.switch("patience", "1");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"rtk\"\n\
         install_commands = [\"while [ ! -f go ]; do sleep 0.05; done; cp rtk.in rtk\"]\n\
         script = \"rtk\"\n\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
         command = { script = \"hook.sh\" }\nrequirements = [\"rtk\"]\n",
    );
    sandbox.user_plugin("p/rtk.in", "echo from rtk");
    let script = "cat >/dev/null\nsaid=$([ -z \"$SYMPOSIUM_rtk\" ] || sh \"$SYMPOSIUM_rtk\")\n\
                  echo '{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"'\"it ran $said\"'\"}}'\n";
    sandbox.user_plugin("p/hook.sh", script);
    let told = Told::in_ws(&sandbox);
    let first = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert_eq!(first.refused.as_deref(), Some("it ran "));
    let line = "`rtk` of plugin `p` is being installed";
    assert!(first.context.as_deref().is_some_and(|text| text.starts_with(line)), "{first:?}");
    sandbox.user_plugin("p/go", "");
    let last = (0..200).find_map(|number| {
        std::thread::sleep(Duration::from_millis(50));
        let id: &'static str = Box::leak(format!("n{number}").into_boxed_str());
        let effect = send(&sandbox, "claude", Event::PreToolUse, &told.clone().id(id));
        effect.refused.filter(|reason| reason == "it ran from rtk")
    });
    assert!(last.is_some(), "{}", logs(&sandbox));
}

#[test]
fn a_program_that_takes_longer_is_waited_for_once_a_session_and_the_agent_is_told_once() {
    in_parallel(&[false, true], |&guards| {
        let mut sandbox = lab();
        sandbox.switch("patience", "1");
        let block = if guards { "on-failure = \"block\"" } else { "" };
        with_missing_tool(&sandbox, "while [ ! -f go ]; do sleep 0.05; done; ", block);
        let told = Told::in_ws(&sandbox);
        let timed = |agent: &str, event: Event, told: &Told| {
            let start = Instant::now();
            (send(&sandbox, agent, event, told), start.elapsed())
        };
        let (first, took) = timed("claude", Event::PreToolUse, &told);
        assert!((4..10).contains(&took.as_secs()), "{took:?}");
        let line = "`tool` of plugin `p` is being installed";
        assert!(first.context.as_deref().is_some_and(|text| text.starts_with(line)), "{first:?}");
        assert_eq!(first.refused.is_some(), guards);
        let (second, took) = timed("claude", Event::PreToolUse, &told.clone().id("2"));
        assert!(took < Duration::from_secs(4), "waited for once: {took:?}");
        assert_eq!((second.context, second.refused.is_some()), (None, guards), "told once");
        // Gemini hears of it with the tool's result. The other process is at it, so there is nothing
        // to wait for.
        let gemini = told.clone().session("g");
        assert_eq!(timed("gemini", Event::PreToolUse, &gemini).0.context, None);
        let after = send(&sandbox, "gemini", Event::PostToolUse, &gemini).context;
        assert!(after.is_some_and(|text| text.contains(line)));
        sandbox.user_plugin("p/go", "");
        let reason = (0..200).find_map(|number| {
            std::thread::sleep(Duration::from_millis(50));
            let id: &'static str = Box::leak(format!("n{number}").into_boxed_str());
            let effect = send(&sandbox, "claude", Event::PreToolUse, &told.clone().id(id));
            effect.refused.filter(|reason| reason == "by the tool")
        });
        assert!(reason.is_some(), "{}", logs(&sandbox));
        assert_eq!(sandbox.read("home/.symposium/plugins/p/count"), "x\n", "once");
    });
}

#[test]
fn an_event_without_a_session_has_a_missing_program_got_and_does_not_wait() {
    let sandbox = lab();
    with_missing_tool(&sandbox, "sleep 1; ", "");
    let told = Told { session: None, ..Told::in_ws(&sandbox) };
    let start = Instant::now();
    assert_eq!(send(&sandbox, "symposium", Event::PreToolUse, &told), Effect::default());
    assert!(start.elapsed() < Duration::from_secs(4));
    let denied = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        send(&sandbox, "symposium", Event::PreToolUse, &told).refused.is_some()
    });
    assert!(denied, "{}", logs(&sandbox));
}

#[test]
fn a_program_that_could_not_be_installed_is_told_once_with_the_remedy_and_not_as_on_its_way() {
    let sandbox = lab();
    with_missing_tool(&sandbox, "echo no compiler >&2; exit 3; ", "");
    let told = Told::in_ws(&sandbox);
    let context = |session: &'static str, id: &'static str, event: Event| {
        let told = told.clone().session(session).id(id);
        send(&sandbox, "claude", event, &told).context.unwrap_or_default()
    };
    let first = context("s1", "1", Event::PreToolUse);
    let failure = "do not work: `tool` of plugin `p`: ";
    assert!(first.contains(failure) && first.contains("`cargo agents sync`"), "{first}");
    for (session, id) in [("s1", "2"), ("s2", "3"), ("s3", "4")] {
        for event in [Event::SessionStart, Event::PreToolUse, Event::PostToolUse] {
            let said = context(session, id, event);
            assert!(!said.contains("`tool` of plugin"), "{session} {event:?}: {said}");
        }
    }
    let run = sandbox.run(&["sync"]);
    assert!(run.stderr.contains("no compiler"), "{run:?}");
}

#[test]
fn a_program_that_could_not_be_installed_is_never_said_to_be_on_its_way_again() {
    let sandbox = lab();
    with_missing_tool(&sandbox, "[ -f slow ] && sleep 1; echo no compiler >&2; exit 3; ", "");
    let told = Told::in_ws(&sandbox);
    let mut number = 0;
    let mut context = |session: &'static str, event: Event| {
        number += 1;
        let id: &'static str = Box::leak(number.to_string().into_boxed_str());
        let told = told.clone().session(session).id(id);
        send(&sandbox, "claude", event, &told).context.unwrap_or_default()
    };
    assert!(context("s1", Event::PreToolUse).contains("do not work"));
    assert_eq!(context("s2", Event::PreToolUse), "");
    // The failure was long ago, so it is tried again.
    sandbox.user_plugin("p/slow", "");
    let stamps = sandbox.home().join(".symposium/cache/binaries/.stamps");
    let stamp = std::fs::read_dir(stamps).expect("is there").next().expect("one").expect("reads");
    let mut known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(stamp.path()).expect("reads")).expect("is JSON");
    known["failure"]["at"] = json!(1);
    std::fs::write(stamp.path(), known.to_string()).expect("writes");
    let package = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", format!("{package}# changed\n"));
    for session in ["s1", "s2", "s3"] {
        for event in [Event::PreToolUse, Event::PostToolUse, Event::UserPromptSubmit] {
            let said = context(session, event);
            assert!(!said.contains("being installed"), "{session} {event:?}: {said}");
        }
    }
}
