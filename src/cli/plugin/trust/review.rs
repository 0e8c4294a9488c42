//! `cargo agents plugin review`: what could run, whole, and what of it changed since it was allowed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::difference::{lines, of_parts};
use super::{Runnables, Standing, everything, find, source_shown};
use crate::Symposium;
use crate::cli::CommandResult;
use crate::plugins::trust::files::FileText;
use crate::plugins::trust::part::{Part, PartKind};
use crate::report::{ExitCode, safe};
use crate::sync::survey::Inputs;

/// The whole answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Review {
    plugins: Vec<Reviewed>,
}

/// A plugin of which something could run, or a crate whose skills have commands.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Reviewed {
    name: String,
    /// Its source; `crates` for a dependency's own skills.
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<PathBuf>,
    parts: Vec<ReviewedPart>,
    /// Why it can't be told what could run.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
}

/// A hook, server, subcommand, or skill with commands.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ReviewedPart {
    kind: PartKind,
    name: String,
    standing: Standing,
    /// What it is, a line each.
    lines: Vec<String>,
    /// The files that it could run, with the text of each where it is one.
    files: BTreeMap<String, FileText>,
    entry_sha256: String,
    sha256: String,
    /// What was allowed in its place, where it is not that.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Part>,
}

impl ReviewedPart {
    fn now(&self) -> Part {
        Part {
            kind: self.kind,
            name: self.name.clone(),
            lines: self.lines.clone(),
            files: self.files.clone(),
            entry_sha256: self.entry_sha256.clone(),
            sha256: self.sha256.clone(),
        }
    }
}

/// Shows what waits for the user's word; with a name, all of that plugin.
pub(in crate::cli::plugin) fn run(sym: &Symposium, name: Option<&str>) -> CommandResult {
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    let all = everything(sym, &survey, name);
    let is_any = !all.is_empty();
    let chosen = match name {
        Some(name) => vec![find(&survey, all, name)?],
        None => all.into_iter().filter(Runnables::waits).collect(),
    };
    let review = Review { plugins: chosen.into_iter().map(reviewed).collect() };
    sym.report.json(&review);
    let text = match review.plugins.as_slice() {
        [] if is_any => "Nothing waits for your word; `cargo agents plugin review NAME` shows all \
                         that a plugin could run\n"
            .to_owned(),
        [] => "No plugin that applies here could run anything\n".to_owned(),
        plugins => plugins.iter().map(|plugin| show(sym, plugin, name.is_some())).collect(),
    };
    sym.report.result(text.trim_end());
    Ok(ExitCode::SUCCESS)
}

fn reviewed(found: Runnables) -> Reviewed {
    let Runnables { owner, manifest, parts, record, unknown } = found;
    let parts = parts.into_iter().map(|(part, why)| {
        let standing = Standing::of(&part, why, record.as_deref());
        let before = record.as_ref().and_then(|record| record.allowed(&part)).cloned();
        let allowed = before.filter(|before| before.sha256 != part.sha256);
        let Part { kind, name, lines, files, entry_sha256, sha256 } = part;
        ReviewedPart { kind, name, standing, lines, files, entry_sha256, sha256, allowed }
    });
    Reviewed {
        parts: parts.collect(),
        name: owner.name,
        source: owner.source,
        manifest,
        unknown: unknown.map(|why| why.to_string()),
    }
}

/// `whole`: also what was allowed as it is.
fn show(sym: &Symposium, plugin: &Reviewed, whole: bool) -> String {
    let mut out = String::new();
    let owner = crate::plugins::trust::record::Owner::new(&plugin.source, &plugin.name);
    let _ = writeln!(out, "{} ({})", safe(&plugin.name), safe(source_shown(&owner)));
    if let Some(manifest) = &plugin.manifest {
        let _ = writeln!(out, "  {}", safe(&sym.report.path(manifest)));
    }
    if let Some(unknown) = &plugin.unknown {
        let _ = writeln!(out, "  {unknown}");
    }
    if plugin.parts.is_empty() && plugin.unknown.is_none() {
        let _ = writeln!(out, "  nothing of it could run");
    }
    // A file that several parts could run is shown once.
    let mut shown = Vec::new();
    for part in &plugin.parts {
        let _ = writeln!(out, "  {} {}: {}", part.kind, safe(&part.name), part.standing.told());
        match (&part.allowed, part.standing) {
            (_, Standing::Allowed) if !whole => {}
            (Some(before), Standing::Changed) => of_parts(&mut out, before, &part.now()),
            _ => in_full(&mut out, part, &mut shown),
        }
    }
    if plugin.parts.iter().any(|part| part.standing.waits()) {
        let name = safe(&plugin.name);
        let _ = writeln!(
            out,
            "`cargo agents plugin allow {name}` lets it run as it is shown here, `cargo agents \
             plugin deny {name}` never"
        );
    }
    out
}

fn in_full<'p>(out: &mut String, part: &'p ReviewedPart, shown: &mut Vec<&'p str>) {
    for line in &part.lines {
        lines(out, "    ", line);
    }
    for (path, file) in &part.files {
        if shown.contains(&path.as_str()) {
            let _ = writeln!(out, "    {} (above)", safe(path));
            continue;
        }
        shown.push(path);
        match &file.text {
            Some(content) => {
                let _ = writeln!(out, "    {}", safe(path));
                lines(out, "      | ", content);
            }
            None => {
                let _ = writeln!(out, "    {} (sha256 {})", safe(path), safe(&file.sha256));
            }
        }
    }
}
