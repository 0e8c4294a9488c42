//! The kinds of files we edit, and how lenient their owners' parsers are.

/// What an agent's own parser takes beyond strict JSON. What it rejects we refuse to edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonRules {
    /// `//` and `/* */`.
    pub comments: bool,
    /// A comma after the last item.
    pub trailing_commas: bool,
    /// A UTF-8 byte order mark.
    pub bom: bool,
}

impl JsonRules {
    /// Nothing beyond RFC 8259; a byte order mark is taken.
    pub const STRICT: Self = Self { comments: false, trailing_commas: false, bom: true };
}

/// The kinds of files that servers are entered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON, with what the agent's parser takes beyond it.
    Json(JsonRules),
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}
