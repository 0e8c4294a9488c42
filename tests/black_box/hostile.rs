//! All that somebody may put in our way, and every command and every event over it: each ends, in its
//! time and memory, with an exit code of ours; nothing outside is read into a skill, written or run; what
//! was refused is said.
//!
//! The parts that need no file system are in `tests/fixtures/hostile/`.

mod archives;
pub(crate) mod drive;
mod git;
mod many;
mod names;
mod places;
mod texts;
mod workspaces;

use symposium_testlib::hostile;

#[test]
fn the_corpus_in_the_repository_is_the_one_that_the_tests_make() {
    let folder = hostile::folder();
    let made = hostile::corpus();
    for (path, bytes) in &made {
        let there = std::fs::read(folder.join(path)).unwrap_or_default();
        let remedy = "cargo run -p symposium-testlib --example hostile";
        assert!(there == *bytes, "{path} is another one; write it anew: {remedy}");
    }
    let files = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file()).count();
    assert_eq!(files, made.len(), "there are others in the folder");
}
