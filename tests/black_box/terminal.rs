//! The program on a terminal of its own: what it draws is kept as a screen, and keys can be pressed.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtyPair, PtySize, native_pty_system};

/// The program must draw or end within this.
const LIMIT: Duration = Duration::from_secs(60);

/// A running program and its terminal.
pub(crate) struct Terminal {
    pair: PtyPair,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    keys: Box<dyn std::io::Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    raw: Vec<u8>,
    settings: String,
}

/// How a program ended.
pub(crate) struct Ended {
    /// Its exit code.
    pub code: u32,
    /// What is on the screen.
    pub screen: String,
    /// Every byte that it wrote.
    pub raw: String,
    /// Whether the cursor can be seen, and the terminal takes input as it did before.
    pub is_restored: bool,
}

impl Terminal {
    /// Starts `command` on a terminal of this size.
    pub(crate) fn start(command: &Command, columns: u16, lines: u16) -> Self {
        let size = PtySize { rows: lines, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.cwd(command.get_current_dir().expect("a folder"));
        builder.env_clear();
        builder.env("TERM", "xterm-256color");
        for (name, value) in command.get_envs() {
            builder.env(name, value.expect("a value"));
        }
        let settings = settings(&pair);
        let child = pair.slave.spawn_command(builder).expect("the program starts");
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = reader.read(&mut buffer)
                && count > 0
                && sender.send(buffer[..count].to_vec()).is_ok()
            {}
        });
        let side = |number| NonZeroU16::new(number).expect("not zero");
        let screen = vt100::Parser::new(side(lines), side(columns), 0);
        Self { pair, child, keys, output, screen, raw: Vec::new(), settings }
    }

    /// What is on the screen, without empty lines at its end.
    pub(crate) fn screen(&self) -> String {
        self.screen.screen().contents().trim_end().to_owned()
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.screen().contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(why) => panic!("{why:?}: no `{text}` on the screen:\n{}", self.screen()),
            }
        }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("takes keys");
        self.keys.flush().expect("takes keys");
    }

    /// Waits for a question, then answers it.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.wait_for(question);
        self.press(keys);
    }

    /// The program's process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.process_id().expect("still running")
    }

    /// Whether the terminal wraps one of the lines.
    pub(crate) fn is_wrapped(&self) -> bool {
        let (lines, _) = self.screen.screen().size();
        (0..lines.get()).any(|line| self.screen.screen().row_wrapped(line))
    }

    /// Waits until the program ends.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("can be waited for") {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("still running:\n{}", self.screen());
            }
            match self.output.recv_timeout(Duration::from_millis(20)) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        };
        // What it wrote last may still be on its way.
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.take(&bytes);
        }
        let visible = !self.screen.screen().hide_cursor();
        Ended {
            code: status.exit_code(),
            screen: self.screen(),
            raw: String::from_utf8_lossy(&self.raw).into_owned(),
            is_restored: visible && settings(&self.pair) == self.settings,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.extend(bytes);
        self.screen.process(bytes);
    }
}

/// The terminal's settings, to compare.
fn settings(pair: &PtyPair) -> String {
    format!("{:?}", pair.master.get_termios())
}
