//! What holds of every archive.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::archive::{Format, Layout, Limits, unpack};

/// Small, so that they are met.
const LIMITS: Limits = Limits { files: 16, total: 64 * 1024, file: 16 * 1024 };
/// The file beside the target, which nothing of an archive may touch.
const BESIDE: &str = "beside";

/// Nothing is unpacked outside the target, no more than the limits allow, no links; after a refusal
/// nothing is left, and a second time the same comes out.
pub(crate) fn archive(data: &[u8]) {
    let format = if data.starts_with(&[0x1f, 0x8b]) { Format::TarGz } else { Format::Tar };
    let one = unpacked(data, format, Layout::AsIs);
    assert_eq!(unpacked(data, format, Layout::AsIs), one, "a second time");
    let inside = unpacked(data, format, Layout::InFolder("widget-1.0.0"));
    if let (Some(all), Some(inside)) = (one, inside) {
        let within = |path: &String| all.contains_key(&format!("widget-1.0.0/{path}"));
        assert!(inside.keys().all(within), "{inside:?} is not all of {all:?}");
    }
}

/// The files that came out, with their bytes; `None` of what is refused.
fn unpacked(data: &[u8], format: Format, layout: Layout<'_>) -> Option<BTreeMap<String, Vec<u8>>> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let outer = dir.path().join("outer");
    fs::create_dir(&outer).expect("creates");
    fs::write(outer.join(BESIDE), BESIDE).expect("writes");
    let target = outer.join("target");
    let outcome = unpack(data, format, &target, layout, &LIMITS);
    let found = files(&outer);
    let (mut inside, outside): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(path, _)| path.starts_with("target/"));
    assert_eq!(outside, [(BESIDE.to_owned(), BESIDE.as_bytes().to_vec())], "nothing else is there");
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1);
    match outcome {
        Ok(done) => {
            let bytes: u64 = inside.iter().map(|(_, text)| text.len() as u64).sum();
            assert!(done.files <= LIMITS.files && inside.len() <= done.files, "{done:?}");
            assert!(done.bytes <= LIMITS.total && bytes <= done.bytes, "{done:?}");
            for (path, text) in &mut inside {
                assert!(text.len() as u64 <= LIMITS.file, "{path}");
                path.drain(.."target/".len());
            }
            Some(inside.into_iter().collect())
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(!target.exists() && inside.is_empty(), "{inside:?} is left");
            assert_eq!(fs::read_dir(&outer).expect("lists").count(), 1, "something is left");
            None
        }
    }
}

/// The files below `dir`; nothing else but folders is there.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(dir) {
        let entry = entry.expect("reads the folder");
        let kind = entry.file_type();
        assert!(kind.is_dir() || kind.is_file(), "{} is neither", entry.path().display());
        if kind.is_file() {
            let inside = entry.path().strip_prefix(dir).expect("below it");
            let bytes = fs::read(entry.path()).expect("reads");
            let inside = inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            found.push((inside, bytes));
        }
    }
    found
}
