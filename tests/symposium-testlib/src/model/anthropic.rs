//! Anthropic's messages (`POST /v1/messages`), as Claude Code speaks them.

use serde_json::{Value, json};

use super::{Message, Protocol, Reply, Role, all_text, event, list, text};
use crate::http::HttpResponse;

pub(super) struct Anthropic;

impl Protocol for Anthropic {
    fn speaks(&self, path: &str) -> bool {
        path.ends_with("/messages") || path.ends_with("/messages/count_tokens")
    }

    fn messages(&self, body: &Value) -> Vec<Message> {
        let mut found = Vec::new();
        if let Some(system) = body.get("system") {
            found.push(Message::new(Role::System, all_text(system)));
        }
        for message in list(body, "messages") {
            let role = match text(message, "role") {
                "assistant" => Role::Model,
                "system" => Role::System,
                _ => Role::User,
            };
            match message.get("content") {
                Some(Value::String(words)) => found.push(Message::new(role, words)),
                Some(Value::Array(blocks)) => {
                    found.extend(blocks.iter().map(|one| block(role, one)))
                }
                _ => {}
            }
        }
        found
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(body, "tools").map(|tool| text(tool, "name").to_owned()).collect()
    }

    fn answer(&self, _: &str, body: &Value, reply: &Reply, id: usize) -> HttpResponse {
        let blocks: Vec<Value> = match reply {
            Reply::Say(words) => vec![json!({ "type": "text", "text": words })],
            Reply::Call(calls) => calls
                .iter()
                .enumerate()
                .map(|(nth, call)| {
                    let id = format!("toolu_{id:08}{nth:02}");
                    json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.args })
                })
                .collect(),
        };
        let stop = match reply {
            Reply::Say(_) => "end_turn",
            Reply::Call(_) => "tool_use",
        };
        let mut message = json!({
            "id": format!("msg_{id:08}"),
            "type": "message",
            "role": "assistant",
            "model": text(body, "model"),
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": { "input_tokens": 10, "output_tokens": 5 },
        });
        if body.get("stream") != Some(&Value::Bool(true)) {
            return HttpResponse::Json(200, message);
        }
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        let mut events = vec![sent(json!({ "type": "message_start", "message": message }))];
        for (index, block) in blocks.iter().enumerate() {
            let (start, delta) = opened(block);
            events.extend([
                sent(json!({ "type": "content_block_start", "index": index, "content_block": start })),
                sent(json!({ "type": "content_block_delta", "index": index, "delta": delta })),
                sent(json!({ "type": "content_block_stop", "index": index })),
            ]);
        }
        events.push(sent(json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop, "stop_sequence": null },
            "usage": { "output_tokens": 5 },
        })));
        events.push(sent(json!({ "type": "message_stop" })));
        HttpResponse::Events(events)
    }

    fn aside(&self, path: &str, body: &Value, id: usize) -> Option<HttpResponse> {
        if path.ends_with("/count_tokens") {
            return Some(HttpResponse::Json(200, json!({ "input_tokens": 10 })));
        }
        let words = Reply::Say(super::SIDE.to_owned());
        self.tools(body).is_empty().then(|| self.answer(path, body, &words, id))
    }
}

fn block(role: Role, block: &Value) -> Message {
    match text(block, "type") {
        "text" => Message::new(role, text(block, "text")),
        "tool_result" => {
            Message::new(Role::Tool, all_text(block.get("content").unwrap_or(&Value::Null)))
        }
        _ => Message::new(role, block.to_string()),
    }
}

/// A block as it is opened, and what fills it.
fn opened(block: &Value) -> (Value, Value) {
    if text(block, "type") == "text" {
        let delta = json!({ "type": "text_delta", "text": block["text"] });
        return (json!({ "type": "text", "text": "" }), delta);
    }
    let mut start = block.clone();
    start["input"] = json!({});
    let delta = json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() });
    (start, delta)
}

fn sent(data: Value) -> String {
    event(Some(text(&data, "type")), &data)
}
