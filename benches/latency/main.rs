//! What a hook, a sync and the help cost, as ratios to the smallest program's cost in the same run.
//!
//! `cargo bench --bench latency` prints the table of `md/design/performance.md`. With a number after
//! `--` it runs each case that many times (200 by default); with `quick`, only the small cases; with
//! `results`, only those of tools' results; with `load`, 16 hooks at once for a minute beside a running
//! `cargo build`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a bench prints, and starts programs"
)]

mod load;
mod measure;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure::{Summary, measure, summary};

struct Bench {
    dir: PathBuf,
    floor: PathBuf,
    binary: PathBuf,
    runs: usize,
}

const EVENT: &str = r#"{"session_id":"SESSION","transcript_path":"/dev/null","cwd":"CWD","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_use_id":"toolu_ID"}"#;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "quick");
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(200);
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let dir = fs::canonicalize(temporary.path()).expect("a real path");
    let bench = Bench { floor: build_floor(&dir), binary: build_program(&dir), dir, runs };
    let size = fs::metadata(&bench.binary).map(|found| found.len()).unwrap_or(0);
    println!("release binary: {:.2} MB, {} dependencies", size as f64 / 1e6, dependencies());
    if words.iter().any(|word| word == "load") {
        return bench.load();
    }
    println!(
        "{:<64} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "case", "wall", "× floor", "CPU", "× floor", "memory"
    );
    if words.iter().any(|word| word == "results") {
        return bench.results();
    }
    bench.warm_hooks(quick);
    if !quick {
        bench.others();
        bench.results();
        bench.growth();
    }
}

/// The program as users get it, in `dir`. The one that cargo made for the bench has the features that
/// tests want of our dependencies, and is larger.
fn build_program(dir: &Path) -> PathBuf {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bin", "cargo-agents"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the program compiles");
    installed(Path::new(env!("CARGO_BIN_EXE_cargo-agents")), &dir.join("bin"))
}

/// A copy in `folder`, as `cargo install` makes one. Linkers leave a file in memory in many small
/// pieces, which makes every start of a large program slower.
fn installed(program: &Path, folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("creates");
    let copy = folder.join(program.file_name().expect("a name"));
    fs::copy(program, &copy).expect("copies");
    copy
}

/// How many crates are in the program, ours included.
fn dependencies() -> usize {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", "symposium", "-e", "normal", "--prefix", "none", "--no-dedupe"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().collect::<std::collections::BTreeSet<_>>().len()
}

/// Compiles the floor beside the bench, optimised and stripped.
fn build_floor(dir: &Path) -> PathBuf {
    let out = dir.join("floor");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor.rs");
    let status = Command::new("rustc")
        .args(["--edition", "2024", "-C", "opt-level=3", "-C", "strip=symbols", "-o"])
        .arg(&out)
        .arg(source)
        .status()
        .expect("rustc runs");
    assert!(status.success(), "the floor compiles");
    installed(&out, &dir.join("bin"))
}

impl Bench {
    /// A home with `path` plugins in a folder and `git` plugins in a repository.
    fn home(&self, name: &str, path: usize, git: usize) -> PathBuf {
        let home = self.dir.join(name);
        if home.exists() {
            return home;
        }
        let config = home.join(".symposium");
        fs::create_dir_all(&config).expect("creates");
        let mut text =
            "[defaults]\nsymposium-recommendations = false\n[[agent]]\nname = \"claude\"\n"
                .to_owned();
        plugins(&config.join("plugins"), path);
        if git > 0 {
            let repository = home.join("repository");
            plugins(&repository, git);
            for args in [
                &["init", "-q", "-b", "main"][..],
                &["add", "-A"],
                &["-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-qm", "x"],
            ] {
                let status = Command::new("git").args(args).current_dir(&repository).status();
                assert!(status.expect("git runs").success());
            }
            text.push_str(&format!(
                "[[plugin-source]]\nname = \"big\"\ngit = \"{}\"\n",
                repository.display()
            ));
        }
        fs::write(config.join("config.toml"), text).expect("writes");
        home
    }

    fn command(&self, home: &Path, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(folder).env_clear();
        command.env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("SYMPOSIUM_NO_BACKGROUND", "1");
        command
    }

    fn sync(&self, home: &Path, folder: &Path) {
        let output = self.command(home, folder, &["sync"]).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Measures `make`'s command and the floor in turns; prints a line.
    fn compare(
        &self,
        case: &str,
        runs: usize,
        stdin: &dyn Fn(usize) -> String,
        make: &dyn Fn(usize) -> Command,
    ) -> (Summary, Summary) {
        let (mut floors, mut ours) = (Vec::new(), Vec::new());
        for number in 0..runs + 3 {
            let input = stdin(number);
            let floor = measure(Command::new(&self.floor).env_clear(), &input);
            let own = measure(&mut make(number), &input);
            // The first ones warm the file cache.
            if number >= 3 {
                floors.push(floor);
                ours.push(own);
            }
        }
        let (floor, own) = (summary(&floors), summary(&ours));
        println!(
            "{case:<64} {:>5.2} ms {:>7.2}× {:>5.2} ms {:>7.2}× {:>5.1} MB",
            own.wall,
            own.wall / floor.wall,
            own.cpu,
            own.cpu / floor.cpu,
            own.memory as f64 / 1024.0
        );
        (floor, own)
    }

    fn warm_hook(&self, case: &str, home: &Path, folder: &Path) -> (Summary, Summary) {
        let stdin = |number: usize| event(folder, number);
        let args = ["hook", "claude", "pre-tool-use"];
        self.compare(case, self.runs, &stdin, &|_| self.command(home, folder, &args))
    }

    fn warm_hooks(&self, quick: bool) {
        let empty = self.dir.join("empty");
        fs::create_dir_all(&empty).expect("creates");
        let small = self.dir.join("small");
        symposium_testlib::large::large_workspace(&small, 2, 40);
        let large = self.dir.join("large");
        symposium_testlib::large::large_workspace(&large, 40, 1000);
        let homes: &[(&str, usize, usize)] = if quick {
            &[("no plugins", 0, 0), ("10 plugins", 10, 0)]
        } else {
            &[
                ("no plugins", 0, 0),
                ("10 plugins", 10, 0),
                ("500 plugins in folders", 500, 0),
                ("10,000 plugins in git", 0, 10_000),
            ]
        };
        let none = self.home("home-empty", 0, 0);
        self.warm_hook("hook, warm: no workspace", &none, &empty);
        for (index, (name, path, git)) in homes.iter().enumerate() {
            let home = self.home(&format!("home-{index}"), *path, *git);
            for (shape, folder) in [("2 members", &small), ("40 members, 1,000 packages", &large)] {
                self.sync(&home, folder);
                self.warm_hook(&format!("hook, warm: {shape}, {name}"), &home, folder);
            }
        }
    }

    fn others(&self) {
        let large = self.dir.join("large");
        let home = self.home("home-others", 500, 0);
        self.sync(&home, &large);
        let cwd = large.display().to_string();
        let lock = fs::read_to_string(large.join("Cargo.lock")).expect("reads");
        self.compare(
            "hook, after a lock change: 1,000 packages, 500 plugins",
            self.runs / 5,
            &|number| event(&large, number),
            &|number| {
                fs::write(large.join("Cargo.lock"), format!("{lock}# {number}\n")).expect("writes");
                self.command(&home, &large, &["hook", "claude", "pre-tool-use"])
            },
        );
        let nothing = |_: usize| String::new();
        self.compare("sync, nothing to do: the same", self.runs / 5, &nothing, &|_| {
            self.command(&home, &large, &["sync"])
        });
        self.compare("--help: the same", self.runs / 5, &nothing, &|_| {
            self.command(&home, &large, &["--help"])
        });
        let start = |number: usize| {
            format!(
                r#"{{"session_id":"s{number}","cwd":"{cwd}","hook_event_name":"SessionStart","source":"startup"}}"#
            )
        };
        self.compare("hook, session start: the same", self.runs / 5, &start, &|_| {
            self.command(&home, &large, &["hook", "claude", "session-start"])
        });
        self.one_native_hook();
    }

    /// A home with a plugin that has `count` native hooks that do nothing.
    fn native_home(&self, count: usize) -> PathBuf {
        let home = self.home(&format!("home-native-{count}"), 0, 0);
        let plugin = home.join(".symposium/plugins/native");
        fs::create_dir_all(&plugin).expect("creates");
        let mut text = "name = \"native\"\ncrates = [\"*\"]\n".to_owned();
        for number in 0..count {
            text += &format!(
                "[[hooks]]\nname = \"h{number}\"\nevent = \"PreToolUse\"\nformat = \"claude\"\n\
                 command = {{ executable = \"{}\" }}\n",
                self.floor.display()
            );
        }
        fs::write(plugin.join("SYMPOSIUM.toml"), text).expect("writes");
        self.sync(&home, &self.dir.join("small"));
        home
    }

    /// One native hook that does nothing, beside the floor started twice.
    fn one_native_hook(&self) {
        let small = self.dir.join("small");
        let home = self.native_home(1);
        let (floor, own) = self.warm_hook("hook, one native hook that does nothing", &home, &small);
        println!(
            "{:<64} {:>16.2}× {:>17.2}×",
            "  beside two of the floor",
            own.wall / (2.0 * floor.wall),
            own.cpu / (2.0 * floor.cpu)
        );
    }

    /// How the warm hook grows as one thing grows tenfold.
    fn growth(&self) {
        for (name, members, packages) in [
            ("4 members", 4, 100),
            ("40 members", 40, 100),
            ("100 packages", 2, 100),
            ("1,000 packages", 2, 1000),
        ] {
            let folder = self.dir.join(format!("grow-{members}-{packages}"));
            symposium_testlib::large::large_workspace(&folder, members, packages);
            let home = self.home(&format!("home-grow-{members}-{packages}"), 0, 0);
            self.sync(&home, &folder);
            self.warm_hook(&format!("growth: {name}"), &home, &folder);
        }
        let small = self.dir.join("small");
        for (name, path, git) in [
            ("50 plugins in folders", 50, 0),
            ("500 plugins in folders", 500, 0),
            ("1,000 plugins in git", 0, 1_000),
            ("10,000 plugins in git", 0, 10_000),
        ] {
            let home = self.home(&format!("home-grow-plugins-{path}-{git}"), path, git);
            self.sync(&home, &small);
            self.warm_hook(&format!("growth: {name}"), &home, &small);
        }
        for count in [1, 10] {
            let home = self.native_home(count);
            self.warm_hook(&format!("growth: {count} matching hooks, run"), &home, &small);
        }
    }
}

/// The event of that number in a session that began in `folder`: one that began elsewhere is answered by
/// the plugins of both workspaces.
fn event(folder: &Path, number: usize) -> String {
    let session = folder.file_name().expect("a name").to_string_lossy();
    let text = EVENT.replace("ID", &number.to_string()).replace("SESSION", &session);
    text.replace("CWD", &folder.display().to_string())
}

/// Plugins for crates that nobody has.
fn plugins(dir: &Path, count: usize) {
    for number in 0..count {
        let folder = dir.join(format!("plugin-{number:05}"));
        fs::create_dir_all(&folder).expect("creates");
        fs::write(
            folder.join("SYMPOSIUM.toml"),
            format!(
                "name = \"plugin-{number}\"\ncrates = [\"nobody-has-{number}>=1.0\", \"nor-{number}\"]\n\n\
                 [[skills]]\nsource = \"crate\"\n\n[[hooks]]\nname = \"check\"\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\n\
                 command = {{ script = \"check.sh\" }}\n"
            ),
        )
        .expect("writes");
        fs::write(folder.join("check.sh"), "exit 0\n").expect("writes");
    }
}
