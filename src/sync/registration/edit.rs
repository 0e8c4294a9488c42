//! A shared file's text, turned into what it should be.

use serde_json::Value;

use super::desired::{FileWork, Which, Wish};
use crate::agents::Agent;
use crate::agents::command::is_ours;
use crate::agents::places::HookEntry;
use crate::documents::{
    Candidate, Created, Document, Edited, Entry, Keep, Ledger, Ours, Record, hash_value,
};
use crate::report::{Action, Change, Kind};
use crate::text::Diagnostic;

/// The ledgers of this run.
#[derive(Debug)]
pub struct Ledgers {
    /// The home folder's.
    pub home: Ledger,
    /// The workspace's, in one.
    pub workspace: Option<Ledger>,
}

impl Ledgers {
    /// One of them.
    pub fn of(&self, which: Which) -> Option<&Ledger> {
        match which {
            Which::Home => Some(&self.home),
            Which::Workspace => self.workspace.as_ref(),
        }
    }

    /// One of them, to be changed.
    pub fn of_mut(&mut self, which: Which) -> Option<&mut Ledger> {
        match which {
            Which::Home => Some(&mut self.home),
            Which::Workspace => self.workspace.as_mut(),
        }
    }
}

/// What an edit came to, besides the text.
#[derive(Debug, Clone, Default)]
pub struct Noted {
    /// For people.
    pub changes: Vec<Change>,
    /// What to remember.
    pub records: Vec<(Which, Record)>,
    /// What to forget.
    pub forgotten: Vec<(Which, Record)>,
    /// What was created by earlier edits and is gone again.
    pub undone: Vec<(Which, Vec<Created>)>,
    /// What was left alone, and why.
    pub notes: Vec<Diagnostic>,
}

/// Edits `text` as `work` wants it; see [`FileWork`].
///
/// # Errors
/// When the file can't be edited without harm; it is then as it was.
pub fn edit(
    work: &FileWork,
    text: Option<&str>,
    ledgers: &Ledgers,
    kept: &[(Which, Record)],
) -> Result<(Edited, Noted), Diagnostic> {
    let mut document = Document::open(&work.path, text, work.format)?;
    let mut noted = Noted::default();
    for (which, wish) in &work.wishes {
        let mut editing = Editing {
            work,
            document: &mut document,
            noted: &mut noted,
            ledgers,
            kept,
            which: *which,
        };
        match wish {
            Wish::Hooks { agent, entries, arrays } => editing.hooks(*agent, entries, arrays)?,
            Wish::Server { agent, name, table, value, users_keys } => {
                editing.server(*agent, name, table, value, users_keys)?;
            }
        }
    }
    for which in [Which::Home, Which::Workspace] {
        let mut editing =
            Editing { work, document: &mut document, noted: &mut noted, ledgers, kept, which };
        editing.stale()?;
        editing.prune()?;
    }
    Ok((document.finish(), noted))
}

struct Editing<'a> {
    work: &'a FileWork,
    document: &'a mut Document,
    noted: &'a mut Noted,
    ledgers: &'a Ledgers,
    kept: &'a [(Which, Record)],
    which: Which,
}

impl Editing<'_> {
    fn hooks(
        &mut self,
        agent: Agent,
        entries: &[HookEntry],
        arrays: &[Vec<String>],
    ) -> Result<(), Diagnostic> {
        let before = self.document.text().to_owned();
        for array in arrays {
            let entry = entries.iter().find(|entry| entry.array == *array);
            let recorded = self.array_hash(agent, array);
            let whose =
                |candidate: &Candidate<'_>| whose(agent, entry, recorded.as_deref(), candidate);
            match entry {
                Some(entry) => self.document.ensure_in_array(array, &entry.group, &whose)?,
                None => {
                    self.document.remove_from_array(array, &whose)?;
                }
            }
            let hash = entry.map(|entry| hash_value(&entry.group)).unwrap_or_default();
            let record = Record {
                agent: agent.name().to_owned(),
                path: self.work.path.clone(),
                entry: Entry::ArrayEntry { array: array.clone(), hash },
            };
            if entry.is_some() {
                self.noted.records.push((self.which, record));
            } else {
                self.noted.forgotten.push((self.which, record));
            }
        }
        if self.document.text() != before {
            let action = if entries.is_empty() { Action::Unregister } else { Action::Register };
            self.tell(action, Kind::Hooks, agent, "hooks");
        }
        Ok(())
    }

    fn array_hash(&self, agent: Agent, array: &[String]) -> Option<String> {
        let ledger = self.ledgers.of(self.which)?;
        ledger.records_at(&self.work.path).find_map(|record| match &record.entry {
            Entry::ArrayEntry { array: known, hash }
                if known == array && record.agent == agent.name() =>
            {
                Some(hash.clone())
            }
            _ => None,
        })
    }

    fn server(
        &mut self,
        agent: Agent,
        name: &str,
        table: &[String],
        value: &Value,
        users_keys: &'static [&'static str],
    ) -> Result<(), Diagnostic> {
        let path: Vec<String> = table.iter().cloned().chain([name.to_owned()]).collect();
        let existing = self.document.get(&path)?;
        let record = self.key_record(table, name);
        let our_keys = match record.as_ref().map(|record| &record.entry) {
            Some(Entry::KeyEntry { keys, .. }) => keys.clone(),
            _ => Vec::new(),
        };
        if let Some(existing) = &existing {
            match &record {
                None if covers(existing, value, users_keys) => return Ok(()),
                None => {
                    self.note(format!(
                        "there is a server `{name}` that is not Symposium's; it is left alone, and the \
                         plugin's is not registered"
                    ));
                    return Ok(());
                }
                Some(record) if !is_as_written(existing, record) => {
                    self.note(format!(
                        "the server `{name}` was changed by you and is left alone; remove it to get the \
                         plugin's back"
                    ));
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        let before = self.document.text().to_owned();
        self.document.set(table, name, value, &Keep { users_keys, our_keys: &our_keys })?;
        let keys: Vec<String> = value
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys().cloned())
            .filter(|key| !users_keys.contains(&key.as_str()))
            .collect();
        let hash = restricted_hash(value, &keys);
        let entry = Entry::KeyEntry { table: table.to_vec(), key: name.to_owned(), keys, hash };
        let record = Record { agent: agent.name().to_owned(), path: self.work.path.clone(), entry };
        self.noted.records.push((self.which, record));
        if self.document.text() != before {
            let action = if existing.is_some() { Action::Update } else { Action::Register };
            self.tell(action, Kind::Server, agent, name);
        }
        Ok(())
    }

    fn key_record(&self, table: &[String], name: &str) -> Option<Record> {
        let ledger = self.ledgers.of(self.which)?;
        ledger
            .records_at(&self.work.path)
            .find(|record| {
                matches!(&record.entry, Entry::KeyEntry { table: known, key, .. }
                    if known == table && key == name)
            })
            .cloned()
    }

    /// Takes back what the ledger knows here and nobody wishes any more.
    fn stale(&mut self) -> Result<(), Diagnostic> {
        let Some(ledger) = self.ledgers.of(self.which) else { return Ok(()) };
        let records: Vec<Record> = ledger.records_at(&self.work.path).cloned().collect();
        for record in records {
            let Entry::KeyEntry { table, key, .. } = &record.entry else { continue };
            let wished = self.work.wishes.iter().any(|(which, wish)| {
                *which == self.which
                    && matches!(wish, Wish::Server { name, table: known, .. }
                        if name == key && known == table)
            });
            if wished || self.kept.contains(&(self.which, record.clone())) {
                continue;
            }
            let path: Vec<String> = table.iter().cloned().chain([key.clone()]).collect();
            match self.document.get(&path)? {
                Some(existing) if is_as_written(&existing, &record) => {
                    self.document.remove(table, key)?;
                    if let Some(agent) = Agent::from_name(&record.agent) {
                        self.tell(Action::Unregister, Kind::Server, agent, key);
                    }
                }
                Some(_) => self.note(format!(
                    "the server `{key}` is no longer needed, but was changed by you and is left alone"
                )),
                None => {}
            }
            self.noted.forgotten.push((self.which, record));
        }
        Ok(())
    }

    /// Containers that we made and that are empty again go, too.
    fn prune(&mut self) -> Result<(), Diagnostic> {
        let Some(ledger) = self.ledgers.of(self.which) else { return Ok(()) };
        let created = ledger.surroundings(&self.work.path).created;
        if created.is_empty() {
            return Ok(());
        }
        let kept = self.document.prune(&created)?;
        let gone: Vec<Created> =
            created.into_iter().filter(|created| !kept.contains(created)).collect();
        if !gone.is_empty() {
            self.noted.undone.push((self.which, gone));
        }
        Ok(())
    }

    fn tell(&mut self, action: Action, kind: Kind, agent: Agent, name: &str) {
        self.noted.changes.push(Change {
            action,
            kind,
            name: name.to_owned(),
            origin: None,
            places: vec![agent.name().to_owned()],
            reason: None,
            planned: true,
        });
    }

    fn note(&mut self, message: String) {
        self.noted.notes.push(Diagnostic::warning(message).in_file(&self.work.path));
    }
}

/// Whose a handler is. By its command, which must be exactly one of ours; one that says what we
/// would say, but was given other settings since we wrote it, is the user's. When ours are to go,
/// they go in any case: a command of ours calls a program that may be gone.
fn whose(
    agent: Agent,
    entry: Option<&HookEntry>,
    recorded: Option<&str>,
    candidate: &Candidate<'_>,
) -> Ours {
    let command = candidate.handler.get("command").and_then(Value::as_str).unwrap_or_default();
    if is_ours(command, agent.name()).is_none() {
        return Ours::No;
    }
    let (Some(entry), Some(recorded)) = (entry, recorded) else { return Ours::Yes };
    let wanted = entry.group.pointer("/hooks/0/command").and_then(Value::as_str);
    let as_written = candidate.group.is_some_and(|group| hash_value(group) == recorded);
    if wanted == Some(command) && !as_written { Ours::Edited } else { Ours::Yes }
}

/// Whether `existing` says all that `wanted` does.
fn covers(existing: &Value, wanted: &Value, users_keys: &[&str]) -> bool {
    match (existing.as_object(), wanted.as_object()) {
        (Some(existing), Some(wanted)) => wanted.iter().all(|(key, value)| {
            users_keys.contains(&key.as_str()) || existing.get(key) == Some(value)
        }),
        _ => existing == wanted,
    }
}

/// Whether the keys that we wrote still say what we wrote.
fn is_as_written(existing: &Value, record: &Record) -> bool {
    match &record.entry {
        Entry::KeyEntry { keys, hash, .. } => restricted_hash(existing, keys) == *hash,
        _ => false,
    }
}

/// Keys by which users switch a server off, in whatever agent.
const USERS_SWITCHES: &[&str] = &["enabled", "disabled"];

/// The hash of what we wrote, without the users' switches.
fn restricted_hash(value: &Value, keys: &[String]) -> String {
    let Some(object) = value.as_object() else { return hash_value(value) };
    let kept: serde_json::Map<String, Value> = object
        .iter()
        .filter(|(key, _)| keys.contains(key) && !USERS_SWITCHES.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    hash_value(&Value::Object(kept))
}
