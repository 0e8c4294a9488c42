//! `--version`: the version, and where the build knew them, the commit and its date.

use serde::Serialize;

use crate::report::{Format, Reporter};
use crate::symposium::VERSION;

/// What is known of the program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct About {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'static str>,
}

/// From the build script: a build from a published crate has neither commit nor date.
const ABOUT: About = About {
    version: VERSION,
    commit: option_env!("SYMPOSIUM_BUILD_COMMIT"),
    date: option_env!("SYMPOSIUM_BUILD_DATE"),
};

pub(super) fn show(report: &Reporter) {
    match report.format() {
        Format::Json => report.json(&ABOUT),
        _ => report.result(&text(&ABOUT)),
    }
}

fn text(about: &About) -> String {
    let more: Vec<&str> = [about.commit, about.date].into_iter().flatten().collect();
    match more.as_slice() {
        [] => format!("cargo-agents {}", about.version),
        more => format!("cargo-agents {} ({})", about.version, more.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f6_what_is_not_known_is_left_out() {
        let mut about = About { version: "1.2.3", commit: None, date: None };
        assert_eq!(text(&about), "cargo-agents 1.2.3");
        about.commit = Some("0123456789");
        about.date = Some("2026-11-28");
        assert_eq!(text(&about), "cargo-agents 1.2.3 (0123456789 2026-11-28)");
    }
}
