use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::documents::{Change, Created, Document, FileFormat, Keep};

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

/// Adds our server, checks that a second time changes nothing and that taking it out gives the bytes
/// back; the text with it.
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
    let path = Path::new("config.toml");
    let mut document = Document::open(path, None, FileFormat::Toml).expect("parses");
    document.set(&table(), "ours", &server(), &Keep::default()).expect("can be edited");
    let edited = document.finish();
    assert_eq!(edited.created, [Created::File { was: None }]);
    let Change::Write(text) = edited.change else { panic!("must be written") };
    expect![[r#"
        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }
    "#]]
    .assert_eq(&text);
    let mut document = open(&text);
    document.remove(&table(), "ours").expect("can be edited");
    document.prune(&edited.created).expect("prunes");
    assert_eq!(document.finish().change, Change::Delete);
}

#[test]
fn golden_blank() {
    expect![[r#"
        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }
    "#]]
    .assert_eq(&there_and_back("\n"));
}

#[test]
fn golden_typical() {
    expect![[r#"
        model = "o"

        [mcp_servers.a]
        command = "y" # mine

        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }

        # about tui
        [tui]
        theme = 1.50
    "#]].assert_eq(&there_and_back(
        "model = \"o\"\n\n[mcp_servers.a]\ncommand = \"y\" # mine\n\n# about tui\n[tui]\ntheme = 1.50\n",
    ));
}

#[test]
fn golden_comment_at_the_end_stays_before_us() {
    expect![[r#"
        a = 2024-01-01 # date
        # the end

        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }
    "#]]
    .assert_eq(&there_and_back("a = 2024-01-01 # date\n# the end\n"));
}

#[test]
fn golden_without_a_last_newline() {
    expect![[r#"
        a = 0xFF

        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }"#]]
    .assert_eq(&there_and_back("a = 0xFF"));
}

#[test]
fn case_28_crlf_and_byte_order_mark_stay() {
    let with = there_and_back("\u{feff}a = 1\r\n\r\n[tui]\r\nb = 2\r\n");
    expect![[r#"
        <BOM>a = 1<CR>
        <CR>
        [tui]<CR>
        b = 2<CR>
        <CR>
        [mcp_servers.ours]<CR>
        command = "x"<CR>
        args = ["a", "b c"]<CR>
        env = { A = "1" }<CR>
    "#]]
    .assert_eq(&with.replace('\u{feff}', "<BOM>").replace('\r', "<CR>"));
}

#[test]
fn golden_mixed_line_endings_stay_where_they_are() {
    let with = there_and_back("a = 1\r\nb = 2\n\n[t]\nc = 3\n");
    expect![[r#"
        a = 1<CR>
        b = 2

        [t]
        c = 3

        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }
    "#]]
    .assert_eq(&with.replace('\r', "<CR>"));
}

#[test]
fn golden_inline_tables() {
    expect![[r#"
        mcp_servers = { a = { command = "y" }, ours = { command = "x", args = ["a", "b c"], env = { A = "1" } } } # c
        b = 1
    "#]]
        .assert_eq(&there_and_back("mcp_servers = { a = { command = \"y\" } } # c\nb = 1\n"));
    expect![[r#"
        mcp_servers = { ours = { command = "x", args = ["a", "b c"], env = { A = "1" } } }
    "#]]
    .assert_eq(&there_and_back("mcp_servers = {  }\n"));
}

#[test]
fn golden_dotted_keys() {
    expect![[r#"
        mcp_servers.a.command = "y"
        mcp_servers.a.args = []
        mcp_servers.ours = { command = "x", args = ["a", "b c"], env = { A = "1" } }
        z = 1

        [t]
    "#]]
    .assert_eq(&there_and_back(
        "mcp_servers.a.command = \"y\"\nmcp_servers.a.args = []\nz = 1\n\n[t]\n",
    ));
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
    .assert_eq(&there_and_back(scattered));
    there_and_back("mcp_servers = { a.x = 1, a.\"y, z\" = 2, b = 3 }\n");
    let mut document = open("mcp_servers = { ours.x = 1, a = 2, ours.\"y, z\" = 2, b = 3 }\n");
    assert!(document.remove(&table(), "ours").expect("can be edited"));
    assert_eq!(document.text(), "mcp_servers = { a = 2, b = 3 }\n");
}

#[test]
fn golden_parent_with_a_header_and_tabs() {
    expect![[r#"
        [mcp_servers]
        	b = { command = "y" }

        [mcp_servers.ours]
        command = "x"
        args = ["a", "b c"]
        env = { A = "1" }
        [[list]]
        	x = 1
    "#]]
    .assert_eq(&there_and_back("[mcp_servers]\n\tb = { command = \"y\" }\n[[list]]\n\tx = 1\n"));
}

#[test]
fn f296_stale_values_are_updated_in_place_and_a_right_one_is_not_touched() {
    let text = "[mcp_servers.ours] # ours\n# slow machine\nstartup_timeout_sec = 90\ncommand = \"old\" # c\nargs = [\"a\"]\nurl = \"x\"\nenabled = false\n\n[mcp_servers.ours.env]\nA = \"1\"\n\n[other]\n";
    let mut document = open(text);
    let our_keys = keys(&["command", "args", "url", "env"]);
    let keep = Keep { users_keys: &["enabled"], our_keys: &our_keys };
    let mut value = server();
    value["enabled"] = json!(true);
    document.set(&table(), "ours", &value, &keep).expect("can be edited");
    expect![[r#"
        [mcp_servers.ours] # ours
        # slow machine
        startup_timeout_sec = 90
        command = "x" # c
        args = ["a", "b c"]
        enabled = false

        [mcp_servers.ours.env]
        A = "1"

        [other]
    "#]]
    .assert_eq(document.text());
    let with = document.text().to_owned();
    document.set(&table(), "ours", &value, &keep).expect("can be edited");
    assert_eq!(document.text(), with);
    value["env"] = json!({"B": "2"});
    document.set(&table(), "ours", &value, &keep).expect("can be edited");
    expect![[r#"
        [mcp_servers.ours] # ours
        # slow machine
        startup_timeout_sec = 90
        command = "x" # c
        args = ["a", "b c"]
        enabled = false

        [mcp_servers.ours.env]
        B = "2"

        [other]
    "#]]
    .assert_eq(document.text());
    assert!(document.remove(&table(), "ours").expect("can be edited"));
    expect![[r#"
        [other]
    "#]]
    .assert_eq(document.text());
}

#[test]
fn f290_what_does_not_parse_is_refused_with_its_place() {
    let open = |text: &str| Document::open(Path::new("config.toml"), Some(text), FileFormat::Toml);
    expect!["config.toml:2:5: invalid TOML: extra `=`, expected nothing; mend it by hand; the file was left as it is"].assert_eq(&open("a = 1\nb = = 2\n").expect_err("refused").to_string());
    expect![
        "config.toml:2:1: invalid TOML: duplicate key; mend it by hand; the file was left as it is"
    ]
    .assert_eq(&open("a = 1\na = 2\n").expect_err("refused").to_string());
    for text in ["a = ", "[a", "a", "a = 1 b = 2", "x = '''"] {
        assert!(open(text).is_err(), "{text}");
    }
    for depth in [200, 100_000] {
        assert!(open(&format!("a = {}", "[".repeat(depth))).is_err());
        assert!(open(&format!("a = {}{}", "[".repeat(depth), "]".repeat(depth))).is_err());
    }
}

#[test]
fn a_parent_of_another_type_is_refused_with_its_place() {
    for (text, expected) in [
        (
            "a = 1\nmcp_servers = []\n",
            expect![
                "config.toml:2:1: `mcp_servers` must be a table; make it a table; the file was left as it is"
            ],
        ),
        (
            "[[mcp_servers]]\n",
            expect![
                "config.toml:1:1: `mcp_servers` must be a table; make it a table; the file was left as it is"
            ],
        ),
    ] {
        let mut document = open(text);
        let refusal = document.set(&table(), "ours", &server(), &Keep::default());
        expected.assert_eq(&refusal.expect_err("refused").to_string());
    }
}

#[test]
fn a_deeper_part_of_ours_elsewhere_goes_too() {
    let mut document = open(
        "[mcp_servers.ours]\ncommand = \"x\"\n\n[t]\na = 1\n\n[mcp_servers.ours.env]\nA = \"1\"\n",
    );
    assert!(document.remove(&table(), "ours").expect("can be edited"));
    assert_eq!(document.text(), "[t]\na = 1\n");
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
        let opened = Document::open(Path::new("c"), Some(&text), FileFormat::Toml);
        if let Ok(mut document) = opened
            && document.set(&table(), "ours", &server(), &Keep::default()).is_ok()
        {
            there_and_back(&text);
        }
    }
}
