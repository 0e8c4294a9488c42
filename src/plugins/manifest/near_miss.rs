//! Files that were probably meant to be a manifest.

use std::path::Path;

use super::FILE_NAME;
use super::context::shown;
use crate::config::team::NAME as TEAM_FILE;
use crate::plugins::diagnostics::codes;
use crate::text::toml::{Diagnostics, read};
use crate::text::{Diagnostic, Source};

/// What a plugin has beside its name.
const PLUGIN_KEYS: [&str; 9] = [
    "crates",
    "depends-on",
    "predicates",
    "installations",
    "skills",
    "hooks",
    "mcp_servers",
    "subcommand",
    "plugins",
];

/// Whether a file's name is nearly, but not quite, `SYMPOSIUM.toml`.
pub(super) fn is_near_miss_name(name: &str) -> bool {
    if name == FILE_NAME || name.len() > 2 * FILE_NAME.len() {
        return false;
    }
    let (name, right) = (name.to_lowercase(), FILE_NAME.to_lowercase());
    strsim::damerau_levenshtein(&name, &right) <= 2
}

/// Whether a file's content is a plugin's: TOML with a `name` and a section of plugins.
pub(super) fn looks_like_manifest(text: &str) -> bool {
    let diagnostics = Diagnostics::new(Source::new("", text));
    let like = read(&diagnostics, |root| {
        root.string("name").is_some() && PLUGIN_KEYS.iter().any(|key| root.has(key))
    });
    like.unwrap_or(false)
}

/// A warning if the file at `path` was probably meant to be a manifest. `text` gives its content,
/// and is asked only for other `*.toml` files.
pub(crate) fn near_miss(path: &Path, text: impl FnOnce() -> Option<String>) -> Option<Diagnostic> {
    let name = path.file_name()?.to_str()?;
    if name == FILE_NAME {
        return None;
    }
    let toml = Path::new(name).extension().is_some_and(|kind| kind.eq_ignore_ascii_case("toml"));
    let is_teams = name == TEAM_FILE && path.with_file_name("Cargo.toml").is_file();
    let near = (is_near_miss_name(name) && !is_teams)
        || (toml && name != "Cargo.toml" && text().is_some_and(|text| looks_like_manifest(&text)));
    near.then(|| {
        Diagnostic::warning(format!("`{}` is not read as a plugin", shown(name)))
            .code(codes::NEAR_MISS)
            .in_file(path)
            .note(format!("a plugin's file is named exactly `{FILE_NAME}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_12_near_names() {
        for name in ["symposium.toml", "Symposium.toml", "SYMPOSUIM.toml", "SYMPOSIUM.tml"] {
            assert!(is_near_miss_name(name), "{name}");
            assert!(near_miss(&Path::new("p").join(name), || None).is_some(), "{name}");
        }
        for name in ["SYMPOSIUM.toml", "Cargo.toml", "SKILL.md"] {
            assert!(near_miss(Path::new(name), || None).is_none(), "{name}");
        }
    }

    #[test]
    fn decision_12_other_files_with_a_plugin_in_them() {
        let near = |text: &str| near_miss(Path::new("p/rtk.toml"), || Some(text.to_owned()));
        let found = near("name = \"rtk\"\ncrates = [\"*\"]\n").expect("a near miss");
        assert_eq!(
            found.to_string(),
            "p/rtk.toml: `rtk.toml` is not read as a plugin; a plugin's file is named exactly \
             `SYMPOSIUM.toml`"
        );
        for text in ["", "name = \"x\"", "crates = [\"*\"]", "name = 1\ncrates = []", "no toml"] {
            assert!(near(text).is_none(), "{text}");
        }
    }
}
