use std::time::UNIX_EPOCH;

use super::*;
use crate::fetch::git::testing::{Repo, environment, policy};

const NOW: u64 = 1_000_000_000;

fn step(policy: &Policy, has_copy: bool, checked: Checked) -> Step {
    let repository = Repository::parse("https://host/a", None, None).expect("a URL");
    step_of(&repository, policy, has_copy, checked)
}

fn step_of(repository: &Repository, policy: &Policy, has_copy: bool, checked: Checked) -> Step {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let entry = Entry::new(dir.path(), "x");
    std::fs::create_dir_all(dir.path().join("built")).expect("creates");
    let commit = "a".repeat(40);
    let target = Target { reference: "m".to_owned(), commit, ..Target::default() };
    let built = dir.path().join("built");
    let current =
        entry.install(&built, "u".to_owned(), target, None, SystemTime::now()).expect("installs");
    let now = UNIX_EPOCH + Duration::from_millis(NOW);
    repository.step(policy, has_copy.then_some(&current), || checked, now)
}

fn answered(ago: u64) -> Checked {
    Checked { answered_at: Some(NOW - ago), failure: None }
}

fn failed(ago: u64) -> Checked {
    let failure = Failure { at: NOW - ago, message: "no".to_owned() };
    Checked { answered_at: None, failure: Some(failure) }
}

fn quiet(level: UpdateLevel) -> Policy {
    Policy { force: false, ..policy(level) }
}

#[test]
fn f121_none_never_asks_check_asks_once_a_minute_fetch_always() {
    let old = || answered(61_000);
    assert_eq!(step(&quiet(UpdateLevel::None), true, old()), Step::Use);
    assert_eq!(step(&quiet(UpdateLevel::Check), true, old()), Step::Ask);
    assert_eq!(step(&quiet(UpdateLevel::Check), true, answered(59_000)), Step::Use);
    assert_eq!(step(&quiet(UpdateLevel::Fetch), true, answered(0)), Step::Fetch);
    // A clock that was put back is no reason to wait for it.
    let future = Checked { answered_at: Some(NOW + 5_000_000), failure: None };
    assert_eq!(step(&quiet(UpdateLevel::Check), true, future), Step::Ask);
}

#[test]
fn what_was_never_fetched_is_fetched_unless_none_was_said() {
    let allowed = quiet(UpdateLevel::None);
    assert_eq!(step(&allowed, false, Checked::default()), Step::Fetch);
    let forbidden = Policy { first_fetch: false, ..allowed };
    assert_eq!(
        step(&forbidden, false, Checked::default()),
        Step::Unavailable(GitError::NotFetched)
    );
    let hook = Policy::cached();
    assert_eq!(step(&hook, false, Checked::default()), Step::Unavailable(GitError::Offline));
    assert_eq!(step(&hook, true, answered(9_000_000)), Step::Use);
}

#[test]
fn a_failure_is_remembered_for_a_minute_unless_named() {
    let recently = |step: &Step| matches!(step, Step::Unavailable(GitError::Recently { .. }));
    assert!(recently(&step(&quiet(UpdateLevel::Check), true, failed(59_000))));
    assert!(recently(&step(&quiet(UpdateLevel::None), false, failed(59_000))));
    assert_eq!(step(&quiet(UpdateLevel::Check), true, failed(61_000)), Step::Ask);
    assert_eq!(step(&quiet(UpdateLevel::Fetch), true, failed(0)), Step::Fetch);
    assert_eq!(step(&policy(UpdateLevel::Check), true, failed(0)), Step::Ask);
}

#[test]
fn f122_offline_never_asks() {
    for level in [UpdateLevel::None, UpdateLevel::Check, UpdateLevel::Fetch] {
        let offline = Policy { offline: true, ..policy(level) };
        assert_eq!(step(&offline, true, Checked::default()), Step::Unavailable(GitError::Offline));
        assert_eq!(step(&offline, false, Checked::default()), Step::Unavailable(GitError::Offline));
    }
}

#[test]
fn a_commit_that_is_here_is_never_asked_for() {
    let commit = "a".repeat(40);
    let pinned = Repository::parse("https://host/a", Some(&commit), None).expect("a URL");
    let check = policy(UpdateLevel::Check);
    assert_eq!(step_of(&pinned, &check, true, Checked::default()), Step::Use);
    assert_eq!(step_of(&pinned, &check, false, Checked::default()), Step::Fetch);
    let fetch = policy(UpdateLevel::Fetch);
    assert_eq!(step_of(&pinned, &fetch, true, Checked::default()), Step::Fetch);
}

#[test]
fn the_policy_of_a_command_follows_its_options() {
    let options = |update| crate::symposium::Options { update, ..Default::default() };
    let said = |update| {
        let policy = Policy::for_command(&options(update));
        (policy.level, policy.first_fetch)
    };
    assert_eq!(said(None), (UpdateLevel::None, true));
    assert_eq!(said(Some(UpdateLevel::None)), (UpdateLevel::None, false));
    assert_eq!(said(Some(UpdateLevel::Check)), (UpdateLevel::Check, true));
    assert_eq!(Policy::for_command(&options(None)).limit, Duration::from_secs(60));
}

#[test]
fn a_second_refresh_waits_for_the_first_or_takes_the_copy() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let repo = Repo::new(dir.path().join("repo"));
    repo.commit(&[("a", "1")]);
    let env = environment(dir.path(), &[]);
    let repository = Repository::parse(&repo.url(), None, None).expect("a URL");
    let cache = dir.path().join("cache");
    let entry = Entry::new(&cache, &repository.key());
    let held = Lock::acquire(&entry.lock_file(), Duration::ZERO).expect("free");
    let hurried = Policy { lock_timeout: Duration::from_millis(5), ..policy(UpdateLevel::Fetch) };
    assert_eq!(repository.checkout(&cache, &hurried, &env), Err(GitError::Busy));
    drop(held);
    repository.checkout(&cache, &hurried, &env).expect("fetches");
    let _held = Lock::acquire(&entry.lock_file(), Duration::ZERO).expect("free");
    let found = repository.checkout(&cache, &hurried, &env).expect("there is a copy");
    assert_eq!((found.outcome, found.stale), (Outcome::Cached, Some(GitError::Busy)));
}
