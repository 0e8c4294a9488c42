//! Once more whenever something in the plugin's folder changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use walkdir::{DirEntry, WalkDir};

use crate::cli::CommandResult;

/// How long between two looks. Looking is cheap, and works on every file system.
const PAUSE: Duration = Duration::from_millis(300);

/// What a folder holds: each file, its size and when it changed last.
type Stamps = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// Does it, and again after each change, until the program is ended.
pub(super) fn again_and_again(folder: &Path, mut what: impl FnMut()) -> CommandResult {
    loop {
        let before = stamps(folder);
        what();
        while stamps(folder) == before {
            std::thread::sleep(PAUSE);
        }
    }
}

fn stamps(folder: &Path) -> Stamps {
    // What is built, and what git keeps, changes with every step.
    let is_source = |entry: &DirEntry| {
        entry.depth() == 0
            || !matches!(entry.file_name().to_str(), Some("target" | ".git" | "node_modules"))
    };
    let files = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_source);
    let stamp = |entry: DirEntry| {
        let known = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((entry.into_path(), known.len(), known.modified().ok()))
    };
    files.filter_map(Result::ok).filter_map(stamp).collect()
}
