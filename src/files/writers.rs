//! Waiting until other programs have done with a file.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::read::{Limit, open, read_opened};

/// As [`read_when_quiet`], by name.
pub(super) fn read_path_when_quiet(path: &Path) -> io::Result<Vec<u8>> {
    read_when_quiet(&mut open(path)?)
}

/// The file's bytes, from where `file` stands, once nothing was written for a moment. The file may
/// have another name by now, or none.
///
/// Some programs open a file, and write to it only then, without emptying it first (OpenCode does,
/// within 1 ms): in between nothing shows in what the file holds, so each look waits. A lease would
/// tell of such a program, but a lease's holder gets a signal when another program opens the file.
pub(super) fn read_when_quiet(file: &mut fs::File) -> io::Result<Vec<u8>> {
    let until = Instant::now() + LONGEST;
    let mut before = stamp(file)?;
    loop {
        std::thread::sleep(QUIET);
        let now = stamp(file)?;
        if now == before || Instant::now() >= until {
            break;
        }
        before = now;
    }
    Ok(read_opened(file, Limit::OURS)?)
}

/// Nothing written for this long: whoever had opened the file is done.
const QUIET: Duration = Duration::from_millis(20);
/// A program that keeps on writing is waited for no longer.
const LONGEST: Duration = Duration::from_millis(200);

fn stamp(file: &fs::File) -> io::Result<(u64, Option<SystemTime>)> {
    let found = file.metadata()?;
    Ok((found.len(), found.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_somebody_is_writing_is_waited_for() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        fs::write(&path, "").expect("writes");
        let mut theirs = fs::OpenOptions::new().append(true).open(&path).expect("opens");
        theirs.write_all(b"0").expect("writes");
        let (written, first) = std::sync::mpsc::channel();
        let read = std::thread::scope(|scope| {
            scope.spawn(move || {
                for piece in ["1", "2", "3", "4"] {
                    theirs.write_all(piece.as_bytes()).expect("writes");
                    let _ = written.send(());
                    std::thread::sleep(QUIET / 4);
                }
            });
            first.recv().expect("a first piece");
            read_path_when_quiet(&path).expect("reads")
        });
        // On a machine that keeps the writer waiting a look may come too early, but never tear.
        assert!(b"01234".starts_with(&read) && read.len() >= 2, "{read:?}");
    }

    #[test]
    fn a_writer_that_never_ends_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        fs::write(&path, "old").expect("writes");
        let _theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
        assert_eq!(read_path_when_quiet(&path).expect("reads"), b"old");
    }
}
