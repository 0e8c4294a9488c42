//! An event that an agent delivers twice, because it has us registered twice, is answered once.
//!
//! Twice is: the same session, event, identity and content, within a few seconds. The content
//! counts because some models number their uses of tools anew in each turn, so that an identity
//! alone may come again with another command behind it. The second delivery gets the decision of
//! the first, for an agent may listen to either; while the first is still being answered it gets
//! none, for the agent then waits for both.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use symposium_hook::Decision;

use super::session::{self, Store};
use crate::agents::wire::{Decoded, Outcome};
use crate::config::Dirs;
use crate::files::Lock;

/// How long after its answer an event that looks the same is the same.
const AFTER: Duration = Duration::from_secs(5);
/// How long an event may be in work; whoever worked longer was ended by the agent.
const IN_WORK: Duration = Duration::from_secs(60);

/// What a delivery is.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// Nobody was asked yet.
    First,
    /// It was answered, or is being answered: this is to be said again.
    Repeated(Box<Outcome>),
}

/// One delivery, and where those of its session are remembered.
#[derive(Debug)]
pub struct Claims {
    key: String,
    path: PathBuf,
    lock: PathBuf,
}

/// A delivery of before.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    key: String,
    /// When it began, or was answered, in milliseconds since 1970.
    at: u64,
    answer: Option<Said>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    decision: Option<Decision>,
    reasons: Vec<String>,
    updated_input: Option<Map<String, Value>>,
}

impl Claims {
    /// For an event that can be told from the others of its session.
    pub fn new(dirs: &Dirs, decoded: &Decoded) -> Option<Self> {
        let delivery = decoded.delivery.as_deref()?;
        let store = Store::new(dirs, decoded.input.session_id()?);
        let content = serde_json::to_vec(&decoded.input).ok()?;
        let hash = crate::sync::content::hex(&Sha256::digest(&content));
        let key = format!("{} {delivery} {}", decoded.input.event().name(), &hash[..32]);
        Some(Self { key, path: store.beside("claims"), lock: store.lock().to_path_buf() })
    }

    /// What this delivery is; a first one is remembered. When that can't be done it counts as one.
    pub fn claim(&self) -> Claim {
        let Ok(_held) = Lock::acquire(&self.lock, session::PATIENCE) else { return Claim::First };
        let mut records = self.read();
        if let Some(record) = records.iter().find(|record| record.key == self.key) {
            let said = record.answer.as_ref().map(|said| Outcome {
                decision: said.decision,
                reasons: said.reasons.clone(),
                updated_input: said.updated_input.clone(),
                ..Outcome::default()
            });
            return Claim::Repeated(Box::new(said.unwrap_or_default()));
        }
        records.push(Record { key: self.key.clone(), at: session::now(), answer: None });
        self.write(&records);
        Claim::First
    }

    /// Remembers the answer.
    pub fn answered(&self, outcome: &Outcome) {
        let Ok(_held) = Lock::acquire(&self.lock, session::PATIENCE) else { return };
        let mut records = self.read();
        records.retain(|record| record.key != self.key);
        let answer = Some(Said {
            decision: outcome.decision,
            reasons: outcome.reasons.clone(),
            updated_input: outcome.updated_input.clone(),
        });
        records.push(Record { key: self.key.clone(), at: session::now(), answer });
        self.write(&records);
    }

    /// Those that still count.
    fn read(&self) -> Vec<Record> {
        let bytes = std::fs::read(&self.path).unwrap_or_default();
        let mut records: Vec<Record> = serde_json::from_slice(&bytes).unwrap_or_default();
        let now = session::now();
        records.retain(|record| {
            let window = if record.answer.is_some() { AFTER } else { IN_WORK };
            u128::from(now.abs_diff(record.at)) <= window.as_millis()
        });
        records
    }

    fn write(&self, records: &[Record]) {
        let bytes = serde_json::to_vec(records).unwrap_or_default();
        if let Err(error) = session::replace(&self.path, &bytes) {
            tracing::debug!("the event is not remembered: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symposium_hook::{Input, PreToolUseInput};

    fn event(id: &str, command: &str) -> Decoded {
        let input = Input::PreToolUse(PreToolUseInput {
            tool_name: "Bash".to_owned(),
            tool_input: serde_json::json!({ "command": command }),
            session_id: Some("s".to_owned()),
            ..PreToolUseInput::default()
        });
        let id = Some(id.to_owned());
        Decoded { input, tool_use_id: id.clone(), delivery: id, foreign: false }
    }

    #[test]
    fn a_repeated_event_gets_the_decision_of_the_first() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        let claims = |decoded: &Decoded| Claims::new(&dirs, decoded).expect("has an identity");
        let first = event("call_1", "rm -rf /");
        assert_eq!(claims(&first).claim(), Claim::First);
        let silence = Claim::Repeated(Box::default());
        assert_eq!(claims(&first).claim(), silence, "it is being answered");
        let denied = Outcome::denied("no");
        claims(&first).answered(&Outcome { context: vec!["c".to_owned()], ..denied.clone() });
        assert_eq!(claims(&first).claim(), Claim::Repeated(Box::new(denied)));
    }

    #[test]
    fn another_command_under_the_same_identity_is_another_event() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        for (id, command) in [("call_0", "ls"), ("call_0", "rm -rf /"), ("call_1", "ls")] {
            let claims = Claims::new(&dirs, &event(id, command)).expect("has an identity");
            assert_eq!(claims.claim(), Claim::First, "{id} {command}");
        }
        let nameless = Decoded { delivery: None, ..event("", "ls") };
        assert!(Claims::new(&dirs, &nameless).is_none());
    }

    #[test]
    fn what_is_long_ago_does_not_count() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let claims =
            Claims::new(&Dirs::under(dir.path()), &event("1", "ls")).expect("has an identity");
        claims.answered(&Outcome::default());
        let ago = session::now() - 6_000;
        let answer = Some(Said::default());
        claims.write(&[Record { key: claims.key.clone(), at: ago, answer }]);
        assert_eq!(claims.claim(), Claim::First);
    }

    #[test]
    fn where_nothing_can_be_written_each_event_is_the_first() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        std::fs::write(&file, "").expect("writes");
        let claims = Claims::new(&Dirs::under(&file), &event("1", "ls")).expect("has an identity");
        assert_eq!((claims.claim(), claims.claim()), (Claim::First, Claim::First));
    }
}
