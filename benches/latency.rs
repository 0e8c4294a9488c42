//! What a hook, a sync and the help cost, as ratios to the smallest program's cost in the same run.
//!
//! `cargo bench --bench latency` prints the table of `md/design/performance.md`. With a number after
//! `--` it runs each case that many times (200 by default); with `quick`, only the small cases.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a bench prints, and starts programs"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One measured process.
#[derive(Debug, Clone, Copy)]
struct Sample {
    wall: Duration,
    cpu: Duration,
    /// Peak memory, in kilobytes.
    memory: i64,
}

/// What many of them come to.
#[derive(Debug, Clone, Copy)]
struct Summary {
    wall: f64,
    cpu: f64,
    memory: i64,
}

struct Bench {
    dir: PathBuf,
    floor: PathBuf,
    binary: PathBuf,
    runs: usize,
}

const EVENT: &str = r#"{"session_id":"bench","transcript_path":"/dev/null","cwd":"CWD","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_use_id":"toolu_ID"}"#;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "quick");
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(200);
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let dir = fs::canonicalize(temporary.path()).expect("a real path");
    let bench = Bench {
        floor: build_floor(&dir),
        binary: env!("CARGO_BIN_EXE_cargo-agents").into(),
        dir,
        runs,
    };
    let size = fs::metadata(&bench.binary).map(|found| found.len()).unwrap_or(0);
    println!("release binary: {:.2} MB", size as f64 / 1e6);
    println!(
        "{:<64} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "case", "wall", "× floor", "CPU", "× floor", "memory"
    );
    bench.warm_hooks(quick);
    if !quick {
        bench.others();
        bench.growth();
    }
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
    out
}

impl Bench {
    /// A home with `path` plugins in a folder and `git` plugins in a repository.
    fn home(&self, name: &str, path: usize, git: usize) -> PathBuf {
        let home = self.dir.join(name);
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

    fn warm_hook(&self, case: &str, home: &Path, folder: &Path) {
        let cwd = folder.display().to_string();
        let stdin = |number: usize| EVENT.replace("CWD", &cwd).replace("ID", &number.to_string());
        let args = ["hook", "claude", "pre-tool-use"];
        self.compare(case, self.runs, &stdin, &|_| self.command(home, folder, &args));
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
        let event = |number: usize| EVENT.replace("CWD", &cwd).replace("ID", &number.to_string());
        let lock = fs::read_to_string(large.join("Cargo.lock")).expect("reads");
        self.compare(
            "hook, after a lock change: 1,000 packages, 500 plugins",
            self.runs / 5,
            &event,
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

    /// One native hook that does nothing, beside the floor started twice.
    fn one_native_hook(&self) {
        let small = self.dir.join("small");
        let home = self.home("home-native", 0, 0);
        let plugin = home.join(".symposium/plugins/native");
        fs::create_dir_all(&plugin).expect("creates");
        fs::write(
            plugin.join("SYMPOSIUM.toml"),
            format!(
                "name = \"native\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\nformat = \"claude\"\ncommand = {{ executable = \"{}\" }}\n",
                self.floor.display()
            ),
        )
        .expect("writes");
        self.sync(&home, &small);
        let cwd = small.display().to_string();
        let event = |number: usize| EVENT.replace("CWD", &cwd).replace("ID", &number.to_string());
        let (floor, own) =
            self.compare("hook, one native hook that does nothing", self.runs, &event, &|_| {
                self.command(&home, &small, &["hook", "claude", "pre-tool-use"])
            });
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
        for count in [50, 500] {
            let home = self.home(&format!("home-grow-plugins-{count}"), count, 0);
            self.sync(&home, &small);
            self.warm_hook(&format!("growth: {count} plugins in folders"), &home, &small);
        }
    }
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

fn measure(command: &mut Command, stdin: &str) -> Sample {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().expect("starts");
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let pid = libc::pid_t::try_from(child.id()).expect("a process id");
    let mut status = 0;
    // SAFETY: rusage is plain data for which zero is a value, and the pointers live for the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(pid, &raw mut status, 0, &raw mut usage);
        usage
    };
    let wall = start.elapsed();
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    Sample { wall, cpu: time(usage.ru_utime) + time(usage.ru_stime), memory: usage.ru_maxrss }
}

/// Medians: one slow start of two hundred says nothing about the program.
fn summary(samples: &[Sample]) -> Summary {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Summary {
        wall: median(samples.iter().map(|sample| sample.wall.as_secs_f64() * 1e3).collect()),
        cpu: median(samples.iter().map(|sample| sample.cpu.as_secs_f64() * 1e3).collect()),
        memory: samples.iter().map(|sample| sample.memory).max().unwrap_or(0),
    }
}
