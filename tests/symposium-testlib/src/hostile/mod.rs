//! What attackers make: archives and texts that lead out, pretend, or grow without end.
//!
//! [`corpus`] is also in the repository, in `tests/fixtures/hostile/`, for fuzzing and for looking at;
//! `cargo run -p symposium-testlib --example hostile` writes it anew, and a test holds the two together.

mod archives;
mod texts;

use std::path::PathBuf;

pub use archives::{Archive, archives};
pub use texts::{Text, texts};

/// Letters that a file's or a thing's name should not have, each in a name; the longest first.
pub const NAMES: [&str; 12] = [
    "\u{1b}[2J\u{1b}]0;owned\u{7}clear",
    "line\nbreak",
    "carriage\rreturn",
    "turned\u{202e}gnp.exe",
    "isolated\u{2066}x\u{2069}",
    "in\u{200b}visible\u{feff}",
    "tag\u{e0041}\u{e0042}",
    "-rf",
    "--help",
    "$(touch ran)",
    "`touch ran`;touch ran|touch ran",
    "CON.md",
];

/// Where [`corpus`] is in the repository.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/hostile")
}

/// All that is made before any test runs: paths below [`folder`], with their bytes.
pub fn corpus() -> Vec<(String, Vec<u8>)> {
    let archives = archives(|_| ".".to_owned()).into_iter();
    let archives = archives.map(|it| (format!("archives/{}.tar.gz", it.name), it.bytes));
    let texts = texts().into_iter();
    let texts = texts.map(|it| (format!("texts/{}.{}", it.name, it.form), it.text.into_bytes()));
    archives.chain(texts).collect()
}
