//! `install_commands`: a shell's words, from configured plugin sources only, that finish an
//! installation.

use std::path::Path;

use super::job::{Got, Job, Trouble};
use super::stamp::key;

/// Stands for what the commands are and what they are run on; `None` when there are none.
pub(super) fn fingerprint(
    commands: &[String],
    version: Option<&str>,
    dir: Option<&Path>,
) -> Option<String> {
    if commands.is_empty() {
        return None;
    }
    let dir = dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let mut parts = vec![version.unwrap_or_default(), dir.as_str()];
    parts.extend(commands.iter().map(String::as_str));
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
    let path = job.sym.env.var("PATH").unwrap_or_default();
    let has_sh = crate::process::find_program("sh".as_ref(), path, Path::new("/")).is_some();
    let child = if cfg!(windows) && !has_sh {
        job.child("cmd").args(["/C", command])
    } else {
        job.child("sh").args(["-c", command])
    };
    child.cwd(cwd)
}
