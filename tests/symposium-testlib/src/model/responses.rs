//! OpenAI's responses (`POST …/responses`), as Codex speaks them.

use serde_json::{Value, json};

use super::{Message, Protocol, Reply, Role, ToolCall, all_text, event, list, text};
use crate::http::HttpResponse;

pub(super) struct Responses;

impl Protocol for Responses {
    fn speaks(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn messages(&self, body: &Value) -> Vec<Message> {
        let mut found = vec![Message::new(Role::System, text(body, "instructions"))];
        for item in list(body, "input") {
            let kind = text(item, "type");
            let role = match text(item, "role") {
                "assistant" => Role::Model,
                "developer" | "system" => Role::System,
                _ => Role::User,
            };
            if kind.ends_with("_call_output") {
                let output = item.get("output").unwrap_or(&Value::Null);
                found.push(Message::new(Role::Tool, all_text(output)));
            } else if kind.ends_with("_call") {
                found.push(Message::new(Role::Model, item.to_string()));
            } else if let Some(Value::String(words)) = item.get("content") {
                found.push(Message::new(role, words));
            } else {
                let parts = list(item, "content");
                found.extend(parts.map(|part| Message::new(role, text(part, "text"))));
            }
        }
        found
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        let mut names = Vec::new();
        let later = list(body, "input").flat_map(|item| list(item, "tools"));
        for tool in list(body, "tools").chain(later) {
            name_tools(tool, "", &mut names);
        }
        names
    }

    fn answer(&self, _: &str, body: &Value, reply: &Reply, id: usize) -> HttpResponse {
        let items: Vec<Value> = match reply {
            Reply::Say(words) => vec![json!({
                "type": "message",
                "role": "assistant",
                "id": format!("msg_{id:08}"),
                "status": "completed",
                "content": [{ "type": "output_text", "text": words, "annotations": [] }],
            })],
            Reply::Call(calls) => {
                calls.iter().enumerate().map(|(nth, call)| call_item(call, id, nth)).collect()
            }
        };
        let mut response = json!({
            "id": format!("resp_{id:08}"),
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": text(body, "model"),
            "output": items,
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": 5,
                "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": 15,
            },
            "error": null,
        });
        if body.get("stream") != Some(&Value::Bool(true)) {
            return HttpResponse::Json(200, response);
        }
        let completed = json!({ "type": "response.completed", "response": response.clone() });
        response["status"] = json!("in_progress");
        response["output"] = json!([]);
        let mut events = vec![json!({ "type": "response.created", "response": response })];
        for (index, item) in items.iter().enumerate() {
            for kind in ["response.output_item.added", "response.output_item.done"] {
                events.push(json!({ "type": kind, "output_index": index, "item": item }));
            }
        }
        events.push(completed);
        let sent = events.iter_mut().enumerate().map(|(number, data)| {
            data["sequence_number"] = json!(number);
            event(Some(text(data, "type")), data)
        });
        HttpResponse::Events(sent.collect())
    }
}

fn call_item(call: &ToolCall, id: usize, nth: usize) -> Value {
    let id = format!("{id:08}{nth:02}");
    let mut item = json!({
        "type": "function_call",
        "id": format!("fc_{id}"),
        "call_id": format!("call_{id}"),
        "name": call.name,
        "arguments": call.args.to_string(),
        "status": "completed",
    });
    if let Some(namespace) = &call.namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

fn name_tools(tool: &Value, prefix: &str, names: &mut Vec<String>) {
    let name = match text(tool, "name") {
        "" => text(tool, "type"),
        name => name,
    };
    if text(tool, "type") == "namespace" {
        let prefix = format!("{prefix}{name}/");
        list(tool, "tools").for_each(|inner| name_tools(inner, &prefix, names));
    } else {
        names.push(format!("{prefix}{name}"));
    }
}
