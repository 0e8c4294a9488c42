//! The log: one file a run, made only when there is something to write, and never a reason to fail.

use std::fmt::{Debug, Write as _};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::safe::safe;
use crate::config::LogLevel;
use crate::files::{private, private_folders};

/// Logs that are kept at most.
const KEEP: usize = 50;
/// How long a log is kept.
const KEEP_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Sends this process's `tracing` events to a new file in `dir`. Only the first call in a process
/// counts.
///
/// `level` is asked by the first event, and the file made by the first one of that level: a hook
/// must be quick, and nearly never has anything to log.
pub(crate) fn install(dir: &Path, level: impl Fn() -> LogLevel + Send + Sync + 'static) {
    let _ = tracing::subscriber::set_global_default(Log::new(dir, level));
}

struct Log {
    dir: PathBuf,
    ask_level: Box<dyn Fn() -> LogLevel + Send + Sync>,
    level: OnceLock<Level>,
    /// `None` when it could not be made.
    file: OnceLock<Option<File>>,
}

impl Log {
    fn new(dir: &Path, level: impl Fn() -> LogLevel + Send + Sync + 'static) -> Self {
        Self {
            dir: dir.to_path_buf(),
            ask_level: Box::new(level),
            level: OnceLock::new(),
            file: OnceLock::new(),
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = self.level.get_or_init(|| match (self.ask_level)() {
            LogLevel::Trace => Level::TRACE,
            LogLevel::Debug => Level::DEBUG,
            LogLevel::Info => Level::INFO,
            LogLevel::Warn => Level::WARN,
            LogLevel::Error => Level::ERROR,
        });
        // What was done is what we did: libraries tell their steps at that level, too.
        let is_step_of_others = !metadata.target().starts_with("symposium")
            && *metadata.level() == Level::INFO
            && *level == Level::INFO;
        metadata.level() <= level && !is_step_of_others
    }

    fn event(&self, event: &Event<'_>) {
        let now = SystemTime::now();
        let file = self.file.get_or_init(|| {
            prune(&self.dir, now);
            create(&self.dir, now)
        });
        let Some(mut file) = file.as_ref() else { return };
        let (time, about) = (humantime::format_rfc3339_millis(now), event.metadata());
        let mut text = format!("{time} {:>5} {}:", about.level(), about.target());
        event.record(&mut |field: &Field, value: &dyn Debug| {
            let _ = match field.name() {
                "message" => write!(text, " {value:?}"),
                name => write!(text, " {name}={value:?}"),
            };
        });
        // An event is one write, and one line whatever it holds.
        let _ = file.write_all(format!("{}\n", safe(&text)).as_bytes());
    }

    // Nothing here opens spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A new file `symposium-YYYYMMDD-HHMMSS.log` (UTC); a second one of the same second gets `-1` …
fn create(dir: &Path, now: SystemTime) -> Option<File> {
    private_folders(dir).ok()?;
    let stamp: String = humantime::format_rfc3339_seconds(now)
        .to_string()
        .replace('T', "-")
        .chars()
        .enumerate()
        .filter(|(index, letter)| letter.is_ascii_digit() || *index == 10)
        .map(|(_, letter)| letter)
        .collect();
    (0..1000).find_map(|number| {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("symposium-{stamp}{suffix}.log"));
        private().create_new(true).open(path).ok()
    })
}

/// Removes our logs beyond the newest [`KEEP`] and those older than [`KEEP_FOR`].
fn prune(dir: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut logs: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("symposium-") && name.ends_with(".log")
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    logs.sort();
    logs.reverse();
    for (index, (modified, path)) in logs.iter().enumerate() {
        let old = now.duration_since(*modified).is_ok_and(|age| age > KEEP_FOR);
        // The file about to be made is one of those kept.
        if old || index + 1 >= KEEP {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn f221_logs_of_the_same_second_have_their_own_files() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for _ in 0..2 {
            create(dir.path(), now).expect("a file");
        }
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .expect("reads")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        assert_eq!(names, ["symposium-20231114-221320-1.log", "symposium-20231114-221320.log"]);
    }

    #[test]
    fn logs_are_pruned_by_number_and_age_and_other_files_stay() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for number in 0..60 {
            fs::write(dir.path().join(format!("symposium-{number:02}.log")), "").expect("writes");
        }
        fs::write(dir.path().join("mine.log"), "").expect("writes");
        prune(dir.path(), SystemTime::now());
        assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), KEEP - 1 + 1);
        prune(dir.path(), SystemTime::now() + KEEP_FOR + Duration::from_secs(60));
        assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), 1);
    }

    #[test]
    fn it_asks_for_its_level_once_and_only_when_something_is_said() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let log = Log::new(dir.path(), move || {
            count.fetch_add(1, Ordering::SeqCst);
            LogLevel::Warn
        });
        tracing::subscriber::with_default(log, || {
            assert_eq!(asked.load(Ordering::SeqCst), 0);
            tracing::info!("not this");
            tracing::warn!(number = 1, "but\nthis");
        });
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let entry = fs::read_dir(dir.path()).expect("reads").next().expect("a file");
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("reads");
        let (_, line) = text.split_once(' ').expect("a time");
        assert_eq!(line, " WARN symposium::report::log::tests: but this number=1\n");
    }

    #[test]
    fn a_place_that_can_not_be_written_is_no_error() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("writes");
        assert!(create(&file.join("logs"), SystemTime::now()).is_none());
    }
}
