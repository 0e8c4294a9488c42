//! Against real repositories: on disk, over HTTP on the loopback, and hostile ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use symposium_testlib::{Manner, Server};

use super::testing::{Repo, environment, policy};
use super::*;
use crate::symposium::UpdateLevel;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn checkout(&self, repository: &Repository, policy: &Policy) -> Result<Checkout, GitError> {
        let env = environment(self.dir.path(), &[]);
        repository.checkout(&self.path("cache"), policy, &env)
    }

    fn check(&self, repository: &Repository) -> Checkout {
        self.checkout(repository, &policy(UpdateLevel::Check)).expect("a copy")
    }
}

fn at(url: &str) -> Repository {
    Repository::parse(url, None, None).expect("a URL")
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn f120_a_path_a_file_url_and_http_give_the_same_files() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    let commit = repo.commit(&[("p/SYMPOSIUM.toml", "name = \"p\"\n"), ("crlf.txt", "a\r\nb\r\n")]);
    let smart = Server::start(place.dir.path(), Manner::Git);
    repo.git(&["update-server-info"]);
    let dumb = Server::start(place.dir.path(), Manner::Files);
    let path = repo.dir.display().to_string();
    for url in [path, repo.url(), smart.url("repo/.git"), dumb.url("repo/.git")] {
        let found = place.check(&at(&url));
        assert_eq!((&found.commit, found.outcome), (&commit, Outcome::Fetched), "{url}");
        assert_eq!(found.reference, "main", "{url}");
        assert_eq!(text(&found.dir, "crlf.txt"), "a\r\nb\r\n", "{url}");
        assert_eq!(found.stale, None, "{url}");
        let left: Vec<_> = fs::read_dir(found.stamp.parent().expect("an entry"))
            .expect("reads")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(".scratch"))
            .collect();
        assert!(left.is_empty(), "{url}: {left:?}");
    }
}

#[test]
fn a_commit_may_be_written_short_and_never_becomes_another() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    let first = repo.commit(&[("a", "1")]);
    repo.commit(&[("a", "2")]);
    let short = |digits: &str| Repository::parse(&repo.url(), Some(digits), None).expect("a rev");
    let found = place.check(&short(&first[..8].to_uppercase()));
    assert_eq!((&found.commit, text(&found.dir, "a").as_str()), (&first, "1"));
    // It is not asked for again, were the repository gone.
    fs::rename(&repo.dir, place.path("away")).expect("renames");
    assert_eq!(place.check(&short(&first[..8].to_uppercase())).outcome, Outcome::Cached);
    fs::rename(place.path("away"), &repo.dir).expect("renames");
    let nobodys = if first.starts_with("0000000") { "1111111" } else { "0000000" };
    let refused = place.checkout(&short(nobodys), &policy(UpdateLevel::Check));
    assert_eq!(refused.expect_err("there is none"), GitError::NoSuchRef(nobodys.to_owned()));
    // A branch may be called so.
    repo.git(&["branch", "abcdef1"]);
    assert_eq!(text(&place.check(&short("abcdef1")).dir, "a"), "2");
}

#[test]
fn f121_a_new_commit_gets_a_folder_of_its_own_and_old_readers_keep_theirs() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1")]);
    let repository = at(&repo.url());
    let first = place.check(&repository);
    let stamp = fs::read(&first.stamp).expect("reads");
    assert_eq!(place.check(&repository).outcome, Outcome::Unchanged);
    assert_eq!(fs::read(&first.stamp).expect("reads"), stamp);

    repo.commit(&[("a", "2")]);
    let cached = place.checkout(&repository, &Policy::cached()).expect("a copy");
    assert_eq!((cached.outcome, text(&cached.dir, "a").as_str()), (Outcome::Cached, "1"));
    let second = place.check(&repository);
    assert_eq!((second.outcome, text(&second.dir, "a").as_str()), (Outcome::Fetched, "2"));
    assert_eq!(text(&first.dir, "a"), "1");
    assert_ne!(fs::read(&first.stamp).expect("reads"), stamp);

    repo.commit(&[("a", "3")]);
    place.check(&repository);
    assert!(!first.dir.exists() && second.dir.exists());
}

#[test]
fn f120_a_branch_with_slashes_a_tag_a_commit_and_a_folder() {
    let place = Place::new();
    let repo = Repo::new(place.path("srv/o/r"));
    let first = repo.commit(&[("skills/a/SKILL.md", "one"), ("other", "x")]);
    repo.git(&["tag", "-a", "v1", "-m", "v1"]);
    repo.git(&["checkout", "--quiet", "-b", "feature/deep/er"]);
    let second = repo.commit(&[("skills/a/SKILL.md", "two")]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.commit(&[("skills/a/SKILL.md", "three")]);
    repo.git(&["clone", "--quiet", "--bare", ".", "../r.git"]);
    let server = Server::start(&place.path("srv"), Manner::Git);

    let tree = |rest: &str| place.check(&at(&server.url(&format!("o/r.git/tree/{rest}"))));
    let found = tree("feature/deep/er/skills/a");
    assert_eq!((found.reference.as_str(), found.subdir.as_str()), ("feature/deep/er", "skills/a"));
    assert_eq!((found.commit, text(&found.dir, "SKILL.md").as_str()), (second, "two"));
    assert_eq!(found.dir, found.root.join("skills/a"));
    assert!(!found.root.join("other").exists());

    let found = tree("v1/skills");
    assert_eq!((&found.commit, text(&found.dir, "a/SKILL.md").as_str()), (&first, "one"));
    assert_eq!(tree("v1/skills").outcome, Outcome::Unchanged);
    let found = tree(&format!("{first}/skills"));
    assert_eq!(text(&found.dir, "a/SKILL.md"), "one");

    let keys = Repository::parse(&repo.url(), Some("feature/deep/er"), Some("skills"));
    assert_eq!(text(&place.check(&keys.expect("a URL")).dir, "a/SKILL.md"), "two");
    let missing =
        place.checkout(&at(&server.url("o/r.git/tree/main/none")), &policy(UpdateLevel::Check));
    assert!(matches!(missing, Err(GitError::NoSuchFolder { .. })), "{missing:?}");
    let file = Repository::parse(&repo.url(), None, Some("other")).expect("a URL");
    let file = place.checkout(&file, &policy(UpdateLevel::Check));
    assert!(matches!(file, Err(GitError::NoSuchFolder { .. })), "{file:?}");
}

#[test]
fn history_may_be_rewritten_and_the_default_branch_renamed() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1")]);
    let repository = at(&repo.url());
    place.check(&repository);
    repo.commit(&[("a", "2")]);
    repo.git(&["commit", "--quiet", "--amend", "-m", "forced"]);
    assert_eq!(text(&place.check(&repository).dir, "a"), "2");
    repo.git(&["branch", "--move", "main", "trunk"]);
    repo.commit(&[("a", "3")]);
    let found = place.check(&repository);
    assert_eq!((found.reference.as_str(), text(&found.dir, "a").as_str()), ("trunk", "3"));
    let gone = Repository::parse(&repo.url(), Some("main"), None).expect("a URL");
    let error = place.checkout(&gone, &policy(UpdateLevel::Check));
    assert_eq!(error, Err(GitError::NoSuchRef("main".to_owned())));
}

#[test]
fn f122_whatever_goes_wrong_the_copy_stays_in_use() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1")]);
    repo.git(&["branch", "work"]);
    let branch = Repository::parse(&repo.url(), Some("work"), None).expect("a URL");
    let whole = at(&repo.url());
    place.check(&branch);
    place.check(&whole);

    repo.git(&["branch", "--delete", "--force", "work"]);
    let found = place.check(&branch);
    assert_eq!(found.stale, Some(GitError::NoSuchRef("work".to_owned())));
    assert_eq!(text(&found.dir, "a"), "1");

    fs::rename(&repo.dir, place.path("moved")).expect("moves");
    let found = place.check(&whole);
    assert_eq!(text(&found.dir, "a"), "1");
    let stale = found.stale.expect("a reason").to_string();
    assert!(stale.contains("does not appear to be a git repository"), "{stale}");

    let quiet = Policy { force: false, ..policy(UpdateLevel::Check) };
    let found = place.checkout(&whole, &quiet).expect("a copy");
    assert!(matches!(found.stale, Some(GitError::Recently { .. })), "{found:?}");
    fs::rename(place.path("moved"), &repo.dir).expect("moves");
    assert_eq!(place.check(&whole).stale, None);
    assert_eq!(place.checkout(&whole, &quiet).expect("a copy").stale, None);
}

#[test]
fn a_server_that_stalls_or_is_not_there_costs_no_more_than_the_limit() {
    let place = Place::new();
    let stalled = Server::start(place.dir.path(), Manner::Stall);
    let short = Policy { limit: Duration::from_secs(1), ..policy(UpdateLevel::Check) };
    let start = Instant::now();
    let error = place.checkout(&at(&stalled.url("r.git")), &short);
    assert_eq!(error, Err(GitError::TimedOut(Duration::from_secs(1))));
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());

    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("binds").local_addr();
    let url = format!("http://127.0.0.1:{}/r.git", port.expect("an address").port());
    let error = place.checkout(&at(&url), &policy(UpdateLevel::Check)).expect_err("nobody there");
    assert!(error.is_passing() && matches!(error, GitError::Unreachable(_)), "{error:?}");
    let missing = Server::start(place.dir.path(), Manner::Git);
    let error = place.checkout(&at(&missing.url("none.git")), &policy(UpdateLevel::Check));
    assert!(matches!(error, Err(GitError::Failed(_))), "{error:?}");
}

#[test]
fn a_server_that_dies_in_a_transfer_leaves_the_copy() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1")]);
    let good = Server::start(place.dir.path(), Manner::Git);
    let bad = Server::start(place.dir.path(), Manner::DieInTransfer);
    // The proxy of the user's configuration stands for a network that changes under us.
    let config = |server: &Server| {
        let proxy = format!("[url \"{}\"]\ninsteadOf = http://127.0.0.1:9/\n", server.url(""));
        fs::write(place.path(".gitconfig"), proxy).expect("writes");
    };
    let repository = at("http://127.0.0.1:9/repo/.git");
    config(&good);
    place.check(&repository);
    let noise: String =
        (0..40_000u32).map(|i| format!("{:x}", i.wrapping_mul(2_654_435_761))).collect();
    repo.commit(&[("a", "2"), ("noise", &noise)]);
    config(&bad);
    let found = place.check(&repository);
    assert_eq!(text(&found.dir, "a"), "1");
    assert!(matches!(found.stale, Some(GitError::Failed(_))), "{:?}", found.stale);
    config(&good);
    assert_eq!(text(&place.check(&repository).dir, "a"), "2");
}

#[test]
fn two_refreshes_at_once_fetch_once() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1")]);
    let server = Server::start(place.dir.path(), Manner::Git);
    let repository = at(&server.url("repo/.git"));
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| place.check(&repository))).collect();
        threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
    });
    assert!(found.iter().all(|checkout| text(&checkout.dir, "a") == "1"));
    let fetched = found.iter().filter(|checkout| checkout.outcome == Outcome::Fetched).count();
    assert_eq!(fetched, 1, "{found:?}");
    // Whoever started before the first was done has nothing to ask.
    assert!(server.requests().len() < 12, "{:?}", server.requests());
}

#[test]
fn offline_nothing_is_started() {
    let place = Place::new();
    let server = Server::start(place.dir.path(), Manner::Git);
    let offline = Policy { offline: true, ..policy(UpdateLevel::Fetch) };
    let error = place.checkout(&at(&server.url("r.git")), &offline);
    assert_eq!((error, server.requests()), (Err(GitError::Offline), Vec::new()));
    assert!(!place.path("cache").exists());
}

#[test]
fn fetch_mends_a_damaged_copy_without_touching_it() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1"), ("b", "1")]);
    let repository = at(&repo.url());
    let first = place.check(&repository);
    let fetch = policy(UpdateLevel::Fetch);
    let again = place.checkout(&repository, &fetch).expect("a copy");
    assert_eq!((again.outcome, &again.dir), (Outcome::Unchanged, &first.dir));
    fs::remove_file(first.dir.join("b")).expect("removes");
    let mended = place.checkout(&repository, &fetch).expect("a copy");
    assert_eq!((mended.outcome, text(&mended.dir, "b").as_str()), (Outcome::Fetched, "1"));
    assert_ne!(mended.dir, first.dir);
    assert!(!first.dir.join("b").exists());
}

#[cfg(unix)]
#[test]
fn nothing_in_a_repository_runs_or_leads_out() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    let inner = Repo::new(place.path("inner"));
    inner.commit(&[("secret", "x")]);
    let repo = Repo::new(place.path("repo"));
    let touch = format!("touch {}", place.path("ran").display());
    // The user's own configuration knows a filter of the name that the attributes ask for.
    let filter = format!("[filter \"evil\"]\nsmudge = {touch}; cat\nrequired = true\n");
    fs::write(place.path(".gitconfig"), filter).expect("writes");
    repo.git(&["submodule", "add", "--quiet", &inner.url(), "sub"]);
    fs::create_dir_all(repo.dir.join("d")).expect("creates");
    for (target, link) in [
        ("../a", "d/inside"),
        ("d", "folder"),
        ("/etc/passwd", "absolute"),
        ("../repo/a", "around"),
        ("nowhere", "dangling"),
        ("loop2", "loop1"),
        ("loop1", "loop2"),
        ("around", "chained"),
        ("sub", "to-submodule"),
    ] {
        symlink(target, repo.dir.join(link)).expect("links");
    }
    fs::write(repo.dir.join("run.sh"), "#!/bin/sh\n").expect("writes");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(repo.dir.join("run.sh"), mode.clone()).expect("sets");
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let hook = repo.dir.join(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().expect("inside")).expect("creates");
        fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).expect("writes");
        fs::set_permissions(&hook, mode.clone()).expect("sets");
    }
    let attributes = "* filter=evil ident text eol=crlf\nsub export-subst\nd/x export-ignore\n";
    repo.commit(&[(".gitattributes", attributes), ("a", "$Id$ $Format:%H$\n"), ("d/x", "x")]);
    let _ = fs::remove_file(place.path("ran"));

    let found = place.check(&at(&repo.url()));
    assert!(!place.path("ran").exists());
    assert_eq!(text(&found.dir, "a"), "$Id$ $Format:%H$\n");
    assert_eq!(text(&found.dir, "d/inside"), "$Id$ $Format:%H$\n");
    let mut names: Vec<_> = walkdir::WalkDir::new(&found.dir)
        .min_depth(1)
        .into_iter()
        .map(|entry| {
            entry.expect("reads").path().strip_prefix(&found.dir).expect("inside").to_owned()
        })
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    // What led out, in circles or nowhere leads nowhere now.
    let nowhere = ["absolute", "around", "chained", "dangling", "loop1", "loop2", "to-submodule"];
    names.retain(|name| {
        let is_nowhere = nowhere.contains(&name.as_str());
        assert_eq!(found.dir.join(name).exists(), !is_nowhere, "{name}");
        let out = ["absolute", "around", "chained"].contains(&name.as_str());
        assert_eq!(led_out(&found.dir.join(name)), out, "{name}");
        !is_nowhere
    });
    let expected =
        [".gitattributes", ".gitmodules", "a", "d", "d/inside", "d/x", "folder", "run.sh"];
    assert_eq!(names, expected);
    let mode = fs::metadata(found.dir.join("run.sh")).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_followed_inside_the_repository() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    fs::create_dir_all(repo.dir.join("p/s")).expect("creates");
    fs::create_dir_all(repo.dir.join("shared/t")).expect("creates");
    for (target, link) in [
        ("../../LICENSE", "p/s/LICENSE"),
        ("../shared/t", "p/t"),
        ("../..", "p/s/all"),
        ("../../../x", "p/s/out"),
        ("a", "shared/t/inside"),
        ("../../LICENSE", "shared/t/outside"),
    ] {
        symlink(target, repo.dir.join(link)).expect("links");
    }
    repo.commit(&[("LICENSE", "MIT"), ("shared/t/a", "1"), ("p/s/b", "2")]);
    let part = Repository::parse(&repo.url(), None, Some("p")).expect("a URL");
    let found = place.check(&part);
    for (path, expected) in [("s/LICENSE", "MIT"), ("t/a", "1"), ("t/inside", "1"), ("s/b", "2")] {
        assert_eq!(text(&found.dir, path), expected, "{path}");
    }
    assert!(!found.dir.join("s/LICENSE").is_symlink() && !found.dir.join("t").is_symlink());
    for path in ["s/all", "s/out", "t/outside"] {
        let path = found.dir.join(path);
        assert!(path.is_symlink() && !path.exists(), "{}", path.display());
    }
}

#[test]
fn case_94_a_repository_over_the_limits_is_refused() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    repo.commit(&[("a", "1"), ("b", "2"), ("d/c", "3")]);
    let limits = Limits { files: 2, ..Limits::default() };
    let tight = Policy { limits, ..policy(UpdateLevel::Check) };
    let error = place.checkout(&at(&repo.url()), &tight);
    assert!(matches!(error, Err(GitError::TooLarge(_))), "{error:?}");
    let part = Repository::parse(&repo.url(), None, Some("d")).expect("a URL");
    assert_eq!(text(&place.checkout(&part, &tight).expect("small enough").dir, "c"), "3");
}

#[test]
fn an_empty_repository_and_a_missing_git_are_told_apart() {
    let place = Place::new();
    let repo = Repo::new(place.path("repo"));
    let error = place.checkout(&at(&repo.url()), &policy(UpdateLevel::Check));
    assert_eq!(error, Err(GitError::NoSuchRef("HEAD".to_owned())));
    let env = crate::config::Environment::with(place.dir.path(), [("PATH", place.path("empty"))]);
    let error = at(&repo.url()).checkout(&place.path("cache"), &policy(UpdateLevel::Check), &env);
    assert!(matches!(error, Err(GitError::NoGit(_))), "{error:?}");
}

#[test]
fn sha256_repositories_work() {
    let place = Place::new();
    let dir = place.path("repo");
    fs::create_dir_all(&dir).expect("creates");
    let repo = Repo { dir };
    repo.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    let commit = repo.commit(&[("a", "1")]);
    assert_eq!(commit.len(), 64);
    assert_eq!(place.check(&at(&repo.url())).commit, commit);
}
