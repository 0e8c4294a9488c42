use std::path::Path;

use serde_json::{Value, json};

use crate::documents::{
    Candidate, Change, Created, Document, FileFormat, HandlerState, JsonRules, Keep,
};
use crate::text::Diagnostic;

const LENIENT: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

fn open(text: &str, rules: JsonRules) -> Result<Document, Diagnostic> {
    Document::open(Path::new("settings.json"), Some(text), FileFormat::Json(rules))
}

fn keys(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

/// Ours by the program's own name at the start of the command.
fn ours(candidate: &Candidate<'_>) -> HandlerState {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    if command.is_some_and(|command| command.starts_with("cargo-agents hook ")) {
        HandlerState::Own
    } else {
        HandlerState::Foreign
    }
}

fn group() -> Value {
    let command = "cargo-agents hook claude pre-tool-use";
    json!({"hooks": [{"type": "command", "command": command, "timeout": 60}]})
}

fn array() -> Vec<String> {
    keys(&["hooks", "PreToolUse"])
}

#[test]
fn case_27_what_the_reader_rejects_is_refused() {
    let strict = JsonRules::STRICT;
    for text in [
        "{'a':1}",
        "{\"a\":0x1}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":5.}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "{\"a\":\"\\x41\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":1}}",
        "{} {}",
        "{\"a\":1,,}",
        "{,}",
        "{\"a\"}",
        "{\u{a0}}",
        "{\u{c}}",
        "{\"a\":\"\\ud800\"}",
        "nul",
        "// only\n",
        "{\"a\":tru}",
        "{\"a\":-}",
        "{\"a\":1e}",
        "{/* }",
        "{\"a\":\"b}",
    ] {
        assert!(open(text, LENIENT).is_err(), "{text}");
    }
    for text in [r#"{"model":"opus","hooks":{},}"#, "[1,]", "{} // c", "{/**/}"] {
        assert!(open(text, strict).is_err(), "{text}");
        assert!(open(text, LENIENT).is_ok(), "{text}");
    }
    assert!(open("\u{feff}{}", JsonRules { bom: false, ..strict }).is_err());
}

#[test]
fn deep_nesting_is_refused_and_never_overflows() {
    for depth in [600, 100_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert!(open(&text, LENIENT).is_err());
        let text = "{\"a\":".repeat(depth);
        assert!(open(&text, LENIENT).is_err());
    }
    let text = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
    let mut document = open(&text, LENIENT).expect("parses");
    document.ensure_in_array(&array(), &group(), &ours).expect("can be edited");
    assert!(document.remove_from_array(&array(), &ours).expect("can be edited"));
    assert_eq!(document.text().matches('[').count(), 501);
}

#[test]
fn f276_what_the_user_edited_stays_and_counts_as_being_there() {
    let edited = |candidate: &Candidate<'_>| match ours(candidate) {
        HandlerState::Own if candidate.handler.get("timeout") != Some(&json!(60)) => {
            HandlerState::Edited
        }
        other => other,
    };
    let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "cargo-agents hook x", "timeout": 5}]}]}}"#;
    let mut document = open(text, LENIENT).expect("parses");
    document.ensure_in_array(&array(), &group(), &edited).expect("can be edited");
    assert!(!document.remove_from_array(&array(), &edited).expect("can be edited"));
    assert_eq!(document.finish().change, Change::Keep);
}

#[test]
fn case_44_odd_strings_are_escaped() {
    let command = "C:\\Users\\\"x\"\n\u{1}\u{e9}";
    let mut document = open("{}", LENIENT).expect("parses");
    document.set(&keys(&["a b", "\\"]), "\"", &json!(command), &Keep::default()).expect("sets");
    let found = document.get(&keys(&["a b", "\\", "\""])).expect("parses");
    assert_eq!(found, Some(json!(command)));
}

#[test]
fn a_file_that_got_something_else_meanwhile_stays() {
    let created = [Created::File { was: None }, Created::Container { path: array(), was: None }];
    for text in ["{\"model\": 1}", "{} // mine", "{ /* mine */ }"] {
        let mut document = open(text, LENIENT).expect("parses");
        assert_eq!(document.prune(&created).expect("prunes"), [created[0].clone()]);
        assert_eq!(document.finish().change, Change::Keep);
    }
    let text = "{\"hooks\": {\"PreToolUse\": [ /* mine */ ]}}";
    let mut document = open(text, LENIENT).expect("parses");
    assert_eq!(document.prune(&created).expect("prunes").len(), 2);
    assert_eq!(document.finish().change, Change::Keep);
}

#[test]
fn what_is_read_is_what_the_text_says_now_or_the_refusal() {
    let get = |document: &Document, path: &[&str]| document.get(&keys(path));
    let mut document = open(r#"{"a": {"b": [1]}, "c": "d"}"#, LENIENT).expect("parses");
    assert_eq!(get(&document, &["a", "b"]).expect("is there"), Some(json!([1])));
    assert_eq!(get(&document, &["a", "x", "y"]).expect("is not there"), None);
    let problem = get(&document, &["c", "d"]).expect_err("`c` is no object");
    assert_eq!(problem.message, "`$.c` must be an object, found a string");
    let keep = Keep { users_keys: &[], our_keys: &[] };
    document.set(&keys(&["a"]), "b", &json!(2), &keep).expect("sets");
    assert_eq!(get(&document, &["a", "b"]).expect("is there"), Some(json!(2)));
    assert!(document.remove(&keys(&["a"]), "b").expect("removes"));
    assert_eq!(get(&document, &["a", "b"]).expect("is gone"), None);
    // Which of the two its reader takes is not known, at whatever depth.
    let document = open(r#"{"a": [{"b": 1, "b": 2}], "c": {"d": 1, "d": 2}}"#, LENIENT);
    let document = document.expect("parses");
    let problem = get(&document, &["c", "d"]).expect_err("it is there twice");
    assert_eq!(problem.message, "the key `d` is there twice");
    assert!(get(&document, &["a"]).expect("is there").is_some());
}
