//! Where things go in an agent's files, as data that `sync` acts on.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symposium_hook::Event;

use super::codec::Codec;
use crate::config::{Environment, HookScope};
pub(crate) use crate::documents::{FileFormat, JsonRules};
use crate::text::SecretUrl;

/// What the places of an agent's files depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement<'a> {
    /// The user's home folder.
    pub home: &'a Path,
    /// Variables such as `CODEX_HOME`.
    pub env: &'a Environment,
    /// The workspace's root, inside one.
    pub root: Option<&'a Path>,
    /// The git checkout's top folder, where the workspace is in one.
    pub git_root: Option<&'a Path>,
    /// What stands for all checkouts of its repository: the main one, or a bare repository.
    pub main_checkout: Option<&'a Path>,
    /// Where hooks are registered.
    pub scope: HookScope,
    /// How the program is called: bare, or a quoted path.
    pub program: &'a str,
    /// Whether it is called on Windows, where a hook's shell may be none of POSIX's.
    pub windows: bool,
    /// The agent program's version, where it was asked for.
    pub version: Option<&'a semver::Version>,
    /// Whether a plugin wants to hear of the end of a turn: else no agent is slowed down for it.
    pub stop: bool,
}

impl Placement<'_> {
    /// Whether hooks are registered in the user's own files.
    pub(crate) fn is_global(&self) -> bool {
        self.scope == HookScope::Global
    }

    /// A path of the user's own, or else one in the workspace; `None` outside of any.
    pub(crate) fn path(
        &self,
        is_users: bool,
        users: impl FnOnce() -> PathBuf,
        workspaces: impl FnOnce(&Path) -> PathBuf,
    ) -> Option<PathBuf> {
        if is_users { Some(users()) } else { self.root.map(workspaces) }
    }

    /// The events that the agent's hooks are registered for.
    pub(crate) fn events(&self, codec: &dyn Codec) -> Vec<Event> {
        let identity = codec.identity();
        let stop = (self.stop && identity.has_stop).then_some(Event::Stop);
        identity.events.iter().copied().chain(stop).collect()
    }

    /// The agent's own folder: what `variable` says (a relative value counts from the current
    /// folder, as the agent would take it), else `default` in the home folder.
    pub(crate) fn agent_dir(&self, variable: &str, default: &str) -> PathBuf {
        match (self.env.var(variable), self.env.cwd()) {
            (Some(dir), Some(cwd)) => cwd.join(dir),
            (Some(dir), None) if Path::new(dir).is_absolute() => PathBuf::from(dir),
            _ => self.home.join(default),
        }
    }

    /// A folder that the system has a variable for, such as `XDG_CONFIG_HOME`: what it says, where
    /// that is an absolute path (specifications.freedesktop.org/basedir-spec has others ignored),
    /// else `default` in the home folder.
    pub(crate) fn base_dir(&self, variable: &str, default: &str) -> PathBuf {
        let named = self.env.var(variable).map(Path::new).filter(|path| path.is_absolute());
        named.map_or_else(|| self.home.join(default), Path::to_path_buf)
    }
}

/// One file that carries our hooks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookPlace {
    /// The file, absolute.
    pub path: PathBuf,
    /// What of it is ours.
    pub shape: HookShape,
}

impl HookPlace {
    /// A JSON file that others write too, with an entry for each of the agent's events in an array of
    /// `table`; none without a path.
    pub(crate) fn shared(
        codec: &dyn Codec,
        placement: &Placement<'_>,
        path: Option<PathBuf>,
        rules: JsonRules,
        table: &str,
        group: impl Fn(Event) -> Value,
    ) -> Vec<Self> {
        let entry = |(event, name): (Event, &str)| HookEntry {
            event,
            array: vec![table.to_owned(), name.to_owned()],
            group: group(event),
        };
        let names = placement.events(codec).into_iter();
        let events = names.map(|event| (event, codec.event_name(event)));
        let failure = codec.identity().failure_event.map(|name| (Event::PostToolUse, name));
        let entries = events.chain(failure).map(entry).collect();
        let shape = HookShape::Shared { rules, entries };
        path.map(|path| Self { path, shape }).into_iter().collect()
    }

    /// A JSON file that is ours alone, as people like to read it.
    pub(crate) fn own_json(path: PathBuf, value: &Value) -> Self {
        Self { path, shape: HookShape::Own { text: format!("{value:#}\n") } }
    }
}

/// What of a file is ours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HookShape {
    /// A JSON file that others write too: one entry an event, at the end of an array.
    Shared {
        /// What the agent's parser takes.
        rules: JsonRules,
        /// The entries.
        entries: Vec<HookEntry>,
    },
    /// A file that is ours alone, whole.
    Own {
        /// Its text.
        text: String,
    },
}

/// One hook entry in a shared file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookEntry {
    /// The event.
    pub event: Event,
    /// Keys that lead to the array: `["hooks", "PreToolUse"]`.
    pub array: Vec<String>,
    /// The entry: a matcher group with an inner `hooks` array of one handler.
    pub group: Value,
}

/// Where one of our handlers stands in a file of hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrustedHook<'a> {
    /// The event.
    pub event: Event,
    /// The matcher group as it stands in the file.
    pub group: &'a Value,
    /// The group's place in the event's array, from 0.
    pub group_index: usize,
    /// The handler's place in the group, from 0.
    pub handler_index: usize,
}

/// What must stand where for an agent to run our hooks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trust {
    /// The file, absolute.
    pub path: PathBuf,
    /// What kind of file it is.
    pub format: FileFormat,
    /// Keys that lead to the table of trusted hooks.
    pub table: Vec<String>,
    /// Each hook's key in that table, and what its entry must say.
    pub entries: Vec<(String, Value)>,
    /// Keys of an entry that are the user's.
    pub users_keys: &'static [&'static str],
    /// What the agent asks for, for people.
    pub why: &'static str,
    /// How people give it in the agent itself.
    pub by_hand: &'static str,
}

/// How an MCP server is reached. Values of `env` and `headers` may be secret.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Transport {
    /// A program that speaks on its standard streams.
    Stdio {
        /// A program's path or name, or the name of an installation of the plugin.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it gets, in file order.
        env: Vec<(String, String)>,
    },
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: SecretUrl,
        /// Headers of each request, in file order.
        headers: Vec<(String, String)>,
    },
    /// Server-sent events.
    Sse {
        /// Its address.
        url: SecretUrl,
        /// Headers of each request, in file order.
        headers: Vec<(String, String)>,
    },
}

/// Why no agent can have a server of a workspace that is the home folder.
pub(crate) const IN_HOME_FOLDER: &str = "it would be the workspace's own, and the workspace is your \
                                         home folder, where agents read what is for everywhere";

/// Where a server goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerPlace {
    /// An entry in a file.
    Entry {
        /// The file, absolute.
        path: PathBuf,
        /// What kind of file it is.
        format: FileFormat,
        /// Keys that lead to the table of servers: `["projects", "/src/x", "mcpServers"]`.
        table: Vec<String>,
        /// The entry.
        value: Value,
        /// Keys of the entry that are the user's to set, such as `disabled`, kept as they are.
        users_keys: &'static [&'static str],
        /// What people should know, such as "read only in a trusted project".
        note: Option<String>,
        /// A file that the agent merges with this one, and that gives way to it.
        merged_with: Option<PathBuf>,
    },
    /// The agent can't do this.
    Unsupported {
        /// Why, for people.
        reason: String,
    },
}

impl ServerPlace {
    /// An entry in `table` of a file; without one, the server's workspace is missing.
    pub(crate) fn entry(
        path: Option<PathBuf>,
        format: FileFormat,
        table: &str,
        value: Value,
        users_keys: &'static [&'static str],
    ) -> Self {
        let Some(path) = path else { return Self::no_workspace() };
        let table = vec![table.to_owned()];
        Self::Entry { path, format, table, value, users_keys, note: None, merged_with: None }
    }

    /// With a file that the agent merges with this one, and that gives way to it.
    pub(crate) fn merged(mut self, other: Option<PathBuf>) -> Self {
        if let Self::Entry { merged_with, .. } = &mut self {
            *merged_with = other;
        }
        self
    }

    /// With what people should know.
    pub(crate) fn noted(mut self, text: Option<&str>) -> Self {
        self.add_note(text);
        self
    }

    /// Adds something that people should know.
    pub(super) fn add_note(&mut self, text: Option<&str>) {
        if let (Self::Entry { note, .. }, Some(text)) = (self, text) {
            *note = Some(note.take().map_or(text.to_owned(), |note| format!("{note}; {text}")));
        }
    }

    /// A server for one workspace, where that is none to agents: what is in a home folder they read
    /// everywhere.
    pub(crate) fn no_workspace() -> Self {
        Self::unsupported(IN_HOME_FOLDER)
    }

    /// The agent can't do this, because of `reason`.
    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported { reason: reason.into() }
    }
}

/// Names and values as a JSON object in their order; of two alike the last counts.
pub(crate) fn string_map(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect()
}

/// The entry of a program that speaks on its standard streams, as most agents have it.
pub(crate) fn stdio_entry(command: &str, args: &[String], env: &[(String, String)]) -> Value {
    json!({ "command": command, "args": args, "env": string_map(env) })
}

/// An entry that says what kind of server it is of, in the words of `.mcp.json`.
pub(crate) fn typed_entry(transport: &Transport) -> Value {
    let remote = |kind: &str, url: &SecretUrl, headers: &[(String, String)]| json!({ "type": kind, "url": url, "headers": string_map(headers) });
    match transport {
        Transport::Stdio { command, args, env } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": string_map(env) })
        }
        Transport::Http { url, headers } => remote("http", url, headers),
        Transport::Sse { url, headers } => remote("sse", url, headers),
    }
}

/// What stands for each event in a table of hooks.
pub(crate) fn table_of_events(
    codec: &dyn Codec,
    placement: &Placement<'_>,
    entry: impl Fn(Event) -> Value,
) -> Value {
    let events = placement.events(codec).into_iter();
    events.map(|event| (codec.event_name(event), entry(event))).collect()
}

/// A file that an agent takes settings from, and that is never written by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    /// The file.
    pub path: PathBuf,
    /// How the agent reads it.
    pub format: FileFormat,
    /// Whether the agent runs hooks in it, in the form of its other files.
    pub has_hooks: bool,
}
