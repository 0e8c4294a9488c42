//! `source = "cargo" | "github" | "binary"` of an installation.

use std::collections::BTreeMap;

use semver::{Version, VersionReq};

use super::context::{Context, shown};
use super::{paths, urls};
use crate::files::is_plain_name;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Checksum, InstallSource};
use crate::text::check_crate_name;
use crate::text::toml::{Located, StringOrTable, Table};

/// The keys of every installation.
pub(super) const COMMON: [&str; 7] =
    ["name", "source", "install_commands", "requirements", "executable", "script", "args"];

/// The sources with their own keys.
pub(super) const SOURCES: [(&str, &[&str]); 3] = [
    ("cargo", &["crate", "version", "git", "global"]),
    ("github", &["url"]),
    ("binary", &["url", "version", "sha256"]),
];

/// Reads the source of an installation and reports keys that do not belong to it. The outer `None`
/// means that it is broken, the inner that there is none.
pub(super) fn read(cx: &Context<'_>, table: &Table<'_>) -> Option<Option<InstallSource>> {
    let Some(source) = table.string("source") else {
        unknown_keys(cx, table, &[]);
        return (!table.has("source")).then_some(None);
    };
    let Some((_, keys)) = SOURCES.iter().find(|(name, _)| *name == source.value) else {
        let names = SOURCES.map(|(name, _)| name);
        let problem = cx.unknown_value(codes::UNKNOWN_SOURCE, &source, "source", &names);
        cx.reject(if source.value == "local" {
            problem.note(
                "what is on disk needs no `source`: drop it and name a `script` or an `executable`",
            )
        } else {
            problem
        });
        return None;
    };
    unknown_keys(cx, table, keys);
    match source.value.as_str() {
        "cargo" => cargo(cx, table).map(Some),
        "github" => {
            let url = cx.required(table, "installation", "url")?;
            urls::check_git(cx, &url).then_some(Some(InstallSource::Git { url: url.value.into() }))
        }
        _ => binary(cx, table).map(Some),
    }
}

fn unknown_keys(cx: &Context<'_>, table: &Table<'_>, own: &[&str]) {
    let known: Vec<&str> = COMMON.iter().chain(own).copied().collect();
    for key in table.keys() {
        if known.contains(&key.value.as_str()) {
            continue;
        }
        let problem = cx.unknown_key(table, &key, &known);
        let owner = SOURCES.iter().find(|(_, keys)| keys.contains(&key.value.as_str()));
        cx.tolerate(match owner {
            Some((source, _)) => {
                problem.note(format!("`{}` belongs to `source = \"{source}\"`", key.value))
            }
            None if key.value == "command" => {
                problem.note("an installation names an `executable` or a `script`")
            }
            None => problem,
        });
    }
}

fn cargo(cx: &Context<'_>, table: &Table<'_>) -> Option<InstallSource> {
    let krate = cx.required(table, "installation", "crate");
    let version = table.string("version");
    let git = table.string("git");
    let global = table.bool("global").is_some_and(|global| global.value);
    if let Some(name) = &krate {
        check_crate(cx, name);
    }
    if let Some(version) = &version {
        check_version(cx, version);
    }
    if let Some(git) = &git {
        urls::check_git(cx, git);
    }
    Some(InstallSource::Cargo {
        krate: krate?.value,
        version: version.map(|version| version.value),
        git: git.map(|git| git.value.into()),
        global,
    })
}

/// Checks a crate's name.
pub(super) fn check_crate(cx: &Context<'_>, name: &Located<String>) -> bool {
    let Err(wrong) = check_crate_name(&name.value) else { return true };
    let message = format!("`{}` is no crate's name", shown(&name.value));
    cx.reject(cx.problem(codes::BAD_PACKAGE, &name.span, message).label(wrong));
    false
}

fn check_version(cx: &Context<'_>, version: &Located<String>) -> bool {
    let text = version.value.trim();
    if Version::parse(text).is_ok() || VersionReq::parse(text).is_ok() {
        return true;
    }
    let message = format!("`{}` is no version and no requirement", shown(text));
    let note = "leave `version` out for the latest";
    cx.reject(cx.problem(codes::BAD_PACKAGE, &version.span, message).note(note));
    false
}

fn binary(cx: &Context<'_>, table: &Table<'_>) -> Option<InstallSource> {
    let url = cx.required(table, "installation", "url");
    let version = table.string("version");
    if let Some(url) = &url {
        urls::check_download(cx, url, version.is_some());
    }
    let sha256 = checksum(cx, table);
    Some(InstallSource::Binary {
        url: url?.value.into(),
        version: version.map(|version| version.value),
        sha256: sha256?,
    })
}

fn checksum(cx: &Context<'_>, table: &Table<'_>) -> Option<Checksum> {
    if !table.has("sha256") {
        let message = "a binary needs a `sha256`";
        let note = "64 hexadecimal digits, or a table with one for each target";
        cx.reject(cx.problem(codes::BAD_CHECKSUM, &table.span, message).note(note));
    }
    match table.string_or_table("sha256")? {
        StringOrTable::String(digits) => hex(cx, &digits).map(Checksum::One),
        StringOrTable::Table(targets) => {
            let mut sums = BTreeMap::new();
            for target in targets.keys() {
                if let Some(digits) = targets.string(&target.value) {
                    sums.extend(hex(cx, &digits).map(|digits| (target.value, digits)));
                }
            }
            if targets.keys().is_empty() {
                let message = "`sha256` names no target";
                cx.reject(cx.problem(codes::BAD_CHECKSUM, &targets.span, message));
            }
            Some(Checksum::ByTarget(sums))
        }
    }
}

fn hex(cx: &Context<'_>, digits: &Located<String>) -> Option<String> {
    let text = digits.value.trim();
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some(text.to_ascii_lowercase());
    }
    let message = format!("`{}` is no SHA-256", shown(text));
    let note = "64 hexadecimal digits are needed";
    cx.reject(cx.problem(codes::BAD_CHECKSUM, &digits.span, message).note(note));
    None
}

/// Checks where a program or script lies, by where its installation comes from.
pub(super) fn check_runnable(
    cx: &Context<'_>,
    source: Option<&InstallSource>,
    path: &Located<String>,
) -> bool {
    match source {
        None => paths::check_on_disk(cx, path),
        Some(InstallSource::Git { .. }) => paths::check_in_tree(cx, path, "the repository"),
        Some(InstallSource::Binary { .. }) => paths::check_in_tree(cx, path, "the archive"),
        Some(InstallSource::Cargo { .. }) => {
            let plain = is_plain_name(&path.value) && !path.value.starts_with('-');
            if !plain {
                let message = format!("`{}` is no program's name", shown(&path.value));
                let note = "cargo installs programs side by side, without folders";
                cx.reject(cx.problem(codes::PATH_ESCAPES, &path.span, message).note(note));
            }
            plain
        }
    }
}

/// Whether the program to run can be found without being named: a registry crate's only one.
pub(super) fn infers_program(source: Option<&InstallSource>) -> bool {
    matches!(source, Some(InstallSource::Cargo { git: None, global: false, .. }))
}
