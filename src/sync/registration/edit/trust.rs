//! Trust in our hooks, in the file that the agent keeps it in.

use super::super::desired::{Consent, DesiredTrust};
use super::super::ledgers::{key_of, records};
use super::super::ownership::covers;
use super::{Editing, member, planned};
use crate::documents::{Keep, Record};
use crate::report::{Action, Change, Kind};
use crate::text::{Diagnostic, Subject};

impl Editing<'_> {
    /// Gives trust to hooks that stand there, and takes it back from those that do not any more.
    pub(super) fn trust(&mut self, desired: &DesiredTrust) -> Result<(), Diagnostic> {
        let DesiredTrust { agent, trust, consent, .. } = desired;
        let ledger = self.ledgers.of(self.which).into_iter();
        let records: Vec<Record> = ledger
            .flat_map(|ledger| records(ledger, *agent, &trust.table))
            .filter(|record| record.path == self.work.path)
            .cloned()
            .collect();
        let mut stands = false;
        for key in records.iter().filter_map(key_of) {
            stands |= self.stands_as_written(&trust.table, key)?;
        }
        let allowed = stands || *consent == Consent::Yes;
        let (mut given, mut taken, mut left) = (0, 0, 0);
        for record in &records {
            let Some(key) = key_of(record) else { continue };
            if trust.entries.iter().any(|(wanted, _)| wanted == key) {
                continue;
            }
            if self.stands_as_written(&trust.table, key)? {
                self.document.remove(&trust.table, key)?;
                taken += 1;
            }
            self.noted.forgotten.push((self.which, record.clone()));
        }
        for (key, value) in &trust.entries {
            let record = records.iter().find(|record| key_of(record) == Some(key));
            let existing = self.document.get(&member(&trust.table, key))?;
            let says_it =
                existing.as_ref().is_some_and(|found| covers(found, value, trust.users_keys));
            let write = match (existing.is_some(), record) {
                // The user took it out.
                (false, Some(_)) if *consent == Consent::AsGiven => false,
                (false, _) => allowed,
                (true, Some(_)) => !says_it && self.stands_as_written(&trust.table, key)?,
                (true, None) => false,
            };
            if write {
                let keep = Keep { users_keys: trust.users_keys, our_keys: &[] };
                self.document.set(&trust.table, key, value, &keep)?;
                given += 1;
            }
            if write || (says_it && record.is_some()) {
                self.record_member(*agent, &trust.table, (key, value), trust.users_keys);
            } else if !says_it {
                self.noted.forgotten.extend(record.map(|record| (self.which, record.clone())));
                left += usize::from(existing.is_some() && allowed);
            }
        }
        self.tell_of_trust(desired, (given, taken));
        if left > 0 {
            let message = format!(
                "{} knows another hook in the place of ours and will not run ours",
                agent.title()
            );
            let remedy = format!("{}; the file is left as it is", trust.by_hand);
            self.note(message, Subject::Advice, &remedy);
        }
        Ok(())
    }

    fn tell_of_trust(&mut self, desired: &DesiredTrust, (given, taken): (usize, usize)) {
        let hooks = |number: usize| format!("{number} hook{}", if number == 1 { "" } else { "s" });
        let (action, what) = match (given, taken) {
            (0, 0) => return,
            (0, _) => (Action::Unregister, format!("trust in {} taken back", hooks(taken))),
            _ => (Action::Register, format!("{} {}", hooks(given), desired.verb)),
        };
        let reason = Some(format!("{} ({what})", desired.shown));
        self.noted
            .changes
            .push(Change { reason, ..planned(action, Kind::Hooks, desired.agent, "trust") });
    }
}
