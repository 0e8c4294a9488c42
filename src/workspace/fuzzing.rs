//! What holds of every file of cargo's.

use super::lock::{Lock, read, scan};
use super::manifest::Manifest;
use crate::report::fuzzing::{text, told};
use crate::text::Source;

/// Both readers of a lock file agree wherever the fast one answers, and a reference leads only to
/// packages of its name.
pub(crate) fn cargo_lock(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let source = Source::new("/w/Cargo.lock", text);
    let mut remarks = Vec::new();
    let slow = read(&source, &mut remarks);
    told(&remarks);
    if let Some(fast) = scan::packages(&source.text) {
        assert_eq!(slow.as_ref().ok(), Some(&fast), "the fast reader says something else");
    }
    match (Lock::parse(&source, &mut Vec::new()), slow) {
        (Ok(lock), Ok(_)) => {
            assert!(lock.packages.is_sorted());
            for package in &lock.packages {
                assert!(lock.named(&package.name).contains(&package));
                let _ = lock.dependencies_of(&package.name, Some(&package.version));
            }
        }
        (Err(problem), Err(same)) => {
            assert_eq!(problem.to_string(), same.to_string());
            assert!(problem.remedy().is_some(), "{problem}");
            told(&[problem]);
        }
        (read, slow) => panic!("read: {}, as TOML: {}", read.is_ok(), slow.is_ok()),
    }
}

/// A manifest is read, or what is wrong with it has its place and a remedy.
pub(crate) fn cargo_manifest(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let source = Source::new("/w/Cargo.toml", text);
    let mut remarks = Vec::new();
    let read = Manifest::parse(&source, &mut remarks);
    let again = Manifest::parse(&source, &mut Vec::new());
    assert_eq!(format!("{read:?}"), format!("{again:?}"));
    told(&remarks);
    match read {
        Ok(manifest) => {
            assert!(manifest.package.is_some() || manifest.is_root());
            let workspace = manifest.workspace.iter().flat_map(|table| &table.dependencies);
            for declared in manifest.dependencies.iter().chain(workspace) {
                assert!(source.text.get(declared.span.clone()).is_some(), "{declared:?}");
            }
        }
        Err(problem) => {
            assert!(problem.remedy().is_some(), "{problem}");
            told(&[problem]);
        }
    }
}
