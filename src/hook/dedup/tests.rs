use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::config::Dirs;
use symposium_hook::{Input, PreToolUseInput, SessionStartInput};

fn event(delivery: Delivery, command: &str) -> Decoded {
    let input = Input::PreToolUse(PreToolUseInput {
        tool_name: "Bash".to_owned(),
        tool_input: serde_json::json!({ "command": command }),
        session_id: Some("s".to_owned()),
        ..PreToolUseInput::default()
    });
    Decoded { input, tool_use_id: None, delivery, started: None, foreign: false, failed: false }
}

fn named(id: &str, command: &str) -> Decoded {
    event(Delivery::Named(id.to_owned()), command)
}

fn timed(moment: &str, command: &str) -> Decoded {
    event(Delivery::Timed(moment.to_owned()), command)
}

fn unnamed(command: &str) -> Decoded {
    event(Delivery::Unnamed(String::new()), command)
}

fn start(source: &str) -> Decoded {
    let session = SessionStartInput { session_id: Some("s".to_owned()), cwd: None };
    let delivery = Delivery::Unnamed(source.to_owned());
    Decoded { input: Input::SessionStart(session), ..event(delivery, "") }
}

fn try_dedup(dir: &tempfile::TempDir, decoded: &Decoded) -> Option<Dedup> {
    Dedup::new(&Store::new(&Dirs::under(dir.path()), "s"), decoded)
}

fn dedup(dir: &tempfile::TempDir, decoded: &Decoded) -> Dedup {
    try_dedup(dir, decoded).expect("an agent may deliver it twice")
}

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// What a first delivery holds.
#[track_caller]
fn first(occurrence: Occurrence) -> EventLock {
    match occurrence {
        Occurrence::First(Some(lock)) => lock,
        other => panic!("not the first: {other:?}"),
    }
}

/// What is said of a repeated delivery.
#[track_caller]
fn repeated(occurrence: Occurrence) -> Outcome {
    match occurrence {
        Occurrence::Repeat(outcome) => *outcome,
        Occurrence::First(_) => panic!("it is a first one"),
    }
}

#[test]
fn a_repeated_event_gets_the_decision_of_the_first() {
    for decoded in
        [named("call_1", "rm -rf /"), timed("17", "rm -rf /"), unnamed("rm -rf /"), start("resume")]
    {
        let dir = dir();
        let dedup = || dedup(&dir, &decoded);
        let lock = first(dedup().begin(Duration::ZERO));
        let denied = Outcome { stop: Some("enough".to_owned()), ..Outcome::denied("no") };
        let said = Outcome { context: vec!["c".to_owned()], ..denied.clone() };
        dedup().finish(Some(lock), &said, None);
        assert_eq!(repeated(dedup().begin(Duration::ZERO)), denied);
    }
}

#[test]
fn a_delivery_waits_for_the_answer_that_is_being_given() {
    for decoded in [
        unnamed("rm -rf /"),
        timed("17", "rm -rf /"),
        named("call_1", "rm -rf /"),
        start("startup"),
    ] {
        let dir = dir();
        let lock = first(dedup(&dir, &decoded).begin(Duration::ZERO));
        std::thread::scope(|scope| {
            let second = scope.spawn(|| dedup(&dir, &decoded).begin(Duration::from_secs(60)));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!second.is_finished());
            dedup(&dir, &decoded).finish(Some(lock), &Outcome::denied("no"), None);
            assert_eq!(repeated(second.join().expect("no panic")), Outcome::denied("no"));
        });
    }
}

#[test]
fn who_waits_for_nothing_or_too_long_asks_the_plugins_itself() {
    let dir = dir();
    let decoded = unnamed("ls");
    let lock = first(dedup(&dir, &decoded).begin(Duration::ZERO));
    let late = dedup(&dir, &decoded).begin(Duration::from_millis(20));
    assert!(matches!(late, Occurrence::First(None)));
    // The process dies without an answer.
    drop(lock);
    let _next = first(dedup(&dir, &decoded).begin(Duration::ZERO));
}

#[test]
fn another_command_under_the_same_identity_is_another_event() {
    let dir = dir();
    for decoded in [
        named("call_0", "ls"),
        named("call_0", "rm -rf /"),
        named("call_1", "ls"),
        timed("17", "ls"),
        timed("18", "ls"),
        timed("17", "rm -rf /"),
        unnamed("ls"),
        unnamed("rm -rf /"),
        start("startup"),
        start("compact"),
    ] {
        let dedup = dedup(&dir, &decoded);
        let lock = first(dedup.begin(Duration::ZERO));
        dedup.finish(Some(lock), &Outcome::denied("no"), None);
    }
    let single = event(Delivery::Single, "ls");
    assert!(try_dedup(&dir, &single).is_none());
}

/// Two events of one shared file.
fn neighbours() -> (Decoded, Decoded) {
    let mut seen = std::collections::HashMap::new();
    (0..)
        .find_map(|number| {
            let decoded = named(&number.to_string(), "ls");
            let file = byte(&key(&decoded).expect("a key")) % FILES;
            seen.insert(file, decoded.clone()).map(|other| (other, decoded))
        })
        .expect("some")
}

fn denied(reason: &str) -> Outcome {
    Outcome::denied(reason)
}

#[test]
fn an_event_that_comes_again_as_the_first_answer_rewrote_it_is_the_same() {
    let input = serde_json::json!({ "command": "trash x" }).as_object().cloned();
    let rewrite = Outcome { updated_input: input, ..Outcome::default() };
    for (before, after) in [(named("1", "rm x"), named("1", "trash x")), neighbours()] {
        let dir = dir();
        let lock = first(dedup(&dir, &before).begin(Duration::ZERO));
        dedup(&dir, &before).finish(Some(lock), &rewrite, Some(&after));
        assert_eq!(repeated(dedup(&dir, &before).begin(Duration::ZERO)), rewrite);
        assert_eq!(repeated(dedup(&dir, &after).begin(Duration::ZERO)), rewrite);
    }
}

#[test]
fn events_that_share_a_file_are_told_apart_while_and_after_they_are_answered() {
    let (one, other) = neighbours();
    let dir = dir();
    let lock = first(dedup(&dir, &one).begin(Duration::ZERO));
    // EventLock for one event, the file says nothing of the other.
    let also = first(dedup(&dir, &other).begin(Duration::from_secs(60)));
    for decoded in [&one, &other] {
        let again = dedup(&dir, decoded).begin(Duration::ZERO);
        assert!(matches!(again, Occurrence::First(None)), "it is being answered: {again:?}");
    }
    dedup(&dir, &one).finish(Some(lock), &denied("one"), None);
    dedup(&dir, &other).finish(Some(also), &denied("other"), None);
    for (decoded, reason) in [(&one, "one"), (&other, "other")] {
        assert_eq!(repeated(dedup(&dir, decoded).begin(Duration::ZERO)), denied(reason));
    }
}

#[test]
fn of_many_events_at_once_each_gets_its_own_answer() {
    let dir = dir();
    let asked: Vec<_> = (0..100).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        for (number, asked) in asked.iter().enumerate().chain(asked.iter().enumerate()) {
            let dir = &dir;
            scope.spawn(move || {
                let decoded = named(&number.to_string(), "ls");
                let answer = denied(&number.to_string());
                match dedup(dir, &decoded).begin(Duration::from_secs(60)) {
                    Occurrence::First(lock) => {
                        asked.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(2));
                        dedup(dir, &decoded).finish(lock, &answer, None);
                    }
                    Occurrence::Repeat(said) => assert_eq!(*said, answer),
                }
            });
        }
    });
    assert!(asked.iter().all(|asked| asked.load(Ordering::SeqCst) > 0), "nobody was asked");
}

#[test]
fn an_answer_stands_though_another_event_was_answered_in_its_file() {
    let (one, other) = neighbours();
    let dir = dir();
    for (decoded, reason) in [(&one, "one"), (&other, "other")] {
        let lock = first(dedup(&dir, decoded).begin(Duration::ZERO));
        dedup(&dir, decoded).finish(Some(lock), &denied(reason), None);
    }
    // An event that nobody finished takes nothing away either.
    let third = Dedup { key: format!("{}third", &key(&one).unwrap()[..2]), ..dedup(&dir, &one) };
    drop(first(third.begin(Duration::ZERO)));
    for (decoded, reason) in [(&one, "one"), (&other, "other")] {
        assert_eq!(repeated(dedup(&dir, decoded).begin(Duration::ZERO)), denied(reason));
    }
}

#[test]
fn what_is_long_ago_does_not_count_nor_what_is_far_ahead() {
    let now = now_in_ms();
    for until in [now - 1, now + 3_600_000] {
        let dir = dir();
        let dedup = dedup(&dir, &named("1", "ls"));
        let answer = Some(Answered { reasons: vec!["no".repeat(LONG)], ..Answered::default() });
        let mut lock = first(dedup.begin(Duration::ZERO));
        lock.write(vec![Record { key: dedup.key.clone(), until, answer }]);
        drop(lock);
        let lock = first(dedup.begin(Duration::ZERO));
        dedup.finish(Some(lock), &denied("yes"), None);
        assert_eq!(repeated(dedup.begin(Duration::ZERO)), denied("yes"));
        // Nor is what was long kept.
        let left = std::fs::metadata(dedup.file(Place::Shared, &dedup.key)).expect("a file");
        assert!(left.len() < 1_000, "{}", left.len());
    }
}

#[test]
fn a_text_that_nobody_finished_is_no_answer() {
    let dir = dir();
    let dedup = dedup(&dir, &named("1", "ls"));
    let lock = first(dedup.begin(Duration::ZERO));
    dedup.finish(Some(lock), &denied("no"), None);
    let file = dedup.file(Place::Shared, &dedup.key);
    let text = std::fs::read(&file).expect("an answer");
    let line = text.iter().position(|byte| *byte == b'\n').expect("a line");
    for cut in 0..line {
        std::fs::write(&file, &text[..cut]).expect("writes");
        let _lock = first(dedup.begin(Duration::ZERO));
    }
}

#[test]
fn the_files_of_long_ago_are_removed_but_none_that_is_held() {
    let dir = dir();
    let own = |id: &str| {
        let dedup = dedup(&dir, &named(id, "ls"));
        first(dedup.begin_in(Place::Own, Duration::ZERO))
    };
    let lock = own("held");
    let files = || std::fs::read_dir(dir.path().join("cache/locks")).expect("a folder").count();
    for number in 0..2_000 {
        drop(own(&number.to_string()));
    }
    let dedup = dedup(&dir, &named("last", "ls"));
    dedup.sweep(KEEP);
    assert_eq!(files(), 2_001);
    dedup.sweep(Duration::ZERO);
    assert_eq!(files(), 1);
    drop(lock);
}

/// As many events of a session as an agent has in days; half of them with files of their own, an
/// hour apart.
#[test]
fn the_files_of_a_session_without_end_stay_few() {
    let dir = dir();
    let folder = dir.path().join("cache/locks");
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    let mut most = 0;
    for number in 0..3_000 {
        let dedup = dedup(&dir, &named(&number.to_string(), "ls"));
        let place = if number % 2 == 0 { Place::Shared } else { Place::Own };
        let lock = first(dedup.begin_in(place, Duration::ZERO));
        dedup.finish(Some(lock), &Outcome::default(), None);
        if let Ok(file) = File::options().write(true).open(dedup.file(Place::Own, &dedup.key)) {
            file.set_modified(hour_ago).expect("sets");
        }
        most = most.max(std::fs::read_dir(&folder).expect("a folder").count());
    }
    assert!(most < 16 * usize::from(SWEEP_EACH), "{most}");
}

#[test]
fn where_nothing_can_be_written_each_event_is_the_first() {
    let dir = dir();
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("writes");
    let dedup = Dedup::new(&Store::new(&Dirs::under(&file), "s"), &named("1", "ls"))
        .expect("has an identity");
    for _ in 0..2 {
        assert!(matches!(dedup.begin(Duration::ZERO), Occurrence::First(None)));
        dedup.finish(None, &Outcome::default(), None);
    }
}
