//! Every command that the documents show is one that the program has.

use std::path::{Path, PathBuf};

/// The documents: the book and the README.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md"), root.join("symposium-hook/README.md")];
    let book = walkdir::WalkDir::new(root.join("md")).into_iter();
    let book = book.map(|entry| entry.expect("reads").into_path());
    all.extend(book.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    all
}

/// The lines of the blocks that show a console, without prompt and comment.
fn console_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(language) = trimmed.strip_prefix("```") {
            inside =
                !inside && ["console", "sh", "shell", "bash", "text"].contains(&language.trim());
            continue;
        }
        if inside {
            let line = trimmed.trim_start_matches("$ ");
            lines.push(line.split(" #").next().unwrap_or(line).trim_end().to_owned());
        }
    }
    lines
}

/// The arguments of a line that runs us; `None` for another one.
fn arguments(line: &str) -> Option<Vec<String>> {
    let rest = ["cargo agents", "cargo-agents", "cargo run --"]
        .into_iter()
        .find_map(|program| line.strip_prefix(program))?;
    let is_whole = rest.is_empty() || rest.starts_with(' ');
    // What is piped or redirected is another program's.
    let words = shlex::split(rest).unwrap_or_default().into_iter();
    let ours = words.take_while(|word| !["|", "<", ">", ">>", ";", "&&"].contains(&word.as_str()));
    is_whole.then(|| ours.collect())
}

/// Whether the line is only a shape, as in `[OPTIONS]` or `…`.
fn is_placeholder(word: &str) -> bool {
    word.contains(['[', ']', '…']) || word == "..."
}

#[test]
fn every_command_in_the_documents_is_one_that_we_have() {
    let mut shown = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("reads");
        for line in console_lines(&text) {
            let Some(mut args) = arguments(&line) else { continue };
            shown += 1;
            // The hook's own door takes everything.
            if args.first().is_some_and(|first| first == "hook") {
                continue;
            }
            args.retain(|word| !is_placeholder(word));
            let args = std::iter::once("cargo-agents".to_owned()).chain(args);
            let parsed = symposium::command().try_get_matches_from(args);
            if let Err(error) = parsed {
                let harmless = [
                    clap::error::ErrorKind::DisplayHelp,
                    clap::error::ErrorKind::DisplayVersion,
                    clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                ];
                assert!(harmless.contains(&error.kind()), "{}: {line}\n{error}", path.display());
            }
        }
    }
    assert!(shown >= 10, "only {shown} commands were found");
}

#[test]
fn what_counts_as_a_command_is_told_from_what_does_not() {
    let text = "```console\n$ cargo agents sync --dry-run   # what would change\ncargo test\n```\n\
                ```toml\ncargo agents nonsense\n```\n```\ncargo agents nonsense\n```\n";
    let lines = console_lines(text);
    assert_eq!(lines, ["cargo agents sync --dry-run", "cargo test"]);
    assert_eq!(arguments(&lines[0]), Some(vec!["sync".to_owned(), "--dry-run".to_owned()]));
    assert_eq!(arguments(&lines[1]), None);
    assert_eq!(arguments("cargo agentsx"), None);
}
