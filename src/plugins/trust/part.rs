//! One thing of a plugin that could run: what it is, in words that do not change with our versions.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files::{self, FileText, TooMany};
use crate::plugins::in_words::needs;
use crate::plugins::model::{
    Gate, Hook, InstallSource, Installation, McpServer, OnFailure, Plugin, Runnable, Subcommand,
    Transport,
};
use crate::plugins::programs::{installation, of_hook, of_server, of_source, of_subcommand};
use crate::text::hex;
use crate::workspace::Observer;

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum PartKind {
    Hook,
    Server,
    Subcommand,
    /// A skill whose text has commands that an agent runs.
    Skill,
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hook => "hook",
            Self::Server => "server",
            Self::Subcommand => "subcommand",
            Self::Skill => "skill",
        })
    }
}

/// One thing that could run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Part {
    pub kind: PartKind,
    pub name: String,
    /// What it is, a line each: `event: PreToolUse`. Values of variables and headers, which may be
    /// secret, are only in the checksum.
    pub lines: Vec<String>,
    /// The files that it could run: of the plugin by their path below its folder, others by their own.
    pub files: BTreeMap<String, FileText>,
    /// Of the entry without its files, in hex.
    pub entry_sha256: String,
    /// Of all this, in hex.
    pub sha256: String,
}

impl Part {
    fn new(
        (kind, name): (PartKind, &str),
        lines: Vec<String>,
        hidden: &[String],
        files: BTreeMap<String, FileText>,
    ) -> Self {
        let mut sum = Sha256::new();
        // The length before each text keeps two texts from reading as one.
        let mut add = |text: &str| {
            sum.update(text.len().to_le_bytes());
            sum.update(text);
        };
        add(&kind.to_string());
        add(name);
        lines.iter().chain(hidden).for_each(|line| add(line));
        let entry_sha256 = hex(&sum.clone().finalize());
        for (path, file) in &files {
            for text in [path, &file.sha256] {
                sum.update(text.len().to_le_bytes());
                sum.update(text);
            }
        }
        let sha256 = hex(&sum.finalize());
        Self { kind, name: name.to_owned(), lines, files, entry_sha256, sha256 }
    }

    /// Whether all that it could run now was allowed with `allowed`. A file that is gone since brings
    /// nothing new: what needs it fails, as a guard should.
    pub(crate) fn is_within(&self, allowed: &Self) -> bool {
        let is_known = |(path, file): (&String, &FileText)| {
            allowed.files.get(path).is_some_and(|known| known.sha256 == file.sha256)
        };
        self.entry_sha256 == allowed.entry_sha256 && self.files.iter().all(is_known)
    }

    /// The skill `name`, whose text has `commands`, in the folder `dir` that must not lead out of
    /// `root`.
    ///
    /// # Errors
    /// The folder holds more than can be looked through.
    pub(crate) fn of_skill(
        name: &str,
        commands: Vec<String>,
        (dir, root): (&Path, &Path),
        observer: &Observer,
    ) -> Result<Self, TooMany> {
        let files = files::of_commands((dir, root), &commands, observer)?;
        Ok(Self::new((PartKind::Skill, name), commands, &[], files))
    }

    pub(crate) fn is(&self, kind: PartKind, name: &str) -> bool {
        self.kind == kind && self.name == name
    }

    /// `hook guard`.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }
}

/// A thing as its manifest has it.
struct Entry<'p> {
    kind: PartKind,
    name: &'p str,
    lines: Vec<String>,
    hidden: Vec<String>,
    /// Files with a place of their own.
    elsewhere: Vec<&'p str>,
}

/// What of `plugin` could run by its manifest.
///
/// # Errors
/// Its folder holds more than can be looked through.
pub(super) fn parts(plugin: &Plugin, observer: &Observer) -> Result<Vec<Part>, TooMany> {
    let hooks = plugin.hooks.iter().map(|found| hook(plugin, found));
    let servers = plugin.servers.iter().map(|found| server(plugin, found));
    let subcommands = plugin.subcommands.iter().map(|found| subcommand(plugin, found));
    let entries: Vec<Entry<'_>> = hooks.chain(servers).chain(subcommands).collect();
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<String> = entries.iter().map(|entry| entry.lines.join("\n")).collect();
    let mut of_entries = files::of_entries(plugin, &texts, observer)?.into_iter();
    Ok(entries
        .into_iter()
        .map(|entry| {
            let mut found = of_entries.next().unwrap_or_default();
            let elsewhere = entry.elsewhere.iter();
            found.extend(elsewhere.map(|path| ((*path).to_owned(), files::read(path, observer))));
            Part::new((entry.kind, entry.name), entry.lines, &entry.hidden, found)
        })
        .collect())
}

fn hook<'p>(plugin: &'p Plugin, hook: &'p Hook) -> Entry<'p> {
    let mut entry = Entry::new(PartKind::Hook, &hook.name);
    entry.line("event", hook.event.name());
    entry.optional("matcher", hook.matcher.as_deref());
    entry.optional("agent", hook.agent.as_deref());
    entry.line("format", &hook.format);
    entry.line("runs", &of_hook(plugin, hook));
    if hook.on_failure == OnFailure::Block {
        entry.line("on-failure", "block");
    }
    entry.line("timeout", &humantime::format_duration(hook.timeout).to_string());
    if hook.detach {
        entry.line("detach", "true");
    }
    entry.applies(&[&plugin.gate, &hook.gate]);
    entry.place(hook.runnable.as_ref());
    let names = std::iter::once(&hook.command).chain(&hook.requirements);
    entry.installations(plugin, names.map(String::as_str));
    entry
}

fn server<'p>(plugin: &'p Plugin, server: &'p McpServer) -> Entry<'p> {
    let mut entry = Entry::new(PartKind::Server, &server.name);
    let (key, pairs) = match &server.transport {
        Transport::Stdio { command, env, .. } => {
            entry.installations(plugin, std::iter::once(command.as_str()));
            if command.contains(['/', '\\']) {
                entry.elsewhere.extend(Some(command.as_str()).filter(|path| is_absolute(path)));
            }
            ("runs", env)
        }
        Transport::Http { headers, .. } => ("http", headers),
        Transport::Sse { headers, .. } => ("sse", headers),
    };
    entry.line(key, &of_server(plugin, server));
    entry.optional("cwd", server.cwd.as_deref());
    entry.applies(&[&plugin.gate, &server.gate]);
    entry.hidden.extend(pairs.iter().map(|(name, value)| format!("{name}={value}")));
    entry
}

fn subcommand<'p>(plugin: &'p Plugin, subcommand: &'p Subcommand) -> Entry<'p> {
    let mut entry = Entry::new(PartKind::Subcommand, &subcommand.name);
    entry.line("runs", &of_subcommand(plugin, subcommand));
    entry.applies(&[&plugin.gate, &subcommand.gate]);
    entry.installations(plugin, std::iter::once(subcommand.command.as_str()));
    entry
}

impl<'p> Entry<'p> {
    fn new(kind: PartKind, name: &'p str) -> Self {
        Self { kind, name, lines: Vec::new(), hidden: Vec::new(), elsewhere: Vec::new() }
    }

    fn line(&mut self, key: &str, value: &str) {
        self.lines.push(format!("{key}: {value}"));
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.line(key, value);
        }
    }

    /// Where it runs.
    fn applies(&mut self, gates: &[&Gate]) {
        self.line("where", &needs(gates).unwrap_or_else(|| "everywhere".to_owned()));
    }

    /// The installations `names`, and those that they require.
    fn installations(&mut self, plugin: &'p Plugin, names: impl Iterator<Item = &'p str>) {
        let mut found: Vec<&'p Installation> = Vec::new();
        let mut names: Vec<&str> = names.collect();
        while !names.is_empty() {
            let known = names.iter().filter_map(|name| installation(plugin, name));
            let new: Vec<_> = known.filter(|new| !found.contains(new)).collect();
            names = new.iter().flat_map(|new| &new.requirements).map(String::as_str).collect();
            found.extend(new);
        }
        for installation in found {
            let key = format!("installs {}", installation.name);
            if let Some(source) = &installation.source {
                self.line(&key, &of_source(source));
                self.exactly(source);
            }
            for command in &installation.install_commands {
                self.line(&key, &format!("sh -c '{command}'"));
            }
            self.place(installation.runnable.as_ref());
        }
    }

    /// What people are shown of a source leaves out its checksums' ends.
    fn exactly(&mut self, source: &InstallSource) {
        if let InstallSource::Binary { sha256, .. } = source {
            self.hidden.push(format!("{sha256:?}"));
        }
    }

    fn place(&mut self, runnable: Option<&'p Runnable>) {
        if let Some(Runnable::Executable(path) | Runnable::Script(path)) = runnable {
            self.elsewhere.extend(Some(path.as_str()).filter(|path| is_absolute(path)));
        }
    }
}

fn is_absolute(path: &str) -> bool {
    Path::new(path).is_absolute()
}
