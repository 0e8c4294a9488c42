//! A program at a terminal: its standard streams are a pseudo-terminal that the test reads and
//! types into. Only where there are such (Unix).

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A running program and its terminal.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    master: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Terminal {
    /// Starts `command` in a session of its own, on a terminal with this many columns.
    ///
    /// # Panics
    /// When there is no terminal to be had, or the program does not start.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let (master, slave) = open(columns);
        let stream = || Stdio::from(slave.try_clone().expect("copies a descriptor"));
        command.stdin(stream()).stdout(stream()).stderr(stream());
        command.env("TERM", "xterm");
        // SAFETY: only system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY as _, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().expect("the program starts");
        // The command holds copies of the terminal's other end.
        drop(command);
        drop(slave);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (into, mut from) = (Arc::clone(&screen), master.try_clone().expect("copies"));
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // When the last program on it has ended, Linux answers with an error.
            while let Ok(count @ 1..) = from.read(&mut chunk) {
                let mut screen = into.lock().unwrap_or_else(PoisonError::into_inner);
                screen.extend_from_slice(&chunk[..count]);
            }
        });
        Self { child, master, screen, reader: Some(reader) }
    }

    /// What has been on the screen so far.
    pub fn screen(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).replace("\r\n", "\n")
    }

    /// Waits until `text` is on the screen.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.screen().contains(text) {
            assert!(start.elapsed() < LIMIT, "no {text:?} on the screen:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types `keys`; `"\u{3}"` is Ctrl-C.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("types");
    }

    /// Waits for the program's end: its exit code (-1 when a signal ended it) and the screen.
    ///
    /// # Panics
    /// When it does not end.
    pub fn finish(mut self) -> (i32, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waits") {
                break status;
            }
            if start.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if let Some(reader) = self.reader.take() {
            let start = Instant::now();
            while !reader.is_finished() && start.elapsed() < Duration::from_secs(2) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        (status.code().unwrap_or(-1), self.screen())
    }
}

fn open(columns: u16) -> (File, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let mut size = libc::winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both numbers are filled by the call, which fails otherwise; the size is plain data.
    unsafe {
        let opened = libc::openpty(
            &raw mut master,
            &raw mut slave,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut size,
        );
        assert_eq!(opened, 0, "a pseudo-terminal: {}", std::io::Error::last_os_error());
        libc::fcntl(master, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(slave, libc::F_SETFD, libc::FD_CLOEXEC);
        (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    }
}
