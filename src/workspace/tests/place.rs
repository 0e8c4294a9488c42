use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::text::Diagnostic;
use crate::workspace::{Dependency, DependencyOrigin, Loaded, Workspace, locate};

/// A temporary folder with a project in it, and a home of its own.
pub(super) struct Place {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Place {
    /// Files by path; folders are made as needed.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = crate::files::canonicalize(dir.path()).expect("exists").join("project");
        fs::create_dir(&root).expect("creates");
        let place = Self { _dir: dir, root };
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        assert!(Path::new(name).is_relative(), "a test stays in its own folder");
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    /// A package of that name in the folder `dir`, with more lines for its manifest.
    pub(super) fn package(&self, dir: &str, name: &str, more: &str) {
        let text = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}\n"
        );
        let dir = if dir.is_empty() { "." } else { dir };
        self.write(&format!("{dir}/Cargo.toml"), &text);
        self.write(&format!("{dir}/src/lib.rs"), "");
    }

    pub(super) fn env(&self) -> Environment {
        let home = self.root.with_file_name("home");
        Environment::with(
            &self.root,
            [("HOME", home.as_os_str()), ("USERPROFILE", home.as_os_str())],
        )
    }

    pub(super) fn locate(&self, start: &str) -> Result<Option<String>, Diagnostic> {
        let found = locate(&self.path(start), &self.env())?;
        Ok(found.map(|dir| self.relative(&dir)))
    }

    pub(super) fn try_load(&self, start: &str) -> Result<Option<Loaded>, Diagnostic> {
        Workspace::load(&self.path(start), &self.env())
    }

    pub(super) fn load(&self, start: &str) -> Loaded {
        match self.try_load(start) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => panic!("{start} is in no project"),
            Err(problem) => panic!("{problem}"),
        }
    }

    /// The path below the project, with `/`; `.` for the project itself.
    pub(super) fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.to_string_lossy().replace('\\', "/"),
            Err(_) => path.display().to_string(),
        }
    }

    /// Names of the members, with their folders.
    pub(super) fn members(&self, loaded: &Loaded) -> Vec<String> {
        let members = loaded.workspace.members.iter();
        members.map(|member| format!("{} {}", member.name, self.relative(&member.dir))).collect()
    }

    /// One line a dependency: name, version, origin.
    pub(super) fn dependencies(&self, loaded: &Loaded) -> Vec<String> {
        loaded.workspace.dependencies.iter().map(|found| self.dependency(found)).collect()
    }

    fn dependency(&self, found: &Dependency) -> String {
        let version = found.version.as_ref().map_or("-".to_owned(), ToString::to_string);
        let origin = match &found.origin {
            DependencyOrigin::Registry { index, checksum } => format!(
                "{} {}",
                index.as_ref().map_or("crates.io", |index| index.expose()),
                checksum.as_deref().unwrap_or("-")
            ),
            DependencyOrigin::Git { url, commit } => format!("git {url} {commit}"),
            DependencyOrigin::Path(dir) => format!("path {}", self.relative(dir)),
            DependencyOrigin::Unresolved(_) => "unresolved".to_owned(),
        };
        format!("{} {version} {origin}", found.name)
    }

    /// The diagnostics with the project's folder cut off, and paths written with `/`.
    pub(super) fn told(&self, loaded: &Loaded) -> Vec<String> {
        loaded.diagnostics.iter().map(|problem| self.tell(problem)).collect()
    }

    pub(super) fn tell(&self, problem: &Diagnostic) -> String {
        let root = format!("{}{}", self.root.display(), std::path::MAIN_SEPARATOR);
        let told = problem.to_string().replace(&root, "");
        let told = told.replace(&self.root.display().to_string(), "<root>");
        if cfg!(windows) { told.replace('\\', "/") } else { told }
    }
}
