//! Tells the program its commit and the commit's date, for `--version`.
//!
//! Only when the sources are a git checkout of their own: an unpacked crate, or a copy inside
//! somebody else's repository, has neither. The date is the commit's, or `SOURCE_DATE_EPOCH`
//! (reproducible-builds.org), never that of the build. No trouble here stops a build.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "cargo asks for both")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // In a worktree it is a file.
    if !root.join(".git").exists() {
        return;
    }
    let Some(commit) = git(&root, &["rev-parse", "--short=10", "HEAD"]) else { return };
    // A checkout changes the first, a commit one of the others.
    let branch = git(&root, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "logs/HEAD"].into_iter().chain(branch.as_deref()) {
        let path = git(&root, &["rev-parse", "--git-path", name]).map(|path| root.join(path));
        // A file that is not there would count as changed each time.
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    println!("cargo:rustc-env=SYMPOSIUM_BUILD_COMMIT={commit}");
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
    let time = epoch.or_else(|| git(&root, &["show", "-s", "--format=%ct", "HEAD"]));
    if let Some(date) = time.and_then(|time| time.trim().parse().ok()).and_then(date) {
        println!("cargo:rustc-env=SYMPOSIUM_BUILD_DATE={date}");
    }
}

/// What git says, unless it fails or says nothing.
fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(args)
        .current_dir(root)
        // Set while a hook of git's builds us.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty() && !text.contains('\n')).then_some(text)
}

/// Seconds since 1970 as a date in UTC, by the calendar's 400-year cycle.
fn date(seconds: u64) -> Option<String> {
    let days = i64::try_from(seconds / 86_400).ok()?.checked_add(719_468)?;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year <= 9999).then(|| format!("{year:04}-{month:02}-{day:02}"))
}
