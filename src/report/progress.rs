//! What people see while they wait: a spinner on a terminal, else one line.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dialoguer::console::{Term, truncate_str};

use super::people::{Palette, fit};
use super::safe::safe;

/// How often a spinner moves.
const TICK: Duration = Duration::from_millis(100);
/// What it shows, one after the other.
const FRAMES: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];
/// Columns of what stands around the message, with a time of four letters.
const AROUND: usize = 20;

/// The spinners on a terminal, below everything else that is written to it. Clones are the same spinners.
#[derive(Debug, Clone)]
pub(super) struct Spinners(Arc<Mutex<Screen>>);

#[derive(Debug)]
struct Screen {
    term: Term,
    color: bool,
    spinning: Vec<Spinner>,
    /// Lines of the terminal that show spinners now.
    drawn: usize,
    /// Names the next spinner.
    next: u64,
    /// Whether there is a thread that draws them again and again.
    moving: bool,
}

#[derive(Debug)]
struct Spinner {
    id: u64,
    verb: String,
    message: String,
    since: Instant,
}

/// Something that is going on. Gone from the screen when dropped.
#[derive(Debug, Default)]
#[must_use = "it is shown until it is dropped"]
pub(crate) struct Progress {
    shown: Option<(Spinners, u64)>,
}

impl Spinners {
    /// Spinners on a terminal that can move its cursor.
    pub(super) fn new(term: Term, color: bool) -> Self {
        let screen = Screen { term, color, spinning: Vec::new(), drawn: 0, next: 0, moving: false };
        Self(Arc::new(Mutex::new(screen)))
    }

    /// Shows one more, with a message of which as much is shown as fits into `width` columns.
    pub(super) fn spin(&self, verb: &str, message: &str, width: usize) -> Progress {
        let message = fit(message, width.saturating_sub(AROUND).clamp(8, 60));
        let spinner = |id| Spinner { id, verb: safe(verb), message, since: Instant::now() };
        let (id, moving) = self.change(|screen| {
            screen.next += 1;
            screen.spinning.push(spinner(screen.next));
            (screen.next, std::mem::replace(&mut screen.moving, true))
        });
        if !moving {
            let spinners = self.clone();
            // Without the thread they stand still.
            let _ = std::thread::Builder::new().spawn(move || spinners.keep_moving());
        }
        Progress { shown: Some((self.clone(), id)) }
    }

    /// Does what writes to the same terminal, without spinners in its way.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.change(|screen| {
            let _ = screen.term.flush();
            write()
        })
    }

    /// Draws them again each [`TICK`] until there are none.
    fn keep_moving(&self) {
        loop {
            std::thread::sleep(TICK);
            let is_over = self.change(|screen| {
                screen.moving = !screen.spinning.is_empty();
                !screen.moving
            });
            if is_over {
                return;
            }
        }
    }

    /// Takes them off the screen, makes a change, and draws them as they are then.
    fn change<T>(&self, change: impl FnOnce(&mut Screen) -> T) -> T {
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody is left to be told that this fails.
        let _ = screen.clear();
        let result = change(&mut screen);
        let _ = screen.draw();
        result
    }
}

impl Screen {
    fn clear(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.drawn) {
            0 => Ok(()),
            lines => self.term.clear_last_lines(lines),
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let (rows, columns) = self.term.size();
        // A line that is wrapped, or scrolled away, could not be cleared.
        for spinner in self.spinning.iter().take(usize::from(rows).saturating_sub(1)) {
            let line = spinner.line(spinner.since.elapsed(), self.color);
            self.term.write_line(&truncate_str(&line, usize::from(columns), ""))?;
            self.drawn += 1;
        }
        self.term.flush()
    }
}

impl Spinner {
    /// A verb, right-aligned as in every other line, what it is about, and for how long.
    fn line(&self, elapsed: Duration, color: bool) -> String {
        let style = if color { Palette::CARGO.good } else { anstyle::Style::new() };
        let ticks = usize::try_from(elapsed.as_millis() / TICK.as_millis()).unwrap_or(0);
        let frame = FRAMES.get(ticks % FRAMES.len()).unwrap_or(&' ');
        let time = match elapsed.as_secs() {
            seconds @ ..90 => format!("{seconds}s"),
            seconds => format!("{}m", (seconds + 30) / 60),
        };
        let Self { verb, message, .. } = self;
        format!("{style}{verb:>12}{style:#} {message} {frame} {time}")
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((spinners, id)) = self.shown.take() {
            spinners.change(|screen| screen.spinning.retain(|spinner| spinner.id != id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_verb_what_it_is_about_and_how_long_it_takes() {
        let spinner = |verb: &str| Spinner {
            id: 1,
            verb: verb.to_owned(),
            message: "acme".to_owned(),
            since: Instant::now(),
        };
        let line = |ms| spinner("Fetching").line(Duration::from_millis(ms), false);
        assert_eq!(line(0), "    Fetching acme ⠁ 0s");
        assert_eq!(line(7_900), "    Fetching acme ⠈ 7s");
        assert_eq!(line(8_000), "    Fetching acme ⠁ 8s");
        assert_eq!(line(89_950), "    Fetching acme ⡀ 89s");
        assert_eq!(line(90_000), "    Fetching acme ⢀ 2m");
        let colored = spinner("Fetching").line(Duration::ZERO, true);
        assert!(colored.starts_with("\u{1b}[1m\u{1b}[32m    Fetching\u{1b}[0m"), "{colored:?}");
    }

    #[cfg(unix)]
    mod on_a_terminal {
        use std::fs::File;
        use std::io::{Read as _, Write as _};

        use tempfile::NamedTempFile;

        use super::*;

        fn spinners_on(file: &NamedTempFile) -> Spinners {
            let file = || file.as_file().try_clone().expect("the file again");
            Spinners::new(Term::read_write_pair(file(), file()), false)
        }

        /// What a terminal shows of what was written; nothing is while it is read.
        fn shown(spinners: &Spinners, file: &NamedTempFile) -> String {
            let _still = spinners.0.lock().expect("no panic");
            let mut text = String::new();
            let mut file: File = file.reopen().expect("opens");
            file.read_to_string(&mut text).expect("reads");
            let mut screen = vt100::Parser::default();
            screen.process(text.replace('\n', "\r\n").as_bytes());
            screen.screen().contents()
        }

        #[test]
        fn a_spinner_is_shown_until_it_is_dropped() {
            let file = NamedTempFile::new().expect("a file");
            let spinners = spinners_on(&file);
            let progress = spinners.spin("Fetching", "acme\u{1b}[2J", 80);
            let line = shown(&spinners, &file);
            assert!(line.starts_with("    Fetching acme [2J "), "{line:?}");
            drop(progress);
            assert_eq!(shown(&spinners, &file), "");
        }

        #[test]
        fn what_is_said_meanwhile_stands_above_all_spinners() {
            let file = NamedTempFile::new().expect("a file");
            let spinners = spinners_on(&file);
            let _both = [spinners.spin("Fetching", "a", 80), spinners.spin("Fetching", "b", 80)];
            spinners.suspend(|| file.as_file().write_all(b"said\n")).expect("written");
            let text = shown(&spinners, &file);
            let lines: Vec<&str> = text.lines().collect();
            let [said, first, second] = lines[..] else { panic!("{lines:?}") };
            assert_eq!(said, "said");
            assert!(first.starts_with("    Fetching a "), "{lines:?}");
            assert!(second.starts_with("    Fetching b "), "{lines:?}");
        }

        #[test]
        fn it_moves_by_itself() {
            let file = NamedTempFile::new().expect("a file");
            let spinners = spinners_on(&file);
            let _progress = spinners.spin("Fetching", "acme", 80);
            let first = shown(&spinners, &file);
            while shown(&spinners, &file) == first {
                std::thread::sleep(TICK);
            }
        }
    }
}
