//! When versions of crates came out, by what cargo keeps of the index of crates.io.
//!
//! A `.crate` file does not tell: `cargo package` gives all files in it one date. The index does
//! (`pubtime`), and cargo has the lines of each crate that it looked up on disk.

use std::path::{Path, PathBuf};

use semver::Version;

use crate::files::{Limit, read_bytes};

/// Most bytes of one crate's lines.
const LIMIT: Limit = Limit::CARGO;
const DAY: u64 = 24 * 60 * 60;

/// The caches of crates.io's index.
#[derive(Debug)]
pub(crate) struct IndexCaches(Vec<PathBuf>);

impl IndexCaches {
    pub(crate) fn of(cargo_home: &Path) -> Self {
        let folders = std::fs::read_dir(cargo_home.join("registry").join("index"));
        let is_crates_io = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("index.crates.io-")
        };
        let folders = folders.into_iter().flatten().flatten().map(|entry| entry.path());
        Self(folders.filter(is_crates_io).map(|path| path.join(".cache")).collect())
    }

    /// The day on which a version came out, in days since 1970.
    pub(crate) fn day(&self, name: &str, version: &Version) -> Option<u32> {
        let place = place(name)?;
        let version = version.to_string();
        self.0.iter().find_map(|cache| {
            let bytes = read_bytes(&cache.join(&place), LIMIT).ok()?;
            let time = humantime::parse_rfc3339(&time_in(&bytes, &version)?).ok()?;
            let age = time.duration_since(std::time::UNIX_EPOCH).ok()?;
            u32::try_from(age.as_secs() / DAY).ok()
        })
    }
}

/// Where the index has a crate's lines (The Cargo Book, "Registry Index").
fn place(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    Some(match name.len() {
        0 => return None,
        1 | 2 => format!("{}/{name}", name.len()),
        3 => format!("3/{}/{name}", name.get(..1)?),
        _ => format!("{}/{}/{name}", name.get(..2)?, name.get(2..4)?),
    })
}

/// The time of `version` in a cache file: a head, then for each version its number and its line of
/// the index, each with a zero byte after it. The newest stand last.
fn time_in(bytes: &[u8], version: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Line {
        pubtime: Option<String>,
    }
    let mut parts = bytes.rsplit(|byte| *byte == 0).filter(|part| !part.is_empty());
    while let (Some(line), Some(number)) = (parts.next(), parts.next()) {
        if number == version.as_bytes() {
            return serde_json::from_slice::<Line>(line).ok()?.pubtime;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_a_version_is_that_of_its_line_in_the_index() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let cache = home.path().join("registry/index/index.crates.io-1949cf8c6b5b557f/.cache");
        let line = |version: &str, more: &str| {
            format!("{version}\0{{\"name\":\"rand\",\"vers\":\"{version}\"{more}}}\0")
        };
        let text = format!(
            "\u{3}\u{2}\0\0\0etag: \"x\"\0{}{}{}",
            line("0.8.5", ""),
            line("0.9.0", ",\"pubtime\":\"2025-01-27T13:37:00Z\""),
            line("0.9.2", ",\"pubtime\":\"1970-01-03T00:00:00Z\""),
        );
        std::fs::create_dir_all(cache.join("ra/nd")).expect("creates");
        std::fs::write(cache.join("ra/nd/rand"), text).expect("writes");
        let caches = IndexCaches::of(home.path());
        let day = |name: &str, version: &str| {
            caches.day(name, &Version::parse(version).expect("a version"))
        };
        assert_eq!(day("rand", "0.9.2"), Some(2));
        assert_eq!(day("rand", "0.9.0"), Some(20_115));
        assert_eq!(day("rand", "0.8.5"), None, "an older index has no times");
        assert_eq!(day("rand", "0.9.1"), None);
        assert_eq!(day("ra", "0.9.2"), None);
    }

    #[test]
    fn the_index_has_a_crate_below_the_first_letters_of_its_name() {
        let places: Vec<_> = ["a", "ab", "Abc", "serde"].into_iter().filter_map(place).collect();
        assert_eq!(places, ["1/a", "2/ab", "3/a/abc", "se/rd/serde"]);
        assert_eq!(place("日本語だ").as_deref(), None);
    }
}
