//! Where our own files are.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::Environment;
use super::environment::HOME;

/// The folders for configuration, cache and logs. Nothing is created by knowing them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dirs {
    config: PathBuf,
    cache: PathBuf,
    logs: PathBuf,
}

/// There is nowhere to keep our files.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoHome {
    /// There is no home folder and no `SYMPOSIUM_HOME`.
    #[error(
        "there is no home folder: set HOME, or SYMPOSIUM_HOME to a folder for Symposium's files"
    )]
    Missing,
    /// A variable names a folder relative to wherever we happen to be: files of the home folder
    /// would end up in the workspace.
    #[error("{variable} is `{value}`, which is no absolute path: set it to one")]
    Relative { variable: &'static str, value: String },
}

impl Dirs {
    /// `SYMPOSIUM_HOME` (empty counts as unset), else the XDG variables that are set and absolute,
    /// else `~/.symposium` with `cache` and `logs` inside.
    ///
    /// # Errors
    /// [`NoHome`] when none of them leads anywhere, or when `SYMPOSIUM_HOME` or the home folder's
    /// variable is a relative path; agents' files are in the home folder in any case.
    pub(crate) fn resolve(env: &Environment) -> Result<Self, NoHome> {
        for variable in ["SYMPOSIUM_HOME", HOME] {
            let Some(value) = env.var(variable) else { continue };
            if !Path::new(value).is_absolute() {
                let value = value.to_string_lossy().escape_debug().to_string();
                return Err(NoHome::Relative { variable, value });
            }
        }
        if let Some(home) = env.var("SYMPOSIUM_HOME") {
            return Ok(Self::under(Path::new(home)));
        }
        // The XDG specification: a relative path in these variables is to be ignored.
        let xdg = |name: &str| env.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let fallback = env.home().map(|home| home.join(".symposium"));
        let pick = |from: Option<PathBuf>, default: Option<PathBuf>| {
            from.or(default).ok_or(NoHome::Missing)
        };
        Ok(Self {
            config: pick(
                xdg("XDG_CONFIG_HOME").map(|dir| dir.join("symposium")),
                fallback.clone(),
            )?,
            cache: pick(
                xdg("XDG_CACHE_HOME").map(|dir| dir.join("symposium")),
                fallback.as_ref().map(|dir| dir.join("cache")),
            )?,
            logs: pick(
                xdg("XDG_STATE_HOME").map(|dir| dir.join("symposium").join("logs")),
                fallback.map(|dir| dir.join("logs")),
            )?,
        })
    }

    /// Everything under one folder.
    pub(crate) fn under(home: &Path) -> Self {
        Self { config: home.to_path_buf(), cache: home.join("cache"), logs: home.join("logs") }
    }

    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// What can be had again: plugin sources, crates, binaries, snapshots.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    pub(crate) fn logs(&self) -> &Path {
        &self.logs
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub(crate) fn state_file(&self) -> PathBuf {
        self.config.join("state.toml")
    }

    /// The user's own plugins.
    pub(crate) fn user_plugins(&self) -> PathBuf {
        self.config.join("plugins")
    }

    /// One JSON file a session of an agent.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.config.join("sessions")
    }

    /// What we wrote where, so that it can be taken back.
    pub(crate) fn ledgers(&self) -> PathBuf {
        self.config.join("ledgers")
    }

    /// What the user said of plugins' programs, one file a plugin.
    pub(crate) fn trust(&self) -> PathBuf {
        self.config.join("trust")
    }

    /// What the user said of teams' files, one file a workspace.
    pub(crate) fn team(&self) -> PathBuf {
        self.config.join("team")
    }

    /// What manifests said when they could last be read.
    pub(crate) fn last_good(&self) -> PathBuf {
        self.config.join("last-good")
    }

    /// What a package of another format keeps: its own folder, whatever becomes of its version.
    pub(crate) fn plugin_data(&self, source: &str, name: &str) -> PathBuf {
        let hash = Sha256::digest(format!("{source}\0{name}").as_bytes());
        let hash: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        self.config.join("plugin-data").join(format!("{name}-{hash}"))
    }

    /// Copies of git plugin sources.
    pub(crate) fn plugin_sources(&self) -> PathBuf {
        self.cache.join("plugin-sources")
    }

    /// Unpacked sources of crates.
    pub(crate) fn crates(&self) -> PathBuf {
        self.cache.join("crates")
    }

    /// Programs that installations put on disk.
    pub(crate) fn binaries(&self) -> PathBuf {
        self.cache.join("binaries")
    }

    /// What hooks need of each workspace.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.cache.join("snapshots")
    }

    pub(crate) fn locks(&self) -> PathBuf {
        self.cache.join("locks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/name` on this system: an absolute path.
    fn at(name: &str) -> String {
        if cfg!(windows) { format!(r"C:\{name}") } else { format!("/{name}") }
    }

    fn dirs(vars: &[(&str, String)]) -> Dirs {
        let env = Environment::with(at("here"), vars.iter().cloned());
        Dirs::resolve(&env).expect("a home")
    }

    fn folder(name: &str, below: &str) -> PathBuf {
        Path::new(&at(name)).join(below)
    }

    #[test]
    fn f24_symposium_home_wins_and_empty_counts_as_unset() {
        let vars = [(HOME, at("h")), ("SYMPOSIUM_HOME", at("s")), ("XDG_CONFIG_HOME", at("x"))];
        assert_eq!(dirs(&vars), Dirs::under(Path::new(&at("s"))));
        let vars = [(HOME, at("h")), ("SYMPOSIUM_HOME", String::new())];
        assert_eq!(dirs(&vars), Dirs::under(&folder("h", ".symposium")));
    }

    #[test]
    fn f24_a_relative_home_is_refused() {
        for (name, other) in [("SYMPOSIUM_HOME", HOME), (HOME, "SYMPOSIUM_HOME")] {
            let env =
                Environment::with(at("here"), [(name, "foo".to_owned()), (other, at("absolute"))]);
            let refused = Dirs::resolve(&env).expect_err("is refused");
            let value = "foo".to_owned();
            assert_eq!(refused, NoHome::Relative { variable: name, value });
            let told = refused.to_string();
            assert!(told.starts_with(&format!("{name} is `foo`")), "{told}");
        }
    }

    #[test]
    fn f25_each_xdg_variable_counts_alone_and_relative_ones_are_ignored() {
        let relative = ("XDG_STATE_HOME", "rel".to_owned());
        let found = dirs(&[(HOME, at("h")), ("XDG_CACHE_HOME", at("c")), relative]);
        assert_eq!(found.config(), folder("h", ".symposium"));
        assert_eq!(found.cache(), folder("c", "symposium"));
        assert_eq!(found.logs(), folder("h", ".symposium").join("logs"));
        let found = dirs(&[(HOME, at("h")), ("XDG_STATE_HOME", at("st"))]);
        assert_eq!(found.logs(), folder("st", "symposium").join("logs"));
    }

    #[test]
    fn f26_the_default_is_in_the_home_folder() {
        assert_eq!(dirs(&[(HOME, at("h"))]), Dirs::under(&folder("h", ".symposium")));
    }
}
