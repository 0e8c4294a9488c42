//! What holds of every input, whoever wrote it: the properties that fuzzers look for a counterexample to.
//!
//! A property stands in the room of what it is about. `fuzz/` has a program for each, and a test below
//! holds them against the seeds and every input that ever failed.

/// Makes a function of each target, and [`TARGETS`] of all.
macro_rules! targets {
    ($($(#[$doc:meta])* $name:ident: $check:path;)*) => {
        $($(#[$doc])* pub fn $name(data: &[u8]) {
            $check(data);
        })*

        /// All of them by name.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name)),*];
    };
}

targets! {
    /// An archive that is unpacked.
    archive: crate::fetch::fuzzing::archive;
    /// A `Cargo.lock`.
    cargo_lock: crate::workspace::fuzzing::cargo_lock;
    /// A `Cargo.toml` of a workspace.
    cargo_manifest: crate::workspace::fuzzing::cargo_manifest;
    /// A crate's changelog.
    changelog: crate::crates::changelog::fuzzing::changelog;
    /// What a crate says about its skills.
    crate_metadata: crate::skills::metadata::fuzzing::crate_metadata;
    /// A checkout's exclude file, edited.
    exclude_editor: crate::documents::fuzzing::exclude_editor;
    /// A `SKILL.md`.
    frontmatter: crate::skills::fuzzing::frontmatter;
    /// An event as an agent sends it.
    hook_input: crate::agents::fuzzing::hook_input;
    /// A file of JSON, strict or with comments, edited.
    json_editor: crate::documents::fuzzing::json_editor;
    /// A package in a format of others.
    package: crate::plugins::packages::fuzzing::package;
    /// A `SYMPOSIUM.toml`.
    plugin_manifest: crate::plugins::fuzzing::plugin_manifest;
    /// A predicate or a list of crates.
    predicate: crate::plugins::fuzzing::predicate;
    /// What rustc printed.
    rustc_output: crate::hook::fuzzing::rustc_output;
    /// A snapshot, as hooks read it.
    snapshot: crate::sync::snapshot::fuzzing::snapshot;
    /// A `symposium.lock`.
    symposium_lock: crate::sync::lockfile::fuzzing::symposium_lock;
    /// A file of TOML, edited.
    toml_editor: crate::documents::fuzzing::toml_editor;
    /// A file of YAML, edited.
    yaml_editor: crate::documents::fuzzing::yaml_editor;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::*;

    /// Bytes of a seed. The longer ones of the hostile corpus cost minutes in a debug build, and every
    /// command is run over them (`tests/black_box/hostile.rs`).
    const LONGEST: u64 = 8192;

    fn fuzz() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
    }

    /// The files that `fuzz/seeds.txt` names for each target.
    fn seeds() -> BTreeMap<String, Vec<PathBuf>> {
        let list = std::fs::read_to_string(fuzz().join("seeds.txt")).expect("reads");
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let of = |line: &str| {
            let mut words = line.split_whitespace();
            let target = words.next().expect("a target").to_owned();
            let files = words.flat_map(|pattern| {
                let pattern = Path::new(env!("CARGO_MANIFEST_DIR")).join(pattern);
                let found = glob::glob(&pattern.to_string_lossy()).expect("a pattern");
                let found: Vec<PathBuf> = found.map(|path| path.expect("reads")).collect();
                assert!(!found.is_empty(), "no file is {}", pattern.display());
                found
            });
            let is_short = |path: &PathBuf| path.metadata().expect("is there").len() <= LONGEST;
            let files = files.filter(is_short);
            (target, files.collect())
        };
        lines.map(of).collect()
    }

    #[test]
    fn every_seed_and_every_input_that_once_failed_holds() {
        let seeds = seeds();
        for (target, check) in TARGETS {
            for path in &seeds[*target] {
                let data = std::fs::read(path).expect("reads");
                let held = std::panic::catch_unwind(|| check(&data));
                assert!(held.is_ok(), "{target} does not hold of {}", path.display());
            }
        }
    }

    #[test]
    fn what_is_fuzzed_is_built_on_the_crates_that_are_shipped() {
        let packages = |path: &Path| {
            let text = std::fs::read_to_string(path).expect("reads");
            let lock: toml::Table = text.parse().expect("TOML");
            let packages = lock["package"].as_array().expect("packages").iter();
            let field = |package: &toml::Value, key| package[key].as_str().map(str::to_owned);
            packages.map(|it| (field(it, "name"), field(it, "version"))).collect::<Vec<_>>()
        };
        let shipped = packages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"));
        let mut others = packages(&fuzz().join("Cargo.lock"));
        others.retain(|(name, version)| {
            let mut same = shipped.iter().filter(|(known, _)| known == name).peekable();
            same.peek().is_some() && !same.any(|(_, known)| known == version)
        });
        let remedy = "`cp Cargo.lock fuzz/`, then `cargo metadata --manifest-path fuzz/Cargo.toml`";
        assert_eq!(others, [], "{remedy}");
    }

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        let seeds = seeds();
        assert_eq!(seeds.keys().map(String::as_str).collect::<Vec<_>>(), names);
        let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).expect("reads");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let programs = manifest["bin"].as_array().expect("programs");
        let programs: Vec<_> = programs.iter().filter_map(|bin| bin["name"].as_str()).collect();
        assert_eq!(programs, names);
        for name in names {
            let program = fuzz().join(format!("fuzz_targets/{name}.rs"));
            let program = std::fs::read_to_string(program).expect("reads");
            assert!(program.contains(&format!("fuzzing::{name}(data)")), "{name}: {program}");
        }
    }
}
