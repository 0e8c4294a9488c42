//! What is said beside the tools: openings of all kinds, nonsense, and the end.

use expect_test::expect_file;
use serde_json::{Value, json};

use super::kit::Client;
use super::workspace;

/// What a client of 2026-07-28 says with each request.
fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}})
}

const NO_SUCH_METHOD: i64 = -32601;

#[test]
fn tools_have_the_names_and_schemas_that_they_had() {
    let sandbox = workspace();
    let mut client = Client::open(&sandbox);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    expect_file!["../../snapshots/mcp_tools.json"].assert_eq(&format!("{tools:#}\n"));
    // What every client takes for a name, as it stands.
    for tool in tools.as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
    }
}

#[test]
fn the_opening_says_what_it_is_for_in_400_characters() {
    let sandbox = workspace();
    let opening = Client::start(&sandbox).initialize();
    assert_eq!(opening["serverInfo"]["name"], "cargo-agents");
    assert_eq!(opening["protocolVersion"], "2025-06-18");
    let instructions = opening["instructions"].as_str().expect("text").chars().count();
    assert!((100..=400).contains(&instructions), "{instructions}");
}

#[test]
fn before_initialize_a_request_is_no_such_method_and_the_server_lives_on() {
    let sandbox = workspace();
    let mut client = Client::start(&sandbox);
    client.say("this is no JSON");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    client.say(&json!({"jsonrpc": "2.0", "method": "no/such"}).to_string());
    client.say(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}).to_string());
    for method in ["server/discover", "tools/list", "resources/list", "initialise", "skills/list"] {
        let answer = client.ask(method, json!({}));
        assert_eq!(answer["error"]["code"], NO_SUCH_METHOD, "{answer}");
        let answer = client.ask(method, Value::Null);
        assert_eq!(answer["error"]["code"], NO_SUCH_METHOD, "{answer}");
    }
    let answer = client.ask("tools/call", json!({"name": "dependencies"}));
    assert_eq!(answer["error"]["code"], NO_SUCH_METHOD, "{answer}");
    assert_eq!(client.ask("ping", Value::Null)["result"], json!({}));
    client.initialize();
    assert!(!client.call("dependencies", &json!({})).1);
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_client_of_2026_needs_no_initialize() {
    let sandbox = workspace();
    let mut client = Client::start(&sandbox);
    let answer = client.ask("server/discover", json!({"_meta": meta()}));
    assert_eq!(answer["result"]["capabilities"], json!({"tools": {}}), "{answer}");
    // It may still take the older way.
    client.initialize();
    assert!(!client.call("dependencies", &json!({})).1);
    let mut client = Client::start(&sandbox);
    let mut wrong = meta();
    wrong["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let answer = client.ask("tools/list", json!({"_meta": wrong}));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    let answer = client.ask("tools/list", json!({"_meta": meta()}));
    assert!(answer["result"]["tools"].is_array(), "{answer}");
    let call = json!({"name": "dependencies", "arguments": {}, "_meta": meta()});
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn nonsense_in_a_session_is_answered_or_passed_over() {
    let sandbox = workspace();
    let mut client = Client::open(&sandbox);
    for line in ["", "{", "\u{feff}", "nonsense", "\"id\""] {
        client.say(line);
        if line == "\"id\"" {
            assert_eq!(client.hear()["error"]["code"], -32600);
        }
    }
    client.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 99, "reason": "none"}})
        .to_string(),
    );
    client
        .say(&json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "m"}}).to_string());
    for method in ["no/such", "resources/list", "prompts/get"] {
        let answer = client.ask(method, json!({}));
        assert_eq!(answer["error"]["code"], NO_SUCH_METHOD, "{answer}");
    }
    assert!(!client.call("dependencies", &json!({})).1);
    // A string is an id, too.
    client.say(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}).to_string());
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
}

#[test]
fn wrong_calls_are_answers() {
    let sandbox = workspace();
    let mut client = Client::open(&sandbox);
    for (tool, arguments, why) in [
        ("no_such_tool", json!({}), "there is no tool `no_such_tool`"),
        ("", json!({}), "there is no tool ``"),
        ("crate_info", json!({}), "missing field `name`"),
        ("crate_info", json!({"name": 7}), "the arguments are wrong"),
        ("crate_info", json!({"name": "widget", "more": 1}), "unknown field `more`"),
        ("crate_info", json!({"name": "../widget"}), "can't be a crate's name"),
        ("crate_info", json!({"name": "widget", "version": "newest"}), "newest"),
        ("crate_info", json!({"name": "no-such-crate"}), "can't find the crate `no-such-crate`"),
        ("dependencies", json!({"all": true}), "unknown field `all`"),
        ("read_skill", json!({"skill": "widget-basics"}), "unknown field `skill`"),
    ] {
        let (text, is_error) = client.call(tool, &arguments);
        assert!(is_error && text.starts_with("error: ") && text.contains(why), "{tool}: {text}");
    }
    let answer = client.ask("tools/call", json!({"name": "dependencies"}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let (text, _) = client.call("crate_info", &json!({"name": "widget", "version": null}));
    assert!(text.contains("Version: 1.2.3"), "{text}");
}
