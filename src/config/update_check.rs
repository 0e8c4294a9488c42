//! When the registry is asked for a newer Symposium again.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use semver::Version;

use super::state::State;

/// How long an answer is good for.
const ANSWER_HOLDS: Duration = Duration::from_secs(24 * 60 * 60);
/// How soon after a failure it is asked again.
const AGAIN: Duration = Duration::from_secs(60 * 60);

/// Whether it is time to ask, by what `path`, the state's file, says.
pub(crate) fn is_due(path: &Path, now: SystemTime) -> bool {
    let state = State::load(path);
    !is_within(state.last_update_check.as_deref(), ANSWER_HOLDS, now)
        && !is_within(state.last_failed_check.as_deref(), AGAIN, now)
}

/// Whether `time` is less than `span` ago. A time in the future is a clock that was wrong.
fn is_within(time: Option<&str>, span: Duration, now: SystemTime) -> bool {
    let time = time.and_then(|time| humantime::parse_rfc3339_weak(time).ok());
    time.is_some_and(|time| now.duration_since(time).is_ok_and(|gone| gone < span))
}

/// Remembers an answer: our package's newest version, or that the package is another program's.
pub(crate) fn answered(path: &Path, now: SystemTime, newest: Option<&Version>) -> io::Result<()> {
    State::update(path, |state| {
        state.last_update_check = Some(text(now));
        state.last_failed_check = None;
        state.newest = newest.map(Version::to_string);
    })
}

/// Where the user is told of a newer version: each place once a day.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// In an agent's window.
    Agent,
    /// Before a command.
    Terminal,
}

impl Place {
    /// When the user was told here.
    fn last(self, state: &mut State) -> &mut Option<String> {
        match self {
            Self::Agent => &mut state.last_update_nudge,
            Self::Terminal => &mut state.last_update_offer,
        }
    }
}

/// The newest version that the registry is remembered to have, if it is newer than `own` and the
/// user was not told of it at this place within a day.
pub(crate) fn untold(path: &Path, now: SystemTime, own: &Version, place: Place) -> Option<Version> {
    let mut state = State::load(path);
    let newest = state.newest.as_deref().and_then(|newest| Version::parse(newest).ok())?;
    let is_told = is_within(place.last(&mut state).as_deref(), ANSWER_HOLDS, now);
    (newest > *own && !is_told).then_some(newest)
}

/// Remembers that the user was told here.
pub(crate) fn told(path: &Path, now: SystemTime, place: Place) -> io::Result<()> {
    State::update(path, |state| *place.last(state) = Some(text(now)))
}

/// Remembers that there was none.
pub(crate) fn failed(path: &Path, now: SystemTime) -> io::Result<()> {
    State::update(path, |state| state.last_failed_check = Some(text(now)))
}

fn text(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f216_an_answer_holds_for_a_day_and_a_failure_for_an_hour() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        let now = SystemTime::now();
        let hours = |count: u64| now + Duration::from_secs(count * 3600 + 1);
        assert!(is_due(&path, now));
        failed(&path, now).expect("writes");
        assert!(!is_due(&path, now + Duration::from_secs(1)));
        assert!(is_due(&path, hours(1)));
        answered(&path, now, Some(&Version::new(1, 2, 3))).expect("writes");
        assert!(!is_due(&path, hours(1)));
        assert!(!is_due(&path, hours(23)));
        assert!(is_due(&path, hours(24)));
        let state = State::load(&path);
        assert_eq!((state.newest.as_deref(), state.last_failed_check), (Some("1.2.3"), None));
        answered(&path, now, None).expect("writes");
        assert_eq!(State::load(&path).newest, None);
    }

    #[test]
    fn f228_each_place_tells_once_a_day() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        let now = SystemTime::now();
        let own = Version::new(1, 0, 0);
        assert_eq!(untold(&path, now, &own, Place::Agent), None);
        answered(&path, now, Some(&own)).expect("writes");
        assert_eq!(untold(&path, now, &own, Place::Agent), None, "no newer one");
        let newest = Version::new(2, 0, 0);
        answered(&path, now, Some(&newest)).expect("writes");
        assert_eq!(untold(&path, now, &own, Place::Agent), Some(newest.clone()));
        told(&path, now, Place::Agent).expect("writes");
        assert_eq!(untold(&path, now, &own, Place::Agent), None, "today");
        assert_eq!(untold(&path, now, &own, Place::Terminal), Some(newest.clone()));
        assert_eq!(untold(&path, now + ANSWER_HOLDS, &own, Place::Agent), Some(newest));
    }

    #[test]
    fn a_time_that_is_no_time_or_to_come_does_not_count() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        for time in ["yesterday", "2999-01-01T00:00:00Z"] {
            std::fs::write(&path, format!("last-update-check = \"{time}\"\n")).expect("writes");
            assert!(is_due(&path, SystemTime::now()), "{time}");
        }
    }
}
