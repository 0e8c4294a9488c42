//! Invisible characters that YAML's escapes spell: the file shows `\\u202e`, an agent reads U+202E.

use std::ops::Range;

use serde_yaml::Value;

use super::{Finding, invisible, limit_per_kind};
use crate::skills::frontmatter::Frontmatter;

/// Scans the frontmatter's keys and values as a YAML reader decodes them. What stands in `text` as
/// it is, and is found there anyhow, is left out. Each finding is at its top-level key's value.
pub(in crate::skills) fn scan_values(text: &str, front: &Frontmatter) -> Vec<Finding> {
    let yaml = &text[front.yaml.clone()];
    if !yaml.contains('\\') {
        return Vec::new();
    }
    // Together, because many single odd characters are no accident either.
    let mut decoded = String::new();
    let mut places: Vec<(usize, Range<usize>)> = Vec::new();
    for (key, value) in &front.values {
        places.push((decoded.len(), front.span(key.as_str().unwrap_or_default())));
        add(key, &mut decoded);
        add(value, &mut decoded);
    }
    let shown = invisible(yaml);
    let mut found = invisible(&decoded);
    found.retain(|finding| {
        !shown.iter().any(|raw| raw.kind == finding.kind && raw.excerpt == finding.excerpt)
    });
    for finding in &mut found {
        let place = places.iter().rev().find(|(start, _)| *start <= finding.span.start);
        finding.span = place.map_or(front.yaml.clone(), |(_, span)| span.clone());
    }
    limit_per_kind(found)
}

/// Every string in `value`, a line each.
fn add(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Sequence(items) => items.iter().for_each(|item| add(item, out)),
        Value::Mapping(members) => {
            for (key, value) in members {
                add(key, out);
                add(value, out);
            }
        }
        Value::Tagged(tagged) => add(&tagged.value, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
