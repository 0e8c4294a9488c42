//! The house's rules: rooms import one way, files stay small, and the book's links lead somewhere.
#![allow(clippy::disallowed_methods, reason = "it reads our own files")]

use std::collections::{BTreeMap, BTreeSet};
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
    "crates",
    "installations",
    "sync",
    "hook",
    "mcp",
    "cli",
    "fuzzing",
];

/// Lines a source file may have.
const LONGEST: usize = 450;

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
    let mut long = BTreeSet::new();
    for path in files_with("rs", &["src", "symposium-hook", "tests"]) {
        let lines = std::fs::read_to_string(&path).expect("reads").lines().count();
        if lines > LONGEST {
            let relative = path.strip_prefix(root()).expect("below the root");
            long.insert(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    assert!(long.is_empty(), "too long, to be split along an idea: {long:?}");
}

/// A file's module, as the path of names below `src`.
type Module = Vec<String>;

/// A circle means that neither file can be read, tested or moved without the other. Only files of
/// tests may use what they like, and a folder's `mod.rs` and the files in it may use each other: to a
/// reader they are one thing. Re-exports (`pub use`) lead nowhere by themselves.
#[test]
fn no_two_files_use_each_other() {
    let graph = uses();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        graph.keys().map(|module| (module, reached(&graph, module))).collect();
    let mut open = Vec::new();
    for module in graph.keys() {
        let both = |other: &&&Module| reached[*other].contains(module);
        let circle: Vec<&Module> = reached[module].iter().filter(both).copied().collect();
        // Each circle once, by its first file.
        if circle.first().is_some_and(|first| *first == module) {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            open.push(names.join(" "));
        }
    }
    assert_eq!(open, Vec::<String>::new(), "circles of files");
}

/// Which files use which.
fn uses() -> BTreeMap<Module, BTreeSet<Module>> {
    let mut texts = BTreeMap::new();
    for path in files_with("rs", &["src"]) {
        let relative = path.strip_prefix(root().join("src")).expect("below src").with_extension("");
        let mut module: Module =
            relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let of_tests = |name: &String| {
            name.ends_with("tests") || ["testing", "goldens", "properties"].contains(&&**name)
        };
        if module[0] != "bin" && module[0] != "lib" && !module.iter().any(of_tests) {
            texts.insert(module, std::fs::read_to_string(&path).expect("reads"));
        }
    }
    let modules: BTreeSet<Module> = texts.keys().cloned().collect();
    let [tests, comments, imports, paths] = [
        r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{",
        r"(?m)^\s*//.*$",
        r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);",
        r"\b(?:crate|super|self)(?:::\w+)+",
    ]
    .map(|expression| regex::Regex::new(expression).expect("a valid expression"));
    let of = |(module, text): (&Module, &String)| {
        let text = &text[..tests.find(text).map_or(text.len(), |found| found.start())];
        let text = comments.replace_all(text, "");
        let mut named = Vec::new();
        for found in imports.captures_iter(&text).filter(|found| found.get(1).is_none()) {
            expand(&[], &found[2], &mut named);
        }
        for found in paths.find_iter(&imports.replace_all(&text, "")) {
            expand(&[], found.as_str(), &mut named);
        }
        (module.clone(), files_named(module, &named, &modules))
    };
    texts.iter().map(of).collect()
}

/// The files, other than those above and below it, that paths in the file of `module` lead to.
fn files_named(
    module: &Module,
    paths: &[Vec<String>],
    modules: &BTreeSet<Module>,
) -> BTreeSet<Module> {
    let mut used = BTreeSet::new();
    for path in paths {
        let mut names = path.iter().map(String::as_str).peekable();
        let mut at: &[String] = match names.peek() {
            Some(&"crate") => &[],
            _ => module,
        };
        while let Some(name) = names.next_if(|name| ["crate", "self", "super"].contains(name)) {
            at = if name == "super" { &at[..at.len().saturating_sub(1)] } else { at };
        }
        let mut target = at.to_vec();
        for name in names {
            target.push(name.to_owned());
            if !modules.contains(&target) {
                target.pop();
                break;
            }
        }
        let related = target.starts_with(module) || module.starts_with(&target);
        if modules.contains(&target) && !related {
            used.insert(target);
        }
    }
    used
}

/// Takes apart `a::{b, c::{d, e as f}}`.
fn expand(before: &[String], text: &str, paths: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut items = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    let names = |text: &str| -> Vec<String> {
        let text = text.split(" as ").next().unwrap_or_default();
        let names = text.split("::").map(str::trim).filter(|name| !name.is_empty());
        before.iter().cloned().chain(names.map(str::to_owned)).collect()
    };
    for item in items.into_iter().map(str::trim).filter(|item| !item.is_empty()) {
        match item.split_once('{') {
            Some((head, rest)) => {
                expand(&names(head), rest.trim_end().trim_end_matches('}'), paths);
            }
            None => paths.push(names(item)),
        }
    }
}

/// The files that `from` uses, and those that they use, and so on.
fn reached<'g>(
    graph: &'g BTreeMap<Module, BTreeSet<Module>>,
    from: &Module,
) -> BTreeSet<&'g Module> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Module> = graph.get(from).into_iter().flatten().collect();
    while let Some(module) = next.pop() {
        if found.insert(module) {
            next.extend(graph.get(module).into_iter().flatten());
        }
    }
    found
}

#[test]
fn paths_of_uses_are_taken_apart() {
    let mut paths = Vec::new();
    expand(&[], "crate::{a::{self, B as C}, d::e}", &mut paths);
    let shown: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(shown, ["crate::a::self", "crate::a::B", "crate::d::e"]);
}

/// The list of rooms stands in three places: here, where `cargo doc` shows it, and in the book.
#[test]
fn the_house_has_one_picture() {
    let room = regex::Regex::new(r"(?m)^(?://! )?\| \[?`(\w+)`\]? \|").expect("a valid expression");
    for file in ["src/lib.rs", "md/design/house.md"] {
        let text = std::fs::read_to_string(root().join(file)).expect("reads");
        let shown: Vec<_> = room.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        assert_eq!(shown, ROOMS, "{file}");
    }
}

/// A new agent has to be told to each file that names all agents.
#[test]
fn the_book_says_how_many_files_a_new_agent_takes() {
    let agents = [
        "claude",
        "codex",
        "copilot",
        "gemini",
        "antigravity",
        "qwen",
        "goose",
        "kiro",
        "opencode",
    ];
    let mut files = files_with("md", &["md"]);
    files.extend(files_with("rs", &["src", "symposium-hook", "tests"]));
    files.push(root().join("README.md"));
    files.retain(|path| {
        let text = std::fs::read_to_string(path).expect("reads").to_lowercase();
        path != &root().join("tests/house.rs") && agents.iter().all(|agent| text.contains(agent))
    });
    let book = std::fs::read_to_string(root().join("md/design/house.md")).expect("reads");
    let told = format!("a tenth would take {}.", files.len());
    assert!(book.contains(&told), "`{told}` is not in md/design/house.md: {files:#?}");
}

/// Each claim of what is defended names the test that shows it.
#[test]
fn the_security_page_names_tests_that_are_there() {
    let test = regex::Regex::new(r"(?m)^\s*(?:async )?fn (\w+)\(").expect("a valid expression");
    let mut known = BTreeSet::new();
    for path in files_with("rs", &["src", "tests"]) {
        let text = std::fs::read_to_string(path).expect("reads");
        known.extend(test.captures_iter(&text).map(|found| found[1].to_owned()));
    }
    let named = regex::Regex::new(r"`(?:\w+::)*([a-z0-9]+(?:_[a-z0-9]+){3,})`").expect("is valid");
    let page = std::fs::read_to_string(root().join("md/design/security.md")).expect("reads");
    let named: BTreeSet<_> = named.captures_iter(&page).map(|found| found[1].to_owned()).collect();
    assert!(named.len() > 60, "{} tests are named", named.len());
    let missing: Vec<_> = named.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "md/design/security.md names tests that are not there: {missing:#?}"
    );
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

/// With `pipefail` a script fails now and then if the end of a pipe closes it while the beginning still writes.
#[test]
fn no_script_s_pipe_is_closed_early() {
    let closes = regex::Regex::new(r"\|\s*(head|grep -\w*[qm])\b").expect("a valid expression");
    let mut scripts = files_with("sh", &["fuzz", "release", "tests", "src"]);
    for entry in std::fs::read_dir(root().join(".ci")).expect("reads the folder") {
        scripts.push(entry.expect("reads the folder").path());
    }
    let mut found = Vec::new();
    for script in scripts {
        let text = std::fs::read_to_string(&script).expect("reads");
        for line in text.lines() {
            if closes.is_match(line) {
                found.push(format!("{}: {}", script.display(), line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "read it to its end, or write `head < <(…)`:\n{}", found.join("\n"));
}

/// An event lives for a millisecond and never waits for two things: no runtime on its path.
#[test]
fn only_the_mcp_server_is_async() {
    let runtime = regex::Regex::new(r"\b(tokio|rmcp)::").expect("a valid expression");
    let mut users = BTreeSet::new();
    for path in files_with("rs", &["src"]) {
        let text = std::fs::read_to_string(&path).expect("reads");
        if runtime.is_match(&text) {
            users.extend(room_of(&path));
        }
    }
    assert_eq!(users, BTreeSet::from(["mcp"]));
}
