//! Every layout times every operation, to be looked at.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::documents::{Candidate, Change, Created, Document, FileFormat, JsonRules, Keep, Ours};

const RULES: FileFormat =
    FileFormat::Json(JsonRules { comments: true, trailing_commas: true, bom: true });

fn ours(candidate: &Candidate<'_>) -> Ours {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    if command == Some("cargo-agents hook x") { Ours::Yes } else { Ours::No }
}

/// White space that can be seen.
fn visible(text: &str) -> String {
    text.replace('\u{feff}', "<BOM>").replace('\r', "<CR>").replace('\t', "<TAB>")
}

fn written(document: Document, before: Option<&str>) -> (Option<String>, Vec<Created>) {
    let edited = document.finish();
    let text = match edited.change {
        Change::Keep => before.map(str::to_owned),
        Change::Write(text) => Some(text),
        Change::Delete => None,
    };
    (text, edited.created)
}

fn check(before: Option<&str>, expected: &Expect) {
    let path = Path::new("settings.json");
    let array = ["hooks".to_owned(), "Stop".to_owned()];
    let table = ["mcpServers".to_owned()];
    let entry = json!({"hooks": [{"type": "command", "command": "cargo-agents hook x"}]});
    let open = |text: Option<&str>| Document::open(path, text, RULES).expect("parses");
    let mut shown = String::new();

    let mut document = open(before);
    document.ensure_in_array(&array, &entry, &ours).expect("can be edited");
    let (hooked, mut created) = written(document, before);
    let text = visible(hooked.as_deref().unwrap_or_default());
    writeln!(shown, "== hook ==\n{text}").expect("writes");

    let mut document = open(hooked.as_deref());
    let server = json!({"command": "x", "args": []});
    document.set(&table, "ours", &server, &Keep::default()).expect("can be edited");
    let (both, more) = written(document, hooked.as_deref());
    created.extend(more);
    let text = visible(both.as_deref().unwrap_or_default());
    writeln!(shown, "== and server ==\n{text}").expect("writes");
    expected.assert_eq(&shown);

    let mut document = open(both.as_deref());
    document.remove(&table, "ours").expect("can be edited");
    document.remove_from_array(&array, &ours).expect("can be edited");
    assert_eq!(document.prune(&created).expect("prunes"), []);
    assert_eq!(written(document, both.as_deref()).0.as_deref(), before);
}

#[test]
fn golden_absent() {
    check(
        None,
        &expect![[r#"
        == hook ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          }
        }

        == and server ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          },
          "mcpServers": {
            "ours": {
              "command": "x",
              "args": []
            }
          }
        }

    "#]],
    );
}

#[test]
fn golden_empty_file() {
    check(
        Some(""),
        &expect![[r#"
        == hook ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          }
        }

        == and server ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          },
          "mcpServers": {
            "ours": {
              "command": "x",
              "args": []
            }
          }
        }

    "#]],
    );
}

#[test]
fn golden_empty_object() {
    check(
        Some("{}"),
        &expect![[r#"
        == hook ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          }
        }
        == and server ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          },
          "mcpServers": {
            "ours": {
              "command": "x",
              "args": []
            }
          }
        }
    "#]],
    );
    check(
        Some("{\n}\n"),
        &expect![[r#"
        == hook ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          }
        }

        == and server ==
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "cargo-agents hook x"
                  }
                ]
              }
            ]
          },
          "mcpServers": {
            "ours": {
              "command": "x",
              "args": []
            }
          }
        }

    "#]],
    );
}

#[test]
fn golden_typical() {
    check(
        Some(
            "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": []\n            }\n        ]\n    }\n}\n",
        ),
        &expect![[r#"
            == hook ==
            {
                "model": "opus",
                "hooks": {
                    "Stop": [
                        {
                            "hooks": []
                        },
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "cargo-agents hook x"
                                }
                            ]
                        }
                    ]
                }
            }

            == and server ==
            {
                "model": "opus",
                "hooks": {
                    "Stop": [
                        {
                            "hooks": []
                        },
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "cargo-agents hook x"
                                }
                            ]
                        }
                    ]
                },
                "mcpServers": {
                    "ours": {
                        "command": "x",
                        "args": []
                    }
                }
            }

        "#]],
    );
}

#[test]
fn golden_with_comments_and_last_commas() {
    check(
        Some(
            "{\n  // the model\n  \"model\": \"opus\", // good\n  \"hooks\": {\n    // none yet\n  }, /* end */\n}",
        ),
        &expect![[r#"
            == hook ==
            {
              // the model
              "model": "opus", // good
              "hooks": {
                // none yet
                "Stop": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "cargo-agents hook x"
                      }
                    ]
                  }
                ]
              }, /* end */
            }
            == and server ==
            {
              // the model
              "model": "opus", // good
              "hooks": {
                // none yet
                "Stop": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "cargo-agents hook x"
                      }
                    ]
                  }
                ]
              }, /* end */
              "mcpServers": {
                "ours": {
                  "command": "x",
                  "args": []
                }
              },
            }
        "#]],
    );
}

#[test]
fn golden_crlf_and_byte_order_mark() {
    check(
        Some("\u{feff}{\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n"),
        &expect![[r#"
        == hook ==
        <BOM>{<CR>
          "hooks": {<CR>
            "Stop": [<CR>
              {<CR>
                "hooks": [<CR>
                  {<CR>
                    "type": "command",<CR>
                    "command": "cargo-agents hook x"<CR>
                  }<CR>
                ]<CR>
              }<CR>
            ]<CR>
          }<CR>
        }<CR>

        == and server ==
        <BOM>{<CR>
          "hooks": {<CR>
            "Stop": [<CR>
              {<CR>
                "hooks": [<CR>
                  {<CR>
                    "type": "command",<CR>
                    "command": "cargo-agents hook x"<CR>
                  }<CR>
                ]<CR>
              }<CR>
            ]<CR>
          },<CR>
          "mcpServers": {<CR>
            "ours": {<CR>
              "command": "x",<CR>
              "args": []<CR>
            }<CR>
          }<CR>
        }<CR>

    "#]],
    );
}

#[test]
fn golden_tabs() {
    check(
        Some("{\n\t\"model\": \"opus\"\n}"),
        &expect![[r#"
        == hook ==
        {
        <TAB>"model": "opus",
        <TAB>"hooks": {
        <TAB><TAB>"Stop": [
        <TAB><TAB><TAB>{
        <TAB><TAB><TAB><TAB>"hooks": [
        <TAB><TAB><TAB><TAB><TAB>{
        <TAB><TAB><TAB><TAB><TAB><TAB>"type": "command",
        <TAB><TAB><TAB><TAB><TAB><TAB>"command": "cargo-agents hook x"
        <TAB><TAB><TAB><TAB><TAB>}
        <TAB><TAB><TAB><TAB>]
        <TAB><TAB><TAB>}
        <TAB><TAB>]
        <TAB>}
        }
        == and server ==
        {
        <TAB>"model": "opus",
        <TAB>"hooks": {
        <TAB><TAB>"Stop": [
        <TAB><TAB><TAB>{
        <TAB><TAB><TAB><TAB>"hooks": [
        <TAB><TAB><TAB><TAB><TAB>{
        <TAB><TAB><TAB><TAB><TAB><TAB>"type": "command",
        <TAB><TAB><TAB><TAB><TAB><TAB>"command": "cargo-agents hook x"
        <TAB><TAB><TAB><TAB><TAB>}
        <TAB><TAB><TAB><TAB>]
        <TAB><TAB><TAB>}
        <TAB><TAB>]
        <TAB>},
        <TAB>"mcpServers": {
        <TAB><TAB>"ours": {
        <TAB><TAB><TAB>"command": "x",
        <TAB><TAB><TAB>"args": []
        <TAB><TAB>}
        <TAB>}
        }
    "#]],
    );
}

#[test]
fn golden_one_line() {
    check(
        Some("{\"model\":\"opus\",\"hooks\":{\"Stop\":[]}}"),
        &expect![[r#"
        == hook ==
        {"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"cargo-agents hook x"}]}]}}
        == and server ==
        {"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"cargo-agents hook x"}]}]},"mcpServers":{"ours":{"command":"x","args":[]}}}
    "#]],
    );
    check(
        Some("{ \"model\": \"opus\", \"mcpServers\": { \"a\": {} } }\n"),
        &expect![[r#"
        == hook ==
        { "model": "opus", "mcpServers": { "a": {} }, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cargo-agents hook x"}]}]} }

        == and server ==
        { "model": "opus", "mcpServers": { "a": {}, "ours": {"command": "x", "args": []} }, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cargo-agents hook x"}]}]} }

    "#]],
    );
}

#[test]
fn golden_odd_layout() {
    check(
        Some(
            "{\n      \"a\" : 1\n , \"hooks\" :\n   { \"Stop\": [ 1, 2\n    ,3 ]\n\n   }\n}\n\n\n",
        ),
        &expect![[r#"
            == hook ==
            {
                  "a" : 1
             , "hooks" :
               { "Stop": [ 1, 2
                ,3, {"hooks": [{"type": "command", "command": "cargo-agents hook x"}]} ]

               }
            }



            == and server ==
            {
                  "a" : 1
             , "hooks" :
               { "Stop": [ 1, 2
                ,3, {"hooks": [{"type": "command", "command": "cargo-agents hook x"}]} ]

               }, "mcpServers": {"ours": {"command": "x", "args": []}}
            }



        "#]],
    );
}
