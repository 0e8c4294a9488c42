//! What stands for a package's folders in its texts, and the variables that say the same.

use std::path::Path;

use crate::plugins::model::{PackageFormat, Plugin};

/// The package's folder.
pub(super) const ROOT: &str = "${PLUGIN_ROOT}";
/// The folder for what it keeps.
pub(super) const DATA: &str = "${PLUGIN_DATA}";

/// A package's folders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folders<'a> {
    pub root: &'a Path,
    /// A folder of its own that stays when the package is updated.
    pub data: &'a Path,
}

impl<'a> Folders<'a> {
    pub(crate) fn of(plugin: &'a Plugin, data: &'a Path) -> Self {
        Self { root: &plugin.dir, data }
    }

    /// The names of the two folders' variables, in the words of the format.
    fn names(format: PackageFormat) -> &'static [[&'static str; 2]] {
        match format {
            PackageFormat::AgentPlugins => &[["PLUGIN_ROOT", "PLUGIN_DATA"]],
            // Some packages for Claude Code are written for those who took its format over.
            PackageFormat::Claude => {
                &[["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"], ["PLUGIN_ROOT", "PLUGIN_DATA"]]
            }
        }
    }

    /// Every variable with its value.
    pub(crate) fn variables(self, format: PackageFormat) -> Vec<(&'static str, &'a Path)> {
        let of_names = |names: &[&'static str; 2]| [(names[0], self.root), (names[1], self.data)];
        Self::names(format).iter().flat_map(of_names).collect()
    }

    /// `text` with the folders put in, once: what is put in is not looked through again.
    pub(crate) fn expand(self, format: PackageFormat, text: &str) -> String {
        let variables = self.variables(format);
        let mut done = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            done.push_str(&rest[..at]);
            rest = &rest[at..];
            let found = variables.iter().find_map(|(name, value)| {
                let after = rest.strip_prefix("${")?.strip_prefix(name)?.strip_prefix('}')?;
                Some((value, after))
            });
            match found {
                Some((value, after)) => {
                    done.push_str(&value.to_string_lossy());
                    rest = after;
                }
                None => {
                    done.push_str("${");
                    rest = &rest[2..];
                }
            }
        }
        done + rest
    }

    /// As [`Self::expand`], for a command that a shell reads. It has the variables, and puts in itself
    /// what it would read otherwise than as one word.
    pub(crate) fn expand_for_shell(self, format: PackageFormat, text: &str) -> String {
        let is_plain = |path: &Path| {
            path.to_str().is_some_and(|path| {
                path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
            })
        };
        if is_plain(self.root) && is_plain(self.data) {
            self.expand(format, text)
        } else {
            text.to_owned()
        }
    }
}

/// `text` with the values of the variables that it names as `${NAME}` or `${NAME:-default}`, as Claude
/// Code puts them into servers' words. One that is not set, and has no default, stays as it is.
pub(crate) fn with_variables<'v>(text: &str, value_of: &dyn Fn(&str) -> Option<&'v str>) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        done.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = rest[2..].split_once('}').map(|(inner, after)| {
            let (name, default) =
                inner.split_once(":-").map_or((inner, None), |(n, d)| (n, Some(d)));
            (value_of(name).or(default), after)
        });
        match reference {
            Some((Some(value), after)) => {
                done.push_str(value);
                rest = after;
            }
            Some((None, _)) | None => {
                done.push_str("${");
                rest = &rest[2..];
            }
        }
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDERS: fn() -> Folders<'static> =
        || Folders { root: Path::new("/p/${PLUGIN_DATA}"), data: Path::new("/d") };

    #[test]
    fn each_placeholder_is_expanded_once_and_nothing_else_is() {
        for (text, expected) in [
            ("${PLUGIN_ROOT}/a", "/p/${PLUGIN_DATA}/a"),
            ("${PLUGIN_DATA}:${PLUGIN_DATA}", "/d:/d"),
            ("${HOME} $PLUGIN_DATA ${PLUGIN_DATA ${", "${HOME} $PLUGIN_DATA ${PLUGIN_DATA ${"),
            ("${${PLUGIN_DATA}}", "${/d}"),
            ("${CLAUDE_PLUGIN_DATA}", "${CLAUDE_PLUGIN_DATA}"),
        ] {
            assert_eq!(FOLDERS().expand(PackageFormat::AgentPlugins, text), expected, "{text}");
        }
        let claudes = FOLDERS().expand(PackageFormat::Claude, "${CLAUDE_PLUGIN_DATA}");
        assert_eq!(claudes, "/d");
    }

    #[test]
    fn variables_of_servers_are_put_in_as_claude_code_does_it() {
        let value_of = |name: &str| (name == "TOKEN").then_some("t${TOKEN}");
        for (text, expected) in [
            ("Bearer ${TOKEN}", "Bearer t${TOKEN}"),
            ("${NONE:-d}/${TOKEN:-d}", "d/t${TOKEN}"),
            ("${NONE} $TOKEN ${", "${NONE} $TOKEN ${"),
        ] {
            assert_eq!(with_variables(text, &value_of), expected, "{text}");
        }
    }

    #[test]
    fn a_shell_puts_in_what_it_would_not_read_as_one_word() {
        let text = "'${CLAUDE_PLUGIN_ROOT}/x'";
        let shell = |root: &str| {
            let folders = Folders { root: Path::new(root), data: Path::new("/d") };
            folders.expand_for_shell(PackageFormat::Claude, text)
        };
        assert_eq!(shell("/p"), "'/p/x'");
        assert_eq!(shell("/p q"), text);
        assert_eq!(shell("/$(touch x)"), text);
    }
}
