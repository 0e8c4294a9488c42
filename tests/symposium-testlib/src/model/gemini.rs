//! Google's content generation (`POST …:streamGenerateContent`), as Gemini CLI speaks it.

use serde_json::{Map, Value, json};

use super::{Message, Protocol, Reply, Role, all_text, event, list, text};
use crate::http::HttpResponse;

pub(super) struct Gemini;

impl Protocol for Gemini {
    fn speaks(&self, path: &str) -> bool {
        [":generateContent", ":streamGenerateContent", ":countTokens"]
            .iter()
            .any(|method| path.ends_with(method))
    }

    fn messages(&self, body: &Value) -> Vec<Message> {
        let mut found = Vec::new();
        if let Some(system) = body.get("systemInstruction") {
            found.push(Message::new(Role::System, all_text(system)));
        }
        for content in list(body, "contents") {
            let role = if text(content, "role") == "model" { Role::Model } else { Role::User };
            found.extend(list(content, "parts").map(|part| {
                if let Some(result) = part.get("functionResponse") {
                    let response = result.get("response").unwrap_or(&Value::Null);
                    return Message::new(Role::Tool, all_text(response));
                }
                match part.get("text").and_then(Value::as_str) {
                    Some(words) => Message::new(role, words),
                    None => Message::new(role, part.to_string()),
                }
            }));
        }
        found
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(body, "tools")
            .flat_map(|group| list(group, "functionDeclarations"))
            .map(|tool| text(tool, "name").to_owned())
            .collect()
    }

    fn answer(&self, path: &str, _: &Value, reply: &Reply, id: usize) -> HttpResponse {
        let parts: Vec<Value> = match reply {
            Reply::Say(words) => vec![json!({ "text": words })],
            Reply::Call(calls) => calls
                .iter()
                .map(|call| json!({ "functionCall": { "name": call.name, "args": call.args } }))
                .collect(),
        };
        let response = json!({
            "candidates": [{
                "content": { "role": "model", "parts": parts },
                "finishReason": "STOP",
                "index": 0,
            }],
            "usageMetadata": {
                "promptTokenCount": 10,
                "candidatesTokenCount": 5,
                "totalTokenCount": 15,
            },
            "modelVersion": "scripted",
            "responseId": format!("resp_{id}"),
        });
        if path.ends_with(":streamGenerateContent") {
            HttpResponse::Events(vec![event(None, &response)])
        } else {
            HttpResponse::Json(200, response)
        }
    }

    fn aside(&self, path: &str, body: &Value, id: usize) -> Option<HttpResponse> {
        if path.ends_with(":countTokens") {
            return Some(HttpResponse::Json(200, json!({ "totalTokens": 10 })));
        }
        let config = body.get("generationConfig").unwrap_or(&Value::Null);
        let schema = config.get("responseJsonSchema").or_else(|| config.get("responseSchema"));
        let words = match schema {
            Some(schema) => classified(schema).to_string(),
            None if self.tools(body).is_empty() => super::SIDE.to_owned(),
            None => return None,
        };
        Some(self.answer(path, body, &Reply::Say(words), id))
    }
}

/// An object as `schema` wants it: the client asks who speaks next, or which model suits.
fn classified(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let answer = |name: &String| match name.as_str() {
        "next_speaker" => "user",
        "model_choice" => "flash",
        _ => "scripted",
    };
    let members: Map<String, Value> = properties
        .into_iter()
        .flat_map(Map::keys)
        .map(|name| (name.clone(), json!(answer(name))))
        .collect();
    Value::Object(members)
}
