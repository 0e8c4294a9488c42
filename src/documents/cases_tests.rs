//! The cases of `tests/fixtures/documents`: a text, what is done to it, and the text after.
//!
//! A file holds the same idea for JSON, TOML and YAML, one block or more for each; a file whose name
//! begins with a format has only that. A block is its format (`json strict` takes neither comments
//! nor last commas), the operations one a line, and the texts. Whatever is put in is put in twice, to
//! see that the second time changes nothing, and taken out at last: where the text is then not as
//! before, it is shown. `UPDATE_EXPECT=1` writes the texts after.
//!
//! In texts, `<absent>` is no file, `<EOF>` is an end without a line break, and `<BOM>`, `<CR>` and
//! `<TAB>` are what can't be seen.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use super::{Candidate, Change, Document, Edited, FileFormat, HandlerState, JsonRules, Keep};
use crate::text::Diagnostic;

const INVISIBLE: [(&str, &str); 3] = [("\u{feff}", "<BOM>"), ("\r", "<CR>"), ("\t", "<TAB>")];

#[test]
fn every_case_comes_out_as_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/documents");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("lists")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let case = std::fs::read_to_string(&file).expect("reads");
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let formats = ["json", "toml", "yaml"];
        let missing = |format: &&str| !case.contains(&format!("\n=== {format}"));
        if !formats.iter().any(|format| name.starts_with(&format!("{format}-"))) {
            let missing: Vec<_> = formats.into_iter().filter(missing).collect();
            assert!(missing.is_empty(), "{name} has no {missing:?}");
        }
        expect_file![file].assert_eq(&carried_out(&case));
    }
}

/// The case with the texts that come out.
fn carried_out(case: &str) -> String {
    let mut blocks = case.trim_end_matches('\n').split("\n=== ");
    let mut shown = format!("{}\n", blocks.next().expect("a title"));
    for block in blocks {
        let mut pieces = block.split("\n>>> ");
        let head = pieces.next().expect("a head");
        let before = pieces.next().and_then(|piece| piece.strip_prefix("before\n"));
        let before = before.unwrap_or_else(|| panic!("a text before, in {block}"));
        let (format, operations) = head.split_once('\n').expect("operations");
        let after = after(format, operations, decoded(before).as_deref());
        writeln!(shown, "=== {head}\n>>> before\n{before}\n{after}").expect("writes");
    }
    shown.truncate(shown.trim_end_matches('\n').len());
    shown + "\n"
}

/// All texts that come of `before`, each with its mark.
fn after(format: &str, operations: &str, before: Option<&str>) -> String {
    let (path, format) = match format {
        "json" => {
            let rules = JsonRules { comments: true, trailing_commas: true, bom: true };
            ("settings.json", FileFormat::Json(rules))
        }
        "json strict" => ("settings.json", FileFormat::Json(JsonRules::STRICT)),
        "toml" => ("config.toml", FileFormat::Toml),
        "yaml" => ("config.yaml", FileFormat::Yaml),
        other => panic!("no format: {other}"),
    };
    let open = |text: Option<&str>| Document::open(Path::new(path), text, format);
    let mut text = before.map(str::to_owned);
    let (mut users_keys, mut our_keys): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut created, mut to_take_out) = (Vec::new(), Vec::new());
    let mut shown = Vec::new();
    for line in operations.lines() {
        let (operation, rest) = line.split_once(' ').expect("an operation and its place");
        match operation {
            "users-keys" => users_keys = rest.split(' ').collect(),
            "our-keys" => our_keys = rest.split(' ').map(str::to_owned).collect(),
            _ => {
                let keep = Keep { users_keys: &users_keys, our_keys: &our_keys };
                let edit = |text: &Option<String>| {
                    let mut document = open(text.as_deref())?;
                    let whole = document.text().to_owned();
                    let edited = edit(&mut document, operation, rest, &keep);
                    assert!(edited.is_ok() || document.text() == whole, "a refused edit stays");
                    edited.map(|()| document.finish())
                };
                match edit(&text) {
                    Ok(edited) => {
                        text = written(&edited, text);
                        created.extend(edited.created);
                        shown.push(format!(">>> after\n{}", encoded(text.as_deref())));
                    }
                    Err(refusal) => {
                        shown.push(format!(">>> refused\n{refusal}"));
                        continue;
                    }
                }
                let again = edit(&text).expect("a second time");
                assert_eq!(again.change, Change::Keep, "a second time changes {text:?}");
                if ["set", "hook"].contains(&operation) {
                    to_take_out.push((operation, rest.split(' ').next().expect("a place")));
                }
            }
        }
    }
    if !to_take_out.is_empty() {
        let mut document = open(text.as_deref()).expect("what we write can be read");
        for (operation, place) in to_take_out.into_iter().rev() {
            let undo = if operation == "set" { "remove" } else { "unhook" };
            edit(&mut document, undo, place, &Keep::default()).expect("it can be taken out");
        }
        assert_eq!(document.prune(&created).expect("prunes"), [], "all goes of {text:?}");
        let back = written(&document.finish(), text);
        if back.as_deref() != before {
            shown.push(format!(">>> taken out\n{}", encoded(back.as_deref())));
        }
    }
    shown.join("\n")
}

fn edit(
    document: &mut Document,
    operation: &str,
    rest: &str,
    keep: &Keep<'_>,
) -> Result<(), Diagnostic> {
    let (place, value) = rest.split_once(' ').unwrap_or((rest, "null"));
    let value: Value = serde_json::from_str(value).expect("a value");
    let place: Vec<String> = place.split('.').map(str::to_owned).collect();
    let (key, table) = place.split_last().expect("a key");
    match operation {
        "set" => document.set(table, key, &value, keep),
        "remove" => document.remove(table, key).map(drop),
        "hook" => document.ensure_in_array(&place, &value, &ours),
        "unhook" => document.remove_from_array(&place, &ours).map(drop),
        other => panic!("no operation: {other}"),
    }
}

/// Ours by the program's own name at the start of the command.
fn ours(candidate: &Candidate<'_>) -> HandlerState {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    let is_ours = command.is_some_and(|command| command.starts_with("cargo-agents hook "));
    if is_ours { HandlerState::Own } else { HandlerState::Foreign }
}

fn written(edited: &Edited, before: Option<String>) -> Option<String> {
    match &edited.change {
        Change::Keep => before,
        Change::Write(text) => Some(text.clone()),
        Change::Delete => None,
    }
}

fn decoded(shown: &str) -> Option<String> {
    if shown == "<absent>" {
        return None;
    }
    let text = match shown.strip_suffix("<EOF>") {
        Some(text) => text.to_owned(),
        None => format!("{shown}\n"),
    };
    Some(INVISIBLE.iter().fold(text, |text, (bytes, name)| text.replace(name, bytes)))
}

fn encoded(text: Option<&str>) -> String {
    let Some(text) = text else { return "<absent>".to_owned() };
    let text = match text.strip_suffix('\n') {
        Some(text) => text.to_owned(),
        None => format!("{text}<EOF>"),
    };
    INVISIBLE.iter().fold(text, |text, (bytes, name)| text.replace(bytes, name))
}
