//! Background processes of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use process_wrap::std::CommandWrap;

use super::{Child, RunError, orphans, start};

/// Starts a background process: in a session of its own, so that it lives on when whoever started
/// us ends our process group; with no streams and no open file of ours, so that nobody waits for
/// it; in the root folder unless `child` names another. Nobody learns how it ends, but who stays may
/// learn that it did.
pub(crate) fn spawn_detached(child: &Child) -> Result<Detached, RunError> {
    let mut command = start::command(child)?;
    if child.cwd.is_none()
        && let Some(root) = root_of(Path::new(command.get_program()))
    {
        // A background process must not keep a folder from being removed or unmounted.
        command.current_dir(root);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let program = command.get_program().to_owned();
    let mut command = detach(command);
    let spawn = || start::retry_busy(|| command.spawn());
    let mut running = orphans::registered(spawn, |running| running.id())
        .map_err(|error| start::refusal(child, &program, error))?;
    // While we live, it would stay a zombie after its end; when we end, the system takes over.
    let (over, ended) = mpsc::channel::<()>();
    let reaper = std::thread::Builder::new().name("reaper".to_owned());
    let _ = reaper.stack_size(64 * 1024).spawn(move || {
        let _over = over;
        running.wait()
    });
    Ok(Detached { ended })
}

/// A background process, as long as we live beside it.
#[derive(Debug)]
pub(crate) struct Detached {
    ended: Receiver<()>,
}

impl Detached {
    /// Waits for its end, so long at most. Whether it has ended.
    pub(crate) fn ends_within(&self, patience: Duration) -> bool {
        self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

fn root_of(program: &Path) -> Option<PathBuf> {
    program.ancestors().last().filter(|root| root.is_absolute()).map(Path::to_path_buf)
}

#[cfg(unix)]
fn detach(mut command: Command) -> CommandWrap {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec only system calls may be made; this makes nothing else.
    unsafe {
        command.pre_exec(|| {
            close_on_exec();
            Ok(())
        });
    }
    let mut command = CommandWrap::from(command);
    command.wrap(process_wrap::std::ProcessSession);
    command
}

/// Marks every descriptor above the standard ones: an agent's pipe that we inherited under some
/// number must not stay open for as long as the background process lives.
#[cfg(unix)]
fn close_on_exec() {
    // SAFETY: plain system calls on numbers; descriptors that are not open are no harm.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
            == 0
        {
            return;
        }
        for descriptor in 3..256 {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

#[cfg(windows)]
fn detach(mut command: Command) -> CommandWrap {
    use std::os::windows::process::CommandExt as _;
    // Process creation flags of the Windows API: no console, and a group of its own.
    const DETACHED_PROCESS: u32 = 0x0000_0008;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    CommandWrap::from(command)
}
