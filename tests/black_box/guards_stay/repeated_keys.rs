//! Of two values of one key a parser keeps one, which must not be the end of a denial.

use serde_json::json;

use super::{native_denials, prints};
use crate::hook_kit::*;

#[test]
fn decision_30_a_denial_under_a_key_that_is_there_twice_is_heard() {
    let canonical = json!({"PreToolUse": {"decision": "deny", "reason": "not this"}});
    let mut denials = vec![("claude", canonical, "")];
    denials.extend(native_denials().map(|(agent, denial)| (agent, denial, "format")));
    in_parallel(&denials, |(agent, denial, format)| {
        let text = denial.to_string();
        let key = ["permissionDecision", "decision", "deny"]
            .into_iter()
            .find(|key| text.contains(&format!("\"{key}\":")))
            .expect("a denial");
        let twice =
            text.replace(&format!("\"{key}\":"), &format!("\"{key}\":\"allow\",\"{key}\":"));
        let denying = text.split(&format!("\"{key}\":")).nth(1).expect("a value");
        let value = &denying[..denying.find([',', '}']).expect("an end")];
        let undone = text.replace(value, &format!("{value},\"{key}\":\"allow\""));
        for text in [twice, undone] {
            let sandbox = lab();
            let keys =
                if format.is_empty() { String::new() } else { format!("format = \"{agent}\"") };
            hook_plugin(&sandbox, "p", Event::PreToolUse, &keys, &prints(&format!("{text}\n"), ""));
            let effect = send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox));
            assert!(effect.refused.is_some(), "{agent}: {text}");
        }
    });
}
