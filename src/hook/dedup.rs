//! Deduplicates events: where an agent has two registrations of ours and delivers an event to each,
//! the plugins are asked once.
//!
//! Two deliveries are the same event when session, kind, identity and content are the same and they
//! come at once or within a few seconds. The identity is the agent's own name for the event, else its
//! time, which an agent tells both registrations alike; Kiro alone tells neither. The content is
//! compared too because some models number their uses of tools anew in each turn, so that one
//! identity may come again with another command.
//!
//! Events share [`FILES`] files, chosen by the event's key. Each file is both a lock and a table of
//! the answers that still count. The files are kept, for creating one costs a fifth of what starting
//! a process does. The process that holds the lock answers its event; if it dies, the system releases
//! the lock. An event whose shared file is locked for another event uses a file of its own.
//!
//! A delivery that comes while the event is being answered waits for that answer and repeats its
//! decision; one that comes later repeats it as well, for an agent may listen to either registration.
//! The second delivery may also be another use of a tool that looks the same at the same moment (a
//! model may give two uses one name, too), and a denial must hold for both.
//!
//! A registration can't simply leave an event to the other: Kiro's agent file of a project hides the
//! user's, and Codex trusts each file's hooks apart, so a second registration that keeps silent could
//! be the only one that runs, and guards would be off.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use symposium_hook::Decision;

use super::session::{self, Store};
use crate::agents::wire::{Decoded, Delivery, Outcome};
use crate::config::now_in_ms;
use crate::files::{Lock, LockError, open};

/// How long after its answer a delivery with the same identity is the same event.
const NAMED: Duration = Duration::from_secs(5);
/// The same for one that has neither name nor moment. Registrations are run at the same time or one
/// right after the other; a user or a model that repeats itself takes longer, mostly.
const UNNAMED: Duration = Duration::from_secs(2);
/// How many files events share: few, so that they are soon all there; and so many that the events of
/// an agent that does several things at once rarely meet in one.
const FILES: u8 = 32;
/// How long a file of an event's own stays at least, well beyond the time in which it can come again.
const KEEP: Duration = Duration::from_secs(60);
/// One of so many events that have a file of their own removes the old files of others.
const SWEEP_EACH: u8 = 64;
/// The longest table that is written over without its rest being cut off, in bytes.
const LONG: usize = 64 * 1024;
/// The pause between two looks at a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(1);

/// The extension of a file of an event's own.
const EXTENSION: &str = "event";

/// Whether a delivery is the first of its event.
#[derive(Debug)]
pub(super) enum Occurrence {
    /// It is. Other deliveries wait while the lock is held; without one, nothing is remembered.
    First(Option<EventLock>),
    /// The event was answered before; this is the decision to repeat.
    Repeat(Box<Outcome>),
}

/// The right to answer an event.
#[derive(Debug)]
pub(super) struct EventLock {
    lock: Lock,
    place: Place,
    /// Answers to other events that still count.
    others: Vec<Record>,
    /// The length of the table in the file, in bytes.
    length: usize,
}

/// One delivery of an event, and where its answer is remembered.
#[derive(Debug)]
pub(super) struct Dedup {
    store: Store,
    key: String,
    window: Duration,
}

/// The answer to an event, as a file remembers it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    key: String,
    /// Until when a delivery that looks the same is this event, in milliseconds since 1970.
    until: u64,
    /// `None` while it is being answered.
    answer: Option<Answered>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Answered {
    decision: Option<Decision>,
    reasons: Vec<String>,
    updated_input: Option<Map<String, Value>>,
    stop: Option<String>,
}

/// Which file an event is locked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// One that events share.
    Shared,
    /// Its own.
    Own,
}

impl Place {
    /// On Windows nobody reads a file that another process has locked, so none is shared.
    const ALL: &[Self] = if cfg!(windows) { &[Self::Own] } else { &[Self::Shared, Self::Own] };
}

/// What a file that another process has locked tells of an event.
enum Peek {
    /// It was answered.
    Answered(Answered),
    /// It is being answered.
    Answering,
    /// Another one is being answered.
    Another,
    /// The process that has the lock did not write yet, or is about to release it.
    Unclear,
}

impl Dedup {
    /// For an event of the session; `None` where no agent delivers it twice.
    pub(super) fn new(store: &Store, decoded: &Decoded) -> Option<Self> {
        let key = key(decoded)?;
        let window = match decoded.delivery {
            Delivery::Named(_) | Delivery::Timed(_) => NAMED,
            Delivery::Unnamed(_) | Delivery::Single => UNNAMED,
        };
        Some(Self { store: store.clone(), key, window })
    }

    /// Locks the event, or repeats its answer. A delivery counts as the first where that can't be
    /// found out. `timeout` is how long another process may take to answer.
    pub(super) fn begin(&self, timeout: Duration) -> Occurrence {
        self.begin_in(Place::ALL[0], timeout)
    }

    fn begin_in(&self, place: Place, timeout: Duration) -> Occurrence {
        let path = self.file(place, &self.key);
        let start = Instant::now();
        loop {
            match Lock::acquire(&path, Duration::ZERO) {
                Ok(lock) => return self.locked(lock, place),
                Err(LockError::Busy { .. }) => {}
                Err(LockError::Io { .. }) => return Occurrence::First(None),
            }
            let waited = start.elapsed();
            match self.peek(place, &path) {
                Peek::Answered(answer) => return repeated(answer),
                Peek::Answering if waited >= timeout => return Occurrence::First(None),
                Peek::Another => return self.begin_in(Place::Own, timeout),
                Peek::Unclear if waited >= session::LOCK_TIMEOUT => {
                    return self.begin_in(Place::Own, timeout);
                }
                Peek::Answering | Peek::Unclear => std::thread::sleep(PAUSE.max(waited / 16)),
            }
        }
    }

    /// With the file's lock taken.
    fn locked(&self, lock: Lock, place: Place) -> Occurrence {
        let mut held = EventLock::of(lock, place);
        let mine = held.others.iter().position(|record| record.key == self.key);
        if let Some(answer) = mine.and_then(|index| held.others.swap_remove(index).answer) {
            return repeated(answer);
        }
        let answering = Record { key: self.key.clone(), until: 0, answer: None };
        held.write(vec![answering]);
        Occurrence::First(Some(held))
    }

    /// What a file that another process has locked tells of this event.
    fn peek(&self, place: Place, path: &Path) -> Peek {
        let records = open(path).map(|file| read(&file).0).unwrap_or_default();
        let now = now_in_ms();
        let mine = records.iter().find(|record| record.key == self.key);
        match mine.map(|record| (record.counts(now), &record.answer)) {
            Some((true, Some(answer))) => Peek::Answered(answer.clone()),
            Some((_, None)) => Peek::Answering,
            _ if place == Place::Own => Peek::Answering,
            _ if records.iter().any(|record| record.answer.is_none()) => Peek::Another,
            _ => Peek::Unclear,
        }
    }

    /// Remembers the answer to the delivery that was the first, for the event as it came and as it
    /// was `rewritten`: an agent may deliver it to the second registration with what the first one
    /// made of it.
    pub(super) fn finish(
        &self,
        lock: Option<EventLock>,
        outcome: &Outcome,
        rewritten: Option<&Decoded>,
    ) {
        let Some(mut lock) = lock else { return };
        let window = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        let answer = Answered {
            decision: outcome.decision,
            reasons: outcome.reasons.clone(),
            updated_input: outcome.updated_input.clone(),
            stop: outcome.stop.clone(),
        };
        let until = now_in_ms().saturating_add(window);
        let record = |key: &str| {
            let answer = Some(answer.clone());
            Record { key: key.to_owned(), until, answer }
        };
        let mut own = vec![record(&self.key)];
        if let Some(key) = rewritten.and_then(key).filter(|key| *key != self.key) {
            let shared = |key: &str| self.file(Place::Shared, key);
            if lock.place == Place::Shared && shared(&key) == shared(&self.key) {
                own.push(record(&key));
            } else {
                self.add(&[Place::Shared, Place::Own], record(&key), session::LOCK_TIMEOUT);
            }
        }
        let place = lock.place;
        lock.write(own);
        if place == Place::Own {
            // A delivery that finds the shared file unlocked reads only that one.
            self.add(&[Place::Shared], record(&self.key), Duration::ZERO);
        }
        drop(lock);
        // A byte of the key is as good as a random number, and tests can choose it.
        if place == Place::Own && byte(&self.key[2..]).is_multiple_of(SWEEP_EACH) {
            self.sweep(KEEP);
        }
    }

    /// Adds a record to the first of these files that can be locked in time.
    fn add(&self, places: &[Place], record: Record, timeout: Duration) {
        let free = places.iter().filter(|place| Place::ALL.contains(place)).find_map(|place| {
            let lock = Lock::acquire(&self.file(*place, &record.key), timeout).ok()?;
            Some(EventLock::of(lock, *place))
        });
        if let Some(mut held) = free {
            held.write(vec![record]);
        }
    }

    /// The file of the event of that key.
    fn file(&self, place: Place, key: &str) -> PathBuf {
        match place {
            Place::Shared => {
                self.store.lock().with_file_name(format!("event-{}", byte(key) % FILES))
            }
            Place::Own => self.store.beside(&format!("{key}.{EXTENSION}")),
        }
    }

    /// Removes the files of single events, of any session, that are older than `age` and not locked.
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

impl Record {
    /// Whether its answer stands. A clock that was set back must not make it stand for long.
    fn counts(&self, now: u64) -> bool {
        let longest = u64::try_from(NAMED.as_millis()).unwrap_or(u64::MAX);
        self.until >= now && self.until - now <= longest
    }
}

impl EventLock {
    fn of(lock: Lock, place: Place) -> Self {
        let (mut others, length) = read(lock.file());
        let now = now_in_ms();
        // A record without an answer is of a process that died while it answered.
        others.retain(|record| record.counts(now) && record.answer.is_some());
        Self { lock, place, others, length }
    }

    /// Writes the table over the one that is there: the other events' records, and `own`.
    fn write(&mut self, own: Vec<Record>) {
        match self.try_write(own) {
            Ok(length) => self.length = length,
            Err(error) => tracing::debug!("the event is not remembered: {error}"),
        }
    }

    fn try_write(&self, own: Vec<Record>) -> std::io::Result<usize> {
        let records: Vec<_> = self.others.iter().chain(&own).collect();
        let mut text = serde_json::to_vec(&records)?;
        text.push(b'\n');
        let mut file = self.lock.file();
        file.rewind()?;
        file.write_all(&text)?;
        // What is left of a longer table stands behind the end of the line.
        if self.length > LONG {
            file.set_len(text.len() as u64)?;
        }
        Ok(text.len())
    }
}

fn repeated(answer: Answered) -> Occurrence {
    let Answered { decision, reasons, updated_input, stop } = answer;
    let outcome = Outcome { decision, reasons, updated_input, stop, ..Outcome::default() };
    Occurrence::Repeat(Box::new(outcome))
}

/// The table in a file, and its length in bytes. A text that nobody finished is none.
fn read(file: &File) -> (Vec<Record>, usize) {
    let mut text = Vec::new();
    let length = BufReader::new(file).read_until(b'\n', &mut text).unwrap_or(0);
    if length == 0 {
        return Default::default();
    }
    (serde_json::from_slice(&text).unwrap_or_default(), length)
}

/// The first byte of a key.
fn byte(key: &str) -> u8 {
    u8::from_str_radix(&key[..2], 16).unwrap_or(0)
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
    Some(crate::text::hex(&Sha256::digest(&content))[..32].to_owned())
}

#[cfg(test)]
mod tests;
