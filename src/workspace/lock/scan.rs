//! The fast way to read a lock file: line by line, in just the form that cargo writes.
//!
//! With 1,000 packages, reading the file as TOML takes most of the time of loading a workspace. So
//! it is read by lines as long as every line is one that cargo writes since format 3; at the first
//! that is not, the file is left to the TOML reader, which also knows how to tell what is wrong.

use std::str::Lines;

use semver::Version;

use super::Raw;
use crate::workspace::LockedPackage;

/// What begins a package.
const HEADING: &str = "[[package]]";

/// The packages, or `None` when the text has anything unusual in it.
pub(in crate::workspace) fn packages(text: &str) -> Option<Vec<Raw>> {
    let mut lines = text.lines();
    // As long as they mostly are.
    let mut packages = Vec::with_capacity(text.len() / 180);
    let mut line = head(&mut lines)?;
    while line == Some(HEADING) {
        let (package, next) = package(&mut lines)?;
        packages.push(package);
        line = next;
    }
    line.is_none().then_some(packages)
}

/// Everything before the first package: comments and the format. Gives the line after it.
fn head<'a>(lines: &mut Lines<'a>) -> Option<Option<&'a str>> {
    let mut known = false;
    for line in lines {
        if matches!(line, "version = 3" | "version = 4") {
            if known {
                return None;
            }
            known = true;
        } else if !line.is_empty() && !is_comment(line) {
            return Some(Some(line));
        }
    }
    Some(None)
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') && !line.chars().any(char::is_control)
}

/// One package, after its heading, and the line that ends it.
fn package<'a>(lines: &mut Lines<'a>) -> Option<(Raw, Option<&'a str>)> {
    let (mut name, mut version, mut source, mut checksum) = (None, None, None, None);
    let mut references = None;
    let mut end = None;
    while let Some(line) = lines.next() {
        // Cargo writes no comment here; merge tools and people do.
        if line.is_empty() || is_comment(line) {
            continue;
        }
        if line == "dependencies = [" {
            if references.replace(list(lines, source.is_none())?).is_some() {
                return None;
            }
            continue;
        }
        let (slot, value) = if let Some(value) = line.strip_prefix("name = ") {
            (&mut name, value)
        } else if let Some(value) = line.strip_prefix("version = ") {
            (&mut version, value)
        } else if let Some(value) = line.strip_prefix("source = ") {
            (&mut source, value)
        } else if let Some(value) = line.strip_prefix("checksum = ") {
            (&mut checksum, value)
        } else if line != HEADING && line.contains(" = ") {
            return None;
        } else {
            end = Some(line);
            break;
        };
        // A key that is there twice is an error.
        if slot.replace(quoted(value)?).is_some() {
            return None;
        }
    }
    let references = if source.is_none() { references.unwrap_or_default() } else { Vec::new() };
    let package = LockedPackage {
        name: name?.to_owned(),
        version: Version::parse(version?).ok()?,
        source: source.map(str::to_owned),
        checksum: checksum.map(str::to_owned),
    };
    Some(((package, references.into_iter().map(str::to_owned).collect()), end))
}

/// The items of an array that is written one to a line, if they are `wanted`.
fn list<'a>(lines: &mut Lines<'a>, wanted: bool) -> Option<Vec<&'a str>> {
    let mut items = Vec::new();
    for line in lines {
        if line == "]" {
            return Some(items);
        }
        let item = quoted(line.strip_prefix(' ')?.strip_suffix(',')?)?;
        if wanted {
            items.push(item);
        }
    }
    None
}

/// The text between quotes, when nothing in it needs a second look.
fn quoted(value: &str) -> Option<&str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let plain = text.bytes().all(|byte| !matches!(byte, b'"' | b'\\' | 0..=31 | 127));
    plain.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn for_all_texts_only_plain_ones_are_taken(text in r#"[a-zé\x7e-\x82\x1f-\x23\[-\]\t]{0,20}"#) {
            let plain = !text.chars().any(|char| matches!(char, '"' | '\\' | '\0'..='\x1f' | '\x7f'));
            let value = format!("\"{text}\"");
            prop_assert_eq!(quoted(&value), plain.then_some(text.as_str()));
        }
    }
}
