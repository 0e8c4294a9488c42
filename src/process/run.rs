//! Running a child to its end.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{Child, Output, RunError, Status};

/// Runs `child` to its end or its limit.
///
/// # Errors
/// When the program can't be started.
#[allow(clippy::disallowed_methods, reason = "the room that runs programs")]
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
    let mut wrapped = process_wrap::std::CommandWrap::from(command);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::std::ProcessGroup::leader());
    let mut running = wrapped.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => RunError::NotFound { program: program.clone() },
        _ => RunError::Io { program: program.clone(), source },
    })?;
    let (sender, receiver) = mpsc::channel();
    let cap = child.output_cap;
    let mut readers = 0;
    let pipes: [(bool, Option<Box<dyn std::io::Read + Send>>); 2] = [
        (true, running.stdout().take().map(|pipe| Box::new(pipe) as _)),
        (false, running.stderr().take().map(|pipe| Box::new(pipe) as _)),
    ];
    for (is_out, pipe) in pipes {
        let Some(mut pipe) = pipe else { continue };
        readers += 1;
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            let mut buffer = [0; 16 * 1024];
            let mut truncated = false;
            while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                let room = (cap - kept.len()).min(read);
                truncated |= room < read;
                kept.extend_from_slice(&buffer[..room]);
            }
            let _ = sender.send((is_out, kept, truncated));
        });
    }
    if let Some(mut pipe) = running.stdin().take() {
        let input = child.stdin.clone();
        std::thread::spawn(move || pipe.write_all(&input));
    }
    let start = Instant::now();
    let status = loop {
        if let Ok(Some(status)) = running.try_wait() {
            break status.code().map_or(Status::Signalled(0), Status::Exited);
        }
        if start.elapsed() >= child.limit {
            let _ = running.start_kill();
            let _ = running.wait();
            break Status::TimedOut;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut output = Output { status, stdout: Vec::new(), stderr: Vec::new(), truncated: false };
    for _ in 0..readers {
        let Ok((is_out, kept, truncated)) = receiver.recv_timeout(Duration::from_secs(2)) else {
            break;
        };
        output.truncated |= truncated;
        if is_out {
            output.stdout = kept;
        } else {
            output.stderr = kept;
        }
    }
    Ok(output)
}
