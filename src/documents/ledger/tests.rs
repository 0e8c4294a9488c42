use super::*;
use std::fs;

fn dirs() -> (tempfile::TempDir, Dirs) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(dir.path());
    (dir, dirs)
}

fn server(key: &str, hash: &str) -> Record {
    Record {
        agent: "claude".to_owned(),
        path: "/h/.claude.json".into(),
        entry: Entry::Member {
            table: vec!["mcpServers".to_owned()],
            key: key.to_owned(),
            keys: vec!["command".to_owned()],
            hash: hash.to_owned(),
        },
    }
}

const PATIENCE: Duration = Duration::from_secs(5);

fn records(ledger: &Ledger) -> Vec<Record> {
    ledger.records().cloned().collect()
}

#[test]
fn what_is_recorded_is_there_after_loading_and_replaced_by_its_next_version() {
    let (_dir, dirs) = dirs();
    let (mut ledger, warnings) = Ledger::home(&dirs);
    assert!(warnings.is_empty());
    ledger.record(server("a", "1"));
    ledger.record(server("b", "1"));
    ledger.record(server("a", "2"));
    ledger.save(&dirs, PATIENCE).expect("saves");
    let (ledger, _) = Ledger::home(&dirs);
    assert_eq!(records(&ledger), [server("a", "2"), server("b", "1")]);
    assert!(records(&ledger)[0].entry.is_unchanged("2"));
    assert!(!records(&ledger)[0].entry.is_unchanged("1"));
}

#[test]
fn two_that_save_at_once_lose_nothing() {
    let (_dir, dirs) = dirs();
    let (mut one, _) = Ledger::home(&dirs);
    let (mut two, _) = Ledger::home(&dirs);
    one.record(server("a", "1"));
    two.record(server("b", "1"));
    one.save(&dirs, PATIENCE).expect("saves");
    two.save(&dirs, PATIENCE).expect("saves");
    assert_eq!(records(&two), [server("a", "1"), server("b", "1")]);
    one.forget(&server("a", "whatever"));
    one.save(&dirs, PATIENCE).expect("saves");
    assert_eq!(records(&Ledger::home(&dirs).0), [server("b", "1")]);
}

#[test]
fn what_was_made_is_remembered_though_another_process_forgot_it_meanwhile() {
    let (_dir, dirs) = dirs();
    let path = Path::new("/h/.claude.json");
    let created = vec![Created::container(&["projects".to_owned()], None)];
    let made = CreatedContainers { created, folders: Vec::new() };
    let (mut one, _) = Ledger::home(&dirs);
    one.note_created(path, made.clone());
    one.save(&dirs, PATIENCE).expect("saves");
    let (mut two, _) = Ledger::home(&dirs);
    two.note_undone(path, made.clone());
    two.save(&dirs, PATIENCE).expect("saves");
    // The first one writes the file only now.
    one.note_created(path, made.clone());
    one.save(&dirs, PATIENCE).expect("saves");
    assert_eq!(Ledger::home(&dirs).0.surroundings(path), made);
}

#[test]
fn saving_without_a_change_writes_nothing_and_an_empty_ledger_has_no_file() {
    let (_dir, dirs) = dirs();
    let (mut ledger, _) = Ledger::home(&dirs);
    ledger.save(&dirs, PATIENCE).expect("saves");
    assert!(!ledger.file().exists());
    ledger.record(server("a", "1"));
    ledger.save(&dirs, PATIENCE).expect("saves");
    let before = fs::metadata(ledger.file()).and_then(|found| found.modified()).expect("is there");
    ledger.record(server("a", "1"));
    ledger.save(&dirs, PATIENCE).expect("saves");
    let after = fs::metadata(ledger.file()).and_then(|found| found.modified()).expect("is there");
    assert_eq!(before, after);
    ledger.forget(&server("a", "1"));
    ledger.save(&dirs, PATIENCE).expect("saves");
    assert!(!ledger.file().exists());
}

#[test]
fn a_ledger_that_can_t_be_read_is_absent_with_a_warning_and_kept_aside() {
    for text in ["{ not json", r#"{"version": 99, "records": []}"#] {
        let (_dir, dirs) = dirs();
        let file = dirs.ledgers().join("home.json");
        fs::create_dir_all(dirs.ledgers()).expect("creates");
        fs::write(&file, text).expect("writes");
        let (mut ledger, warnings) = Ledger::home(&dirs);
        assert_eq!(warnings.len(), 1);
        assert!(records(&ledger).is_empty());
        assert_eq!(fs::read_to_string(&file).expect("reads"), text, "reading changes nothing");
        ledger.record(server("a", "1"));
        ledger.save(&dirs, PATIENCE).expect("saves");
        let bad = dirs.ledgers().join("home.json.bad");
        assert_eq!(fs::read_to_string(bad).expect("reads"), text);
        assert_eq!(Ledger::home(&dirs).0.records().len(), 1);
    }
}

#[test]
fn each_workspace_has_its_own_and_all_can_be_found() {
    let (_dir, dirs) = dirs();
    for root in ["/src/two", "/src/one", "/other/one"] {
        let (mut ledger, _) = Ledger::workspace(&dirs, Path::new(root));
        ledger.record(Record {
            agent: "codex".to_owned(),
            path: Path::new(root).join(".agents/skills/x"),
            entry: Entry::SkillFolder { name: "x".to_owned(), hash: "1".to_owned() },
        });
        ledger.save(&dirs, PATIENCE).expect("saves");
    }
    let (mut home, _) = Ledger::home(&dirs);
    home.record(server("a", "1"));
    home.save(&dirs, PATIENCE).expect("saves");
    let (all, warnings) = Ledger::all_workspaces(&dirs);
    assert!(warnings.is_empty());
    let roots: Vec<_> = all.iter().filter_map(Ledger::root).collect();
    assert_eq!(roots, [Path::new("/other/one"), Path::new("/src/one"), Path::new("/src/two")]);
}

#[test]
fn surroundings_are_merged_and_go_when_they_are_undone() {
    let (_dir, dirs) = dirs();
    let path = Path::new("/h/.claude/settings.json");
    let hooks = Created::Container { path: vec!["hooks".to_owned()], was: None };
    let file = Created::File { was: None };
    let folders = vec![PathBuf::from("/h/.claude")];
    let (mut ledger, _) = Ledger::home(&dirs);
    let first = CreatedContainers { created: vec![file.clone(), hooks.clone()], folders };
    ledger.note_created(path, first.clone());
    let again = CreatedContainers { created: vec![hooks.clone()], folders: Vec::new() };
    ledger.note_created(path, again.clone());
    ledger.save(&dirs, PATIENCE).expect("saves");
    let (mut ledger, _) = Ledger::home(&dirs);
    assert_eq!(ledger.surroundings(path), first);
    assert_eq!(ledger.leftovers(), [path]);
    ledger.note_undone(path, again);
    assert_eq!(ledger.surroundings(path).created, [file]);
    ledger.note_undone(path, first);
    ledger.save(&dirs, PATIENCE).expect("saves");
    assert!(!ledger.file().exists());
}
