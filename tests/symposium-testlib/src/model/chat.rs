//! OpenAI's chat completions (`POST …/chat/completions`), as Copilot CLI, OpenCode and Goose speak
//! them.

use serde_json::{Value, json};

use super::{Message, Protocol, Reply, Role, all_text, event, list, text};
use crate::http::HttpResponse;

pub(super) struct Chat;

impl Protocol for Chat {
    fn speaks(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn messages(&self, body: &Value) -> Vec<Message> {
        let message = |message: &Value| {
            let role = match text(message, "role") {
                "system" | "developer" => Role::System,
                "assistant" => Role::Model,
                "tool" => Role::Tool,
                _ => Role::User,
            };
            let content = message.get("content").unwrap_or(&Value::Null);
            Message::new(role, content.as_str().map_or_else(|| all_text(content), str::to_owned))
        };
        list(body, "messages").map(message).collect()
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(body, "tools")
            .filter_map(|tool| tool.get("function"))
            .map(|function| text(function, "name").to_owned())
            .collect()
    }

    fn answer(&self, _: &str, body: &Value, reply: &Reply, id: usize) -> HttpResponse {
        let stream = body.get("stream") == Some(&Value::Bool(true));
        let mut message = json!({ "role": "assistant", "content": null });
        let finish = match reply {
            Reply::Say(words) => {
                message["content"] = json!(words);
                "stop"
            }
            Reply::Call(calls) => {
                let calls = calls.iter().enumerate().map(|(nth, call)| {
                    let function = json!({ "name": call.name, "arguments": call.args.to_string() });
                    let id = format!("call_{id:08}{nth:02}");
                    let mut call = json!({ "id": id, "type": "function", "function": function });
                    if stream {
                        call["index"] = json!(nth);
                    }
                    call
                });
                message["tool_calls"] = calls.collect();
                "tool_calls"
            }
        };
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
        let whole = |object: &str, choices: Value, usage: Option<&Value>| {
            let mut whole = json!({
                "id": format!("chatcmpl-{id}"),
                "object": object,
                "created": 1,
                "model": text(body, "model"),
                "choices": choices,
            });
            if let Some(usage) = usage {
                whole["usage"] = usage.clone();
            }
            whole
        };
        if !stream {
            let choices = json!([{ "index": 0, "message": message, "finish_reason": finish }]);
            return HttpResponse::Json(200, whole("chat.completion", choices, Some(&usage)));
        }
        let chunk = |choices, usage| event(None, &whole("chat.completion.chunk", choices, usage));
        HttpResponse::Events(vec![
            chunk(json!([{ "index": 0, "delta": message, "finish_reason": null }]), None),
            chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish }]), None),
            chunk(json!([]), Some(&usage)),
            "data: [DONE]".to_owned(),
        ])
    }
}
