//! What a handler of the canonical format said, understood.

use serde_json::{Map, Value};
use symposium_hook::{Decision, Event};

use super::envelope::blocked;
use super::wire::{ChildAnswer, Outcome};

/// Reads a canonical answer: exit code 2 blocks with standard error as the reason, any other code
/// leaves standard output to be read.
///
/// Also says what is worth logging.
pub fn decode_answer(event: Event, answer: &ChildAnswer<'_>) -> (Outcome, Vec<String>) {
    let (mut outcome, notes) = read_output(event, answer.stdout);
    match answer.exit {
        Some(2) => blocked(&mut outcome, answer.stderr),
        Some(_) => {}
        None => return (Outcome::default(), notes),
    }
    (outcome, notes)
}

fn read_output(event: Event, stdout: &str) -> (Outcome, Vec<String>) {
    let mut notes = Vec::new();
    let Some((object, around)) = last_object(stdout) else {
        if !stdout.trim().is_empty() {
            notes.push("its output holds no JSON object".to_owned());
        }
        return (Outcome::default(), notes);
    };
    if around {
        notes.push("text around the JSON object was ignored".to_owned());
    }
    let fields = match object.get(event.name()) {
        Some(Value::Object(fields)) => fields,
        Some(_) => {
            notes.push(format!("`{}` in its answer is no object", event.name()));
            return (Outcome::default(), notes);
        }
        None if Event::ALL.iter().any(|other| object.contains_key(other.name())) => {
            notes.push(format!("it answered another event than {}", event.name()));
            return (Outcome::default(), notes);
        }
        None => &object,
    };
    (read_fields(event, fields, &mut notes), notes)
}

fn read_fields(event: Event, fields: &Map<String, Value>, notes: &mut Vec<String>) -> Outcome {
    let mut outcome = Outcome::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("decision", Value::String(_)) if event == Event::SessionStart => {
                notes.push("a session's start can't be decided on".to_owned());
            }
            ("decision", Value::String(decision)) => match decision.as_str() {
                "allow" => outcome.decision = Some(Decision::Allow),
                "ask" => outcome.decision = Some(Decision::Ask),
                // "block" is what several agents call it.
                "deny" | "block" => outcome.decision = Some(Decision::Deny),
                other => notes.push(format!("unknown decision \"{other}\"")),
            },
            ("reason", Value::String(reason)) => outcome.reasons.push(reason.clone()),
            ("additionalContext", Value::String(context)) => outcome.context.push(context.clone()),
            ("updatedInput", Value::Object(_)) if event != Event::PreToolUse => {
                notes.push("there is no input to update".to_owned());
            }
            ("updatedInput", Value::Object(input)) => outcome.updated_input = Some(input.clone()),
            ("systemMessage", Value::String(text)) => outcome.user_message = Some(text.clone()),
            ("decision" | "reason" | "additionalContext" | "updatedInput" | "systemMessage", _) => {
                notes.push(format!("`{key}` has the wrong type"));
            }
            _ => notes.push(format!("unknown field `{key}`")),
        }
    }
    outcome
}

/// The last complete JSON object in `text` that stands at the top level, and whether there is other
/// text around it.
pub fn last_object(text: &str) -> Option<(Map<String, Value>, bool)> {
    let mut last = None;
    let mut position = 0;
    let mut tries = 100;
    while let Some(offset) = text[position..].find('{') {
        let start = position + offset;
        let mut stream =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
        match stream.next() {
            Some(Ok(object)) => {
                let end = start + stream.byte_offset();
                last = Some((object, start, end));
                position = end;
            }
            // Not JSON here, but the next brace may be. Trying every brace of a large output would
            // take quadratic time, so after some the next line is gone to.
            _ if tries > 0 => {
                tries -= 1;
                position = start + 1;
            }
            _ => match text[start..].find('\n') {
                Some(newline) => position = start + newline + 1,
                None => break,
            },
        }
    }
    let (object, start, end) = last?;
    let around = !text[..start].trim().is_empty() || !text[end..].trim().is_empty();
    Some((object, around))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(stdout: &str, stderr: &str, exit: i32) -> (Outcome, Vec<String>) {
        decode_answer(Event::PreToolUse, &ChildAnswer { stdout, stderr, exit: Some(exit) })
    }

    #[test]
    fn f239_exit_2_blocks_with_standard_error_as_the_reason() {
        let (outcome, _) = decode("{\"PreToolUse\":{\"decision\":\"allow\"}}", "no rm\n", 2);
        assert_eq!(outcome.decision, Some(Decision::Deny));
        assert_eq!(outcome.reason(), "no rm");
    }

    #[test]
    fn f240_other_codes_leave_standard_output_to_be_read() {
        let (outcome, _) = decode("{\"PreToolUse\":{\"additionalContext\":\"x\"}}", "warn", 1);
        assert_eq!(outcome.context, ["x"]);
        assert_eq!(outcome.decision, None);
    }

    #[test]
    fn f242_f243_f244_decision_rewrite_and_context_arrive() {
        let (outcome, notes) = decode(
            "{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"r\",\"additionalContext\":\"c\",\
             \"updatedInput\":{\"command\":\"ls\"}}}",
            "",
            0,
        );
        assert_eq!((outcome.decision, outcome.reason()), (Some(Decision::Deny), "r".to_owned()));
        assert_eq!(outcome.context, ["c"]);
        assert!(outcome.updated_input.is_some());
        assert!(notes.is_empty());
    }

    #[test]
    fn decision_9_no_decision_is_no_opinion() {
        assert_eq!(decode("{\"PreToolUse\":{}}", "", 0).0, Outcome::default());
        assert_eq!(decode("{\"PreToolUse\":{\"decision\":null}}", "", 0).0, Outcome::default());
    }

    #[test]
    fn the_last_complete_object_counts_and_text_around_it_is_noted() {
        let (outcome, notes) = decode(
            "loading…\n{\"PreToolUse\":{\"additionalContext\":\"1\"}}\n\
             {\"PreToolUse\":{\"additionalContext\":\"{2}\"}} bye {",
            "",
            0,
        );
        assert_eq!(outcome.context, ["{2}"]);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn garbage_and_arrays_say_nothing() {
        for garbage in ["", "ok", "[1,2]", "{\"PreToolUse\":", "{\"PostToolUse\":{}}", "{]"] {
            assert_eq!(decode(garbage, "", 0).0, Outcome::default(), "{garbage}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_read_without_trouble(text in ".*") {
            let _ = decode(&text, "", 0);
        }
    }
}
