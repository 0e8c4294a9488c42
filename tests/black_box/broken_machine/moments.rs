//! Signals at any moment, and many at once.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Machine, figure, rounds, spawn};

/// A delay up to `longest`, another one each time.
fn delay(longest: Duration) -> Duration {
    use std::hash::{BuildHasher as _, RandomState};
    let part = RandomState::new().hash_one(0) >> 40;
    longest.mul_f64(f64::from(u32::try_from(part).unwrap_or_default()) / f64::from(1 << 24))
}

#[test]
fn a_signal_at_any_moment_loses_nothing_and_the_next_sync_heals() {
    let machine = Machine::new();
    machine.lay();
    let start = Instant::now();
    machine.sandbox.run(&["sync"]).ok();
    let whole = start.elapsed();
    let signals = [
        ("SIGTERM", Signal::TERM),
        ("SIGHUP", Signal::HUP),
        ("SIGINT", Signal::INT),
        ("SIGPIPE", Signal::PIPE),
        ("SIGKILL", Signal::KILL),
    ];
    for (name, signal) in signals {
        let wanted = rounds(3, 100);
        let (mut ended, mut tried) = (0, 0);
        while tried < wanted {
            machine.lay();
            let mut child = spawn(&mut machine.sandbox.command(&["sync"]));
            std::thread::sleep(delay(whole));
            let pid = rustix::process::Pid::from_child(&child);
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, signal);
            let status = child.wait().expect("ends");
            let when = format!("{name}: {status}");
            let number = signal.as_raw();
            let is_ours = matches!(status.code(), Some(0 | 1)) || status.signal() == Some(number);
            assert!(is_ours || status.code() == Some(128 + number), "{when}");
            machine.check_nothing_is_lost(&when);
            machine.check_it_heals(&when);
            (ended, tried) = (ended + usize::from(status.code() != Some(0)), tried + 1);
        }
        figure(
            &format!("{name} at any moment of a sync"),
            tried,
            &format!("{ended} were ended by it"),
        );
    }
}

#[test]
fn sixty_four_at_once_lose_nothing_and_all_end() {
    let machine = Machine::new();
    machine.lay();
    let until = Instant::now() + Duration::from_secs(u64::try_from(rounds(3, 600)).unwrap_or(3));
    let commands: [&[&str]; 5] = [
        &["sync"],
        &["status"],
        &["sync", "--force"],
        &["plugin", "list"],
        &["init", "--add-agent", "claude"],
    ];
    let mut ended = 0;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|number: usize| {
                let sandbox = &machine.sandbox;
                scope.spawn(move || {
                    let mut count = 0;
                    while count == 0 || Instant::now() < until {
                        let args = commands[(number + count) % commands.len()];
                        let run = sandbox.run(args);
                        super::check_its_end(&run, &args.join(" "));
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        ended = threads.into_iter().map(|it| it.join().expect("none fails")).sum();
    });
    machine.check_nothing_is_lost("64 at once");
    machine.check_it_heals("64 at once");
    figure("commands, 64 at a time", ended, "each ended by itself");
}
