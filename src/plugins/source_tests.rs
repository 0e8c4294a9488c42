use std::fs;
use std::time::UNIX_EPOCH;

use super::spec::from_configuration;
use super::*;
use crate::config::RECOMMENDATIONS_URL;
use crate::fetch::git::testing::{Repo, environment};

struct Place {
    dir: tempfile::TempDir,
    sym: Symposium,
}

impl Place {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("config.toml"), config).expect("writes");
        let mut sym = Symposium::from_dir(dir.path());
        sym.env = environment(dir.path(), &[]);
        Self { dir, sym }
    }

    fn git(url: &str, more: &str) -> Self {
        Self::new(&format!("[[plugin-source]]\nname = \"acme\"\ngit = \"{url}\"\n{more}"))
    }

    fn open(&self, refresh: &Refresh<'_>) -> (SourceState, Vec<String>) {
        let specs = effective(&self.sym);
        let (state, diagnostics) = open(&self.sym, &specs[0], refresh);
        (state, diagnostics.iter().map(ToString::to_string).collect())
    }
}

fn names(specs: &[SourceSpec]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

#[test]
fn f19_f20_the_users_sources_come_first_and_the_binarys_last() {
    let place = Place::new(
        "[[plugin-source]]\nname = \"b\"\npath = \"./b\"\n\
         [[plugin-source]]\nname = \"a\"\ngit = \"https://host/a\"\nauto-update = false\n",
    );
    let specs = effective(&place.sym);
    assert_eq!(names(&specs), ["b", "a", "user-plugins", "symposium-recommendations", "builtin"]);
    assert_eq!(specs[0].location, Location::Path(place.dir.path().join("b")));
    assert!(!specs[1].auto_update && specs[2].auto_update);
    let Location::Git(central) = &specs[3].location else { panic!("{:?}", specs[3]) };
    assert_eq!(central.shown(), RECOMMENDATIONS_URL);

    let place = Place::new(
        "[defaults]\nuser-plugins = false\nsymposium-recommendations = false\nbuiltin = false\n",
    );
    assert!(effective(&place.sym).is_empty());
}

#[test]
fn the_central_repository_can_be_a_mirror() {
    let mut place = Place::new("[defaults]\nuser-plugins = false\n");
    let vars = [("SYMPOSIUM_RECOMMENDATIONS_URL", "https://mirror.example/r")];
    place.sym.env = environment(place.dir.path(), &vars);
    let Location::Git(found) = &effective(&place.sym)[0].location else { panic!("git") };
    assert_eq!(found.identity(), "mirror.example/r");
}

#[test]
fn f21_a_repository_by_path_starts_at_the_configuration_or_at_home() {
    for url in ["./repo", "~/repo", "../x/../repo/."] {
        let place = Place::git(url, "");
        let found = from_configuration(&place.sym, url);
        assert!(Path::new(&found).is_absolute() && found.ends_with("repo"), "{found}");
    }
    let place = Place::git("acme/tools", "");
    let (state, said) = place.open(&Refresh::cached());
    assert_eq!(state.root, None);
    assert!(said[0].contains("config.toml:3:7: the plugin source `acme` is left out: the git URL `acme/tools` has no host"), "{said:?}");
    assert!(said[0].contains("did you mean `https://github.com/acme/tools`?"), "{said:?}");
}

#[test]
fn a_missing_folder_is_a_warning_that_names_file_and_path() {
    let place = Place::new("[[plugin-source]]\nname = \"acme\"\npath = \"gone\"\n");
    let (state, said) = place.open(&Refresh::cached());
    assert_eq!(state.root, None);
    assert!(state.observed.paths().eq([place.dir.path().join("gone")]));
    let config = place.dir.path().join("config.toml");
    assert!(said[0].starts_with(&format!("{}:3:8: ", config.display())), "{said:?}");
    assert!(said[0].contains("gone does not exist"), "{said:?}");
    fs::write(place.dir.path().join("gone"), "").expect("writes");
    assert!(place.open(&Refresh::cached()).1[0].contains("gone is not a folder"));

    // The user's own folder need not be there, but is watched.
    let place = Place::new("");
    let (state, said) = place.open(&Refresh::cached());
    assert_eq!((state.name.as_str(), state.observed.paths().count()), (USER_PLUGINS, 1));
    assert!(said.is_empty() && state.notice.is_none());
}

#[test]
fn f23_a_source_without_auto_update_waits_until_it_is_named() {
    let origin = tempfile::tempdir().expect("a temporary folder");
    let repo = Repo::new(origin.path().join("r"));
    repo.commit(&[("a", "1")]);
    let mut place = Place::git(&repo.url(), "auto-update = false\n");
    let sym = &place.sym;
    assert_eq!(place.open(&Refresh::for_command(sym)).0.outcome, Some(Outcome::Fetched));
    repo.commit(&[("a", "2")]);
    assert_eq!(place.open(&Refresh::for_plugin_sync(sym, None)).0.outcome, Some(Outcome::Cached));
    assert_eq!(
        place.open(&Refresh::for_plugin_sync(sym, Some("x"))).0.outcome,
        Some(Outcome::Cached)
    );
    let found = place.open(&Refresh::for_plugin_sync(sym, Some("acme")));
    assert_eq!((found.0.outcome, found.1), (Some(Outcome::Fetched), vec![]));
    repo.commit(&[("a", "3")]);
    place.sym.options.update = Some(UpdateLevel::Check);
    let check = Refresh::for_command(&place.sym);
    assert_eq!(place.open(&check).0.outcome, Some(Outcome::Cached));
    place.sym.options.update = Some(UpdateLevel::Fetch);
    let fetch = Refresh::for_command(&place.sym);
    let state = place.open(&fetch).0;
    assert_eq!(state.outcome, Some(Outcome::Fetched));
    assert!(matches!(state.event(), Some(Event::Change(Change { action: Action::Fetch, .. }))));
}

#[test]
fn what_can_not_be_read_says_what_is_used_instead_and_what_tries_again() {
    let origin = tempfile::tempdir().expect("a temporary folder");
    let repo = Repo::new(origin.path().join("r"));
    repo.commit(&[("a", "1")]);
    let url = repo.url();
    let place = Place::git(&url, "");
    let sync = Refresh::for_plugin_sync(&place.sym, None);
    assert_eq!(place.open(&sync).1, Vec::<String>::new());
    fs::rename(&repo.dir, origin.path().join("moved")).expect("moves");
    let (state, said) = place.open(&sync);
    assert!(state.root.is_some_and(|root| root.join("a").is_file()));
    let [said] = said.as_slice() else { panic!("{said:?}") };
    assert!(said.contains("config.toml:3:7: can't read the plugin source `acme`; "), "{said}");
    assert!(said.contains(&url) || said.contains("does not appear to be a git"), "{said}");
    assert!(said.contains("the copy of "), "{said}");
    assert!(said.ends_with("`cargo agents plugin sync acme` tries again"), "{said}");

    let offline = Refresh { policy: Policy { offline: true, ..sync.policy }, ..sync };
    let (state, said) = place.open(&offline);
    assert!(said.is_empty());
    let notice = state.notice.clone().expect("a notice");
    assert!(notice.starts_with("offline, using the copy of "), "{notice}");
    assert!(matches!(state.event(), Some(Event::Change(Change { action: Action::Skip, .. }))));
}

#[test]
fn ages_are_told_in_the_largest_unit() {
    let now = UNIX_EPOCH + Duration::from_secs(10_000_000);
    let ago = |seconds| age(now, now - Duration::from_secs(seconds));
    assert_eq!(ago(2 * 86_400 + 5), "2 days ago");
    assert_eq!(ago(3_600), "1 hour ago");
    assert_eq!(ago(59), "59 seconds ago");
    assert_eq!(ago(0), "just now");
    assert_eq!(age(now, now + Duration::from_secs(9)), "just now");
}
