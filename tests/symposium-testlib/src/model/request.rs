//! What the model was asked, in one form for all protocols.

use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the client.
    System,
    /// The user, or the client in the user's name.
    User,
    /// The model itself.
    Model,
    /// The result of a tool.
    Tool,
}

/// A part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

impl Message {
    /// A message.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The path, without the query.
    pub path: String,
    /// Whether it is the conversation's, and took a reply of the script.
    pub main: bool,
    /// What it shows the model, in order.
    pub messages: Vec<Message>,
    /// The names of the tools that it offers.
    pub tools: Vec<String>,
    /// All of it.
    pub body: Value,
}

impl Request {
    /// A request in no protocol that we know.
    pub(super) fn unknown(path: &str, body: Value) -> Self {
        let (messages, tools) = (Vec::new(), Vec::new());
        Self { path: path.to_owned(), main: false, messages, tools, body }
    }

    /// How often `words` stand in what the model sees: messages, tools and their descriptions.
    pub fn count(&self, words: &str) -> usize {
        super::all_text(&self.body).matches(words).count()
    }

    /// Whether `words` stand in what the model sees.
    pub fn shows(&self, words: &str) -> bool {
        self.count(words) > 0
    }

    /// The results of tools, in order.
    pub fn results(&self) -> Vec<&str> {
        let tools = self.messages.iter().filter(|message| message.role == Role::Tool);
        tools.map(|message| message.text.as_str()).collect()
    }
}
