//! Which tools there are. Names and schemas are stable: agents' settings and people's rules name them.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A tool as it is listed.
struct Listed {
    name: &'static str,
    description: &'static str,
    /// Its arguments, each with its description; those marked so are required.
    arguments: &'static [Argument],
}

struct Argument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
}

const CRATE: Argument =
    Argument { name: "name", description: "The crate's name, as in Cargo.lock", is_required: true };

const TOOLS: &[Listed] = &[
    Listed {
        name: "dependencies",
        description: "The workspace's direct dependencies with their locked versions, and where \
                      each one's source is on this disk.",
        arguments: &[],
    },
    Listed {
        name: "crate_info",
        description: "One crate at the version this workspace uses: why that version, where its \
                      source, README, examples and changelog are on this disk, its features, its \
                      users, and the skills it brings.",
        arguments: &[
            CRATE,
            Argument {
                name: "version",
                description: "Another version than the workspace's: an exact one (1.0.3) or a \
                              requirement (^1.0)",
                is_required: false,
            },
        ],
    },
    Listed {
        name: "crate_changes",
        description: "What changed in a crate between an older version and the one this workspace \
                      uses: its changelog's sections, quoted, breaking ones first. Use it when code \
                      for an older version does not compile any more.",
        arguments: &[
            CRATE,
            Argument {
                name: "since",
                description: "The older version (0.6 or 0.6.2). Without it: the one that Cargo.lock \
                              had before, from git",
                is_required: false,
            },
        ],
    },
    Listed {
        name: "crate_item",
        description: "Where a crate, at the version this workspace uses, declares an item: the \
                      declaration with its documentation, quoted, or the near names where there is \
                      none.",
        arguments: &[
            CRATE,
            Argument {
                name: "path",
                description: "The item's name or path: Server, Rng::gen_range",
                is_required: true,
            },
        ],
    },
    Listed {
        name: "skills",
        description: "The skills that apply to this workspace: name, what each is for, and which \
                      crate or plugin it is from. Skills that nobody accepted are named as such.",
        arguments: &[],
    },
    Listed {
        name: "read_skill",
        description: "The text of one skill that applies here. Read it when the task calls for it.",
        arguments: &[Argument {
            name: "name",
            description: "The skill's name, as `skills` lists it",
            is_required: true,
        }],
    },
];

/// The tools' names, for people.
pub(super) fn names() -> String {
    let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
    names.join(", ")
}

pub(super) fn listed() -> Vec<Tool> {
    TOOLS.iter().map(Listed::tool).collect()
}

impl Listed {
    fn tool(&self) -> Tool {
        // A crate's source may be fetched from its registry; nothing else is changed or asked.
        let annotations = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
        Tool::new(self.name, self.description, self.schema()).with_annotations(annotations)
    }

    fn schema(&self) -> JsonObject {
        let text = |it: &Argument| json!({ "type": "string", "description": it.description });
        let properties: JsonObject =
            self.arguments.iter().map(|it| (it.name.to_owned(), text(it))).collect();
        let required: Vec<Value> = self
            .arguments
            .iter()
            .filter(|it| it.is_required)
            .map(|it| Value::from(it.name))
            .collect();
        JsonObject::from_iter([
            ("type".to_owned(), Value::from("object")),
            ("properties".to_owned(), Value::from(properties)),
            ("required".to_owned(), Value::from(required)),
            ("additionalProperties".to_owned(), Value::from(false)),
        ])
    }
}
