//! What cargo is asked to fetch.

use std::time::Duration;

use super::*;
use crate::skills::crate_source::fetch::{FetchError, FetchRequest, Fetcher};

#[test]
fn f94_offline_and_bad_names_start_nothing() {
    let place = Place::new();
    let no_cargo = place.dir.path().join("no-such-cargo");
    let env = Environment::with(place.dir.path(), [("SYMPOSIUM_CARGO", no_cargo)]);
    let limit = Duration::from_secs(1);
    let mut fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: true };
    let fetch = |fetcher: &Fetcher<'_>, name: &str| {
        fetcher.fetch(&FetchRequest { name, ..FetchRequest::default() })
    };
    assert!(matches!(fetch(&fetcher, "a"), Err(FetchError::Offline)));
    fetcher.offline = false;
    assert!(matches!(fetch(&fetcher, "--help"), Err(FetchError::BadName(_))));
    assert!(matches!(fetch(&fetcher, "a"), Err(FetchError::Run(_))));
    let left = fs::read_dir(place.dirs.cache().join("fetch")).expect("reads").count();
    assert_eq!(left, 0, "the folder is gone again");
}

/// A cargo that resolves, has the crate "downloaded", and notes how it was called.
#[cfg(unix)]
fn fake_cargo(place: &Place, info: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let bytes = crate_file("b-c", "1.2.3");
    let file = place.put("b-c-1.2.3.crate", &bytes);
    let lock = format!(
        "version = 4\n\n[[package]]\nname = \"b-c\"\nversion = \"1.2.3\"\nsource = \"{INDEX}\"\n\
         checksum = \"{}\"\n\n[[package]]\nname = \"symposium-fetch\"\nversion = \"0.0.0\"\n\
         dependencies = [\n \"b-c\",\n]\n",
        sha256_hex(&bytes)
    );
    let lock = place.put("lock", lock);
    let log = place.dir.path().join("log");
    let cache = place.dir.path().join(format!("cargo/registry/cache/{CRATES_IO}"));
    let script = format!(
        "#!/bin/sh\necho \"$1 $2|$RUSTFLAGS|$RUSTUP_AUTO_INSTALL\" >> '{}'\ncase $1 in\n\
         generate-lockfile) grep -q 'b-c' Cargo.toml || {{ echo 'error: no such crate' >&2; exit 101; }}\n\
         cat Cargo.toml >> '{}'; cp '{}' Cargo.lock;;\n\
         info) {info}; mkdir -p '{}'; cp '{}' '{}';;\nmetadata) exit 101;;\nesac\n",
        log.display(),
        log.display(),
        lock.display(),
        cache.display(),
        file.display(),
        cache.display(),
    );
    let path = place.put("fake-cargo", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("sets the mode");
    path
}

#[cfg(unix)]
fn fetch_with(place: &Place, cargo: &Path, limit: Duration) -> Result<Located, FetchError> {
    let home = place.dir.path().join("cargo");
    let env = Environment::with(
        place.dir.path(),
        [("SYMPOSIUM_CARGO", cargo.as_os_str()), ("CARGO_HOME", home.as_os_str())],
    );
    let fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: false };
    let requirement = VersionReq::parse(">=1").expect("a requirement");
    fetcher.fetch(&FetchRequest {
        name: "b_c",
        requirement: Some(&requirement),
        ..FetchRequest::default()
    })
}

#[cfg(unix)]
#[test]
fn f138_f146_a_missing_crate_is_fetched_alone_in_a_folder_of_ours() {
    let place = Place::new();
    let cargo = fake_cargo(&place, ":");
    let located = fetch_with(&place, &cargo, Duration::from_secs(20)).expect("fetches");
    assert_eq!((located.name.as_str(), located.how), ("b-c", How::RegistryCache));
    assert_eq!(located.version, version("1.2.3"));
    let log = fs::read_to_string(place.dir.path().join("log")).expect("reads");
    assert!(log.contains("info b-c@1.2.3||0"), "{log}");
    assert!(log.contains("version = \">=1\""), "{log}");
    assert!(!log.contains("metadata"), "{log}");
    // The second time it is on this machine, and cargo only says which version.
    fetch_with(&place, &cargo, Duration::from_secs(20)).expect("fetches");
    let log = fs::read_to_string(place.dir.path().join("log")).expect("reads");
    assert_eq!(log.matches("info").count(), 1, "{log}");
}

#[cfg(unix)]
#[test]
fn a_fetch_ends_with_its_time_and_tells_what_cargo_says() {
    let place = Place::new();
    let cargo = fake_cargo(&place, "exec sleep 30");
    let error = fetch_with(&place, &cargo, Duration::from_millis(400));
    assert!(matches!(error, Err(FetchError::TimedOut(_))), "{error:?}");
    let script = "#!/bin/sh\necho 'error: no token\n  for it' >&2\nexit 101\n";
    fs::write(&cargo, script).expect("writes");
    let error = fetch_with(&place, &cargo, Duration::from_secs(20)).expect_err("fails");
    assert_eq!(error.to_string(), "cargo says:\n  error: no token\n    for it");
}

/// The real cargo, with the user's configuration naming a folder instead of crates.io.
#[cfg(unix)]
#[test]
fn the_users_source_replacement_applies() {
    let place = Place::new();
    place.put("mirror/a/Cargo.toml", format!("{}edition = \"2021\"\n", manifest("a", "1.0.0")));
    place.put("mirror/a/src/lib.rs", "");
    place.put("mirror/a/.cargo-checksum.json", "{\"files\":{}}");
    let config = format!(
        "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\ndirectory = \"{}\"\n",
        place.dir.path().join("mirror").display()
    );
    place.put("cargo/config.toml", config);
    let home = place.dir.path().join("cargo");
    let env = Environment::with(place.dir.path(), [("CARGO_HOME", home.as_os_str())]);
    let limit = Duration::from_secs(60);
    let fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: false };
    let request = FetchRequest { name: "a", ..FetchRequest::default() };
    let located = fetcher.fetch(&request).expect("fetches");
    assert_eq!(located.dir, place.dir.path().join("mirror/a"));
    assert_eq!(located.version, version("1.0.0"));
}

/// Makes a repository of the folder `repo`; its URL and commit.
#[cfg(unix)]
fn repository(place: &Place) -> (String, String) {
    let dir = place.dir.path().join("repo");
    let git = |args: &[&str]| {
        let child = crate::process::Child::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(args.iter().copied())
            .cwd(&dir);
        let output = crate::process::run(&child).expect("git runs");
        assert!(output.success(), "{}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    (format!("file://{}", dir.display()), git(&["rev-parse", "HEAD"]))
}

#[cfg(unix)]
#[test]
fn a_git_dependency_is_fetched_at_its_commit() {
    let place = Place::new();
    place.put("repo/Cargo.toml", "[workspace]\nmembers = [\"in/a\"]\n");
    place.put("repo/in/a/Cargo.toml", format!("{}edition = \"2021\"\n", manifest("a", "0.4.0")));
    place.put("repo/in/a/src/lib.rs", "");
    let (url, commit) = repository(&place);
    let home = place.dir.path().join("cargo");
    let env = Environment::with(place.dir.path(), [("CARGO_HOME", home.as_os_str())]);
    let limit = Duration::from_secs(60);
    let fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: false };
    let git = Some((url.as_str(), commit.as_str()));
    let request = FetchRequest { name: "a", git, ..FetchRequest::default() };
    let located = fetcher.fetch(&request).expect("fetches");
    assert_eq!((located.how, located.version), (How::Git, version("0.4.0")));
    assert!(located.dir.ends_with("in/a"));
}

#[cfg(unix)]
#[test]
fn a_private_registry_is_known_by_its_index() {
    let mut place = Place::new();
    let bytes = crate_file("abcde", "1.0.0");
    place.put("dl/abcde-1.0.0.crate", &bytes);
    let dl = place.dir.path().join("dl/{crate}-{version}.crate");
    place.put("repo/config.json", format!("{{\"dl\":\"file://{}\"}}", dl.display()));
    let line = format!(
        "{{\"name\":\"abcde\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"{}\",\
         \"features\":{{}},\"yanked\":false}}\n",
        sha256_hex(&bytes)
    );
    place.put("repo/ab/cd/abcde", line);
    let (url, _) = repository(&place);
    let index = Some(format!("registry+{url}").into());
    let origin = DependencyOrigin::Registry { index, checksum: Some(sha256_hex(&bytes)) };
    place.depends("abcde", "1.0.0", origin);

    let home = place.dir.path().join("cargo");
    let env = Environment::with(place.dir.path(), [("CARGO_HOME", home.as_os_str())]);
    let limit = Duration::from_secs(60);
    let fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: false };
    assert!(place.locate("abcde").is_err());
    let on_demand = OnDemand::new(place.disk(), fetcher, false);
    let located = on_demand.locate(&CrateRequest::any("abcde")).expect("fetches");
    assert!(located.dir.join("Cargo.toml").is_file());
    assert_eq!(place.locate("abcde").expect("is there now").version, version("1.0.0"));
}

#[cfg(unix)]
#[test]
fn f146_each_crate_is_fetched_once_and_never_offline() {
    let place = Place::new();
    let cargo = fake_cargo(&place, ":");
    let home = place.dir.path().join("cargo");
    let env = Environment::with(
        place.dir.path(),
        [("SYMPOSIUM_CARGO", cargo.as_os_str()), ("CARGO_HOME", home.as_os_str())],
    );
    let limit = Duration::from_secs(20);
    let mut fetcher = Fetcher { env: &env, dirs: &place.dirs, limit, offline: true };
    let calls = || {
        let log = fs::read_to_string(place.dir.path().join("log")).unwrap_or_default();
        log.matches("generate-lockfile").count()
    };
    let (here, gone) = (CrateRequest::any("b-c"), CrateRequest::any("gone"));
    assert!(OnDemand::new(place.disk(), fetcher, true).locate(&here).is_err());
    assert_eq!(calls(), 0);
    fetcher.offline = false;
    let on_demand = OnDemand::new(place.disk(), fetcher, false);
    for _ in 0..2 {
        let missing = on_demand.locate(&gone).expect_err("there is none").to_string();
        assert_eq!(missing, "the sources of gone can't be had: cargo says: no such crate");
        on_demand.locate(&here).expect("fetches");
    }
    assert_eq!(calls(), 2);
    let refreshing = OnDemand::new(place.disk(), fetcher, true);
    refreshing.locate(&here).expect("fetches");
    assert_eq!(calls(), 3);
}
