//! What `cargo info` tells of a crate.

use crate::text::same_crate;
use semver::Version;

/// What a registry knows of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegistryEntry {
    /// The name as published.
    pub name: String,
    pub version: Option<Version>,
    /// Where it is developed, by its own word.
    pub repository: Option<String>,
}

impl RegistryEntry {
    /// Reads what `cargo info` prints: the name first, then `key: value` lines.
    pub(super) fn parse(name: &str, text: &str) -> Self {
        let value = |key: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            found.and_then(|value| value.split_whitespace().next())
        };
        let first = text.split_whitespace().next().filter(|first| same_crate(first, name));
        Self {
            name: first.unwrap_or(name).to_owned(),
            version: value("version").and_then(|version| Version::parse(version).ok()),
            repository: value("repository").map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f207_what_cargo_info_prints_is_read() {
        let text = "serde_json #json #serde\nA format, version: none\nversion: 1.0.150 (latest \
                    1.0.154)\nlicense: MIT\nrepository: https://example.com/json\nfeatures:\n";
        let entry = RegistryEntry::parse("serde-json", text);
        assert_eq!(entry.name, "serde_json");
        assert_eq!(entry.version, Some(Version::new(1, 0, 150)));
        assert_eq!(entry.repository.as_deref(), Some("https://example.com/json"));
        let nothing = RegistryEntry { name: "x".to_owned(), version: None, repository: None };
        assert_eq!(RegistryEntry::parse("x", ""), nothing);
    }
}
