use std::fs;

use super::*;

fn read_files(files: &[(&str, &str)]) -> CrateSkills {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("writes");
    }
    read_crate_skills(dir.path(), &crate::workspace::UNOBSERVED)
}

fn metadata(text: &str) -> CrateSkills {
    let manifest = format!("[package]\nname = \"a\"\nversion = \"1.0.0\"\n\n{text}");
    read_files(&[("Cargo.toml", &manifest)])
}

fn paths(found: &CrateSkills) -> Vec<String> {
    let describe = |entry: &CrateEntry| match &entry.place {
        Place::Path(path) => path.clone(),
        Place::Crate { name, requirement } => match requirement {
            Some(requirement) => format!("crate {name} {requirement}"),
            None => format!("crate {name}"),
        },
    };
    found.entries.iter().map(describe).collect()
}

#[track_caller]
fn good(found: &CrateSkills, expected: &[&str]) {
    assert_eq!(found.warnings, []);
    assert_eq!(paths(found), expected);
}

#[track_caller]
fn malformed(found: &CrateSkills, problem: &str) {
    assert_eq!(paths(found), ["skills"]);
    let text = found.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(text.contains(problem), "{text}");
    assert!(text.contains("Cargo.toml:"), "{text}");
    assert!(found.warnings.iter().all(|warning| !warning.is_error()));
}

#[test]
fn f140_no_metadata_means_the_skills_folder() {
    good(&metadata(""), &["skills"]);
    good(&metadata("[package.metadata.docs.rs]\nall-features = true\n"), &["skills"]);
    good(&read_files(&[]), &["skills"]);
}

#[test]
fn f142_an_empty_list_opts_out() {
    good(&metadata("[package.metadata.symposium]\nskills = []\n"), &[]);
    good(&metadata("[package.metadata.symposium.defaults]\nskills = false\n"), &[]);
}

#[test]
fn f143_path_entries_replace_the_default() {
    let text = "[[package.metadata.symposium.skills]]\npath = \"guidance\"\n\
                [[package.metadata.symposium.skills]]\npath = \"docs/more\"\n";
    good(&metadata(text), &["guidance", "docs/more"]);
}

#[test]
fn f144_crate_entries_redirect() {
    let text = "[[package.metadata.symposium.skills]]\n\
                crate = { name = \"other-crate\", version = \">=1.0\" }\n\
                [[package.metadata.symposium.skills]]\ncrate = { name = \"x\" }\n\
                [[package.metadata.symposium.skills]]\ncrate = \"y\"\n";
    good(&metadata(text), &["crate other-crate >=1.0", "crate x", "crate y"]);
}

#[test]
fn f141_f145_malformed_metadata_is_told_and_the_default_counts() {
    let entry = "[[package.metadata.symposium.skills]]\n";
    let both = format!("{entry}path = \"a\"\ncrate = {{ name = \"b\" }}\n");
    malformed(&metadata(&both), "exactly one of `path` and `crate`");
    malformed(&metadata(&format!("{entry}x = 1\n")), "exactly one of `path` and `crate`");
    malformed(&metadata("[package.metadata]\nsymposium = 1\n"), "must be a table");
    malformed(&metadata("[package.metadata.symposium]\nskills = \"x\"\n"), "an array of tables");
    malformed(&metadata(&format!("{entry}path = 1\n")), "must be a string");
    malformed(&metadata(&format!("{entry}crate = {{ version = \"1\" }}\n")), "has no `name`");
    let bad = format!("{entry}crate = {{ name = \"a\", version = \"x y\" }}\n");
    malformed(&metadata(&bad), "is no version requirement");
    let bad = format!("{entry}crate = {{ name = \"../evil\" }}\n");
    malformed(&metadata(&bad), "can't be a crate's name");
    malformed(&metadata(&format!("{entry}path = \"ok\"\n{both}")), "exactly one");
    malformed(&metadata("[["), "");
}

#[test]
fn decision_2b_the_newer_spellings() {
    let text = "[[package.metadata.symposium.skills]]\nsource.path = \"agents\"\n\
                depends-on = [\"tokio\"]\npredicates = \"env(X)\"\n";
    let found = metadata(text);
    good(&found, &["agents"]);
    let gate = &found.entries[0].gate;
    assert_eq!(gate.crates.as_ref().expect("has crates")[0].value, "tokio");
    assert_eq!(gate.predicates[0].value, "env(X)");
    let text = "[package.metadata.symposium.defaults]\nskills = false\n\
                [[package.metadata.symposium.skills]]\nsource.path = \"agents\"\n\
                [[package.metadata.symposium.plugins]]\n\
                source.cargo = { name = \"c\", version = \"2\" }\n";
    good(&metadata(text), &["agents", "crate c ^2"]);
    let text = text.replace("false", "true");
    good(&metadata(&text), &["skills", "agents", "crate c ^2"]);
    let text = text.replace("{ name = \"c\", version = \"2\" }", "\"c>=2\"");
    good(&metadata(&text), &["skills", "agents", "crate c >=2"]);
}

#[test]
fn decision_2b_a_manifest_beside_cargo_toml_counts_for_its_skills() {
    let cargo = "[package]\nname = \"a\"\nversion = \"1.0.0\"\n";
    let manifest = "name = \"a\"\ncrates = [\"a\"]\n[[hooks]]\nname = \"h\"\n\
                    [[skills]]\nsource.path = \"s\"\n[[skills]]\nsource = \"crate\"\n";
    let found = read_files(&[("Cargo.toml", cargo), ("SYMPOSIUM.toml", manifest)]);
    good(&found, &["s", "skills"]);
    let cargo = format!("{cargo}[package.metadata.symposium]\nskills = []\n");
    good(&read_files(&[("Cargo.toml", &cargo), ("SYMPOSIUM.toml", manifest)]), &[]);
    let found = read_files(&[("SYMPOSIUM.toml", "[[skills]]\nsource.git = \"https://x\"\n")]);
    assert_eq!(paths(&found), [""; 0]);
    assert!(found.warnings[0].message.contains("from the crate itself"));
}

#[test]
fn a_misspelt_key_is_told_with_a_guess() {
    let found = metadata("[package.metadata.symposium]\nskils = []\nother = 1\n");
    let told: Vec<_> = found.warnings.iter().map(ToString::to_string).collect();
    let [first, second] = told.as_slice() else { panic!("{told:?}") };
    assert!(
        first.ends_with(
            "Cargo.toml:6:1: unknown key `package.metadata.symposium.skils` (did you mean `skills`?)"
        ),
        "{first}"
    );
    assert!(second.ends_with("known keys: skills, plugins, defaults"), "{second}");
    assert_eq!(paths(&found), [DEFAULT_FOLDER], "the rest counts");
    let found = metadata("[[package.metadata.symposium.skills]]\npth = \"a\"\npath = \"b\"\n");
    assert!(found.warnings[0].to_string().contains("did you mean `path`?"), "{:?}", found.warnings);
    assert_eq!(paths(&found), ["b"]);
}
