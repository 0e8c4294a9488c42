use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::documents::{Change, Created, Document, FileFormat, Keep};
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

fn there_and_back(text: &str) -> String {
    let mut document = open(text);
    document.set(&table(), "ours", &server(), &Keep::default()).expect("can be edited");
    let edited = document.finish();
    let Change::Write(with) = edited.change else { panic!("nothing was added") };
    let mut again = open(&with);
    again.set(&table(), "ours", &server(), &Keep::default()).expect("can be edited");
    assert_eq!(again.finish().change, Change::Keep, "{with}");
    let mut back = open(&with);
    assert!(back.remove(&table(), "ours").expect("can be edited"));
    assert_eq!(back.prune(&edited.created).expect("prunes"), []);
    assert_eq!(back.finish().change, Change::Write(text.to_owned()), "from {with}");
    with
}

#[test]
fn golden_absent() {
    let path = Path::new("config.yaml");
    let mut document = Document::open(path, None, FileFormat::Yaml).expect("parses");
    document.set(&table(), "ours", &server(), &Keep::default()).expect("can be edited");
    let edited = document.finish();
    let Change::Write(text) = edited.change else { panic!("must be written") };
    expect![[r#"
        extensions:
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300
    "#]]
    .assert_eq(&text);
    let mut document = open(&text);
    document.remove(&table(), "ours").expect("can be edited");
    assert_eq!(document.prune(&edited.created).expect("prunes"), []);
    assert_eq!(document.finish().change, Change::Delete);
}

#[test]
fn golden_blank_and_comments_only() {
    expect![[r#"
        extensions:
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300
    "#]]
    .assert_eq(&there_and_back("\n"));
    expect![[r##"
        # mine
        extensions:
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300
    "##]]
    .assert_eq(&there_and_back("# mine\n"));
}

#[test]
fn case_34_builtin_and_comments_survive() {
    expect![[r#"
        GOOSE_MODEL: gpt
        extensions:
            # builtin
            developer:
                bundled: true # yes
                args:
                    - 'one'
            ours:
                enabled: true
                type: stdio
                name: ours
                cmd: 'x: y'
                args:
                    - a
                    - "yes"
                    - "b\nc"
                envs: {}
                timeout: 300

        # keys
        keyring: "x"
    "#]].assert_eq(&there_and_back(
        "GOOSE_MODEL: gpt\nextensions:\n    # builtin\n    developer:\n        bundled: true # yes\n        args:\n            - 'one'\n\n# keys\nkeyring: \"x\"\n",
    ));
}

#[test]
fn golden_empty_extensions() {
    expect![[r#"
        extensions: # none
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300
        a: 1
    "#]]
    .assert_eq(&there_and_back("extensions: {} # none\na: 1\n"));
    expect![[r#"
        extensions:
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300
        a: 1"#]]
    .assert_eq(&there_and_back("extensions:\na: 1"));
}

#[test]
fn golden_crlf_and_byte_order_mark() {
    let with = there_and_back("\u{feff}a: &x 1\r\nb: *x\r\nextensions:\r\n  d:\r\n    e: 1.50\r\n");
    expect![[r#"
        <BOM>a: &x 1<CR>
        b: *x<CR>
        extensions:<CR>
          d:<CR>
            e: 1.50<CR>
          ours:<CR>
            enabled: true<CR>
            type: stdio<CR>
            name: ours<CR>
            cmd: 'x: y'<CR>
            args:<CR>
            - a<CR>
            - "yes"<CR>
            - "b\nc"<CR>
            envs: {}<CR>
            timeout: 300<CR>
    "#]]
    .assert_eq(&with.replace('\u{feff}', "<BOM>").replace('\r', "<CR>"));
}

#[test]
fn golden_without_a_last_newline_and_unindented_items() {
    expect![[r#"
        ---
        text: |
          extensions:
            x
        list:
        - a
        - b: 1
          c: 2
        extensions:
          ours:
            enabled: true
            type: stdio
            name: ours
            cmd: 'x: y'
            args:
            - a
            - "yes"
            - "b\nc"
            envs: {}
            timeout: 300"#]]
    .assert_eq(&there_and_back("---\ntext: |\n  extensions:\n    x\nlist:\n- a\n- b: 1\n  c: 2"));
}

#[test]
fn f296_f298_an_entry_is_brought_up_to_date_and_the_users_keys_stay() {
    let text = "extensions:\n  ours:\n    enabled: false  # not now\n    # slow machine\n    timeout: 900\n    cmd: 'old' # c\n    uri: gone\n    args:\n    - a\n    - b\n  other: {a: 1}\n";
    let mut document = open(text);
    let our_keys: Vec<String> = ["enabled", "cmd", "args", "uri"].map(str::to_owned).into();
    let keep = Keep { users_keys: &["enabled", "timeout"], our_keys: &our_keys };
    let value = json!({"enabled": true, "cmd": "new", "args": ["a"], "type": "stdio"});
    document.set(&table(), "ours", &value, &keep).expect("can be edited");
    expect![[r#"
        extensions:
          ours:
            enabled: false  # not now
            # slow machine
            timeout: 900
            cmd: new # c
            args:
            - a
            type: stdio
          other: {a: 1}
    "#]]
    .assert_eq(document.text());
    let with = document.text().to_owned();
    document.set(&table(), "ours", &value, &keep).expect("can be edited");
    assert_eq!(document.text(), with);
    assert!(document.remove(&table(), "ours").expect("can be edited"));
    assert_eq!(document.text(), "extensions:\n  other: {a: 1}\n");
}

#[test]
fn what_can_t_be_edited_safely_is_refused() {
    for text in [
        "{extensions: {a: {}}}\n",
        "extensions: {a: {b: 1}}\n",
        "extensions: &x\n  a: {}\nb: *x\n",
        "? extensions\n: a: 1\n",
        "extensions:\n  ? a\n  : 1\n",
        "base: &b\n  a: 1\nextensions:\n  <<: *b\n  d: 2\n...\n",
        "a: |+\n  x\n\n\n",
        "a: |\n  no newline at the end",
    ] {
        let mut document = open(text);
        let before = document.text().to_owned();
        let refused = document.set(&table(), "ours", &server(), &Keep::default()).is_err();
        assert!(refused, "{text}\n{}", document.text());
        assert_eq!(document.text(), before);
    }
}

#[test]
fn a_layout_that_is_refused_is_named_by_its_place() {
    for (text, place) in [
        ("{extensions: {a: {}}}\n", "config.yaml:1:1:"),
        ("a: 1\nextensions: {a: {b: 1}}\nz: 2\n", "config.yaml:2:1:"),
        ("extensions:\n  ? a\n  : 1\n", "config.yaml:2:3:"),
        ("a: 1\n...\n", "config.yaml:2:1:"),
    ] {
        let refusal = open(text).set(&table(), "ours", &server(), &Keep::default());
        let refusal = refusal.expect_err("refused").to_string();
        assert!(refusal.starts_with(place), "{refusal}");
        assert!(refusal.contains("plain indented mappings"), "a remedy: {refusal}");
    }
}

#[test]
fn null_behind_a_key_is_an_empty_mapping_and_comes_back() {
    for text in ["extensions: ~\n", "a: 1\nextensions: null # none\nb: 2\n", "extensions: NULL"] {
        there_and_back(text);
    }
}

#[test]
fn what_does_not_parse_is_refused_with_its_place() {
    let text = "a: 1\nb: [1\nc: 2\n";
    expect!["config.yaml:3:2: invalid YAML: did not find expected ',' or ']'; mend it by hand; the file was left as it is"].assert_eq(&try_open(text).expect_err("refused").to_string());
    for text in ["a: 1\na: 2\n", "a: 1\n---\nb: 2\n", "\ta: 1\n", "a: *x\n"] {
        assert!(try_open(text).is_err(), "{text}");
    }
    assert!(try_open(&"[".repeat(100_000)).is_err());
    assert!(try_open(&format!("a: {}{}", "[".repeat(5000), "]".repeat(5000))).is_err());
}

#[test]
fn a_parent_of_another_type_is_refused() {
    for (text, expected) in [
        (
            "a: 1\nextensions: []\n",
            expect![
                "config.yaml:2:1: `extensions` must be a mapping; make it a mapping; the file was left as it is"
            ],
        ),
        (
            "- a\n",
            expect![
                "config.yaml:1:1: this file must hold a mapping; make it a mapping; the file was left as it is"
            ],
        ),
    ] {
        let refusal = open(text).set(&table(), "ours", &server(), &Keep::default());
        expected.assert_eq(&refusal.expect_err("refused").to_string());
    }
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
        if let Ok(mut document) = try_open(&text)
            && document.set(&table(), "ours", &server(), &Keep::default()).is_ok()
        {
            there_and_back(&text);
        }
    }
}
