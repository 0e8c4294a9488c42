//! The real agent programs, offline and without an account, against a scripted model: what we
//! promise of each really happens in it.
//!
//! `tests/agents/install.sh` installs them; without them the tests here are ignored.
//! `cargo test --test real_agents -- claude::` runs those of one client. Each point is a file here;
//! each check has a sentence that the client's page in `md/reference/agents/` says, too.
#![allow(clippy::disallowed_methods, reason = "tests read files of their own making")]

mod answers;
mod beside;
mod events;
mod failures;
mod hints;
mod leaving;
mod own_server;
mod packages;
mod plugins;
mod scenarios;
mod servers;
mod skills;
mod writing;

use std::process::ExitCode;

use libtest_mimic::Trial;
use symposium_testlib::harness::{self, Point};

/// What is shown of each client.
const POINTS: &[Point] = &[
    events::POINT,
    answers::POINT,
    failures::POINT,
    hints::POINT,
    skills::POINT,
    servers::POINT,
    own_server::POINT,
    packages::POINT,
    leaving::POINT,
    writing::POINT,
    beside::POINT,
];

fn main() -> ExitCode {
    let binary = env!("CARGO_BIN_EXE_cargo-agents");
    harness::main(binary, POINTS, || {
        let mut others = scenarios::trials(binary);
        others.push(Trial::test("book::pages_say_what_is_checked", || {
            let stale = symposium_testlib::stale_pages(POINTS);
            if stale.is_empty() { Ok(()) } else { Err(stale.join("\n").into()) }
        }));
        others
    })
}
