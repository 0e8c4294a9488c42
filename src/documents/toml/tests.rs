use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::documents::{Document, FileFormat, Keep, testing};

fn open(text: &str) -> Document {
    Document::open(Path::new("config.toml"), Some(text), FileFormat::Toml).expect("parses")
}

fn keys(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

fn server() -> Value {
    json!({"command": "x", "args": ["a", "b c"], "env": {"A": "1"}})
}

fn table() -> Vec<String> {
    keys(&["mcp_servers"])
}

/// Adds our server and takes it out again, which gives the bytes back; the text with it, or `None`
/// when it was refused.
fn there_and_back(text: &str) -> Option<String> {
    let add = |document: &mut Document| document.set(&table(), "ours", &server(), &Keep::default());
    let take_out = |document: &mut Document| document.remove(&table(), "ours").map(drop);
    let (with, back) = testing::there_and_back(FileFormat::Toml, text, &add, &take_out)?;
    assert_eq!(back, text, "from {with}");
    Some(with)
}

#[test]
fn scattered_dotted_keys_stay_where_they_are() {
    let scattered = "mcp_servers.a.x = 1\nz = 1\nmcp_servers.a.y = 2\nlast = 1\n";
    let printed = scattered.parse::<toml_edit::DocumentMut>().expect("parses").to_string();
    assert_ne!(printed, scattered, "toml_edit keeps the order: its own output may be used");
    expect![[r#"
        mcp_servers.a.x = 1
        z = 1
        mcp_servers.a.y = 2
        mcp_servers.ours = { command = "x", args = ["a", "b c"], env = { A = "1" } }
        last = 1
    "#]]
    .assert_eq(&there_and_back(scattered).expect("can be edited"));
}

#[test]
fn f290_what_does_not_parse_is_refused() {
    let open = |text: &str| Document::open(Path::new("config.toml"), Some(text), FileFormat::Toml);
    for text in ["a = ", "[a", "a", "a = 1 b = 2", "x = '''"] {
        assert!(open(text).is_err(), "{text}");
    }
    for depth in [200, 100_000] {
        assert!(open(&format!("a = {}", "[".repeat(depth))).is_err());
        assert!(open(&format!("a = {}{}", "[".repeat(depth), "]".repeat(depth))).is_err());
    }
}

#[test]
fn a_key_with_quotes_of_both_kinds_is_one_key() {
    let mut document = open("");
    let keys = vec!["hooks".to_owned(), "state".to_owned()];
    let key = "/home/o'dea \"x\"/hooks.json:pre_tool_use:0:0";
    let trust = json!({ "trusted_hash": "sha256:0" });
    document.set(&keys, key, &trust, &Keep::default()).expect("can be edited");
    let place = [keys.clone(), vec![key.to_owned()]].concat();
    assert_eq!(document.get(&place).expect("reads"), Some(trust));
    assert!(document.remove(&keys, key).expect("can be edited"));
    assert_eq!(document.text(), "");
}

#[test]
fn null_is_left_out() {
    let mut document = open("");
    let value = json!({"command": "x", "cwd": null});
    document.set(&table(), "ours", &value, &Keep::default()).expect("can be edited");
    assert_eq!(document.text(), "[mcp_servers.ours]\ncommand = \"x\"\n");
}

/// A line of a file, or several that belong together.
fn piece(index: usize) -> BoxedStrategy<String> {
    let comment = prop_oneof![4 => Just(""), 1 => Just(" # c"), 1 => Just("   ")];
    let body = prop_oneof![
        Just(String::new()),
        Just("# note".to_owned()),
        Just(format!("k{index} = 1.50e3")),
        Just(format!("  k{index}.a.\"b c\" = 2024-01-01T00:00:00Z")),
        Just(format!("k{index} = [ 1, # one\n  2 ]")),
        Just(format!("k{index} = '''\n[mcp_servers.fake]\n'''")),
        Just(format!("[t{index}]")),
        Just(format!("[mcp_servers.s{index}]")),
        Just(format!("[mcp_servers.s{index}.env]")),
        Just(format!("[[l{}]]", index / 2)),
        Just(format!("mcp_servers.d{index} = {{ command = 'x' }}")),
    ];
    let newline = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
    (body, comment, newline)
        .prop_map(|(body, comment, newline)| format!("{body}{comment}{newline}"))
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_key_and_text_can_be_written_and_read_back(
        key in any::<String>(),
        value in any::<String>(),
        in_section in any::<bool>(),
        newline in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        prop_assume!(!key.is_empty());
        let before = if in_section { format!("[mcp_servers]{newline}") } else { String::new() };
        let mut document = open(&before);
        let entry = json!({ "command": value.clone(), key.clone(): [value] });
        document.set(&table(), &key, &entry, &Keep::default()).expect("can be edited");
        let text = document.text().to_owned();
        let mut again = open(&text);
        let place = [table(), vec![key.clone()]].concat();
        prop_assert_eq!(again.get(&place).expect("reads"), Some(entry));
        prop_assert!(again.remove(&table(), &key).expect("can be edited"));
        prop_assert_eq!(again.text(), before);
    }

    #[test]
    fn case_4_a_server_comes_and_goes_without_a_trace(
        pieces in (0usize..9).prop_flat_map(|count| (0..count).map(piece).collect::<Vec<_>>()),
        mark in prop_oneof![5 => Just(""), 1 => Just("\u{feff}")],
        cut in any::<bool>(),
    ) {
        let mut text = format!("{mark}{}", pieces.concat());
        if cut {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let _ = there_and_back(&text);
    }
}
