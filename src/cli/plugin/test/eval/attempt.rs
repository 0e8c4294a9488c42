//! One task, done by an agent in a folder of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use walkdir::WalkDir;

use super::file::Task;
use super::{Attempt, EvaluatedSkill};
use crate::Symposium;
use crate::agents::Agent;
use crate::files::{Limit, read_bytes};
use crate::process::{Child, Status, run};
use crate::skills::files::collect;
use crate::skills::{Skill, SkillOrigin};
use crate::text::sha256_hex;
use crate::workspace::UNOBSERVED;

/// What attempts are made with.
pub(super) struct Attempter<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) agent: Agent,
    pub(super) program: PathBuf,
    /// Arguments that the user adds.
    pub(super) more: &'a [OsString],
    pub(super) limit: Duration,
}

impl Attempter<'_> {
    /// Has the task done, with the skill where the agent looks for it or without.
    ///
    /// # Errors
    /// There is no folder to be had. What the agent does wrong is in the answer.
    pub(super) fn attempt(
        &self,
        skill: &EvaluatedSkill,
        task: &Task,
        with: bool,
    ) -> anyhow::Result<Attempt> {
        let scratch = tempfile::Builder::new().prefix("symposium-eval-").tempdir()?;
        let dir = crate::files::canonicalize(scratch.path())?;
        let (work, home) = (dir.join("work"), dir.join("home"));
        fs::create_dir_all(&work)?;
        fs::create_dir_all(&home)?;
        for (from, named) in &task.files {
            put(&work.join(named), &read_bytes(from, Limit::OURS)?)?;
        }
        if with {
            self.install(skill, &work)?;
        }
        let before = files(&work);
        let Some(headless) = &self.agent.identity().headless else {
            return Err(anyhow::anyhow!("it can't be asked without a screen"));
        };
        let child = Child::new(&self.program)
            .args(headless.arguments(&task.prompt))
            .args(self.more.iter().cloned())
            .in_environment(&self.sym.env)
            // Our own hooks, where they are registered with the agent, find nothing to add.
            .env("SYMPOSIUM_HOME", &home)
            .cwd(&work)
            .limit(self.limit);
        put(&home.join("config.toml"), QUIET.as_bytes())?;
        let start = Instant::now();
        let output = run(&child);
        let seconds = start.elapsed().as_secs_f64();
        let files = changes(&before, &files(&work));
        Ok(match output {
            Err(error) => {
                let problem = Some(error.to_string());
                Attempt { text: String::new(), seconds, tokens: None, files, problem }
            }
            Ok(output) => {
                let reply = (headless.read)(&output.stdout_text());
                let problem = match output.status {
                    Status::Exited(0) => None,
                    Status::TimedOut => {
                        Some(format!("it took longer than {} s", self.limit.as_secs()))
                    }
                    status => Some(format!("{status}: {}", output.said())),
                };
                Attempt { text: reply.text, seconds, tokens: reply.tokens, files, problem }
            }
        })
    }

    /// The skill as a sync would deliver it, without its tasks.
    fn install(&self, skill: &EvaluatedSkill, work: &Path) -> anyhow::Result<()> {
        let known = Skill {
            name: skill.name.clone(),
            description: String::new(),
            dir: skill.dir.clone(),
            root: skill.root.clone(),
            origin: SkillOrigin::Source { source: "here".to_owned(), path: ".".to_owned() },
            plugin: None,
            same_as: Vec::new(),
            written: None,
        };
        let collected = collect(&known, &skill.name, &UNOBSERVED).map_err(|problem| *problem)?;
        let folder = self.agent.identity().skill_dirs.first().copied().unwrap_or(".agents/skills");
        for (path, file) in collected.content.files {
            if !path.starts_with("evals/") {
                put(&work.join(folder).join(&skill.name).join(path), &file.bytes)?;
            }
        }
        Ok(())
    }
}

/// A configuration in which there is nothing.
const QUIET: &str = "auto-sync = false\nauto-update = \"off\"\n\n[defaults]\n\
                     symposium-recommendations = false\nuser-plugins = false\nbuiltin = false\n\
                     dependencies = false\n";

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

/// The files below `dir`, each with a hash of what is in it.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = WalkDir::new(dir).into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file());
    let known = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(dir).ok()?.to_string_lossy().replace('\\', "/");
        let hash = read_bytes(entry.path(), Limit::OURS).map(|bytes| sha256_hex(&bytes)).ok()?;
        Some((path, hash))
    });
    known.collect()
}

fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let gone =
        before.keys().filter(|path| !after.contains_key(*path)).map(|path| format!("- {path}"));
    let new = after.iter().filter_map(|(path, hash)| match before.get(path) {
        None => Some(format!("+ {path}")),
        Some(old) if old != hash => Some(format!("~ {path}")),
        Some(_) => None,
    });
    new.chain(gone).collect()
}
