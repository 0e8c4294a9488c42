//! The log: one file a run, made only when there is something to write, and never a reason to fail.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use tracing_subscriber::fmt::MakeWriter;

use super::safe::safe;
use crate::config::LogLevel;
use crate::files::{private, private_folders};

/// Logs that are kept at most.
const KEEP: usize = 50;
/// How long a log is kept.
const KEEP_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Sends this process's `tracing` events of `level` and above to a new file in `dir`.
///
/// Only the first call in a process counts. Nothing is created until the first event.
pub(crate) fn install(dir: &Path, level: LogLevel) {
    let _ = tracing::subscriber::set_global_default(to_file(dir, level));
}

/// As [`install`], with a level that is asked for when there is something to log, and not before:
/// for processes that must be quick and nearly never have anything to say.
pub(crate) fn install_lazily(dir: &Path, level: impl Fn() -> LogLevel + Send + Sync + 'static) {
    let dir = dir.to_path_buf();
    let lazy = Lazy { make: Box::new(move || to_file(&dir, level())), made: OnceLock::new() };
    let _ = tracing::subscriber::set_global_default(lazy);
}

type ToFile = tracing_subscriber::fmt::Subscriber<
    tracing_subscriber::fmt::format::DefaultFields,
    tracing_subscriber::fmt::format::Format<tracing_subscriber::fmt::format::Full, Rfc3339>,
    tracing_subscriber::filter::LevelFilter,
    LazyFile,
>;

fn to_file(dir: &Path, level: LogLevel) -> ToFile {
    let level = match level {
        LogLevel::Trace => tracing::Level::TRACE,
        LogLevel::Debug => tracing::Level::DEBUG,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Error => tracing::Level::ERROR,
    };
    let writer = LazyFile { dir: dir.to_path_buf(), file: Arc::default() };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_timer(Rfc3339)
        .with_writer(writer)
        .finish()
}

/// A subscriber that is made by the first event.
struct Lazy {
    make: Box<dyn Fn() -> ToFile + Send + Sync>,
    made: OnceLock<ToFile>,
}

impl Lazy {
    fn inner(&self) -> &ToFile {
        self.made.get_or_init(&self.make)
    }
}

impl tracing::Subscriber for Lazy {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        self.inner().enabled(metadata)
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.inner().new_span(span)
    }

    fn record(&self, span: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        self.inner().record(span, values);
    }

    fn record_follows_from(&self, span: &tracing::span::Id, follows: &tracing::span::Id) {
        self.inner().record_follows_from(span, follows);
    }

    fn event(&self, event: &tracing::Event<'_>) {
        self.inner().event(event);
    }

    fn enter(&self, span: &tracing::span::Id) {
        self.inner().enter(span);
    }

    fn exit(&self, span: &tracing::span::Id) {
        self.inner().exit(span);
    }
}

struct Rfc3339;

impl tracing_subscriber::fmt::time::FormatTime for Rfc3339 {
    fn format_time(&self, w: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        write!(w, "{}", humantime::format_rfc3339_millis(SystemTime::now()))
    }
}

/// A file that is opened by its first write; `Some(None)` once that failed.
#[derive(Clone)]
struct LazyFile {
    dir: PathBuf,
    file: Arc<Mutex<Option<Option<File>>>>,
}

impl<'a> MakeWriter<'a> for LazyFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for LazyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut slot = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = slot.get_or_insert_with(|| {
            prune(&self.dir, SystemTime::now());
            create(&self.dir, SystemTime::now())
        });
        if let Some(file) = file {
            // An event is one write, and one line whatever it holds.
            let line = safe(String::from_utf8_lossy(bytes).trim_end());
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
    fn a_lazy_log_asks_for_its_level_once_and_only_when_something_is_said() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let asked = Arc::new(Mutex::new(0));
        let (count, path) = (Arc::clone(&asked), dir.path().to_path_buf());
        let level = move || {
            *count.lock().expect("not poisoned") += 1;
            LogLevel::Warn
        };
        let make = Box::new(move || to_file(&path, level()));
        let lazy = Lazy { make, made: OnceLock::new() };
        tracing::subscriber::with_default(lazy, || {
            assert_eq!(*asked.lock().expect("not poisoned"), 0);
            tracing::info!("not this");
            tracing::warn!("but this");
        });
        assert_eq!(*asked.lock().expect("not poisoned"), 1);
        let entry = fs::read_dir(dir.path()).expect("reads").next().expect("a file");
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("reads");
        assert!(text.contains("but this") && !text.contains("not this"), "{text}");
    }

    #[test]
    fn a_place_that_can_not_be_written_is_no_error() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("writes");
        assert!(create(&file.join("logs"), SystemTime::now()).is_none());
    }
}
