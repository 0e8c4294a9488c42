//! Whatever changes, and however: what an event is answered from is what somebody finds who has
//! never been here before.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use serde_json::{Value, json};
use symposium_hook::Event;

use super::current::{known, of_folder};
use super::request::{Caller, Mode, Request};
use super::run::{AT, sync};
use super::snapshot::Stored;
use crate::Symposium;
use crate::config::{Dirs, Environment};
use crate::fetch::git::Outcome;
use crate::fetch::git::testing::{self, Repo};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::Reporter;
use crate::symposium::Options;

/// Changes a run makes altogether; on Windows the file system takes many times as long.
const CHANGES: usize = if cfg!(windows) { 240 } else { 2_400 };
const A_SEED: usize = 60;

/// A small generator, so that a failure can be repeated from its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A workspace in `ws`, sources of plugins in the folder `source` and the repository `repo`, and a
/// home.
struct World {
    dir: tempfile::TempDir,
    dice: Dice,
    repo: Repo,
    /// A variable that gates look at.
    switch: Option<&'static str>,
}

const CRATES: [&str; 3] = ["widget", "gadget", "gizmo"];
const PLUGINS: [&str; 4] = ["p0", "p1", "deep/down/p2", "deep/p3"];

impl World {
    fn new(seed: u64) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let repo = Repo::new(dir.path().join("repo"));
        let mut world = Self { dir, dice, repo, switch: None };
        world.write("ws/Cargo.toml", "[workspace]\nmembers = [\"a\", \"crates/*\"]\n");
        world.config();
        world.lock();
        for member in ["a", "crates/b"] {
            world.member(member);
        }
        for plugin in PLUGINS {
            world.plugin(plugin);
        }
        world.push();
        world.fetch();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        crate::files::canonicalize(self.dir.path()).expect("exists").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("inside")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn env(&self, cache: &str, cwd: &Path) -> Environment {
        let at = |path: &str| self.path(path).to_string_lossy().into_owned();
        let (home, config, cache) = (at("home"), at("home/config"), at(cache));
        let mut vars = vec![
            ("USERPROFILE", home.as_str()),
            ("XDG_CONFIG_HOME", &config),
            ("XDG_CACHE_HOME", &cache),
            ("SYMPOSIUM_NO_BACKGROUND", "1"),
            // An event waits for its sync here, however long: `hook_sync` tests what it does otherwise.
            ("SYMPOSIUM_TEST_SWITCHES", "patience=100"),
        ];
        vars.extend(self.switch.map(|value| ("SWITCH", value)));
        testing::environment(Path::new(&home), &vars).in_folder(cwd)
    }

    fn symposium(&self, cache: &str, cwd: &Path, offline: bool) -> Symposium {
        let options = Options { offline, ..Options::default() };
        Symposium::new(self.env(cache, cwd), Reporter::silent(), options).expect("a home")
    }

    fn config(&mut self) {
        let defaults = "[defaults]\nsymposium-recommendations = false\nbuiltin = false\nuser-plugins = false\n";
        let agent = self.dice.pick(&["claude", "kiro"]);
        let source = self.dice.pick(&["source", "source", "source", "source/deep"]);
        let source = self.path(source);
        let text = format!(
            "{defaults}[[agent]]\nname = \"{agent}\"\n[[plugin-source]]\nname = \"s\"\npath = {source:?}\n\
             [[plugin-source]]\nname = \"g\"\ngit = \"{}\"\n",
            self.repo.url()
        );
        self.write("home/config/symposium/config.toml", &text);
    }

    fn lock(&mut self) {
        let mut text = "version = 4\n".to_owned();
        for name in CRATES {
            let version = self.dice.below(3);
            text += &format!("\n[[package]]\nname = \"{name}\"\nversion = \"1.{version}.0\"\n");
            text += "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        }
        self.write("ws/Cargo.lock", &text);
    }

    fn member(&mut self, folder: &str) {
        let name = folder.replace('/', "-");
        let mut text =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n[dependencies]\n");
        let one = self.dice.pick(&CRATES);
        text += &format!("{one} = \"1\"\n");
        if self.dice.below(12) == 0 {
            text += "[workspace]\n";
        }
        self.write(&format!("ws/{folder}/Cargo.toml"), &text);
        self.write(&format!("ws/{folder}/src/lib.rs"), "");
    }

    fn plugin(&mut self, folder: &str) {
        let text = self.manifest(&folder.replace('/', "-"));
        self.write(&format!("source/{folder}/SYMPOSIUM.toml"), &text);
        self.write(&format!("source/{folder}/bin/h.sh"), "exit 0\n");
        self.skill(folder, "one");
    }

    /// What was pushed to the repository is news to nobody until it is fetched.
    fn push(&mut self) {
        let text = self.manifest("pushed");
        let folder = self.dice.pick(&["p", "q"]);
        let manifest = format!("{folder}/SYMPOSIUM.toml");
        let script = format!("{folder}/bin/h.sh");
        self.repo.commit(&[(&manifest, &text), (&script, "exit 0\n")]);
    }

    /// As a session's start does, in the background.
    fn fetch(&self) {
        let sym = self.symposium("cache", &self.path("ws"), false);
        let registry = Registry::load(&sym, &Refresh::for_plugin_sync(&sym, Some("g")));
        let fetched = registry.sources.iter().find(|source| source.name == "g").expect("is there");
        let outcome = &fetched.outcome;
        let is_here = matches!(outcome, Some(Outcome::Fetched | Outcome::Unchanged));
        assert!(is_here, "{outcome:?}: {:?}", fetched.notice);
    }

    fn manifest(&mut self, name: &str) -> String {
        let one = self.dice.pick(&CRATES);
        let version = self.dice.pick(&["", ">=1.1", ">=1.2", "<1.1"]);
        let matcher = self.dice.pick(&["Bash", "Edit", "Read"]);
        let event = self.dice.pick(&["PreToolUse", "PostToolUse"]);
        let gate = self.dice.pick(&[
            "",
            "",
            "predicates = [\"path_exists(flag)\"]\n",
            "predicates = [\"env(SWITCH)\"]\n",
            "predicates = [\"not(env(SWITCH=on))\"]\n",
        ]);
        format!(
            "name = \"{name}\"\ncrates = [\"{one}{version}\"]\n{gate}[[skills]]\nsource.path = \"skills\"\n\
             [[hooks]]\nname = \"h\"\nevent = \"{event}\"\nmatcher = \"{matcher}\"\n\
             command = {{ script = \"bin/h.sh\" }}\n"
        )
    }

    fn skill(&mut self, folder: &str, name: &str) {
        let name = format!("{}-{name}", folder.replace('/', "-"));
        let words = self.dice.pick(&["first", "other", "third"]);
        let text = format!("---\nname: {name}\ndescription: The {words} text.\n---\n{words}\n");
        self.write(&format!("source/{folder}/skills/{name}/SKILL.md"), &text);
    }

    /// Changes one input, or something beside them.
    fn change(&mut self) {
        let folder = self.dice.pick(&PLUGINS);
        match self.dice.below(19) {
            0 | 1 => self.lock(),
            2 | 3 => {
                let member = self.dice.pick(&["a", "crates/b"]);
                self.member(member);
            }
            4 => {
                let member = self.dice.pick(&["crates/c", "crates/d"]);
                self.member(member);
            }
            5 => {
                let gone = self.dice.pick(&["crates/c", "crates/d"]);
                let _ = fs::remove_dir_all(self.path("ws").join(gone));
            }
            6 => self.config(),
            7 | 8 => self.plugin(folder),
            9 => drop(fs::remove_dir_all(self.path("source").join(folder))),
            10 => {
                let name = self.dice.pick(&["one", "two", "three"]);
                self.skill(folder, name);
            }
            11 => drop(fs::remove_dir_all(self.path("source").join(folder).join("skills"))),
            12 => {
                let script = self.path("source").join(folder).join("bin/h.sh");
                if fs::remove_file(&script).is_err() && script.parent().is_some_and(Path::exists) {
                    fs::write(script, "exit 0\n").expect("writes");
                }
            }
            13 => {
                let flag = self.path("ws/flag");
                if fs::remove_file(&flag).is_err() {
                    fs::write(flag, "").expect("writes");
                }
            }
            14 => {
                let exclude =
                    self.dice.pick(&["", "exclude = [\"crates/b\"]\n", "exclude = [\"a\"]\n"]);
                let text = format!("[workspace]\nmembers = [\"a\", \"crates/*\"]\n{exclude}");
                self.write("ws/Cargo.toml", &text);
            }
            15 => self.switch = [None, Some(""), Some("on"), Some("off")][self.dice.below(4)],
            16 => self.push(),
            17 => self.fetch(),
            _ => self.in_disguise(folder),
        }
    }

    /// Changes letters of a file and puts its times back; the length stays.
    fn in_disguise(&mut self, folder: &str) {
        let manifest = format!("source/{folder}/SYMPOSIUM.toml");
        let skill = format!("source/{folder}/skills/{}-one/SKILL.md", folder.replace('/', "-"));
        let path =
            self.dice.pick(&["ws/Cargo.lock", "ws/a/Cargo.toml", &manifest, &skill]).to_owned();
        let path = self.path(&path);
        let Ok(text) = fs::read_to_string(&path) else { return };
        let before = fs::metadata(&path).and_then(|found| found.modified()).expect("has a time");
        let (from, to) = [
            ("1.0.0", "1.2.0"),
            ("1.2.0", "1.1.0"),
            ("gadget", "widget"),
            ("Bash", "Edit"),
            ("Edit", "Read"),
            ("first", "other"),
        ][self.dice.below(6)];
        fs::write(&path, text.replace(from, to)).expect("writes");
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(before))
            .expect("sets");
    }

    /// What an event in `cwd` is answered from, and whether it was there already.
    fn answered(&self, cwd: &Path) -> (Option<Value>, bool) {
        let env = self.env("cache", cwd);
        let dirs = Dirs::resolve(&env).expect("a home");
        if let Some(stored) = known(&env, &dirs, cwd) {
            return (Some(essence(&stored)), true);
        }
        let stored = of_folder(&env, &dirs, cwd, false);
        (stored.map(|stored| essence(&stored)), false)
    }

    /// What somebody finds who remembers nothing, and whether a skill folder is not as it should be;
    /// `None` when the manifests can't be read.
    fn afresh(&self, cwd: &Path) -> Option<(Value, bool)> {
        let _ = fs::remove_dir_all(self.path("nothing"));
        let sym = self.symposium("nothing", cwd, true);
        // What was fetched is a fact, like what is in a folder.
        let fetched = Dirs::resolve(&self.env("cache", cwd)).expect("a home").plugin_sources();
        fs::create_dir_all(sym.dirs.cache()).expect("creates");
        let here = sym.dirs.plugin_sources();
        give(&fetched, &here);
        let request = Request {
            start: cwd.to_path_buf(),
            mode: Mode::Look,
            caller: Caller::Hook,
            ..Request::default()
        };
        let synced = sync(&sym, &request).ok()?;
        let is_behind = synced.plan.steps.iter().any(|step| step.action.is_change());
        let found = essence(&synced.stored?);
        let in_json = |path: &Path| json!(path).to_string().trim_matches('"').to_owned();
        let text = found.to_string().replace(&in_json(&here), &in_json(&fetched));
        Some((serde_json::from_str(&text).ok()?, is_behind))
    }
}

/// Shows a folder at another place: by a link, where everybody may make one.
#[cfg(unix)]
fn give(folder: &Path, at: &Path) {
    std::os::unix::fs::symlink(folder, at).expect("links");
}

#[cfg(windows)]
fn give(folder: &Path, at: &Path) {
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.expect("lists");
        let place = at.join(entry.path().strip_prefix(folder).expect("below it"));
        if entry.file_type().is_dir() {
            fs::create_dir_all(place).expect("creates");
        } else {
            fs::copy(entry.path(), place).expect("copies");
        }
    }
}

/// What hooks, help and subcommands need, without when it was first seen. Whether a program is there
/// is looked up when it is to run, and not before.
fn essence(stored: &Stored) -> Value {
    let mut offer = json!(stored.offer());
    for list in ["skills", "servers"] {
        for item in offer[list].as_array_mut().expect("a list") {
            item.as_object_mut().expect("an object").remove("since");
        }
    }
    let as_it_runs = |event| {
        let mut hooks = stored.hooks(event);
        for hook in hooks.iter_mut().filter(|hook| hook.run.missing().is_some()) {
            (hook.run.argv, hook.run.env, hook.run.path) = (None, Vec::new(), Vec::new());
            hook.run.problem = None;
        }
        json!(hooks)
    };
    let hooks = Event::COMMON.map(as_it_runs);
    json!({ "root": stored.header.root, "hooks": hooks, "offer": offer })
}

fn run(seeds: impl Iterator<Item = u64>) -> (usize, usize) {
    let (mut held, mut changed) = (0, 0);
    for seed in seeds {
        let mut world = World::new(seed);
        for step in 0..A_SEED {
            for _ in 0..=world.dice.below(2) {
                world.change();
            }
            let inside = world.dice.pick(&["", "a", "crates", "crates/b", "a/src"]);
            let cwd = world.path("ws").join(inside);
            let (answered, was_there) = world.answered(&cwd);
            let Some((afresh, is_behind)) = world.afresh(&cwd) else { continue };
            assert_eq!(answered, Some(afresh), "seed {seed}, step {step}, there: {was_there}");
            assert!(!is_behind, "seed {seed}, step {step}, there: {was_there}");
            // And at once once more.
            let (again, was_there) = world.answered(&cwd);
            assert_eq!(again, answered, "seed {seed}, step {step}");
            held += usize::from(was_there);
            changed += 1;
        }
    }
    (held, changed)
}

#[test]
fn an_event_is_never_answered_from_what_was() {
    let start = SystemTime::now();
    let seeds = u64::try_from(CHANGES / A_SEED).expect("few");
    let (held, changed) = std::thread::scope(|scope| {
        let odd = scope.spawn(move || run((1..=seeds).filter(|seed| seed % 2 == 1)));
        let even = run((1..=seeds).filter(|seed| seed % 2 == 0));
        let odd = odd.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (even.0 + odd.0, even.1 + odd.1)
    });
    // The test is worth something only where most snapshots do serve again.
    assert!(changed > CHANGES / 2 && held * 10 > changed * 9, "{held} of {changed} held");
    let took = start.elapsed().unwrap_or_default();
    assert!(took.as_secs() < 600, "{took:?}");
}

/// The steps of a sync, after each of which something changes.
const STEPS: [&str; 6] = ["begin", "registry", "planned", "applied", "registered", "remembered"];

#[test]
fn what_changes_while_a_sync_runs_is_known_to_the_next_event() {
    let mut compared = 0;
    let (seeds, enough) = if cfg!(windows) { (2, 20) } else { (10, 100) };
    for seed in 1..=seeds {
        let world = Rc::new(RefCell::new(World::new(1_000 + seed)));
        for round in 0..20 {
            let cwd = world.borrow().path("ws");
            let sym = world.borrow().symposium("cache", &cwd, true);
            let during = world.borrow_mut().dice.pick(&STEPS);
            let changing = Rc::clone(&world);
            AT.set(Some(Box::new(move |step| {
                if step == during {
                    changing.borrow_mut().change();
                }
            })));
            let request =
                Request { start: cwd.clone(), caller: Caller::Hook, ..Request::default() };
            // Manifests may be broken meanwhile.
            let _ = sync(&sym, &request);
            AT.set(None);
            let world = world.borrow();
            let (answered, was_there) = world.answered(&cwd);
            let Some((afresh, is_behind)) = world.afresh(&cwd) else { continue };
            let place = format!("seed {seed}, round {round}, after {during}, there: {was_there}");
            assert_eq!(answered, Some(afresh), "{place}");
            assert!(!is_behind, "{place}");
            let (_, holds) = world.answered(&cwd);
            assert!(holds, "{place}: a sync that changes nothing is not done again");
            compared += 1;
        }
    }
    assert!(compared > enough, "{compared}");
}
