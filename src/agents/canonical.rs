//! Reads what a handler of the canonical format answers.

use serde_json::{Map, Value};
use symposium_hook::{Decision, Event};

use super::envelope::blocked;
use super::json::{first_object, parse_json, repeats_a_key};
use super::merge::merge;
use super::wire::{ChildAnswer, Outcome};

/// A handler's answer, and whether it was understood.
#[derive(Debug, Default)]
pub(crate) struct ParsedAnswer {
    /// What it wants.
    pub(crate) outcome: Outcome,
    /// What is worth logging.
    pub(crate) notes: Vec<String>,
    /// Whether it wrote something that may have been meant for an answer and is none.
    pub(crate) is_unclear: bool,
}

impl ParsedAnswer {
    fn unclear(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
        self.is_unclear = true;
    }
}

/// Fields of an answer, which stand under the event's name or, for short, at the top level.
const FIELDS: [&str; 5] =
    ["decision", "reason", "additionalContext", "updatedInput", "systemMessage"];

/// Reads a canonical answer: exit code 2 blocks with standard error as the reason, any other code
/// leaves standard output to be read.
pub(crate) fn decode_answer(event: Event, answer: &ChildAnswer<'_>) -> ParsedAnswer {
    let mut parsed = read_output(event, answer.stdout);
    match answer.exit {
        Some(2) => blocked(&mut parsed.outcome, answer.stderr),
        Some(_) => {}
        None => parsed.outcome = Outcome::default(),
    }
    parsed
}

/// Each object that is an answer counts, and all together: what comes later undoes no denial. What
/// stands around them, other objects too, is log.
fn read_output(event: Event, stdout: &str) -> ParsedAnswer {
    let mut parsed = ParsedAnswer::default();
    let mut is_answer = false;
    let found = objects(stdout);
    for (_, object) in &found.objects {
        let fields = match object.get(event.name()) {
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                parsed.unclear(format!("`{}` in its answer is no object", event.name()));
                continue;
            }
            None if Event::ALL.iter().any(|other| object.contains_key(other.name())) => {
                parsed.unclear(format!("it answered another event than {}", event.name()));
                continue;
            }
            None => object,
        };
        let is_tagged = object.contains_key(event.name());
        let is_known = FIELDS.iter().any(|field| fields.contains_key(*field));
        is_answer |= is_tagged || is_known;
        if is_tagged && !is_known && !fields.is_empty() {
            parsed.unclear(format!("nothing in its `{}` is known", event.name()));
        }
        let wanted = read_fields(event, fields, &mut parsed);
        merge(&mut parsed.outcome, wanted);
    }
    if found.objects.is_empty() && !stdout.trim().is_empty() {
        parsed.unclear("its output holds no JSON object");
    } else if !is_answer && !found.says_nothing() {
        parsed.unclear("its output holds no answer");
    } else if found.has_fragment {
        parsed.unclear("its output holds an answer that is no JSON, or has a key twice");
    }
    parsed
}

fn read_fields(event: Event, fields: &Map<String, Value>, parsed: &mut ParsedAnswer) -> Outcome {
    let mut outcome = Outcome::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("decision", Value::String(_)) if event == Event::SessionStart => {
                parsed.notes.push("a session's start can't be decided on".to_owned());
            }
            ("decision", Value::String(decision)) if event == Event::Stop => {
                match decision.as_str() {
                    "deny" | "block" => outcome.decision = Some(Decision::Deny),
                    "allow" => {}
                    other => parsed.unclear(format!("the end of a turn knows no \"{other}\"")),
                }
            }
            ("decision", Value::String(decision)) => match decision.as_str() {
                "allow" => outcome.decision = Some(Decision::Allow),
                "ask" => outcome.decision = Some(Decision::Ask),
                // "block" is what several agents call it.
                "deny" | "block" => outcome.decision = Some(Decision::Deny),
                other => parsed.unclear(format!("unknown decision \"{other}\"")),
            },
            ("reason", Value::String(reason)) => outcome.reasons.push(reason.clone()),
            ("additionalContext", Value::String(context)) => outcome.context.push(context.clone()),
            ("updatedInput", Value::Object(_)) if event != Event::PreToolUse => {
                parsed.notes.push("there is no input to update".to_owned());
            }
            ("updatedInput", Value::Object(input)) => outcome.updated_input = Some(input.clone()),
            ("systemMessage", Value::String(text)) => outcome.user_message = Some(text.clone()),
            ("decision" | "reason" | "additionalContext" | "updatedInput" | "systemMessage", _) => {
                parsed.unclear(format!("`{key}` has the wrong type"));
            }
            _ => parsed.notes.push(format!("unknown field `{key}`")),
        }
    }
    outcome
}

/// What there is of JSON in an output.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// The complete objects that stand in no other one, each with its text.
    pub(crate) objects: Vec<(&'a str, Map<String, Value>)>,
    /// Whether something between them looks like an answer that was cut off or misspelled, or one of
    /// them has a key twice.
    pub(crate) has_fragment: bool,
}

impl Found<'_> {
    /// Whether there is nothing but empty objects.
    pub(crate) fn says_nothing(&self) -> bool {
        self.objects.iter().all(|(_, object)| object.is_empty())
    }
}

/// Finds the JSON objects in an output.
pub(crate) fn objects(text: &str) -> Found<'_> {
    if let Ok(Value::Object(object)) = parse_json(text.trim()) {
        return Found { objects: vec![(text, object)], has_fragment: repeats_a_key(text.trim()) };
    }
    let mut found = Found::default();
    let (mut position, mut end_of_last) = (0, 0);
    let mut tries = 100;
    while let Some(offset) = text[position..].find('{') {
        let start = position + offset;
        if !text[start + 1..].trim_start().starts_with(['"', '}']) {
            position = start + 1;
        } else if let Some((length, object)) = first_object(&text[start..]) {
            found.has_fragment |= is_fragment(&text[end_of_last..start]);
            position = start + length;
            end_of_last = position;
            found.has_fragment |= repeats_a_key(&text[start..position]);
            found.objects.push((&text[start..position], object));
        } else if tries > 0 {
            // Not JSON here, but the next brace may be. Trying every brace of a large output would
            // take quadratic time, so after some the next line is gone to.
            tries -= 1;
            position = start + 1;
        } else {
            let Some(newline) = text[start..].find('\n') else { break };
            position = start + newline + 1;
        }
    }
    found.has_fragment |= is_fragment(&text[end_of_last..]);
    found
}

/// Whether an object in an output has a key twice, and denies by one of its values: of two values a parser
/// keeps one, which must not undo the other. A log's object that only has the word in it denies nothing.
pub(crate) fn denies_under_a_repeated_key(text: &str) -> bool {
    // In one agent's format the key itself is the denial, and its value the reason.
    const DENIALS: [&str; 3] = ["ecision\":\"deny\"", "ecision\":\"block\"", "\"deny\":\""];
    if !text.contains("\"deny\"") && !text.contains("\"block\"") {
        return false;
    }
    let denies = |object: &str| {
        let dense: String = object.split_ascii_whitespace().collect();
        DENIALS.iter().any(|denial| dense.contains(denial)) && repeats_a_key(object.trim())
    };
    objects(text).objects.iter().any(|(object, _)| denies(object))
}

/// Whether what is no JSON looks like a piece of an answer, of whatever format.
fn is_fragment(text: &str) -> bool {
    const WORDS: [&str; 4] = ["ecision\"", "\"deny\"", "\"block\"", "\"hookSpecificOutput\""];
    let names_event =
        || Event::ALL.iter().any(|event| text.contains(&format!("\"{}\"", event.name())));
    text.contains('{') && (WORDS.iter().any(|word| text.contains(word)) || names_event())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(stdout: &str, stderr: &str, exit: i32) -> (Outcome, Vec<String>) {
        let answer = ChildAnswer { stdout, stderr, exit: Some(exit) };
        let parsed = decode_answer(Event::PreToolUse, &answer);
        (parsed.outcome, parsed.notes)
    }

    #[test]
    fn f239_exit_2_blocks_with_standard_error_as_the_reason() {
        let allow = "{\"PreToolUse\":{\"decision\":\"allow\",\"reason\":\"fine\"}}";
        for (stdout, stderr, reasons) in [
            ("", "not here\n", &["not here"][..]),
            (allow, "no rm\n", &["no rm"]),
            (allow, "", &[]),
        ] {
            let (outcome, _) = decode(stdout, stderr, 2);
            assert_eq!(outcome.decision, Some(Decision::Deny));
            assert_eq!(outcome.reasons, reasons, "{stdout}");
        }
    }

    #[test]
    fn f240_other_codes_leave_standard_output_to_be_read_and_a_signal_does_not() {
        let stdout = "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"x\"}}";
        let (outcome, _) = decode(stdout, "warn", 1);
        assert_eq!((outcome.decision, outcome.context), (Some(Decision::Deny), vec!["x".into()]));
        let killed = ChildAnswer { stdout, stderr: "", exit: None };
        assert!(decode_answer(Event::PreToolUse, &killed).outcome.is_empty());
    }

    #[test]
    fn a_denial_under_a_repeated_key_is_told_from_a_log_that_has_the_word() {
        for denial in [
            r#"{"PreToolUse": {"decision" : "deny", "decision": "allow"}}"#,
            r#"{"permissionDecision":"allow","permissionDecision":"deny"}"#,
            r#"{"decision":"block","reason":"r","reason":"s"}"#,
            r#"{"deny":"why","deny":null}"#,
        ] {
            assert!(denies_under_a_repeated_key(denial), "{denial}");
        }
        for other in [
            r#"{"level":"info","rule":"deny","level":"warn"}"#,
            r#"{"lint":"block","lint":"deny"}"#,
            r#"{"decision":"deny","reason":"r"}"#,
            r#"{"decision":"allow","decision":"allow"}"#,
        ] {
            assert!(!denies_under_a_repeated_key(other), "{other}");
        }
    }

    #[test]
    fn f245_a_missing_tag_is_forgiven() {
        let (outcome, _) = decode("{\"decision\":\"deny\"}", "", 0);
        assert_eq!(outcome.decision, Some(Decision::Deny));
    }

    #[test]
    fn decision_9_one_bad_field_does_not_spoil_a_deny() {
        let text = "{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":7,\"updatedInput\":\"x\",\
                    \"odd\":1,\"additionalContext\":null}}";
        let expected = Outcome { decision: Some(Decision::Deny), ..Outcome::default() };
        assert_eq!(decode(text, "", 0).0, expected);
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
    fn decision_30_every_object_that_answers_counts_and_all_else_is_log() {
        let (outcome, notes) = decode(
            "loading…\n{\"PreToolUse\":{\"additionalContext\":\"1\"}} {odd} {\"level\": {}}\n\
             {\"PreToolUse\":{\"additionalContext\":\"{2}\"}} bye {",
            "",
            0,
        );
        assert_eq!(outcome.context, ["1", "{2}"]);
        assert_eq!(notes, ["unknown field `level`"]);
    }

    #[test]
    fn decision_30_what_nobody_understands_is_told_from_what_says_nothing() {
        let unclear = |stdout| {
            let answer = ChildAnswer { stdout, stderr: "", exit: Some(0) };
            decode_answer(Event::PreToolUse, &answer).is_unclear
        };
        for clear in ["", " \n", "{}", "{\"PreToolUse\":{}}", "log\n{\"decision\":\"deny\"}"] {
            assert!(!unclear(clear), "{clear}");
        }
        for odd in [
            "ok",
            "null",
            "{\"level\":\"info\"}",
            "{\"PreToolUse\":[]}",
            "{\"PostToolUse\":{}}",
            "{\"decision\":\"no\"}",
            "{\"decision\":false}",
            "{\"PreToolUse\":{\"decision\":\"deny\"",
            "{\"decision\":\"deny\",\"decision\":\"allow\"}",
            "{\"decision\":\"deny\",\"decision\":\"allow\",\"said\":\"\\ud800\"}",
            "{\"decision\":\"deny\",\"de\\u0063ision\":\"allow\"}",
            "log\n{\"PreToolUse\":{\"decision\":\"deny\"},\"PreToolUse\":{}}\n",
        ] {
            assert!(unclear(odd), "{odd}");
        }
    }

    #[test]
    fn garbage_and_arrays_say_nothing() {
        for garbage in [
            "",
            "ok",
            "[1,2]",
            "{\"PreToolUse\":",
            "{\"PostToolUse\":{\"decision\":\"deny\"}}",
            "{]",
        ] {
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
