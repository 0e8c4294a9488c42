//! Why cargo did not do what it was asked.
//!
//! Cargo ends with 101 whatever went wrong and has no output for machines that tells a crate that
//! does not exist from a registry that can't be reached. What it says on standard error is all there
//! is, and this is the only place that reads it. A cargo that words it otherwise yields
//! [`Reason::Other`]: the caller then says that the registry could not be asked, nothing worse.

use std::path::Path;

use crate::process::Output;

/// What cargo said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(super) reason: Reason,
    /// Its message, as it follows a colon: in the same line, or in several below it.
    message: String,
}

/// What can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// `cargo info` does not ask what stands in for a registry.
    Replaced,
    NoSuchCrate,
    /// The crate has versions, but only pre-releases or yanked ones.
    NoUsableVersion,
    /// Something else, or cargo's words have changed.
    Other,
}

impl Refusal {
    /// What cargo said in `folder`, where a package `package` of ours asked it.
    pub(super) fn of(output: &Output, folder: &Path, package: &str) -> Self {
        let said = output.said();
        let words = without_ours(&said, folder, package);
        let message = match words.lines().count() {
            0 => format!(" nothing ({})", output.status),
            1 => format!(" {}", words.strip_prefix("error: ").unwrap_or(&words)),
            _ => words.lines().map(|line| format!("\n  {line}")).collect(),
        };
        Self { reason: reason(&said), message }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

fn reason(text: &str) -> Reason {
    let says = |words: &str| text.contains(words);
    if says("is replaced with") {
        Reason::Replaced
    } else if says("could not find `") && says(" in registry `")
        || says("no matching package named `")
    {
        Reason::NoSuchCrate
    } else if says("candidate versions found") || says("is yanked") {
        Reason::NoUsableVersion
    } else {
        Reason::Other
    }
}

/// What cargo said, without its progress and without what is ours: the package that asked and the
/// folder that it was in tell nobody anything.
fn without_ours(said: &str, folder: &Path, package: &str) -> String {
    let folder = folder.display().to_string();
    let ours = format!("`{package} v0.0.0 ({folder})`");
    let start = ["error: ", "error["].iter().filter_map(|mark| said.find(mark)).min().unwrap_or(0);
    said[start..]
        .lines()
        .filter(|line| line.trim() != format!("required by package {ours}"))
        .map(|line| {
            line.replace(&format!(" as a dependency of package {ours}"), "")
                .replace(&ours, "this")
                .replace(&format!("{folder}/"), "")
                .replace(&folder, "an empty folder")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_s_words_are_told_apart() {
        let cases = [
            ("error: could not find `x` in registry `crates-io` with url `u`", Reason::NoSuchCrate),
            ("error: no matching package named `x` found", Reason::NoSuchCrate),
            ("error: crates-io is replaced with remote registry mirror;", Reason::Replaced),
            ("error: failed to select\n  candidate versions found which", Reason::NoUsableVersion),
            ("error: version 1.0.0 is yanked", Reason::NoUsableVersion),
            ("error: network failure seems to have happened", Reason::Other),
        ];
        for (text, expected) in cases {
            assert_eq!(reason(text), expected, "{text}");
        }
    }

    #[test]
    fn its_message_is_whole_and_names_nothing_of_ours() {
        let said = "    Updating `mirror` index\n\
                    error: failed to get `x` as a dependency of package `ours v0.0.0 (/c/.tmpX)`\n\n\
                    Caused by:\n  no matching package named `x` found\n  \
                    location searched: `mirror` index\n  \
                    required by package `ours v0.0.0 (/c/.tmpX)`\n";
        let told = "error: failed to get `x`\n\nCaused by:\n  no matching package named `x` found\n  \
                    location searched: `mirror` index";
        assert_eq!(without_ours(said, Path::new("/c/.tmpX"), "ours"), told);
        let said = "error: failed to parse lock file at: /c/.tmpX/Cargo.lock";
        let told = "error: failed to parse lock file at: Cargo.lock";
        assert_eq!(without_ours(said, Path::new("/c/.tmpX"), "ours"), told);
    }
}
