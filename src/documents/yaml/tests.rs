use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::documents::{Created, Document, FileFormat, Keep, testing};
use crate::text::Diagnostic;

fn try_open(text: &str) -> Result<Document, Diagnostic> {
    Document::open(Path::new("config.yaml"), Some(text), FileFormat::Yaml)
}

fn open(text: &str) -> Document {
    try_open(text).expect("parses")
}

fn table() -> Vec<String> {
    vec!["extensions".to_owned()]
}

fn server() -> Value {
    json!({
        "enabled": true, "type": "stdio", "name": "ours", "cmd": "x: y",
        "args": ["a", "yes", "b\nc"], "envs": {}, "timeout": 300,
    })
}

/// Adds our server and takes it out again, which gives the bytes back; the text with it, or `None`
/// when it was refused.
fn there_and_back(text: &str) -> Option<String> {
    let add = |document: &mut Document| document.set(&table(), "ours", &server(), &Keep::default());
    let take_out = |document: &mut Document| document.remove(&table(), "ours").map(drop);
    let (with, back) = testing::there_and_back(FileFormat::Yaml, text, &add, &take_out)?;
    assert_eq!(back, text, "from {with}");
    Some(with)
}

#[test]
fn what_does_not_parse_is_refused() {
    for text in ["\ta: 1\n", "a: *x\n"] {
        assert!(try_open(text).is_err(), "{text}");
    }
    assert!(try_open(&"[".repeat(100_000)).is_err());
    assert!(try_open(&format!("a: {}{}", "[".repeat(5000), "]".repeat(5000))).is_err());
}

#[test]
fn a_created_parent_with_somebody_else_s_entry_stays() {
    let created = Created::Container { path: table(), was: None };
    for text in ["extensions:\n  mine: {}\n", "extensions:\n  # mine\na: 1\n"] {
        let mut document = open(text);
        let remaining = document.prune(std::slice::from_ref(&created)).expect("prunes");
        assert_eq!(remaining, std::slice::from_ref(&created));
        assert_eq!(document.text(), text);
    }
    let mut document = open("extensions:\n# about a\na: 1\n");
    assert_eq!(document.prune(&[created]).expect("prunes"), []);
    assert_eq!(document.text(), "# about a\na: 1\n");
}

fn piece(index: usize) -> BoxedStrategy<String> {
    let top = prop_oneof![
        Just(String::new()),
        Just("# note\n".to_owned()),
        Just("  # deep note\n".to_owned()),
        Just(format!("k{index}: 'a # b' # c\n")),
        Just(format!("k{index}: \"a\n  extensions: b\"\n")),
        Just(format!("k{index}: |\n  extensions:\n    ours: 1\n")),
        Just(format!("k{index}: >-\n    x\n\n  \n")),
        Just(format!("k{index}:\n- a\n-  b: 1\n   c: 2\n")),
        Just(format!("\"k{index}\": {{a: [1, 2]}}\r\n")),
        Just("\n".to_owned()),
    ];
    top.boxed()
}

fn extensions() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        Just("extensions:\n".to_owned()),
        Just("extensions:   {}  # c\n".to_owned()),
        Just("extensions: # c\n   a: {}\n".to_owned()),
        Just(
            "extensions:\n\n    # first\n    \"a b\":\n        x: |\n            y\n\n".to_owned()
        ),
        Just("'extensions':\r\n  a:\r\n    x: 1\r\n  # last\r\n".to_owned()),
        Just("extensions: ~\n".to_owned()),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn case_4_a_server_comes_and_goes_without_a_trace(
        before in (0usize..4).prop_flat_map(|count| (0..count).map(piece).collect::<Vec<_>>()),
        extensions in extensions(),
        after in (0usize..4)
            .prop_flat_map(|count| (0..count).map(|at| piece(at + 10)).collect::<Vec<_>>()),
        cut in any::<bool>(),
    ) {
        let mut text = format!("{}{extensions}{}", before.concat(), after.concat());
        if cut {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let _ = there_and_back(&text);
    }
}
