//! What people see while they wait: a spinner on a terminal, else one line.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::people::{Palette, fit};
use super::safe::safe;

/// How often it moves.
const TICK: Duration = Duration::from_millis(100);
/// A verb, right-aligned as in every other line, what it is about, and for how long.
const TEMPLATE: &str = "{prefix} {msg} {spinner} {elapsed}";
/// Columns of what stands around the message, with a time of four letters.
const AROUND: usize = 20;

/// Something that is going on. Gone from the screen when dropped.
#[derive(Debug, Default)]
#[must_use = "it is shown until it is dropped"]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A spinner among `bars`, on a line of at most `width` columns.
    pub(super) fn spinning(bars: &MultiProgress, verb: &str, message: &str, width: usize) -> Self {
        let style = Palette::CARGO.good;
        let bar = bars.add(ProgressBar::new_spinner());
        if let Ok(template) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(template);
        }
        bar.set_prefix(format!("{style}{:>12}{style:#}", safe(verb)));
        bar.set_message(fit(message, width.saturating_sub(AROUND).clamp(8, 60)));
        bar.enable_steady_tick(TICK);
        Self { bar: Some(bar) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// A terminal that remembers what was written to it.
    #[derive(Debug, Clone, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl Paper {
        fn note(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no panic").push_str(text);
            Ok(())
        }
    }

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.note(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.note(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            self.note("[clear]")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn it_is_shown_until_it_is_dropped() {
        let paper = Paper::default();
        let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
        let bars = MultiProgress::with_draw_target(target);
        let progress = Progress::spinning(&bars, "Fetching", "acme\u{1b}[2J", 80);
        while !paper.0.lock().expect("no panic").contains("acme") {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(progress);
        let written = paper.0.lock().expect("no panic").clone();
        assert!(written.contains("Fetching"), "{written:?}");
        assert!(written.contains("acme [2J"), "{written:?}");
        assert!(written.ends_with("[clear]"), "{written:?}");
    }
}
