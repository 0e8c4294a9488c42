//! `[subcommand.<name>]`.

use super::context::Context;
use super::gate;
use super::installations::Pool;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Audience, Subcommand};
use crate::report::safe;
use crate::text::toml::{Located, Table};

pub(super) const KEYS: [&str; 6] =
    ["description", "audience", "command", "crates", "depends-on", "predicates"];

/// Names no plugin may take: our commands, those to come, and the program's own.
pub const RESERVED: [&str; 22] = [
    "agents",
    "audit",
    "complete",
    "completions",
    "crate-info",
    "doctor",
    "help",
    "hook",
    "init",
    "lock",
    "man",
    "mcp",
    "plugin",
    "run-server",
    "self-update",
    "status",
    "symposium",
    "sync",
    "uninstall",
    "use",
    "version",
    "why",
];

/// The longest description, in characters.
const DESCRIPTION_LENGTH: usize = 1024;

/// Reads `[subcommand.<name>]` in file order, adding inline installations to `pool`.
pub(super) fn read(cx: &Context<'_>, root: &Table<'_>, pool: &mut Pool) -> Vec<Subcommand> {
    let Some(section) = root.table("subcommand") else { return Vec::new() };
    let one = |name: Located<String>| {
        cx.entry("subcommand", || {
            check_name(cx, &name);
            subcommand(cx, &section.table(&name.value)?, name, pool)
        })
    };
    section.keys().into_iter().filter_map(one).collect()
}

/// Whether the command line keeps `name` for itself, however it is spelt.
fn is_reserved(name: &str) -> bool {
    let plain = name.to_ascii_lowercase().replace('_', "-");
    RESERVED.contains(&plain.as_str())
}

fn check_name(cx: &Context<'_>, name: &Located<String>) {
    if cx.check_name("subcommand", name, false) && is_reserved(&name.value) {
        let message = format!("the subcommand name `{}` is reserved", name.value);
        let note = format!("reserved: {}", RESERVED.join(", "));
        cx.reject(cx.problem(codes::RESERVED_NAME, &name.span, message).note(note));
    }
}

fn subcommand(
    cx: &Context<'_>,
    table: &Table<'_>,
    name: Located<String>,
    pool: &mut Pool,
) -> Option<Subcommand> {
    cx.unknown_keys(table, &KEYS);
    let description = cx.required(table, "subcommand", "description");
    let description = description.map(|text| one_line(cx, &text));
    let audience =
        cx.choice(table, "audience", &[("humans", Audience::Humans), ("agents", Audience::Agents)]);
    let gate = gate::read_of(cx, table, "subcommand");
    let command = pool.command(cx, table, "subcommand", &name.value)?;
    pool.check_runs(cx, &table.span, "subcommand", pool.get(&command)?, None);
    Some(Subcommand { name: name.value, description: description?, audience, command, gate })
}

/// The description as one line that fits, whatever was written.
fn one_line(cx: &Context<'_>, text: &Located<String>) -> String {
    let trimmed = text.value.trim();
    let length = trimmed.chars().count();
    if length > DESCRIPTION_LENGTH {
        let message = format!("the description has {length} characters");
        let note = format!("at most {DESCRIPTION_LENGTH} are shown");
        cx.tolerate(cx.problem(codes::BAD_DESCRIPTION, &text.span, message).remark(note));
    }
    let clean = safe(trimmed);
    if clean != trimmed {
        let message = "the description has line breaks or control characters";
        let note = "it is one line of the help";
        cx.tolerate(cx.problem(codes::BAD_DESCRIPTION, &text.span, message).remark(note));
    }
    let words: Vec<_> = clean.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(DESCRIPTION_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_20_reserved_however_spelt() {
        for name in ["init", "Init", "self_update", "crate-info", "symposium"] {
            assert!(is_reserved(name), "{name}");
        }
        assert!(!is_reserved("initialise"));
        assert!(RESERVED.is_sorted());
    }
}
