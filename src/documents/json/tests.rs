use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::documents::{Candidate, Change, Created, Document, FileFormat, JsonRules, Keep, Ours};
use crate::text::Diagnostic;

const LENIENT: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

fn open(text: &str, rules: JsonRules) -> Result<Document, Diagnostic> {
    Document::open(Path::new("settings.json"), Some(text), FileFormat::Json(rules))
}

fn keys(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

/// Ours by the program's own name at the start of the command.
fn ours(candidate: &Candidate<'_>) -> Ours {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    if command.is_some_and(|command| command.starts_with("cargo-agents hook ")) {
        Ours::Yes
    } else {
        Ours::No
    }
}

fn group(matcher: Option<&str>) -> Value {
    let command = "cargo-agents hook claude pre-tool-use";
    let handler = json!({"type": "command", "command": command, "timeout": 60});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    }
}

fn array() -> Vec<String> {
    keys(&["hooks", "PreToolUse"])
}

fn ensured(text: &str, entry: &Value) -> String {
    let mut document = open(text, LENIENT).expect("parses");
    document.ensure_in_array(&array(), entry, &ours).expect("can be edited");
    match document.finish().change {
        Change::Keep => text.to_owned(),
        Change::Write(text) => text,
        Change::Delete => panic!("the file must not go"),
    }
}

fn removed(text: &str) -> String {
    let mut document = open(text, LENIENT).expect("parses");
    document.remove_from_array(&array(), &ours).expect("can be edited");
    document.text().to_owned()
}

fn refused(text: &str, rules: JsonRules, expected: &Expect) {
    let outcome = open(text, rules)
        .and_then(|mut document| document.ensure_in_array(&array(), &group(None), &ours));
    expected.assert_eq(&outcome.expect_err("must be refused").to_string());
}

#[test]
fn case_27_what_the_reader_rejects_is_refused_with_its_place() {
    let strict = JsonRules::STRICT;
    refused(
        "{\"a\":1 \"b\":2}",
        LENIENT,
        &expect![
            "settings.json:1:7: invalid JSON: expected comma; mend it by hand; the file was left as it is"
        ],
    );
    refused(
        "{a:1}",
        LENIENT,
        &expect![
            "settings.json:1:2: invalid JSON: expected string for object property; mend it by hand; the file was left as it is"
        ],
    );
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
    for text in ["{\"a\":1,}", "[1,]", "{} // c", "{/**/}"] {
        assert!(open(text, strict).is_err(), "{text}");
        assert!(open(text, LENIENT).is_ok(), "{text}");
    }
    assert!(open("\u{feff}{}", JsonRules { bom: false, ..strict }).is_err());
}

#[test]
fn case_27_a_parent_of_another_type_is_named_by_its_path() {
    let expected = expect![
        "settings.json:1:11: `$.hooks` must be an object, found an array; make it an object; the file was left as it is"
    ];
    refused("{\"hooks\": []}", LENIENT, &expected);
    let expected = expect![
        "settings.json:2:12: `$.hooks` must be an object, found a string; make it an object; the file was left as it is"
    ];
    refused("{\n  \"hooks\": \"x\"\n}", LENIENT, &expected);
    let expected = expect![
        "settings.json:1:1: `$` must be an object, found an array; make it an object; the file was left as it is"
    ];
    refused("[]", LENIENT, &expected);
    let expected = expect![
        "settings.json:1:26: `$.hooks.PreToolUse` must be an array, found an object; make it an array; the file was left as it is"
    ];
    refused("{\"hooks\": {\"PreToolUse\": {}}}", LENIENT, &expected);
    let expected = expect![
        "settings.json:1:23: the key `hooks` is there twice; keep one of them; the file was left as it is"
    ];
    refused("{\"hooks\": {}, \"a\": 1, \"hooks\": {}}", LENIENT, &expected);
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
    assert_eq!(removed(&ensured(&text, &group(None))).matches('[').count(), 501);
}

#[test]
fn case_1_a_last_comma_that_the_reader_rejects_is_refused() {
    let text = r#"{"model":"opus","permissions":{"deny":["Bash(rm -rf *)"]},"hooks":{},}"#;
    assert!(open(text, JsonRules::STRICT).is_err());
    let with = ensured(text, &group(None));
    assert!(with.starts_with(r#"{"model":"opus","permissions":{"deny":["Bash(rm -rf *)"]},"#));
    assert!(with.ends_with(",}"), "{with}");
}

#[test]
fn case_2_and_37_comments_stay_where_they_are() {
    let text = "// top\n{\n  \"model\": \"opus\", // why\n  /* none yet */\n}\n// end\n";
    expect![[r#"
        // top
        {
          "model": "opus", // why
          /* none yet */
          "hooks": {
            "PreToolUse": [
              {
                "matcher": "*",
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook claude pre-tool-use",
                    "timeout": 60
                  }
                ]
              }
            ]
          },
        }
        // end
    "#]]
    .assert_eq(&ensured(text, &group(Some("*"))));
}

#[test]
fn case_7_and_6_everything_of_others_survives() {
    let text = r#"{
  "outputStyle": "x",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine.sh" }] }
    ]
  },
  "enabledPlugins": {},
  "statusLine": 1e2
}
"#;
    let with = ensured(text, &group(Some("*")));
    expect![[r#"
        {
          "outputStyle": "x",
          "hooks": {
            "PreToolUse": [
              { "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine.sh" }] },
              {
                "matcher": "*",
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook claude pre-tool-use",
                    "timeout": 60
                  }
                ]
              }
            ]
          },
          "enabledPlugins": {},
          "statusLine": 1e2
        }
    "#]]
    .assert_eq(&with);
    assert_eq!(ensured(&with, &group(Some("*"))), with);
    assert_eq!(removed(&with), text);
}

#[test]
fn case_9_a_shared_group_loses_our_handler_only() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
  {"type": "command", "command": "cargo-agents hook claude pre-tool-use"}, // ours
  {"type": "command", "command": "mine.sh"} // mine
]}]}}"#;
    expect![[r#"
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
           // ours
          {"type": "command", "command": "mine.sh"} // mine
        ]}]}}"#]]
    .assert_eq(&removed(text));
    // Ours comes back as a group of its own: the user's matcher is none of ours.
    expect![[r#"
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
           // ours
          {"type": "command", "command": "mine.sh"} // mine
        ]}, {"matcher": "*", "hooks": [{"type": "command", "command": "cargo-agents hook claude pre-tool-use", "timeout": 60}]}]}}"#]].assert_eq(&ensured(text, &group(Some("*"))));
}

#[test]
fn case_9_a_shared_group_with_our_matcher_is_mended_in_place() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
  {"type": "command", "command": "cargo-agents hook claude old"},
  {"type": "command", "command": "mine.sh"}
]}]}}"#;
    expect![[r#"
        {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
          {"type": "command", "command": "cargo-agents hook claude pre-tool-use", "timeout": 60},
          {"type": "command", "command": "mine.sh"}
        ]}]}}"#]]
    .assert_eq(&ensured(text, &group(Some("*"))));
}

#[test]
fn case_10_a_command_that_only_mentions_us_is_not_ours() {
    let text = r#"{"hooks": {"PreToolUse": [
  {"hooks": [{"type": "command", "command": "~/src/cargo-agents-demo/my.sh"}]},
  {"hooks": [{"type": "command", "command": "echo cargo-agents hook claude pre-tool-use >> log"}]}
]}}"#;
    assert_eq!(removed(text), text);
    assert_eq!(removed(&ensured(text, &group(None))), text);
}

#[test]
fn case_11_a_second_time_changes_nothing() {
    for text in ["{}", "", "{\n\t\"a\": 1\n}", "\u{feff}{\r\n  \"a\": 1\r\n}\r\n"] {
        let once = ensured(text, &group(Some("*")));
        assert_eq!(ensured(&once, &group(Some("*"))), once);
    }
}

#[test]
fn case_13_older_spellings_become_the_new_one_where_they_stand() {
    let text = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": ".*",
        "hooks": [
          { "command": "cargo-agents hook claude pre-tool-use", "type": "command", "timeout": 10 }
        ]
      },
      { "hooks": [{ "type": "command", "command": "mine.sh" }] },
      { "type": "command", "command": "cargo-agents hook claude pre-tool-use" },
      { "matcher": "", "hooks": [{ "type": "command", "command": "cargo-agents hook claude x" }] }
    ]
  }
}
"#;
    let with = ensured(text, &group(None));
    expect![[r#"
        {
          "hooks": {
            "PreToolUse": [
              {
                "hooks": [
                  { "command": "cargo-agents hook claude pre-tool-use", "type": "command", "timeout": 60 }
                ]
              },
              { "hooks": [{ "type": "command", "command": "mine.sh" }] }
            ]
          }
        }
    "#]].assert_eq(&with);
    assert_eq!(ensured(&with, &group(None)), with);
}

#[test]
fn the_right_one_among_older_ones_stays_and_they_go() {
    let right = group(Some("*"));
    let text = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "", "hooks": [{{"command": "cargo-agents hook x"}}]}}, {right}]}}}}"#
    );
    let expected = format!(r#"{{"hooks": {{"PreToolUse": [{right}]}}}}"#);
    assert_eq!(ensured(&text, &right), expected);
}

#[test]
fn f276_what_the_user_edited_stays_and_counts_as_being_there() {
    let edited = |candidate: &Candidate<'_>| match ours(candidate) {
        Ours::Yes if candidate.handler.get("timeout") != Some(&json!(60)) => Ours::Edited,
        other => other,
    };
    let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "cargo-agents hook x", "timeout": 5}]}]}}"#;
    let mut document = open(text, LENIENT).expect("parses");
    document.ensure_in_array(&array(), &group(None), &edited).expect("can be edited");
    assert!(!document.remove_from_array(&array(), &edited).expect("can be edited"));
    assert_eq!(document.finish().change, Change::Keep);
}

#[test]
fn f296_f298_an_entry_is_brought_up_to_date_and_the_users_keys_stay() {
    let text = r#"{
  "mcpServers": {
    "users": { "command": "u" },
    "ours": {
      // slow machine
      "timeout": 90,
      "command": "old", "args": ["a", "b"],
      "url": "https://old",
      "disabled": true
    }
  }
}"#;
    let mut document = open(text, LENIENT).expect("parses");
    let value = json!({"command": "new", "args": ["a"], "env": {"A": "1"}, "disabled": false});
    let our_keys = keys(&["command", "args", "url", "disabled"]);
    let keep = Keep { users_keys: &["disabled"], our_keys: &our_keys };
    document.set(&keys(&["mcpServers"]), "ours", &value, &keep).expect("can be edited");
    expect![[r#"
        {
          "mcpServers": {
            "users": { "command": "u" },
            "ours": {
              // slow machine
              "timeout": 90,
              "command": "new", "args": ["a"],
              "disabled": true,
              "env": {
                "A": "1"
              }
            }
          }
        }"#]]
    .assert_eq(document.text());
    let with = document.text().to_owned();
    document.set(&keys(&["mcpServers"]), "ours", &value, &keep).expect("can be edited");
    assert_eq!(document.text(), with, "a second time changes nothing");
    assert!(document.remove(&keys(&["mcpServers"]), "ours").expect("can be edited"));
    expect![[r#"
        {
          "mcpServers": {
            "users": { "command": "u" }
          }
        }"#]]
    .assert_eq(document.text());
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
fn an_absent_or_blank_file_is_created_and_goes_again() {
    for before in [None, Some(""), Some(" \r\n"), Some("\u{feff}")] {
        let rules = FileFormat::Json(JsonRules::STRICT);
        let path = Path::new("settings.json");
        let mut document = Document::open(path, before, rules).expect("blank is fine");
        document.ensure_in_array(&array(), &group(None), &ours).expect("can be edited");
        let edited = document.finish();
        assert!(edited.created.contains(&Created::File { was: before.map(str::to_owned) }));
        let Change::Write(text) = edited.change else { panic!("must be written") };
        assert!(text.ends_with("}\n") || text.ends_with("}\r\n"));
        let mut document = Document::open(path, Some(&text), rules).expect("parses");
        document.remove_from_array(&array(), &ours).expect("can be edited");
        document.prune(&edited.created).expect("prunes");
        let expected = before.map_or(Change::Delete, |before| Change::Write(before.to_owned()));
        assert_eq!(document.finish().change, expected);
    }
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
