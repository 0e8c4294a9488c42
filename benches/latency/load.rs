//! Many hooks at once on a machine that has other things to do.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::measure::measure;
use crate::{Bench, event};

const AT_ONCE: usize = 16;
const HOW_LONG: Duration = Duration::from_secs(60);

impl Bench {
    /// 16 at once for a minute, the floor and ours in turns, while cargo builds something. Prints how
    /// long they take, and the slowest of a hundred.
    pub(crate) fn load(&self) {
        let folder = self.dir.join("load");
        symposium_testlib::large::large_workspace(&folder, 40, 1000);
        let home = self.home("home-load", 0, 0);
        self.sync(&home, &folder);
        let input = event(&folder, 0);
        // The first one is the session's first event, which is remembered.
        let args = ["hook", "claude", "pre-tool-use"];
        measure(&mut self.command(&home, &folder, &args), &input);
        let over = AtomicBool::new(false);
        let end = Instant::now() + HOW_LONG;
        let (mut floors, mut own) = (Vec::new(), Vec::new());
        let builds = std::thread::scope(|scope| {
            let builds = scope.spawn(|| build_until(&self.dir.join("load-target"), &over));
            let one = || {
                let (mut floors, mut own) = (Vec::new(), Vec::new());
                while Instant::now() < end {
                    floors.push(measure(Command::new(&self.floor).env_clear(), &input).wall);
                    own.push(measure(&mut self.command(&home, &folder, &args), &input).wall);
                }
                (floors, own)
            };
            let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
            for worker in workers {
                let (one, other) = worker.join().expect("measures");
                floors.extend(one);
                own.extend(other);
            }
            over.store(true, Ordering::Relaxed);
            builds.join().expect("builds")
        });
        println!("{} hooks, {AT_ONCE} at once, beside {builds} builds", own.len());
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("slowest", 1.0)] {
            let (floor, own) = (quantile(&mut floors, share), quantile(&mut own, share));
            println!("{name:<8} floor {floor:>8.2} ms, hook {own:>8.2} ms, {:>5.2}×", own / floor);
        }
    }
}

/// Builds the SDK anew until it is over; says how often.
fn build_until(target: &Path, over: &AtomicBool) -> usize {
    let mut builds = 0;
    while !over.load(Ordering::Relaxed) {
        let _ = std::fs::remove_dir_all(target);
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "-p", "symposium-hook", "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.expect("cargo runs").success(), "the SDK compiles");
        builds += 1;
    }
    builds
}

/// In milliseconds.
fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let index = ((times.len() - 1) as f64 * share) as usize;
    times[index].as_secs_f64() * 1e3
}
