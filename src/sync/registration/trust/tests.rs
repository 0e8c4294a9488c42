use serde_json::json;

use super::*;
use crate::Symposium;
use crate::agents::places::FileFormat;
use crate::documents::Change as FileChange;
use crate::report::Action;

fn trust(entries: &[(&str, &str)]) -> Trust {
    let entries = entries
        .iter()
        .map(|(key, hash)| ((*key).to_owned(), json!({ "trusted_hash": hash })))
        .collect();
    Trust {
        path: PathBuf::from("config.toml"),
        format: FileFormat::Toml,
        table: vec!["hooks".to_owned(), "state".to_owned()],
        entries,
        users_keys: &["enabled"],
        why: "",
        by_hand: "",
    }
}

/// What an edit came to: what to remember and to forget, and how many entries were written or removed.
struct Noted {
    set: Vec<Record>,
    forgotten: Vec<Record>,
    given: usize,
    taken: usize,
}

/// Edits `text`; gives back the text and what was noted.
fn edit(
    text: &str,
    wanted: &[(&str, &str)],
    records: Vec<Record>,
    consent: Consent,
) -> (String, Noted) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let sym = Symposium::from_dir(dir.path());
    let (mut ledgers, _) = Ledgers::open(&sym.dirs, None);
    records.into_iter().for_each(|record| ledgers.home.record(record));
    let mut desired = Desired { is_partial: true, ..Desired::default() };
    let trust = trust(wanted);
    let path = trust.path.clone();
    let (agent, shown, verb) = (Agent::Codex, "config.toml".to_owned(), "trusted");
    let entry = DesiredEntry::Trust(DesiredTrust { agent, trust, consent, shown, verb });
    desired.file(&path, FileFormat::Toml).entries.push((LedgerKind::Home, entry));
    let work = &desired.files[&path];
    let (edited, noted) =
        super::super::edit::edit(work, Some(text), &ledgers, &desired).expect("edits");
    let text = match edited.change {
        FileChange::Write(text) => text,
        FileChange::Keep => text.to_owned(),
        FileChange::Delete => String::new(),
    };
    let count = |action: Action| {
        let told = noted.changes.iter().find(|change| change.action == action);
        let reason = told.and_then(|change| change.reason.clone()).unwrap_or_default();
        reason.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok()).unwrap_or(0)
    };
    let (given, taken) = (count(Action::Register), count(Action::Unregister));
    let of = |records: &[(LedgerKind, Record)]| records.iter().map(|(_, it)| it.clone()).collect();
    (text, Noted { set: of(&noted.records), forgotten: of(&noted.forgotten), given, taken })
}

const OTHERS: &str = "[hooks.state.'C:\\x\\hooks.json:stop:0:0']\ntrusted_hash = \"sha256:1\"\n";

#[test]
fn a_windows_path_is_one_key() {
    let key = r"C:\Users\J. Doe\.codex\hooks.json:pre_tool_use:0:0";
    let (text, noted) = edit(OTHERS, &[(key, "sha256:2")], Vec::new(), Consent::Yes);
    assert!(text.starts_with(OTHERS), "{text}");
    let parsed: toml::Table = text.parse().expect("TOML");
    assert_eq!(parsed["hooks"]["state"][key]["trusted_hash"].as_str(), Some("sha256:2"));
    let (text, noted) = edit(&text, &[], noted.set, Consent::AsGiven);
    assert_eq!((text.as_str(), noted.taken), (OTHERS, 1));
}

#[test]
fn a_changed_command_needs_another_hash_which_is_written_only_if_trust_was_given() {
    let (text, noted) = edit("", &[("k", "sha256:1")], Vec::new(), Consent::Yes);
    let (same, _) = edit(&text, &[("k", "sha256:2")], Vec::new(), Consent::AsGiven);
    assert_eq!(same, text, "without a record it is not ours");
    let (text, _) = edit(&text, &[("k", "sha256:2")], noted.set, Consent::AsGiven);
    assert!(text.contains("sha256:2") && !text.contains("sha256:1"), "{text}");
}

#[test]
fn an_entry_that_was_changed_since_is_not_ours_any_more() {
    let (text, noted) = edit("", &[("k", "sha256:1")], Vec::new(), Consent::Yes);
    let theirs = text.replace("sha256:1", "sha256:9");
    for wanted in [&[("k", "sha256:2")][..], &[]] {
        let (same, noted) = edit(&theirs, wanted, noted.set.clone(), Consent::AsGiven);
        assert_eq!(same, theirs);
        assert_eq!((noted.forgotten.len(), noted.taken, noted.given), (1, 0, 0));
    }
    // The agent gave the trust that we would give: it stays as it is.
    let (same, noted) = edit(&theirs, &[("k", "sha256:9")], noted.set, Consent::AsGiven);
    assert_eq!((same, noted.given, noted.set.len()), (theirs, 0, 1));
}

#[test]
fn a_new_hook_is_trusted_when_the_others_were() {
    let (text, noted) = edit("", &[("a", "sha256:1")], Vec::new(), Consent::Yes);
    let wanted = [("a", "sha256:1"), ("b", "sha256:2")];
    let (both, more) = edit(&text, &wanted, noted.set.clone(), Consent::AsGiven);
    assert!(both.starts_with(&text) && both.contains("sha256:2"), "{both}");
    assert_eq!(more.given, 1);
    // All that was given is gone: the user wants none.
    let (none, noted) = edit("", &wanted, noted.set, Consent::AsGiven);
    assert_eq!((none.as_str(), noted.given), ("", 0));
}
