//! The house's rules: rooms import one way, files stay small, and the book's links lead somewhere.
#![allow(clippy::disallowed_methods, reason = "it reads our own files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rooms from the ground up: each may import only from those before it.
const ROOMS: &[&str] = &[
    "text",
    "files",
    "config",
    "report",
    "symposium",
    "hook_protocol",
    "workspace",
    "documents",
    "process",
    "fetch",
    "agents",
    "plugins",
    "skills",
    "installations",
    "sync",
    "hook",
    "cli",
];

/// Lines a source file may have.
const LONGEST: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_with(extension: &str, folders: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        for entry in walkdir::WalkDir::new(root().join(folder)) {
            let entry = entry.expect("reads the folder");
            let path = entry.path();
            let generated = path
                .components()
                .any(|part| matches!(part.as_os_str().to_str(), Some("target" | "node_modules")));
            if path.extension().is_some_and(|found| found == extension) && !generated {
                found.push(path.to_path_buf());
            }
        }
    }
    assert!(!found.is_empty(), "nothing found in {folders:?}");
    found
}

fn room_of(path: &Path) -> Option<&'static str> {
    let relative = path.strip_prefix(root().join("src")).ok()?;
    let first = relative.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    ROOMS.iter().copied().find(|room| *room == name)
}

#[test]
fn rooms_import_only_from_the_floors_below() {
    let import = regex::Regex::new(r"\bcrate::(\w+)").expect("a valid expression");
    let rank = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    for path in files_with("rs", &["src"]) {
        let Some(room) = room_of(&path) else { continue };
        let text = std::fs::read_to_string(&path).expect("reads");
        for (number, line) in text.lines().enumerate() {
            for found in import.captures_iter(line) {
                let target = if &found[1] == "Symposium" { "symposium" } else { &found[1] };
                match rank(target) {
                    Some(target_rank) if Some(target_rank) <= rank(room) => {}
                    _ => {
                        wrong.push(format!("{}:{}: {room} → {target}", path.display(), number + 1))
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that lead upwards:\n{}", wrong.join("\n"));
}

#[test]
fn every_room_is_known_and_says_what_it_is_for() {
    for entry in std::fs::read_dir(root().join("src")).expect("reads") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name == "lib" || name == "bin" {
            continue;
        }
        assert!(ROOMS.contains(&name.as_str()), "`{name}` is no room of this house");
        let front = if path.is_dir() { path.join("mod.rs") } else { path };
        let text = std::fs::read_to_string(&front).expect("reads");
        assert!(text.starts_with("//! "), "{} does not say what it is for", front.display());
    }
}

#[test]
fn no_source_file_is_too_long() {
    let mut long = Vec::new();
    for path in files_with("rs", &["src", "symposium-hook", "tests"]) {
        let lines = std::fs::read_to_string(&path).expect("reads").lines().count();
        if lines > LONGEST {
            long.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(long.is_empty(), "split along an idea:\n{}", long.join("\n"));
}

/// One place makes text from outside harmless: others forget direction-changing letters.
#[test]
fn no_room_but_report_cleans_text() {
    let mut found = Vec::new();
    for path in files_with("rs", &["src"]) {
        let text = std::fs::read_to_string(&path).expect("reads");
        let cleans = |line: &&str| {
            line.contains("is_control()") && (line.contains(".filter(") || line.contains(".map("))
        };
        if room_of(&path) != Some("report") && text.lines().any(|line| cleans(&line)) {
            found.push(path.display().to_string());
        }
    }
    assert!(found.is_empty(), "use `report::safe` or `report::fit`:\n{}", found.join("\n"));
}

#[test]
fn links_in_the_book_and_the_readme_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").expect("a valid expression");
    let mut pages = files_with("md", &["md"]);
    pages.push(root().join("README.md"));
    let mut dead = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("reads");
        for found in link.captures_iter(&text) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a parent").join(path)
            };
            let ok = file.exists() && (anchor.is_empty() || anchors(&file).contains(anchor));
            if !ok {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = std::fs::read_to_string(root().join("md/SUMMARY.md")).expect("reads");
    for page in files_with("md", &["md"]) {
        let relative = page.strip_prefix(root().join("md")).expect("below md");
        let name = relative.to_string_lossy().replace('\\', "/");
        let listed = name == "SUMMARY.md" || summary.contains(&format!("({name})"));
        assert!(listed, "md/{name} is not in md/SUMMARY.md");
    }
}

/// The anchors mdBook gives a page's headings.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter_map(|letter| match letter {
                    ' ' => Some('-'),
                    '-' | '_' => Some(letter),
                    letter if letter.is_alphanumeric() => Some(letter),
                    _ => None,
                })
                .collect()
        })
        .collect()
}
