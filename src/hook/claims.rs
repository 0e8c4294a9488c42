//! An event that an agent delivers twice, because it has us registered twice, is answered once.
//!
//! Twice is: the same session, event, identity and content, at the same time or within a few
//! seconds. The identity is the agent's own name for the event, else its moment, which an agent tells
//! both registrations alike; Kiro alone tells neither. The content counts because some models number
//! their uses of tools anew in each turn, so that an identity alone may come again with another
//! command behind it.
//!
//! Events share a few files, each of which is both a lock and a table of answers that still count; an
//! event's key says which is its. They stay, for making a file costs a fifth of what starting a process
//! does. Whoever has the lock answers its event; the system lets go of the lock should that process
//! die. An event whose file is held for another one has a file of its own.
//!
//! A delivery that comes while the event is being answered waits for the answer, as it would for its
//! own, and repeats the decision. It may be another use of a tool that looks the same at the same
//! moment (a model may give two uses one name, too), and a denial must hold for both. One that comes
//! later repeats the decision as well, for an agent may listen to either.

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
use crate::config::Dirs;
use crate::files::{Lock, LockError, open};

/// How long after its answer an event that looks the same is the same.
const NAMED: Duration = Duration::from_secs(5);
/// The same for one that has neither name nor moment. Registrations are run at the same time or one
/// right after the other; a user or a model that repeats itself takes longer, mostly.
const UNNAMED: Duration = Duration::from_secs(2);
/// How many files events share: few, so that they are soon all there; and so many that the events of
/// an agent that does several things at once rarely meet in one.
const FILES: u8 = 32;
/// How long a file of an event's own stays at least, well beyond the time in which it can come again.
const KEEP: Duration = Duration::from_secs(60);
/// At one of so many events that have a file of their own, those of long ago are removed.
const SWEEP_EACH: u8 = 64;
/// The longest table that is written over without its rest being cut off, in bytes.
const LONG: usize = 64 * 1024;
/// The pause between two looks at a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(1);

/// Of a file of an event's own.
const EXTENSION: &str = "event";

/// What a delivery is.
#[derive(Debug)]
pub enum Claim {
    /// Nobody was asked yet. Others wait while this is held; without it, nothing is remembered.
    First(Option<Held>),
    /// It was answered: this is to be said again.
    Repeated(Box<Outcome>),
}

/// The right to answer an event.
#[derive(Debug)]
pub struct Held {
    lock: Lock,
    place: Place,
    /// What others said that still counts.
    others: Vec<Record>,
    /// The length of the table in the file, in bytes.
    length: usize,
}

/// One delivery, and where it is remembered.
#[derive(Debug)]
pub struct Claims {
    store: Store,
    key: String,
    window: Duration,
}

/// What is known of an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    key: String,
    /// Until when what looks the same is the same, in milliseconds since 1970.
    until: u64,
    /// `None` while it is being answered.
    answer: Option<Said>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Said {
    decision: Option<Decision>,
    reasons: Vec<String>,
    updated_input: Option<Map<String, Value>>,
    stop: Option<String>,
}

/// A file that an event is claimed in.
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

/// What a look at a file that is held tells of an event.
enum Look {
    /// It was answered.
    Answered(Said),
    /// It is being answered.
    Answering,
    /// Another one is being answered.
    Another,
    /// Whoever holds it did not say yet, or is about to let go.
    Unclear,
}

impl Claims {
    /// For an event of a session; `None` where nobody delivers it twice.
    pub fn new(dirs: &Dirs, decoded: &Decoded) -> Option<Self> {
        let store = Store::new(dirs, decoded.input.session_id()?);
        let key = key(decoded)?;
        let window = match decoded.delivery {
            Delivery::Named(_) | Delivery::Timed(_) => NAMED,
            Delivery::Unnamed(_) | Delivery::Single => UNNAMED,
        };
        Some(Self { store, key, window })
    }

    /// What this delivery is. Where that can't be found out it counts as the first. `patience` is
    /// how long another process may take to answer.
    pub fn claim(&self, patience: Duration) -> Claim {
        self.claim_in(Place::ALL[0], patience)
    }

    fn claim_in(&self, place: Place, patience: Duration) -> Claim {
        let path = self.file(place, &self.key);
        let start = Instant::now();
        loop {
            match Lock::acquire(&path, Duration::ZERO) {
                Ok(lock) => return self.enter(lock, place),
                Err(LockError::Busy { .. }) => {}
                Err(LockError::Io { .. }) => return Claim::First(None),
            }
            let waited = start.elapsed();
            match self.look(place, &path) {
                Look::Answered(said) => return repeated(said),
                Look::Answering if waited >= patience => return Claim::First(None),
                Look::Another => return self.claim_in(Place::Own, patience),
                Look::Unclear if waited >= session::PATIENCE => {
                    return self.claim_in(Place::Own, patience);
                }
                Look::Answering | Look::Unclear => std::thread::sleep(PAUSE.max(waited / 16)),
            }
        }
    }

    /// With the file's lock taken.
    fn enter(&self, lock: Lock, place: Place) -> Claim {
        let mut held = Held::of(lock, place);
        let mine = held.others.iter().position(|record| record.key == self.key);
        if let Some(said) = mine.and_then(|index| held.others.swap_remove(index).answer) {
            return repeated(said);
        }
        let answering = Record { key: self.key.clone(), until: 0, answer: None };
        held.write(vec![answering]);
        Claim::First(Some(held))
    }

    /// What is going on in a file that another process holds.
    fn look(&self, place: Place, path: &Path) -> Look {
        let records = open(path).map(|file| read(&file).0).unwrap_or_default();
        let now = session::now();
        let mine = records.iter().find(|record| record.key == self.key);
        match mine.map(|record| (record.counts(now), &record.answer)) {
            Some((true, Some(said))) => Look::Answered(said.clone()),
            Some((_, None)) => Look::Answering,
            _ if place == Place::Own => Look::Answering,
            _ if records.iter().any(|record| record.answer.is_none()) => Look::Another,
            _ => Look::Unclear,
        }
    }

    /// Remembers the answer to the delivery that was the first, for the event as it came and as it
    /// was `rewritten`: an agent may deliver it to the second registration with what the first one
    /// made of it.
    pub fn answered(&self, held: Option<Held>, outcome: &Outcome, rewritten: Option<&Decoded>) {
        let Some(mut held) = held else { return };
        let window = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        let answer = Said {
            decision: outcome.decision,
            reasons: outcome.reasons.clone(),
            updated_input: outcome.updated_input.clone(),
            stop: outcome.stop.clone(),
        };
        let until = session::now().saturating_add(window);
        let record = |key: &str| {
            let answer = Some(answer.clone());
            Record { key: key.to_owned(), until, answer }
        };
        let mut own = vec![record(&self.key)];
        if let Some(key) = rewritten.and_then(key).filter(|key| *key != self.key) {
            let shared = |key: &str| self.file(Place::Shared, key);
            if held.place == Place::Shared && shared(&key) == shared(&self.key) {
                own.push(record(&key));
            } else {
                self.add(&[Place::Shared, Place::Own], record(&key), session::PATIENCE);
            }
        }
        let place = held.place;
        held.write(own);
        if place == Place::Own {
            // Whoever comes when the shared file is free looks there.
            self.add(&[Place::Shared], record(&self.key), Duration::ZERO);
        }
        drop(held);
        // As good as by chance, and the same for a test.
        if place == Place::Own && byte(&self.key[2..]).is_multiple_of(SWEEP_EACH) {
            self.sweep(KEEP);
        }
    }

    /// Adds what is said of an event to the first of these files that is free in time.
    fn add(&self, places: &[Place], record: Record, patience: Duration) {
        let free = places.iter().filter(|place| Place::ALL.contains(place)).find_map(|place| {
            let lock = Lock::acquire(&self.file(*place, &record.key), patience).ok()?;
            Some(Held::of(lock, *place))
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

    /// Removes the files of single events, of any session, that are older than `age` and that nobody
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

impl Record {
    /// Whether its answer stands. A clock that was set back must not make it stand for long.
    fn counts(&self, now: u64) -> bool {
        let longest = u64::try_from(NAMED.as_millis()).unwrap_or(u64::MAX);
        self.until >= now && self.until - now <= longest
    }
}

impl Held {
    fn of(lock: Lock, place: Place) -> Self {
        let (mut others, length) = read(lock.file());
        let now = session::now();
        // Whoever died while it answered said nothing.
        others.retain(|record| record.counts(now) && record.answer.is_some());
        Self { lock, place, others, length }
    }

    /// Writes the table over the one that is there: what others said, and `own`.
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

fn repeated(said: Said) -> Claim {
    let Said { decision, reasons, updated_input, stop } = said;
    let outcome = Outcome { decision, reasons, updated_input, stop, ..Outcome::default() };
    Claim::Repeated(Box::new(outcome))
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
