//! Runs a child to its end or its limit.

use std::io::{self, Read, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Child, Output, RunError, Status};

/// Runs `child` and returns what came of it.
///
/// # Errors
/// [`RunError`] when it could not be started.
#[allow(clippy::disallowed_methods, reason = "the room that starts programs")]
pub fn run(child: &Child) -> Result<Output, RunError> {
    let program = child.program.to_string_lossy().into_owned();
    let mut command = Command::new(&child.program);
    command.args(&child.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = &child.cwd {
        command.current_dir(cwd);
    }
    if child.clear_env {
        command.env_clear();
    }
    for (name, value) in &child.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut running = command.spawn().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => RunError::NotFound { program: program.clone() },
        _ => RunError::Io { program: program.clone(), source },
    })?;
    if let Some(mut stdin) = running.stdin.take() {
        let _ = stdin.write_all(&child.stdin);
    }
    let (out, err) = (running.stdout.take(), running.stderr.take());
    let cap = child.output_cap;
    let out = std::thread::spawn(move || keep(out, cap));
    let err = std::thread::spawn(move || keep(err, cap));
    let start = Instant::now();
    let status = loop {
        match running.try_wait() {
            Ok(Some(status)) => break Status::Exited(status.code().unwrap_or(-1)),
            Ok(None) if start.elapsed() < child.limit => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                let _ = running.kill();
                let _ = running.wait();
                break Status::TimedOut;
            }
        }
    };
    let (stdout, cut_out) = out.join().unwrap_or_default();
    let (stderr, cut_err) = err.join().unwrap_or_default();
    Ok(Output { status, stdout, stderr, truncated: cut_out || cut_err })
}

fn keep(stream: Option<impl Read>, cap: usize) -> (Vec<u8>, bool) {
    let mut all = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.read_to_end(&mut all);
    }
    let cut = all.len() > cap;
    all.truncate(cap);
    (all, cut)
}
