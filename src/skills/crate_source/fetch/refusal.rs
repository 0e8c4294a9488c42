//! Why cargo did not do what it was asked.
//!
//! Cargo ends with 101 whatever went wrong and has no output for machines that tells a crate that
//! does not exist from a registry that can't be reached. What it says on standard error is all there
//! is, and this is the only place that reads it. A cargo that words it otherwise yields
//! [`Reason::Other`]: the caller then says that the registry could not be asked, nothing worse.

use crate::process::Output;

/// What cargo said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(super) reason: Reason,
    /// Its message in one line.
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
    pub(super) fn of(output: &Output) -> Self {
        let text = output.stderr_text();
        Self { reason: reason(&text), message: last_error(&text, output) }
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

/// The last thing that cargo said, in one line.
fn last_error(text: &str, output: &Output) -> String {
    let error = text.find("error: ").map_or(text, |at| &text[at + "error: ".len()..]);
    let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return format!("nothing ({:?})", output.status);
    }
    line.chars().take(400).collect()
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
}
