//! The kinds of files we edit, and how lenient their owners' parsers are.

use std::path::Path;

/// What an agent's own parser takes beyond strict JSON. What it rejects we refuse to edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonRules {
    /// `//` and `/* */`.
    pub comments: bool,
    /// A comma after the last item.
    pub trailing_commas: bool,
    /// A UTF-8 byte order mark.
    pub bom: bool,
}

impl JsonRules {
    /// Nothing beyond RFC 8259; a byte order mark is taken.
    pub(crate) const STRICT: Self = Self { comments: false, trailing_commas: false, bom: true };
    /// What any of the agents' parsers takes.
    const WIDEST: Self = Self { comments: true, trailing_commas: true, bom: true };
}

/// The kinds of files that servers are entered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// JSON, with what the agent's parser takes beyond it.
    Json(JsonRules),
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl FileFormat {
    /// The format of a file of ours by its name, where its agent is not known: the widest rules read
    /// what any of them reads. `None` for files that are edited by lines, such as git's.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json" | "jsonc") => Some(Self::Json(JsonRules::WIDEST)),
            Some("toml") => Some(Self::Toml),
            Some("yaml" | "yml") => Some(Self::Yaml),
            _ => None,
        }
    }
}
