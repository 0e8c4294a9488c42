//! "Write a plugin in ten minutes" goes as the page says: its commands are run, in order, and its files
//! are written.

use std::path::Path;

use crate::book_screens::keep_in_step;
use crate::sandbox;

const PAGE: &str = "authors/ten-minutes.md";

/// The page's blocks in order, each with its language.
fn blocks() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("md").join(PAGE);
    let page = std::fs::read_to_string(path).expect("the page reads");
    let parts = page.split("\n```").skip(1).step_by(2);
    let block = |part: &str| {
        let (language, text) = part.split_once('\n').expect("a language");
        (language.to_owned(), text.to_owned())
    };
    parts.map(block).collect()
}

#[test]
fn a_plugin_is_written_in_ten_minutes() {
    let sandbox = sandbox();
    let time = regex::Regex::new(r"\d+\.\d\d s\b").expect("an expression");
    let (mut folder, mut commands, mut files) = ("home".to_owned(), 0, 0);
    for (language, text) in blocks() {
        let named = text.lines().take(2).find_map(|line| line.strip_prefix("# file: "));
        if let Some(named) = named {
            sandbox.write(&format!("{folder}/{named}"), format!("{text}\n"));
            files += 1;
            continue;
        }
        if language != "console" {
            continue;
        }
        let mut drawn = String::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            if let Some(below) = line.strip_prefix("cd ") {
                folder = format!("{folder}/{below}");
                continue;
            }
            let words = line.strip_prefix("cargo agents ").expect("one of our commands");
            let words = shlex::split(words).expect("words");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            drawn = sandbox.run_in(&folder, &words).ok().stdout;
            commands += 1;
        }
        if let Some(start) = text.lines().find(|line| !line.starts_with("$ ")) {
            keep_in_step(
                PAGE,
                &format!("{start}\n"),
                time.replace_all(drawn.trim_end(), "0.01 s").as_ref(),
            );
        }
    }
    assert_eq!((commands, files), (6, 2));
    assert!(sandbox.read("home/.symposium/config.toml").contains("no-force"));
}
