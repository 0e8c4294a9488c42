//! For all documents: what we add can be taken out again, to the byte.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

use crate::documents::testing::there_and_back;
use crate::documents::{Candidate, Document, FileFormat, HandlerState, JsonRules, Keep};

const FORMAT: FileFormat =
    FileFormat::Json(JsonRules { comments: true, trailing_commas: true, bom: true });

/// White space and comments between two tokens.
fn gap() -> BoxedStrategy<String> {
    prop_oneof![
        6 => Just(String::new()),
        6 => Just(" ".to_owned()),
        4 => Just("\n  ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => Just("\r\n\t".to_owned()),
        1 => Just(" \t\n\n    ".to_owned()),
        1 => Just(" /* c */ ".to_owned()),
        1 => Just("/* c\n   d */".to_owned()),
        1 => Just(" // c\n".to_owned()),
        1 => Just("// c\r\n    ".to_owned()),
    ]
    .boxed()
}

fn key() -> BoxedStrategy<String> {
    prop_oneof![
        Just("hooks".to_owned()),
        Just("Stop".to_owned()),
        Just("mcpServers".to_owned()),
        Just("model".to_owned()),
        "[a-c\u{e4}\\\\\"]{0,2}".prop_map(|key| key),
    ]
    .boxed()
}

fn list(items: Vec<(String, String, String)>, end: String, comma: bool) -> String {
    let count = items.len();
    let mut text = String::new();
    for (index, (before, item, after)) in items.into_iter().enumerate() {
        text += &before;
        text += &item;
        text += &after;
        if index + 1 < count || comma {
            text.push(',');
        }
    }
    text + &end
}

fn value() -> BoxedStrategy<String> {
    let scalar = prop_oneof![
        Just("1.50e+3".to_owned()),
        Just("12345678901234567890123".to_owned()),
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("\"a // \\u00e9 \\\" /* \"".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just(r#"{"hooks":[{"type":"command","command":"users"}], "matcher": "Bash"}"#.to_owned()),
    ];
    scalar
        .prop_recursive(4, 24, 4, |inner| {
            let items = proptest::collection::vec((gap(), inner.clone(), gap()), 0..4);
            let array = (items, gap(), any::<bool>())
                .prop_map(|(items, end, comma)| format!("[{}]", list(items, end, comma)));
            prop_oneof![array.boxed(), object(inner)].boxed()
        })
        .boxed()
}

fn object(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let member = (key(), gap(), gap(), inner)
        .prop_map(|(key, one, two, value)| format!("{}{one}:{two}{value}", Value::from(key)));
    (proptest::collection::vec((gap(), member, gap()), 0..4), gap(), any::<bool>())
        .prop_map(|(members, end, comma)| format!("{{{}}}", list(members, end, comma)))
        .boxed()
}

/// A whole file.
fn document() -> BoxedStrategy<String> {
    let mark = prop_oneof![9 => Just(""), 1 => Just("\u{feff}")];
    (mark, gap(), object(value()), gap())
        .prop_map(|(mark, before, object, after)| format!("{mark}{before}{object}{after}"))
        .boxed()
}

fn ours(candidate: &Candidate<'_>) -> HandlerState {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    if command.is_some_and(|command| command.starts_with("cargo-agents hook")) {
        HandlerState::Own
    } else {
        HandlerState::Foreign
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn case_4_a_server_comes_and_goes_without_a_trace(text in document()) {
        let table = ["mcpServers".to_owned()];
        let server = json!({"type": "stdio", "command": "x", "args": ["a", 1.5], "env": {}});
        let add = |document: &mut Document| {
            document.set(&table, "ours", &server, &Keep::default())
        };
        let take_out = |document: &mut Document| document.remove(&table, "ours").map(|_| ());
        if let Some((with, back)) = there_and_back(FORMAT, &text, &add, &take_out) {
            prop_assert_eq!(back, text);
            let document = Document::open(Path::new("f"), Some(&with), FORMAT);
            let found = document.expect("parses").get(&["mcpServers".to_owned(), "ours".to_owned()]);
            prop_assert_eq!(found.expect("is there"), Some(server.clone()));
        }
    }

    #[test]
    fn case_4_a_hook_comes_and_goes_without_a_trace(text in document(), flat in any::<bool>()) {
        let array = ["hooks".to_owned(), "Stop".to_owned()];
        let handler = json!({"type": "command", "command": "cargo-agents hook claude stop"});
        let entry =
            if flat { handler } else { json!({"matcher": "*", "hooks": [handler]}) };
        let classify: crate::documents::edited::Classify<'_> = &ours;
        let add = |document: &mut Document| document.ensure_in_array(&array, &entry, classify);
        let take_out = |document: &mut Document| {
            document.remove_from_array(&array, classify).map(|_| ())
        };
        if let Some((_, back)) = there_and_back(FORMAT, &text, &add, &take_out) {
            prop_assert_eq!(back, text);
        }
    }

    #[test]
    fn case_10_somebody_else_s_handler_can_be_removed_around_ours(
        text in document(), pick in any::<proptest::sample::Index>(),
    ) {
        // Removing any member of the root leaves all others as they were.
        let rules = FORMAT;
        let Ok(mut document) = Document::open(Path::new("f"), Some(&text), rules) else {
            return Ok(());
        };
        let Some(Value::Object(members)) = document.get(&[]).expect("parses") else {
            return Ok(());
        };
        if members.is_empty() {
            return Ok(());
        }
        let key = members.keys().nth(pick.index(members.len())).expect("is there").clone();
        if document.remove(&[], &key).is_ok() {
            let left = document.get(&[]).expect("still parses");
            let mut expected = members.clone();
            expected.shift_remove(&key);
            prop_assert_eq!(left, Some(Value::Object(expected)));
            let comments = |text: &str| text.matches(" c").count();
            let inside = text.len() - document.text().len();
            prop_assert!(inside > 0 || comments(&text) == comments(document.text()));
        }
    }
}
