//! `install_commands`: a shell's words, from configured plugin sources only, that finish an
//! installation.

use std::path::Path;

use super::Trouble;
use super::job::{Got, Job};
use super::stamp::key;
use crate::plugins::model::{Installation, Plugin};

/// Stands for what the commands are and what they are run on: the version and the folder of what was
/// got, else the plugin's own folder, which is another one for each state of a repository. `None` when
/// there are no commands.
pub(super) fn fingerprint(
    plugin: &Plugin,
    installation: &Installation,
    (version, dir): (Option<&str>, Option<&Path>),
) -> Option<String> {
    if installation.install_commands.is_empty() {
        return None;
    }
    let dir = dir.unwrap_or(&plugin.dir).to_string_lossy();
    let mut parts = vec![version.unwrap_or_default(), &dir];
    parts.extend(installation.install_commands.iter().map(String::as_str));
    Some(key(&parts))
}

/// Runs them in order, each in the installation's folder, else in the plugin's. The first that
/// fails ends it.
pub(super) fn run(job: &Job<'_>, got: &Got) -> Result<(), Trouble> {
    let cwd = got.dir.clone().unwrap_or_else(|| job.plugin.dir.clone());
    for command in &job.installation.install_commands {
        let shown: String = command.chars().take(200).collect();
        job.say("Running", format!("`{shown}`"));
        let child = shell(job, command, &cwd);
        job.run(&child, &shown)?;
    }
    Ok(())
}

fn shell(job: &Job<'_>, command: &str, cwd: &Path) -> crate::process::Child {
    #[cfg(windows)]
    if crate::process::find_sh(job.sym.env.var("PATH").unwrap_or_default()).is_none() {
        return job.child("cmd").command_line(command).cwd(cwd);
    }
    job.child("sh").args(["-c", command]).cwd(cwd)
}
