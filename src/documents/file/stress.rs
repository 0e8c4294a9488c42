//! Many at once: nothing is lost and nobody ever sees half a file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{edit_file, read_text};
use crate::documents::{Document, FileFormat, JsonRules, Keep};
use crate::files::write_atomic;

const RULES: FileFormat = FileFormat::Json(JsonRules::STRICT);
const PATIENCE: Duration = Duration::from_secs(60);

fn table() -> Vec<String> {
    vec!["mcpServers".to_owned()]
}

fn add(locks: &Path, path: &Path, name: &str) -> Result<(), crate::text::Diagnostic> {
    let server = json!({"command": name});
    edit_file(locks, path, PATIENCE, &mut |text| {
        let mut document = Document::open(path, text, RULES)?;
        document.set(&table(), name, &server, &Keep::default())?;
        Ok(document.finish().change)
    })
    .map(|_| ())
}

fn value(path: &Path) -> Value {
    let text = read_text(path).expect("reads").expect("is there");
    serde_json::from_str(&text).expect("always parses")
}

#[test]
fn case_20_twenty_at_once_lose_no_entry() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (locks, path) = (dir.path().join("locks"), dir.path().join("f.json"));
    thread::scope(|scope| {
        for index in 0..20 {
            let (locks, path) = (&locks, &path);
            scope.spawn(move || add(locks, path, &format!("s{index}")).expect("edits"));
        }
    });
    assert_eq!(value(&path)["mcpServers"].as_object().map(serde_json::Map::len), Some(20));
}

/// Another program that does not know our lock keeps a number in the file, each time on top of what
/// it has just read.
#[test]
fn case_20_beside_another_writer_nothing_of_ours_or_theirs_is_lost() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (locks, path) = (dir.path().join("locks"), dir.path().join("f.json"));
    std::fs::write(&path, "{\n  \"n\": 0\n}\n").expect("writes");
    let done = AtomicBool::new(false);
    let last = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut n = 0;
            while !done.load(Ordering::Relaxed) {
                let mut found = value(&path);
                n += 1;
                found["n"] = json!(n);
                let text = serde_json::to_string_pretty(&found).expect("serialises");
                write_atomic(&path, text.as_bytes()).expect("writes");
                thread::sleep(Duration::from_millis(15));
            }
            n
        });
        let ours: Vec<_> = (0..20)
            .map(|index| {
                let (locks, path) = (&locks, &path);
                scope.spawn(move || {
                    let name = format!("s{index}");
                    // Giving up on a file that never holds still is allowed; losing is not.
                    while add(locks, path, &name).is_err() {}
                })
            })
            .collect();
        for thread in ours {
            thread.join().expect("no panic");
        }
        done.store(true, Ordering::Relaxed);
        writer.join().expect("no panic")
    });
    // What their stale copies dropped of ours, the next round puts back.
    for index in 0..20 {
        add(&locks, &path, &format!("s{index}")).expect("edits");
    }
    let found = value(&path);
    assert_eq!(found["mcpServers"].as_object().map(serde_json::Map::len), Some(20));
    assert_eq!(found["n"], json!(last), "their last number is there");
    let left = std::fs::read_dir(dir.path()).expect("lists").count();
    assert_eq!(left, 2, "no temporary file is left");
}
