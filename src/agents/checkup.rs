//! What an agent's own settings make of our registrations: as values, for `status` and `doctor`.
//!
//! Each agent's file (`<agent>/checkup.rs`) knows its client's switches; what they share is here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::places::Placement;
use crate::documents::{Document, FileFormat, JsonRules};
use crate::text::Severity;

/// What an agent's file may look at.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The folders, the scope, and the agent's version where it is known.
    pub placement: &'a Placement<'a>,
    /// A file's text; `None` when it is not there or can't be read.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// The skills that the agent reads in this workspace.
    pub skills: &'a [SeenSkill],
    /// Whether a server of the workspace is registered.
    pub has_servers: bool,
    /// The servers that are registered.
    pub servers: &'a [SeenServer],
}

/// A server that is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenServer {
    /// Its name.
    pub name: String,
    /// The file that its entry is in.
    pub file: PathBuf,
}

/// A skill that the agent reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenSkill {
    /// Its name.
    pub name: String,
    /// Its folder relative to the workspace, with `/`.
    pub folder: String,
    /// How many files it has beside its `SKILL.md`.
    pub more_files: usize,
    /// Whether git ignores its folder because of us.
    pub is_ignored: bool,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// Whether hooks run.
    Hooks,
    /// Whether servers are started.
    Servers,
    /// Whether skills are seen.
    Skills,
}

/// Something about an agent that people should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Stable name of the kind of finding, in kebab case.
    pub code: &'static str,
    /// What it is about.
    pub topic: Topic,
    /// The one server that it is about.
    pub server: Option<String>,
    /// How bad it is; `None` for what is merely worth knowing.
    pub severity: Option<Severity>,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The file that says so.
    pub file: Option<PathBuf>,
    /// What to do: what to press, run or write.
    pub remedy: String,
}

impl Finding {
    /// Something that keeps a part of Symposium from working.
    pub(crate) fn warning(code: &'static str, topic: Topic, message: impl Into<String>) -> Self {
        Self {
            code,
            topic,
            server: None,
            severity: Some(Severity::Warning),
            message: message.into(),
            file: None,
            remedy: String::new(),
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(code: &'static str, topic: Topic, message: impl Into<String>) -> Self {
        Self { severity: None, ..Self::warning(code, topic, message) }
    }

    /// Names the server.
    #[must_use]
    pub(crate) fn of_server(mut self, name: &str) -> Self {
        self.server = Some(name.to_owned());
        self
    }

    /// Names the file.
    #[must_use]
    pub(crate) fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

impl Context<'_> {
    /// A JSON file, read with comments and trailing commas; one that does not parse says nothing
    /// here: that is another finding.
    pub(crate) fn json(&self, path: &Path) -> Option<Value> {
        let rules = JsonRules { comments: true, trailing_commas: true, bom: true };
        self.value(path, FileFormat::Json(rules))
    }

    /// As [`Context::json`], for TOML.
    pub(crate) fn toml(&self, path: &Path) -> Option<Value> {
        self.value(path, FileFormat::Toml)
    }

    fn value(&self, path: &Path, format: FileFormat) -> Option<Value> {
        let text = (self.read)(path)?;
        Document::open(path, Some(&text), format).ok()?.get(&[]).ok()?
    }

    /// Servers whose entry in the table `table` says `switch`, the user's own word to leave them.
    pub(crate) fn switched_off(
        &self,
        format: FileFormat,
        table: &str,
        (switch, flag): (&str, bool),
    ) -> Vec<Finding> {
        let off = |server: &&SeenServer| {
            let entries = self.value(&server.file, format);
            let entry = entries.as_ref().and_then(|file| file.get(table)?.get(&server.name));
            says(entry, &format!("/{switch}"), flag)
        };
        let finding = |server: &SeenServer| {
            let name = &server.name;
            let message = format!("`{switch} = {flag}` turns the server `{name}` off");
            Finding::warning("server-disabled", Topic::Servers, message)
                .of_server(name)
                .in_file(&server.file)
                .remedy(format!("take `{switch}` out of `{table}.{name}`"))
        };
        self.servers.iter().filter(off).map(finding).collect()
    }

    /// The folder a project's settings belong to: the checkout's top, else the workspace's root.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.placement.git_root.or(self.placement.root)
    }
}

/// Whether the JSON pointer leads to exactly this boolean.
pub(crate) fn says(value: Option<&Value>, pointer: &str, flag: bool) -> bool {
    value.and_then(|value| value.pointer(pointer)).and_then(Value::as_bool) == Some(flag)
}

#[cfg(test)]
pub(super) mod testing {
    //! A made-up home folder for the agents' tests.

    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{Context, Finding, SeenServer, SeenSkill};
    use crate::agents::Agent;
    use crate::agents::places::Placement;
    use crate::config::{Environment, HookScope};

    /// Files by path; home is `/home/me`, the workspace `/src/shop`.
    pub(crate) struct World {
        pub files: BTreeMap<PathBuf, String>,
        pub scope: HookScope,
        pub skills: Vec<SeenSkill>,
        pub has_servers: bool,
        pub servers: Vec<SeenServer>,
        pub vars: Vec<(&'static str, &'static str)>,
        pub version: Option<semver::Version>,
        pub main_checkout: Option<PathBuf>,
    }

    impl World {
        pub(crate) fn new(files: &[(&str, &str)]) -> Self {
            let files = files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned()));
            Self {
                files: files.collect(),
                scope: HookScope::Global,
                skills: Vec::new(),
                has_servers: false,
                servers: Vec::new(),
                vars: Vec::new(),
                version: None,
                main_checkout: Some(PathBuf::from("/src/shop")),
            }
        }

        pub(crate) fn with_placement<T>(&self, then: impl FnOnce(&Placement<'_>) -> T) -> T {
            let env = Environment::with("/src/shop", self.vars.iter().copied());
            then(&Placement {
                home: Path::new("/home/me"),
                env: &env,
                root: Some(Path::new("/src/shop")),
                git_root: Some(Path::new("/src/shop")),
                main_checkout: self.main_checkout.as_deref(),
                scope: self.scope,
                program: "cargo-agents",
                windows: false,
                version: self.version.as_ref(),
                stop: false,
            })
        }

        pub(crate) fn check(&self, agent: Agent) -> Vec<Finding> {
            self.with_placement(|placement| {
                let read = |path: &Path| self.files.get(path).cloned();
                agent.checkup(&Context {
                    placement,
                    read: &read,
                    skills: &self.skills,
                    has_servers: self.has_servers,
                    servers: &self.servers,
                })
            })
        }

        pub(crate) fn codes(&self, agent: Agent) -> Vec<&'static str> {
            let found = self.check(agent);
            assert!(found.iter().all(|finding| !finding.remedy.is_empty()), "{found:?}");
            found.into_iter().map(|finding| finding.code).collect()
        }
    }

    /// A skill with `more_files` in a folder of ours.
    pub(crate) fn skill(folder: &str, more_files: usize) -> SeenSkill {
        let name = folder.rsplit('/').next().unwrap_or(folder).to_owned();
        SeenSkill { name, folder: folder.to_owned(), more_files, is_ignored: true }
    }
}

#[cfg(test)]
mod tests {
    use super::SeenServer;
    use super::testing::World;
    use crate::agents::Agent;

    #[test]
    fn a_server_that_is_switched_off_is_found() {
        for (agent, file, entry, on, off) in [
            (
                Agent::Codex,
                "/home/me/.codex/config.toml",
                "[mcp_servers.tools]\n@",
                "enabled = true",
                "enabled = false",
            ),
            (
                Agent::Antigravity,
                "/src/shop/.agents/mcp_config.json",
                r#"{"mcpServers": {"tools": {@}}}"#,
                r#""disabled": false"#,
                r#""disabled": true"#,
            ),
            (
                Agent::Kiro,
                "/src/shop/.kiro/settings/mcp.json",
                r#"{"mcpServers": {"tools": {@}}}"#,
                r#""disabled": false"#,
                r#""disabled": true"#,
            ),
            (
                Agent::Goose,
                "/home/me/.config/goose/config.yaml",
                "extensions:\n  tools:\n    type: stdio\n    @\n",
                "enabled: true",
                "enabled: false",
            ),
            (
                Agent::OpenCode,
                "/src/shop/opencode.jsonc",
                r#"{"mcp": {"tools": {@}}} // mine"#,
                r#""enabled": true,"#,
                r#""enabled": false,"#,
            ),
        ] {
            for (switch, is_off) in [("", false), (on, false), (off, true)] {
                let text = entry.replace('@', switch);
                let servers = vec![SeenServer { name: "tools".to_owned(), file: file.into() }];
                let version = (agent == Agent::Kiro).then(|| semver::Version::new(3, 0, 0));
                let home = World { servers, version, ..World::new(&[(file, text.as_str())]) };
                assert_eq!(home.codes(agent).contains(&"server-disabled"), is_off, "{text}");
            }
        }
    }
}
