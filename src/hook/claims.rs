//! An event that an agent delivers twice, because it has us registered twice, is answered once.
//!
//! Twice is: the same session, event, identity and content, at the same time or within a few
//! seconds. The identity is the agent's own name for the event, else its moment, which an agent tells
//! both registrations alike; Kiro alone tells neither. The content counts because some models number
//! their uses of tools anew in each turn, so that an identity alone may come again with another
//! command behind it.
//!
//! Each event has a file, which is both its lock and its answer. Whoever has the lock answers it; the
//! system lets go of the lock should that process die. Nothing is replaced or listed for it: where
//! hundreds of events come in a second, each still costs the same.
//!
//! Who comes while it is held says nothing, for the agent waits for both and takes the stronger
//! answer (all that run us twice do). Only a use of a tool without a name may be another use that
//! looks the same, at the same moment, and a denial must not pass it by: that delivery waits for the
//! answer, as it would for its own. Who comes later repeats the decision, for an agent may listen to
//! either.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use symposium_hook::Decision;

use super::session::{self, Store};
use crate::agents::wire::{Decoded, Delivery, Outcome};
use crate::config::Dirs;
use crate::files::{Lock, LockError};

/// How long after its answer an event that looks the same is the same.
const NAMED: Duration = Duration::from_secs(5);
/// The same for one that has neither name nor moment. Registrations are run at the same time or one
/// right after the other; a user or a model that repeats itself takes longer, mostly.
const UNNAMED: Duration = Duration::from_secs(2);
/// How long an event's file stays at least, well beyond the time in which the event can come again.
const KEEP: Duration = Duration::from_secs(60);
/// At one event of so many, those of long ago are removed.
const SWEEP_EACH: u8 = 64;

/// Of an event's file.
const EXTENSION: &str = "event";

/// What a delivery is.
#[derive(Debug)]
pub enum Claim {
    /// Nobody was asked yet. Others wait while this is held; without it, nothing is remembered.
    First(Option<Lock>),
    /// It was answered, or is being answered: this is to be said again.
    Repeated(Box<Outcome>),
}

/// One delivery, and where those of its session are remembered.
#[derive(Debug)]
pub struct Claims {
    store: Store,
    key: String,
    window: Duration,
    /// Whether a delivery waits for another one's answer.
    waits: bool,
}

/// What came of a delivery.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Until when what looks the same is the same, in milliseconds since 1970.
    until: u64,
    answer: Said,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    decision: Option<Decision>,
    reasons: Vec<String>,
    updated_input: Option<Map<String, Value>>,
    stop: Option<String>,
}

impl Claims {
    /// For an event of a session; `None` where nobody delivers it twice.
    pub fn new(dirs: &Dirs, decoded: &Decoded) -> Option<Self> {
        let store = Store::new(dirs, decoded.input.session_id()?);
        let key = key(decoded)?;
        let named = matches!(decoded.delivery, Delivery::Named(_));
        let waits = !named && decoded.input.event().is_tool_event();
        let window = match decoded.delivery {
            Delivery::Named(_) | Delivery::Timed(_) => NAMED,
            Delivery::Unnamed(_) | Delivery::Single => UNNAMED,
        };
        Some(Self { store, key, window, waits })
    }

    /// What this delivery is. Where that can't be found out it counts as the first. `patience` is
    /// how long another process may take to answer what only looks the same.
    pub fn claim(&self, patience: Duration) -> Claim {
        let patience = if self.waits { patience } else { Duration::ZERO };
        let held = match Lock::acquire(&self.file(&self.key), patience) {
            Ok(held) => Some(held),
            Err(LockError::Busy { .. }) if !self.waits => return Claim::Repeated(Box::default()),
            Err(_) => None,
        };
        let Some(record) = held.as_ref().and_then(|held| read(held.file())) else {
            return Claim::First(held);
        };
        let Said { decision, reasons, updated_input, stop } = record.answer;
        let said = Outcome { decision, reasons, updated_input, stop, ..Outcome::default() };
        Claim::Repeated(Box::new(said))
    }

    /// Remembers the answer to the delivery that was the first, for the event as it came and as it
    /// was `rewritten`: an agent may deliver it to the second registration with what the first one
    /// made of it.
    pub fn answered(&self, held: Option<&Lock>, outcome: &Outcome, rewritten: Option<&Decoded>) {
        let Some(held) = held else { return };
        let window = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        let answer = Said {
            decision: outcome.decision,
            reasons: outcome.reasons.clone(),
            updated_input: outcome.updated_input.clone(),
            stop: outcome.stop.clone(),
        };
        let record = Record { until: session::now().saturating_add(window), answer };
        let mut written = write(held.file(), &record);
        if let Some(key) = rewritten.and_then(key).filter(|key| *key != self.key) {
            let other = Lock::acquire(&self.file(&key), session::PATIENCE);
            written = written
                .and(other.map_err(std::io::Error::other).and_then(|o| write(o.file(), &record)));
        }
        if let Err(error) = written {
            tracing::debug!("the event is not remembered: {error}");
        }
        // As good as by chance, and the same for a test.
        if u8::from_str_radix(&self.key[..2], 16).is_ok_and(|byte| byte % SWEEP_EACH == 0) {
            self.sweep(KEEP);
        }
    }

    /// The file of an event of the session.
    fn file(&self, key: &str) -> PathBuf {
        self.store.beside(&format!("{key}.{EXTENSION}"))
    }

    /// Removes the files of all events, of any session, that are older than `age` and that nobody
    /// holds.
    fn sweep(&self, age: Duration) {
        let folder = self.store.lock().parent().map(std::fs::read_dir);
        for entry in folder.into_iter().flatten().flatten().flatten() {
            let path = entry.path();
            let is_event = path.extension().is_some_and(|extension| extension == EXTENSION);
            let written = || entry.metadata().and_then(|found| found.modified());
            if is_event
                && written().is_ok_and(|time| time.elapsed().is_ok_and(|passed| passed >= age))
                && let Ok(_held) = Lock::acquire(&path, Duration::ZERO)
            {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// What came of the event, if that still counts. A text that nobody finished is none.
fn read(mut file: &File) -> Option<Record> {
    // A first delivery finds an empty one.
    file.metadata().ok().filter(|found| found.len() > 0)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    let now = session::now();
    // A clock that was set back must not make it count for long.
    let longest = u64::try_from(NAMED.as_millis()).unwrap_or(u64::MAX);
    (record.until >= now && record.until - now <= longest).then_some(record)
}

/// Writes over what is there, which does not count any more.
fn write(mut file: &File, record: &Record) -> std::io::Result<()> {
    let text = serde_json::to_vec(record)?;
    file.rewind()?;
    file.write_all(&text)?;
    if file.metadata()?.len() != text.len() as u64 {
        file.set_len(text.len() as u64)?;
    }
    Ok(())
}

/// What two deliveries of the same event share.
fn key(decoded: &Decoded) -> Option<String> {
    let (kind, name) = match &decoded.delivery {
        Delivery::Named(name) => ("named", name),
        Delivery::Timed(moment) => ("timed", moment),
        Delivery::Unnamed(name) => ("unnamed", name),
        Delivery::Single => return None,
    };
    let content = serde_json::to_vec(&(kind, name, &decoded.input)).ok()?;
    Some(crate::sync::content::hex(&Sha256::digest(&content))[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use symposium_hook::{Input, PreToolUseInput, SessionStartInput};

    fn event(delivery: Delivery, command: &str) -> Decoded {
        let input = Input::PreToolUse(PreToolUseInput {
            tool_name: "Bash".to_owned(),
            tool_input: serde_json::json!({ "command": command }),
            session_id: Some("s".to_owned()),
            ..PreToolUseInput::default()
        });
        Decoded { input, tool_use_id: None, delivery, foreign: false }
    }

    fn named(id: &str, command: &str) -> Decoded {
        event(Delivery::Named(id.to_owned()), command)
    }

    fn timed(moment: &str, command: &str) -> Decoded {
        event(Delivery::Timed(moment.to_owned()), command)
    }

    fn unnamed(command: &str) -> Decoded {
        event(Delivery::Unnamed(String::new()), command)
    }

    fn start(source: &str) -> Decoded {
        let session = SessionStartInput { session_id: Some("s".to_owned()), cwd: None };
        let delivery = Delivery::Unnamed(source.to_owned());
        Decoded { input: Input::SessionStart(session), ..event(delivery, "") }
    }

    fn claims(dir: &tempfile::TempDir, decoded: &Decoded) -> Claims {
        Claims::new(&Dirs::under(dir.path()), decoded).expect("somebody may deliver it twice")
    }

    fn dir() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    /// The lock of a first delivery.
    #[track_caller]
    fn first(claim: Claim) -> Lock {
        match claim {
            Claim::First(Some(held)) => held,
            other => panic!("not the first: {other:?}"),
        }
    }

    /// What is said of a repeated delivery.
    #[track_caller]
    fn repeated(claim: Claim) -> Outcome {
        match claim {
            Claim::Repeated(outcome) => *outcome,
            Claim::First(_) => panic!("it is a first one"),
        }
    }

    #[test]
    fn a_repeated_event_gets_the_decision_of_the_first() {
        for decoded in [
            named("call_1", "rm -rf /"),
            timed("17", "rm -rf /"),
            unnamed("rm -rf /"),
            start("resume"),
        ] {
            let dir = dir();
            let claims = || claims(&dir, &decoded);
            let held = first(claims().claim(Duration::ZERO));
            let denied = Outcome { stop: Some("enough".to_owned()), ..Outcome::denied("no") };
            let said = Outcome { context: vec!["c".to_owned()], ..denied.clone() };
            claims().answered(Some(&held), &said, None);
            drop(held);
            assert_eq!(repeated(claims().claim(Duration::ZERO)), denied);
        }
    }

    #[test]
    fn while_it_is_being_answered_a_named_event_or_one_without_a_tool_is_not_answered_again() {
        for decoded in [named("call_1", "ls"), start("startup")] {
            let dir = dir();
            let _held = first(claims(&dir, &decoded).claim(Duration::ZERO));
            let silence = repeated(claims(&dir, &decoded).claim(Duration::from_secs(60)));
            assert_eq!(silence, Outcome::default());
        }
    }

    #[test]
    fn a_use_of_a_tool_without_a_name_waits_for_the_answer() {
        for decoded in [unnamed("rm -rf /"), timed("17", "rm -rf /")] {
            let dir = dir();
            let held = first(claims(&dir, &decoded).claim(Duration::ZERO));
            std::thread::scope(|scope| {
                let second = scope.spawn(|| claims(&dir, &decoded).claim(Duration::from_secs(60)));
                std::thread::sleep(Duration::from_millis(100));
                assert!(!second.is_finished());
                claims(&dir, &decoded).answered(Some(&held), &Outcome::denied("no"), None);
                drop(held);
                assert_eq!(repeated(second.join().expect("no panic")), Outcome::denied("no"));
            });
        }
    }

    #[test]
    fn who_waits_for_nothing_or_too_long_asks_the_plugins_itself() {
        let dir = dir();
        let decoded = unnamed("ls");
        let held = first(claims(&dir, &decoded).claim(Duration::ZERO));
        let late = claims(&dir, &decoded).claim(Duration::from_millis(20));
        assert!(matches!(late, Claim::First(None)));
        // The process dies without an answer.
        drop(held);
        let _next = first(claims(&dir, &decoded).claim(Duration::ZERO));
    }

    #[test]
    fn another_command_under_the_same_identity_is_another_event() {
        let dir = dir();
        for decoded in [
            named("call_0", "ls"),
            named("call_0", "rm -rf /"),
            named("call_1", "ls"),
            timed("17", "ls"),
            timed("18", "ls"),
            timed("17", "rm -rf /"),
            unnamed("ls"),
            unnamed("rm -rf /"),
            start("startup"),
            start("compact"),
        ] {
            let claims = claims(&dir, &decoded);
            let held = first(claims.claim(Duration::ZERO));
            claims.answered(Some(&held), &Outcome::denied("no"), None);
        }
        let single = event(Delivery::Single, "ls");
        assert!(Claims::new(&Dirs::under(dir.path()), &single).is_none());
        let Input::SessionStart(mut nobody) = start("startup").input else { unreachable!() };
        nobody.session_id = None;
        let sessionless = Decoded { input: Input::SessionStart(nobody), ..start("startup") };
        assert!(Claims::new(&Dirs::under(dir.path()), &sessionless).is_none());
    }

    #[test]
    fn an_event_that_comes_again_as_the_first_answer_rewrote_it_is_the_same() {
        let dir = dir();
        let (before, after) = (named("1", "rm x"), named("1", "trash x"));
        let held = first(claims(&dir, &before).claim(Duration::ZERO));
        let input = serde_json::json!({ "command": "trash x" }).as_object().cloned();
        let rewrite = Outcome { updated_input: input, ..Outcome::default() };
        claims(&dir, &before).answered(Some(&held), &rewrite, Some(&after));
        assert_eq!(repeated(claims(&dir, &after).claim(Duration::ZERO)), rewrite);
    }

    #[test]
    fn what_is_long_ago_does_not_count_nor_what_is_far_ahead() {
        let now = session::now();
        for until in [now - 1, now + 3_600_000] {
            let dir = dir();
            let claims = claims(&dir, &named("1", "ls"));
            let long = Said { reasons: vec!["no".repeat(1_000)], ..Said::default() };
            let held = first(claims.claim(Duration::ZERO));
            write(held.file(), &Record { until, answer: long }).expect("writes");
            drop(held);
            let held = first(claims.claim(Duration::ZERO));
            claims.answered(Some(&held), &Outcome::denied("yes"), None);
            drop(held);
            assert_eq!(repeated(claims.claim(Duration::ZERO)), Outcome::denied("yes"));
        }
    }

    #[test]
    fn a_text_that_nobody_finished_is_no_answer() {
        let dir = dir();
        let claims = claims(&dir, &named("1", "ls"));
        let held = first(claims.claim(Duration::ZERO));
        claims.answered(Some(&held), &Outcome::denied("no"), None);
        drop(held);
        let text = std::fs::read(claims.file(&claims.key)).expect("an answer");
        for cut in 0..text.len() {
            std::fs::write(claims.file(&claims.key), &text[..cut]).expect("writes");
            let _held = first(claims.claim(Duration::ZERO));
        }
    }

    #[test]
    fn the_files_of_long_ago_are_removed_but_none_that_is_held() {
        let dir = dir();
        let held = first(claims(&dir, &named("held", "ls")).claim(Duration::ZERO));
        let files = || std::fs::read_dir(dir.path().join("cache/locks")).expect("a folder").count();
        for number in 0..2_000 {
            let claims = claims(&dir, &named(&number.to_string(), "ls"));
            drop(first(claims.claim(Duration::ZERO)));
        }
        let claims = claims(&dir, &named("last", "ls"));
        claims.sweep(KEEP);
        assert_eq!(files(), 2_001);
        claims.sweep(Duration::ZERO);
        assert_eq!(files(), 1);
        drop(held);
    }

    /// As many events of a session as an agent has in days, an hour apart.
    #[test]
    fn the_files_of_a_session_without_end_stay_few() {
        let dir = dir();
        let folder = dir.path().join("cache/locks");
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        let mut most = 0;
        for number in 0..3_000 {
            let claims = claims(&dir, &named(&number.to_string(), "ls"));
            let held = first(claims.claim(Duration::ZERO));
            claims.answered(Some(&held), &Outcome::default(), None);
            if let Ok(file) = File::options().write(true).open(claims.file(&claims.key)) {
                file.set_modified(hour_ago).expect("sets");
            }
            most = most.max(std::fs::read_dir(&folder).expect("a folder").count());
        }
        assert!(most < 16 * usize::from(SWEEP_EACH), "{most}");
    }

    #[test]
    fn where_nothing_can_be_written_each_event_is_the_first() {
        let dir = dir();
        let file = dir.path().join("file");
        std::fs::write(&file, "").expect("writes");
        let claims = Claims::new(&Dirs::under(&file), &named("1", "ls")).expect("has an identity");
        for _ in 0..2 {
            assert!(matches!(claims.claim(Duration::ZERO), Claim::First(None)));
            claims.answered(None, &Outcome::default(), None);
        }
    }
}
