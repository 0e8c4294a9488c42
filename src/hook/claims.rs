//! An event that an agent delivers twice, because it has us registered twice, is answered once.
//!
//! Twice is: the same session, event, identity and content, at the same time or within a few
//! seconds. The identity is the agent's own name for the event, else its moment, which an agent tells
//! both registrations alike; Kiro alone tells neither. The content counts because some models number
//! their uses of tools anew in each turn, so that an identity alone may come again with another
//! command behind it.
//!
//! Whoever has the event's lock answers it; the system lets go of the lock should that process die.
//! Who comes while it is held says nothing, for the agent waits for both and takes the stronger
//! answer (all that run us twice do). Only a use of a tool without a name may be another use that
//! looks the same, at the same moment, and a denial must not pass it by: that delivery waits for the
//! answer, as it would for its own. Who comes later repeats the decision, for an agent may listen to
//! either.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use symposium_hook::Decision;

use super::session::{self, Store};
use crate::agents::wire::{Decoded, Delivery, Outcome};
use crate::config::Dirs;
use crate::files::{Lock, LockError, replace_cache};

/// How long after its answer an event that looks the same is the same.
const NAMED: Duration = Duration::from_secs(5);
/// The same for one that has neither name nor moment. Registrations are run at the same time or one
/// right after the other; a user or a model that repeats itself takes longer, mostly.
const UNNAMED: Duration = Duration::from_secs(2);

/// What a delivery is.
#[derive(Debug)]
pub enum Claim {
    /// Nobody was asked yet. Others wait while this is held.
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

/// A delivery of before.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    key: String,
    /// Until when what looks the same is the same, in milliseconds since 1970.
    until: u64,
    answer: Said,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
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
        let held = match Lock::acquire(&self.turn(), patience) {
            Ok(held) => Some(held),
            Err(LockError::Busy { .. }) if !self.waits => return Claim::Repeated(Box::default()),
            Err(_) => None,
        };
        let records = self.read();
        let Some(record) = records.into_iter().find(|record| record.key == self.key) else {
            return Claim::First(held);
        };
        if held.is_some() {
            self.forget_turn();
        }
        let Said { decision, reasons, updated_input, stop } = record.answer;
        let said = Outcome { decision, reasons, updated_input, stop, ..Outcome::default() };
        Claim::Repeated(Box::new(said))
    }

    /// Remembers the answer, for the event as it came and as it was `rewritten`: an agent may
    /// deliver it to the second registration with what the first one made of it.
    pub fn answered(&self, outcome: &Outcome, rewritten: Option<&Decoded>) {
        if let Ok(_held) = Lock::acquire(self.store.lock(), session::PATIENCE) {
            let answer = Said {
                decision: outcome.decision,
                reasons: outcome.reasons.clone(),
                updated_input: outcome.updated_input.clone(),
                stop: outcome.stop.clone(),
            };
            let window = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
            let until = session::now().saturating_add(window);
            let mut records = self.read();
            for key in std::iter::once(self.key.clone()).chain(rewritten.and_then(key)) {
                records.retain(|record| record.key != key);
                records.push(Record { key, until, answer: answer.clone() });
            }
            self.write(&records);
        }
        self.forget_turn();
    }

    /// The lock of whoever answers the event.
    fn turn(&self) -> PathBuf {
        self.store.beside(&format!("{}.turn", self.key))
    }

    /// Removes the lock's file. Somebody may wait for the lock of the file that was, and somebody
    /// else take the next one's: both find the answer, which is written before.
    fn forget_turn(&self) {
        let _ = std::fs::remove_file(self.turn());
    }

    /// Those that still count.
    fn read(&self) -> Vec<Record> {
        let bytes = std::fs::read(self.store.beside("claims")).unwrap_or_default();
        let mut records: Vec<Record> = serde_json::from_slice(&bytes).unwrap_or_default();
        let now = session::now();
        // A clock that was set back must not make them count for long.
        let longest = u64::try_from(NAMED.as_millis()).unwrap_or(u64::MAX);
        records.retain(|record| record.until >= now && record.until - now <= longest);
        records
    }

    fn write(&self, records: &[Record]) {
        let bytes = serde_json::to_vec(records).unwrap_or_default();
        if let Err(error) = replace_cache(&self.store.beside("claims"), &bytes) {
            tracing::debug!("the event is not remembered: {error}");
        }
    }
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
            claims().answered(&said, None);
            drop(held);
            assert_eq!(repeated(claims().claim(Duration::ZERO)), denied);
            assert!(!claims().turn().exists());
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
                claims(&dir, &decoded).answered(&Outcome::denied("no"), None);
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
            let _held = first(claims.claim(Duration::ZERO));
            claims.answered(&Outcome::denied("no"), None);
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
        let _held = first(claims(&dir, &before).claim(Duration::ZERO));
        let input = serde_json::json!({ "command": "trash x" }).as_object().cloned();
        let rewrite = Outcome { updated_input: input, ..Outcome::default() };
        claims(&dir, &before).answered(&rewrite, Some(&after));
        assert_eq!(repeated(claims(&dir, &after).claim(Duration::ZERO)), rewrite);
    }

    #[test]
    fn what_is_long_ago_does_not_count_nor_what_is_far_ahead() {
        let now = session::now();
        for until in [now - 1, now + 3_600_000] {
            let dir = dir();
            let claims = claims(&dir, &named("1", "ls"));
            let answer = Said::default();
            std::fs::create_dir_all(dir.path().join("cache/locks")).expect("a folder");
            claims.write(&[Record { key: claims.key.clone(), until, answer }]);
            let _held = first(claims.claim(Duration::ZERO));
        }
    }

    #[test]
    fn where_nothing_can_be_written_each_event_is_the_first() {
        let dir = dir();
        let file = dir.path().join("file");
        std::fs::write(&file, "").expect("writes");
        let claims = Claims::new(&Dirs::under(&file), &named("1", "ls")).expect("has an identity");
        for _ in 0..2 {
            assert!(matches!(claims.claim(Duration::ZERO), Claim::First(None)));
            claims.answered(&Outcome::default(), None);
        }
    }
}
