//! Programs that have a file open for writing.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// The file's bytes once nobody has it open for writing any more, or after a moment.
///
/// Some programs open a file, and write to it only then, without emptying it first (OpenCode does):
/// in between nothing shows in what the file holds. Linux tells who has a file of our own user open;
/// elsewhere the file gets a moment in which that usually is over.
///
/// # Errors
/// Trouble reading it.
pub(super) fn read_when_written(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    read_when_quiet(&mut file)
}

/// As [`read_when_written`], from where `file` stands: also one that has another name by now, or none.
///
/// # Errors
/// Trouble reading it.
pub(super) fn read_when_quiet(file: &mut fs::File) -> io::Result<Vec<u8>> {
    let until = Instant::now() + LONGEST;
    loop {
        match has_writers(file) {
            Some(true) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            Some(_) => break,
            None => {
                std::thread::sleep(MOMENT);
                break;
            }
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How long a program may take from opening to closing. One takes 1 ms, a stopped one for ever.
const LONGEST: Duration = Duration::from_millis(200);
/// How long it gets where nobody knows whether there is one.
const MOMENT: Duration = Duration::from_millis(20);

/// Whether anybody has the file, which is open for reading, open for writing: only without writers
/// can there be a lease on it. The lease ends when the file is closed. `None` where there are no
/// leases: on a network's file system, and on files of others.
#[cfg(target_os = "linux")]
fn has_writers(file: &fs::File) -> Option<bool> {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open while `file` is borrowed, and the call takes no pointers.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
    let refused = io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
    if done == 0 { Some(false) } else { refused.then_some(true) }
}

#[cfg(not(target_os = "linux"))]
fn has_writers(_file: &fs::File) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_somebody_is_about_to_write_is_waited_for() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        fs::write(&path, "old").expect("writes");
        let mut theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
        assert_eq!(has_writers(&fs::File::open(&path).expect("opens")), Some(true));
        std::thread::scope(|scope| {
            let ours = scope.spawn(|| read_when_written(&path).expect("reads"));
            std::thread::sleep(std::time::Duration::from_millis(20));
            theirs.write_all(b"new").expect("writes");
            drop(theirs);
            assert_eq!(ours.join().expect("no panic"), b"new");
        });
        assert_eq!(has_writers(&fs::File::open(&path).expect("opens")), Some(false));
    }

    #[test]
    fn a_writer_that_never_ends_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        fs::write(&path, "old").expect("writes");
        let _theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
        assert_eq!(read_when_written(&path).expect("reads"), b"old");
    }
}
