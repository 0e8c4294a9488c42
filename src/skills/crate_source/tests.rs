use std::fs;
use std::time::Duration;

use super::fetch::{FetchError, FetchRequest, Fetcher};
use super::*;
use crate::fetch::archive::sha256_hex;
use crate::workspace::{LockedPackage, Member};

const CRATES_IO: &str = "index.crates.io-1949cf8c6b5b557f";
const INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

struct Place {
    dir: tempfile::TempDir,
    dirs: Dirs,
    workspace: Workspace,
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn manifest(name: &str, version: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n")
}

/// A `.crate` file with a manifest.
fn crate_file(name: &str, version: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    let text = manifest(name, version);
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    let path = format!("{name}-{version}/Cargo.toml");
    builder.append_data(&mut header, path, text.as_bytes()).expect("appends");
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("finishes")
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        Self { dir, dirs, workspace: Workspace::default() }
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(&path, bytes).expect("writes");
        path
    }

    fn source(&self, registry: &str, name: &str, version: &str) -> PathBuf {
        let dir = format!("cargo/registry/src/{registry}/{name}-{version}");
        self.put(&format!("{dir}/.cargo-ok"), "{\"v\":1}");
        let manifest = self.put(&format!("{dir}/Cargo.toml"), manifest(name, version));
        manifest.parent().expect("has a folder").to_path_buf()
    }

    fn cached(&self, registry: &str, name: &str, version: &str) -> String {
        let bytes = crate_file(name, version);
        self.put(&format!("cargo/registry/cache/{registry}/{name}-{version}.crate"), &bytes);
        sha256_hex(&bytes)
    }

    fn depends(&mut self, name: &str, at: &str, origin: DependencyOrigin) {
        let dependency = Dependency { name: name.to_owned(), version: Some(version(at)), origin };
        self.workspace.dependencies.push(dependency);
    }

    fn disk(&self) -> CrateDisk<'_> {
        CrateDisk {
            registry_dirs: Rc::default(),
            known: Rc::default(),
            workspace: &self.workspace,
            cargo_home: Some(self.dir.path().join("cargo")),
            vendor: vec![self.dir.path().join("vendor")],
            dirs: &self.dirs,
        }
    }

    fn locate(&self, name: &str) -> Result<Located, NotOnDisk> {
        self.disk().locate(&CrateRequest::any(name))
    }

    fn found(&self, name: &str) -> (How, String) {
        let located = self.locate(name).expect("is on disk");
        assert!(located.dir.join("Cargo.toml").is_file());
        (located.how, located.version.to_string())
    }
}

fn crates_io(checksum: Option<String>) -> DependencyOrigin {
    DependencyOrigin::Registry { index: None, checksum }
}

#[test]
fn f138_a_path_wins_over_vendor_over_the_registry() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(None));
    assert_eq!(place.found("a"), (How::RegistrySource, "1.0.0".to_owned()));
    place.put("vendor/a/Cargo.toml", manifest("a", "1.0.0"));
    assert_eq!(place.found("a"), (How::Vendor, "1.0.0".to_owned()));
    let local = place.put("local/a/Cargo.toml", manifest("a", "1.0.0"));
    let local = local.parent().expect("has a folder").to_path_buf();
    place.depends("a", "1.0.0", DependencyOrigin::Path(local));
    assert_eq!(place.found("a"), (How::Path, "1.0.0".to_owned()));
}

#[test]
fn f139_exactly_the_version_that_the_workspace_uses() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.source(CRATES_IO, "a", "2.0.0");
    assert_eq!(place.found("a").1, "2.0.0", "not in the lock: the newest");
    place.depends("a", "1.0.0", crates_io(None));
    assert_eq!(place.found("a").1, "1.0.0");
    place.workspace.dependencies.clear();
    place.depends("a", "1.5.0", crates_io(None));
    let missing = place.locate("a").expect_err("1.5.0 is nowhere");
    assert_eq!(missing.to_string(), "the sources of a 1.5.0 are not on this machine");
}

#[test]
fn f144_a_target_outside_of_the_lock_meets_its_requirement() {
    let place = Place::new();
    for at in ["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc.1"] {
        place.source(CRATES_IO, "a", at);
    }
    let newest = |requirement: &str| {
        let requirement = Some(VersionReq::parse(requirement).expect("a requirement"));
        let request = CrateRequest { name: "a".to_owned(), version: None, requirement };
        place.disk().locate(&request).map(|located| located.version.to_string()).ok()
    };
    assert_eq!(newest(">=1.0").as_deref(), Some("2.0.0"));
    assert_eq!(newest("^1").as_deref(), Some("1.4.0"));
    assert_eq!(newest("=3.0.0-rc.1").as_deref(), Some("3.0.0-rc.1"));
    assert_eq!(newest("4"), None);
    assert_eq!(place.found("a").1, "2.0.0");
}

#[test]
fn a_target_in_the_lock_is_taken_at_the_locked_version() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.source(CRATES_IO, "a", "2.0.0");
    place.workspace.locked = vec![LockedPackage {
        name: "a".to_owned(),
        version: version("1.0.0"),
        source: Some(INDEX.to_owned()),
        checksum: None,
    }];
    assert_eq!(place.found("a").1, "1.0.0");
}

#[test]
fn names_with_hyphens_and_underscores_are_the_same() {
    let mut place = Place::new();
    place.source(CRATES_IO, "my-crate", "1.0.0");
    assert_eq!(place.locate("my_crate").expect("is there").name, "my-crate");
    place.depends("my-crate", "1.0.0", crates_io(None));
    assert_eq!(place.locate("my_crate").expect("is there").name, "my-crate");
    place.put("vendor/v_x-2.0.0/Cargo.toml", manifest("v_x", "2.0.0"));
    assert_eq!(place.found("v-x"), (How::Vendor, "2.0.0".to_owned()));
}

#[test]
fn a_member_of_the_workspace_is_a_path() {
    let mut place = Place::new();
    let path = place.put("ws/m/Cargo.toml", manifest("m", "0.3.0"));
    let dir = path.parent().expect("has a folder").to_path_buf();
    place.workspace.members =
        vec![Member { name: "m".to_owned(), version: None, dir, names_us: true }];
    assert_eq!(place.found("m"), (How::Path, "0.3.0".to_owned()));
}

#[test]
fn a_vendored_crate_is_known_by_its_manifest() {
    let mut place = Place::new();
    place.put("vendor/a/Cargo.toml", manifest("a", "2.0.0"));
    place.put("vendor/a-1.0.0/Cargo.toml", manifest("a", "1.0.0"));
    place.put("vendor/a-9.0.0/Cargo.toml", manifest("b", "9.0.0"));
    place.depends("a", "1.0.0", crates_io(None));
    assert!(place.locate("a").expect("is there").dir.ends_with("vendor/a-1.0.0"));
    let request = CrateRequest { version: Some(version("9.0.0")), ..CrateRequest::any("a") };
    assert!(place.disk().locate(&request).is_err());
}

#[test]
fn f138_a_downloaded_crate_is_unpacked_once() {
    let mut place = Place::new();
    let checksum = place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum.clone())));
    let located = place.locate("a").expect("is there");
    assert_eq!(located.how, How::RegistryCache);
    assert_eq!(located.dir, place.dirs.crates().join(format!("a-1.0.0-{}", &checksum[..8])));
    let before = fs::metadata(located.dir.join("Cargo.toml")).and_then(|meta| meta.modified());
    assert_eq!(place.locate("a").expect("is there"), located);
    let after = fs::metadata(located.dir.join("Cargo.toml")).and_then(|meta| meta.modified());
    assert_eq!(before.expect("a time"), after.expect("a time"));
}

#[test]
fn a_download_with_another_checksum_is_refused_with_the_reason() {
    let mut place = Place::new();
    place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some("00".repeat(32))));
    let missing = place.locate("a").expect_err("must be refused").to_string();
    assert!(missing.contains("SHA-256"), "{missing}");
    assert!(!place.dirs.crates().exists());
}

#[test]
fn a_stranger_of_the_same_name_in_another_registry_is_not_taken() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.cached(CRATES_IO, "a", "1.0.0");
    let index = Some("sparse+https://crates.example.com/index/".into());
    let origin = DependencyOrigin::Registry { index, checksum: Some("11".repeat(32)) };
    place.depends("a", "1.0.0", origin);
    assert!(place.locate("a").is_err());
    place.source("crates.example.com-0123456789abcdef", "a", "1.0.0");
    assert!(place.found("a").0 == How::RegistrySource);
}

#[test]
fn a_mirror_of_the_same_content_is_taken() {
    let mut place = Place::new();
    place.source(CRATES_IO, "other", "1.0.0");
    place.source("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    let checksum = place.cached("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum)));
    assert_eq!(place.found("a").0, How::RegistrySource);
}

#[test]
fn where_all_is_mirrored_the_mirror_counts_as_crates_io() {
    let place = Place::new();
    place.source("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    assert_eq!(place.found("a").0, How::RegistrySource);
}

#[test]
fn sources_that_cargo_did_not_finish_come_from_the_download() {
    let mut place = Place::new();
    let dir = place.source(CRATES_IO, "a", "1.0.0");
    fs::remove_file(dir.join(".cargo-ok")).expect("removes");
    let checksum = place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum)));
    assert_eq!(place.found("a").0, How::RegistryCache);
}

#[test]
fn a_git_dependency_is_found_in_cargos_checkout() {
    let mut place = Place::new();
    let checkout = "cargo/git/checkouts/mono-0123456789abcdef/abc1234";
    place.put(&format!("{checkout}/.cargo-ok"), "");
    place.put(&format!("{checkout}/Cargo.toml"), "[workspace]\n");
    place.put(
        &format!("{checkout}/crates/a/Cargo.toml"),
        "[package]\nname = \"a\"\nversion.workspace = true\n",
    );
    let origin = DependencyOrigin::Git {
        url: "https://github.com/o/Mono.git".into(),
        commit: "abc1234def".to_owned(),
    };
    place.depends("a", "1.0.0", origin);
    let located = place.locate("a").expect("is there");
    assert_eq!(located.how, How::Git);
    assert!(located.dir.ends_with("abc1234/crates/a"));
    place.workspace.dependencies.clear();
    let source = "git+https://github.com/o/mono?branch=x#abc1234def".to_owned();
    place.workspace.locked = vec![LockedPackage {
        name: "a".to_owned(),
        version: version("1.0.0"),
        source: Some(source),
        checksum: None,
    }];
    assert_eq!(place.found("a").0, How::Git);
}

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
    assert_eq!(error.to_string(), "cargo says: no token for it");
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
