//! A shared file's text, turned into what it should be.

mod trust;

use std::path::Path;

use serde_json::Value;

use super::desired::{Desired, DesiredEntry, FileWork, Slot};
use super::ledgers::{LedgerKind, Ledgers, is_member};
use super::ownership::{Ownership, covers, is_as_written, restricted_hash};
use crate::agents::Agent;
use crate::agents::command::{is_own_server, is_shared_server};
use crate::documents::{
    Candidate, Created, Document, Edited, Entry, Keep, Record, hash_value, read_text,
};
use crate::report::{Action, Change, Kind, Place};
use crate::text::{Diagnostic, Subject};

/// What is said of a server's entry that is not as we wrote it any more.
const CHANGED: &str = "was changed by you and is left as it is";

/// What an edit came to, besides the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noted {
    /// For people.
    pub changes: Vec<Change>,
    /// What to remember.
    pub records: Vec<(LedgerKind, Record)>,
    /// What to forget.
    pub forgotten: Vec<(LedgerKind, Record)>,
    /// What was created by earlier edits and is gone again.
    pub undone: Vec<(LedgerKind, Vec<Created>)>,
    /// What was left alone, and why.
    pub notes: Vec<Diagnostic>,
}

/// Edits `text` as `work` wants it; see [`FileWork`].
///
/// # Errors
/// When the file can't be edited without harm; it is then as it was.
pub(crate) fn edit(
    work: &FileWork,
    text: Option<&str>,
    ledgers: &Ledgers,
    desired: &Desired,
) -> Result<(Edited, Noted), Diagnostic> {
    let mut document = Document::open(&work.path, text, work.format)?;
    let mut noted = Noted::default();
    for (which, entry) in &work.entries {
        let mut editing = Editing {
            work,
            document: &mut document,
            noted: &mut noted,
            ledgers,
            desired,
            which: *which,
        };
        match entry {
            DesiredEntry::Hooks { agent, slots, wanted } => {
                editing.hooks(*agent, slots, *wanted)?
            }
            DesiredEntry::Server { agent, name, table, merged_with: Some(other), .. }
                if editing.is_users_in(other, table, name)? =>
            {
                editing.yield_to(other, *agent, table, name)?;
            }
            DesiredEntry::Server { agent, name, table, value, users_keys, .. } => {
                editing.server(*agent, name, table, value, users_keys)?;
            }
            DesiredEntry::Trust(desired) => editing.trust(desired)?,
        }
    }
    // What either ledger knows goes before what became empty: containers hold entries of both.
    for pruning in [false, true] {
        for which in LedgerKind::ALL {
            let (document, noted) = (&mut document, &mut noted);
            let mut editing = Editing { work, document, noted, ledgers, desired, which };
            if pruning {
                editing.prune()?;
            } else if !desired.is_partial {
                editing.stale()?;
            }
        }
    }
    Ok((document.finish(), noted))
}

/// One shared file, while it is edited for what one ledger remembers.
struct Editing<'a> {
    work: &'a FileWork,
    document: &'a mut Document,
    noted: &'a mut Noted,
    ledgers: &'a Ledgers,
    desired: &'a Desired,
    which: LedgerKind,
}

impl Editing<'_> {
    fn hooks(&mut self, agent: Agent, slots: &[Slot], wanted: bool) -> Result<(), Diagnostic> {
        let before = self.document.text().to_owned();
        let mut edited = Vec::new();
        for Slot { array, group } in slots {
            let written = self.written_entries(agent, array);
            let found = self.document.get(array)?;
            let whose = Ownership::of(agent.name(), found.as_ref(), group.as_ref(), &written);
            let verdict = |candidate: &Candidate<'_>| whose.verdict(candidate);
            match group {
                Some(group) if wanted => self.document.ensure_in_array(array, group, &verdict)?,
                _ => drop(self.document.remove_from_array(array, &verdict)?),
            }
            if whose.is_edited() {
                // What the ledger says stays: by it we know that the entry was changed.
                edited.extend(array.last().cloned());
                continue;
            }
            let hash = group.as_ref().map(hash_value).unwrap_or_default();
            let entry = Entry::Element { array: array.clone(), hash };
            let record = self.record(agent, entry);
            if wanted {
                self.noted.records.push((self.which, record));
            } else {
                self.noted.forgotten.push((self.which, record));
            }
        }
        if self.document.text() != before {
            let action = if wanted { Action::Register } else { Action::Unregister };
            self.tell(action, Kind::Hooks, agent, "hooks");
        }
        if !edited.is_empty() {
            self.note_edited_hooks(&edited, wanted);
        }
        Ok(())
    }

    fn written_entries(&self, agent: Agent, array: &[String]) -> Vec<String> {
        let ledger = self.ledgers.of(self.which);
        let written = ledger.into_iter().flat_map(|ledger| ledger.written_at(&self.work.path));
        written
            .filter(|record| record.agent == agent.name())
            .filter_map(|record| match &record.entry {
                Entry::Element { array: known, hash } if known == array => Some(hash.clone()),
                _ => None,
            })
            .collect()
    }

    fn note_edited_hooks(&mut self, events: &[String], wanted: bool) {
        let remedy = if wanted {
            "remove them to get Symposium's back"
        } else {
            "remove them by hand, if they are not wanted"
        };
        let events = events.join(", ");
        let message =
            format!("our hooks for {events} were changed by you and are left as they are");
        self.note(message, Subject::Hooks, remedy);
    }

    fn server(
        &mut self,
        agent: Agent,
        name: &str,
        table: &[String],
        value: &Value,
        users_keys: &'static [&'static str],
    ) -> Result<(), Diagnostic> {
        let existing = self.document.get(&member(table, name))?;
        let written = self.written_members(table, name);
        let is_shared = existing.as_ref().is_some_and(|entry| is_shared_server(entry, name));
        // What only we write is ours, even if the ledger was lost.
        let is_by_us = is_shared || existing.as_ref().is_some_and(is_own_server);
        // A member of the team on another system may have written it, in another form.
        let value = &match &existing {
            Some(existing) if is_shared && is_shared_server(value, name) => {
                with_command_of(existing, value)
            }
            _ => value.clone(),
        };
        let mut our_keys = Vec::new();
        if let Some(existing) = &existing {
            let ours = written.iter().find(|record| is_as_written(existing, record));
            match ours.map(|record| &record.entry) {
                Some(Entry::Member { keys, .. }) => our_keys.clone_from(keys),
                _ if covers(existing, value, users_keys) => {
                    // It says what it should. It was there before us, unless the ledger knows it, or
                    // knew it before it was lost.
                    if written.is_empty() && !is_by_us && !self.ledgers.starts_own_program(existing)
                    {
                        return Ok(());
                    }
                }
                // Another member of the team brought it in.
                _ if is_by_us && written.is_empty() => our_keys = keys_of(value, users_keys),
                _ => {
                    self.note_foreign_server(name, !written.is_empty());
                    return Ok(());
                }
            }
        }
        let before = self.document.text().to_owned();
        self.document.set(table, name, value, &Keep { users_keys, our_keys: &our_keys })?;
        self.record_member(agent, table, (name, value), users_keys);
        if self.document.text() != before {
            let action = if existing.is_some() { Action::Update } else { Action::Register };
            self.tell(action, Kind::Server, agent, name);
        }
        Ok(())
    }

    /// Whether a file that the agent merges with this one has a member of that name that is not ours.
    fn is_users_in(&self, other: &Path, table: &[String], name: &str) -> Result<bool, Diagnostic> {
        let text = read_text(other)?;
        let document = Document::open(other, text.as_deref(), self.work.format)?;
        let Some(existing) = document.get(&member(table, name))? else { return Ok(false) };
        let ledger = self.ledgers.of(self.which);
        let mut written = ledger.into_iter().flat_map(|ledger| ledger.written_at(other));
        Ok(!written
            .any(|record| is_member(record, table, name) && is_as_written(&existing, record)))
    }

    /// Leaves a server to the user's entry in a merged file, which ours would beat.
    fn yield_to(
        &mut self,
        other: &Path,
        agent: Agent,
        table: &[String],
        name: &str,
    ) -> Result<(), Diagnostic> {
        if self.stands_as_written(table, name)? {
            self.document.remove(table, name)?;
            self.tell(Action::Unregister, Kind::Server, agent, name);
        }
        let records = self.written_members(table, name);
        self.noted.forgotten.extend(records.into_iter().map(|record| (self.which, record)));
        let file = other.file_name().unwrap_or_default().display();
        let message = format!(
            "there is a server `{name}` in {file} that is not Symposium's; it is left as it is"
        );
        let subject = Subject::Server { name: name.to_owned(), was_ours: false };
        self.note(message, subject, "rename or remove it to have the plugin's");
        Ok(())
    }

    /// To remember: what we wrote of a table's member.
    fn record_member(
        &mut self,
        agent: Agent,
        table: &[String],
        (key, value): (&str, &Value),
        users_keys: &[&str],
    ) {
        let keys = keys_of(value, users_keys);
        let hash = restricted_hash(value, &keys);
        let entry = Entry::Member { table: table.to_vec(), key: key.to_owned(), keys, hash };
        let record = self.record(agent, entry);
        self.noted.records.push((self.which, record));
    }

    /// Whether the table's member says what we wrote.
    fn stands_as_written(&self, table: &[String], key: &str) -> Result<bool, Diagnostic> {
        let Some(existing) = self.document.get(&member(table, key))? else { return Ok(false) };
        Ok(self.written_members(table, key).iter().any(|record| is_as_written(&existing, record)))
    }

    /// What we wrote, or are about to write, under this key, for whichever agent.
    fn written_members(&self, table: &[String], name: &str) -> Vec<Record> {
        let path = &self.work.path;
        let ledger = self.ledgers.of(self.which);
        let known = ledger.into_iter().flat_map(|ledger| ledger.written_at(path));
        let now = self.noted.records.iter().map(|(_, record)| record);
        let mut written: Vec<Record> =
            known.chain(now).filter(|record| is_member(record, table, name)).cloned().collect();
        if written.is_empty() && self.which == LedgerKind::Workspace {
            written.extend(self.ledgers.elsewhere(path, table, name).cloned());
        }
        written
    }

    fn note_foreign_server(&mut self, name: &str, was_ours: bool) {
        let (message, remedy) = if was_ours {
            (format!("the server `{name}` {CHANGED}"), "remove it to get the plugin's back")
        } else {
            (
                format!("there is a server `{name}` that is not Symposium's; it is left as it is"),
                "rename or remove it to have the plugin's",
            )
        };
        self.note(message, Subject::Server { name: name.to_owned(), was_ours }, remedy);
    }

    /// Takes back what the ledger knows here and nobody desires any more.
    fn stale(&mut self) -> Result<(), Diagnostic> {
        let Some(ledger) = self.ledgers.of(self.which) else { return Ok(()) };
        let records: Vec<Record> = ledger.records_at(&self.work.path).cloned().collect();
        for record in records {
            let Entry::Member { table, key, .. } = &record.entry else { continue };
            let desired = |agent: Option<&str>| {
                self.work.entries.iter().any(|(which, entry)| {
                    *which == self.which
                        && matches!(entry, DesiredEntry::Server { agent: whose, name, table: known, .. }
                            if name == key && known == table
                                && agent.is_none_or(|agent| agent == whose.name()))
                })
            };
            if desired(Some(&record.agent))
                || self.desired.kept.contains(&(self.which, record.clone()))
            {
                continue;
            }
            let needed = desired(None) || self.is_needed_elsewhere(&record, table, key);
            if !needed {
                self.take_back(&record, table, key)?;
            }
            self.noted.forgotten.push((self.which, record));
        }
        Ok(())
    }

    /// Whether another agent or workspace that shares the table has the entry, too.
    fn is_needed_elsewhere(&self, record: &Record, table: &[String], key: &str) -> bool {
        let kept = self.desired.kept.iter().any(|(which, kept)| {
            *which == self.which && kept.path == self.work.path && is_member(kept, table, key)
        });
        kept || (self.which == LedgerKind::Workspace
            && self.ledgers.elsewhere(&record.path, table, key).next().is_some())
    }

    fn take_back(
        &mut self,
        record: &Record,
        table: &[String],
        key: &str,
    ) -> Result<(), Diagnostic> {
        if self.document.get(&member(table, key))?.is_none() {
            return Ok(());
        }
        if self.stands_as_written(table, key)? {
            self.document.remove(table, key)?;
            if let Some(agent) = Agent::from_name(&record.agent) {
                self.tell(Action::Unregister, Kind::Server, agent, key);
            }
            return Ok(());
        }
        let message = format!("the server `{key}` {CHANGED}");
        let remedy = "no plugin needs it any more: remove it by hand, if you don't either";
        self.note(message, Subject::Server { name: key.to_owned(), was_ours: true }, remedy);
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

    fn note(&mut self, message: String, subject: Subject, remedy: &str) {
        let note = Diagnostic::warning(message).about(subject).in_file(&self.work.path);
        self.noted.notes.push(note.note(remedy));
    }

    fn record(&self, agent: Agent, entry: Entry) -> Record {
        Record { agent: agent.name().to_owned(), path: self.work.path.clone(), entry }
    }

    fn tell(&mut self, action: Action, kind: Kind, agent: Agent, name: &str) {
        self.noted.changes.push(planned(action, kind, agent, name));
    }
}

/// The keys of an entry that are ours.
fn keys_of(value: &Value, users_keys: &[&str]) -> Vec<String> {
    let keys = value.as_object().into_iter().flat_map(|object| object.keys());
    keys.filter(|key| !users_keys.contains(&key.as_str())).cloned().collect()
}

/// The entry `value`, which starts its program as `existing` does.
fn with_command_of(existing: &Value, value: &Value) -> Value {
    let mut value = value.clone();
    for key in ["command", "cmd", "args"] {
        if let (Some(old), Some(new)) = (existing.get(key), value.get_mut(key)) {
            *new = old.clone();
        }
    }
    value
}

/// A change of one agent's that is not made yet.
fn planned(action: Action, kind: Kind, agent: Agent, name: &str) -> Change {
    let places = vec![Place::Agent(agent.name())];
    Change { places, planned: true, ..Change::new(action, kind, name) }
}

/// Keys that lead to the member `key` of `table`.
pub(super) fn member(table: &[String], key: &str) -> Vec<String> {
    table.iter().cloned().chain([key.to_owned()]).collect()
}
