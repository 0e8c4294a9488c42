use super::*;

fn ask(path: &str, body: &Value) -> HttpRequest {
    let body = body.to_string().into_bytes();
    HttpRequest { method: "POST".into(), path: path.into(), headers: Vec::new(), body }
}

/// One request of each protocol that offers a tool and shows a prompt and a tool's result.
fn samples() -> [(&'static str, Value); 4] {
    [
        (
            "/v1/messages",
            json!({
                "model": "m", "stream": true, "tools": [{ "name": "sh" }], "messages": [
                    { "role": "user", "content": "PROMPT" },
                    { "role": "user", "content": [{ "type": "tool_result", "content": "RESULT" }] },
                ],
            }),
        ),
        (
            "/v1/responses",
            json!({
                "model": "m", "stream": true, "tools": [{ "type": "function", "name": "sh" }], "input": [
                    { "role": "user", "content": [{ "type": "input_text", "text": "PROMPT" }] },
                    { "type": "function_call_output", "output": "RESULT" },
                ],
            }),
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            json!({
                "tools": [{ "functionDeclarations": [{ "name": "sh" }] }],
                "contents": [{ "role": "user", "parts": [
                    { "text": "PROMPT" },
                    { "functionResponse": { "name": "sh", "response": { "output": "RESULT" } } },
                ] }],
            }),
        ),
        (
            "/v1/chat/completions",
            json!({
                "model": "m", "stream": true, "tools": [{ "function": { "name": "sh" } }], "messages": [
                    { "role": "user", "content": "PROMPT" },
                    { "role": "tool", "content": "RESULT" },
                ],
            }),
        ),
    ]
}

#[test]
fn every_protocol_takes_the_scripts_replies_in_order_and_shows_what_it_was_shown() {
    for (path, body) in samples() {
        let call = ToolCall::new("sh", json!({ "command": "echo hi" }));
        let script = vec![Reply::Call(vec![call]), Reply::Say("all done".into())].into();
        let mut state = State { script, ..State::default() };
        let mut said = Vec::new();
        for _ in 0..3 {
            let HttpResponse::Events(events) = answer(&mut state, &ask(path, &body)) else {
                panic!("{path} is answered with events");
            };
            said.push(events.join("\n"));
        }
        assert!(said[0].contains("echo hi") && said[0].contains("\"sh\""), "{path}: {}", said[0]);
        assert!(said[1].contains("all done"), "{path}: {}", said[1]);
        assert!(said[2].contains(END), "{path}: {}", said[2]);
        let request = &state.requests[0];
        assert!(request.main);
        assert_eq!(request.tools, ["sh"]);
        let heard = |role| {
            let heard = request.messages.iter().filter(|message| message.role == role);
            heard.map(|message| message.text.trim()).collect::<Vec<_>>()
        };
        assert_eq!((heard(Role::User), heard(Role::Tool)), (vec!["PROMPT"], vec!["RESULT"]));
    }
}

#[test]
fn a_request_without_tools_leaves_the_script_alone() {
    for (path, mut body) in samples() {
        body["tools"] = json!([]);
        let mut state =
            State { script: vec![Reply::Say("all done".into())].into(), ..State::default() };
        answer(&mut state, &ask(path, &body));
        assert_eq!(state.script.len(), 1, "{path}");
        assert!(!state.requests[0].main, "{path}");
    }
}

#[test]
fn ids_differ_between_answers() {
    for (path, body) in samples() {
        let mut state = State::default();
        let first = format!("{:?}", answer(&mut state, &ask(path, &body)));
        let second = format!("{:?}", answer(&mut state, &ask(path, &body)));
        assert_ne!(first, second, "{path}");
    }
}

#[test]
fn what_is_in_no_protocol_is_remembered_and_refused() {
    let mut state = State::default();
    let response = answer(&mut state, &ask("/v1/telemetry", &json!({ "a": 1 })));
    assert!(matches!(response, HttpResponse::Json(404, _)));
    assert!(!state.requests[0].main);
    assert!(state.requests[0].messages.is_empty());
}
