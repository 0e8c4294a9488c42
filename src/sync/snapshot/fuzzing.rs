//! What holds of every snapshot: nobody else writes it, but it is read at each event.

use std::collections::BTreeMap;
use std::path::Path;

use symposium_hook::Event;

use super::{Snapshot, Stored};
use crate::config::Environment;
use crate::workspace::Fingerprint;

/// What is read, if anything is, is stored as something that reads the same.
pub(crate) fn snapshot(data: &[u8]) {
    let Some(stored) = Stored::parse(data.to_vec()) else { return };
    let env = Environment::with("/w", [("HOME", "/w")]);
    let _ = stored.holds(&env);
    let _ = stored.is_found_from(Path::new("/w"));
    let hooks: BTreeMap<_, _> =
        Event::ALL.map(|event| (event, stored.hooks(event))).into_iter().collect();
    hooks.values().flatten().for_each(|hook| drop(hook.run.missing()));
    let mut header = stored.header.clone();
    header.fingerprint = Fingerprint::from_bytes(stored.fingerprint()).unwrap_or_default();
    let member_entry_dirs = stored.line(Event::ALL.len() + 2);
    let read = Snapshot { header, hooks, offer: stored.offer(), member_entry_dirs };
    let Ok(written) = read.clone().store() else { return };
    let again = Stored::parse(written.bytes).expect("what we write can be read");
    for (event, hooks) in &read.hooks {
        assert_eq!(&again.hooks(*event), hooks);
        assert_eq!(again.count(*event), hooks.len());
    }
    assert_eq!(again.offer(), read.offer);
    assert_eq!(Fingerprint::from_bytes(again.fingerprint()), Some(read.header.fingerprint));
}
