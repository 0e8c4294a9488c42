//! `crate-info NAME PATH`: where a crate declares a name, and what its changelog says of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use semver::Version;
use serde::Serialize;

use super::CommandResult;
use super::lookup::{Found, Lookup};
use crate::crates::changelog::{Changelog, Mention};
use crate::crates::items::{Deref, Foreign, Item, LookUp, look_around, look_up};
use crate::crates::quote::{one_line, quote};
use crate::report::{ExitCode, fit};
use crate::skills::crate_source::{CrateRequest, CrateSources as _, Located};
use crate::text::{Diagnostic, same_crate};
use crate::workspace::{Workspace, locked_dependency};

/// Crates that are followed into.
const FOLLOWED: usize = 4;
/// What the changelog says of the name.
const MENTIONS: usize = 5;
/// Bytes of a declaration with its doc comment, where there is one, and where there are several.
const LONG: usize = 6_000;
const SHORT: usize = 700;
const LINE: usize = 400;

/// The whole answer: more than one where the workspace uses several versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ItemAnswer {
    /// That the crate is not in the workspace, and what may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    crates: Vec<ItemInfo>,
}

/// What one version says of a path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ItemInfo {
    name: String,
    version: Version,
    /// The folder of its manifest.
    source: PathBuf,
    /// What was asked for.
    path: String,
    #[serde(flatten)]
    answer: LookUp,
    /// What the crates declare that it is re-exported from, in the versions of Cargo.lock.
    followed: Vec<Followed>,
    /// What its changelog says of the name, up to this version.
    mentions: Vec<Mention>,
}

/// What another crate declares.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Followed {
    name: String,
    version: Version,
    /// The path that leads there.
    path: String,
    found: Vec<Item>,
    /// Where there is nothing: the same name elsewhere in it, or near ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Item>,
}

impl Lookup<'_> {
    pub(super) fn tell_item(&self, path: &str, found: Vec<Found>) -> CommandResult {
        let mut answer = ItemAnswer { note: self.stranger(), crates: Vec::new() };
        for Found { located, .. } in found {
            answer.crates.push(self.item(path, located)?);
        }
        self.sym.report.json(&answer);
        let note = answer.note.iter().map(|note| format!("Note: {note}"));
        let blocks = note.chain(answer.crates.iter().map(render));
        self.sym.report.result(&blocks.collect::<Vec<_>>().join("\n\n"));
        Ok(ExitCode::SUCCESS)
    }

    fn item(&self, path: &str, located: Located) -> Result<ItemInfo, Diagnostic> {
        let Located { name, version, dir, .. } = located;
        let mut answer = look_up(&name, &dir, path).ok_or_else(|| {
            let shown = fit(path, 80);
            Diagnostic::error(format!("can't look for `{shown}` in {name} {version}"))
                .note("a path has names with `::` between: `Server`, `Rng::gen_range`")
                .note(format!("the library's own file has to be in {}", dir.display()))
        })?;
        let followed = self.followed(&name, &version, &answer.foreign);
        let is_there = followed.iter().any(|it| !it.found.is_empty());
        if is_there {
            answer.elsewhere.clear();
            answer.near.clear();
        } else if !followed.is_empty()
            && answer.elsewhere.is_empty()
            && let Some(around) = look_around(&name, &dir, path)
        {
            // What was in the other crate once may be here now.
            (answer.elsewhere, answer.near) = (around.elsewhere, around.near);
        }
        let names: Vec<&str> = path.split("::").map(str::trim).collect();
        let changelog = Changelog::read(&dir, &name);
        let mentions = changelog.map(|it| it.mentions(&names, &version, MENTIONS));
        let mentions = mentions.unwrap_or_default();
        let path = path.to_owned();
        Ok(ItemInfo { name, version, source: dir, path, answer, followed, mentions })
    }

    /// Goes on in the crates that a path leads into, one step, where they are on this machine: in the
    /// version of Cargo.lock, else in the newest that the crate's manifest admits.
    fn followed(&self, name: &str, version: &Version, foreign: &[Foreign]) -> Vec<Followed> {
        let outside = Workspace::default();
        let disk = self.disk(self.workspace.unwrap_or(&outside));
        let mut all: Vec<Followed> = Vec::new();
        for one in foreign.iter().filter(|one| one.package != "std").take(FOLLOWED) {
            let locked = self
                .workspace
                .and_then(|workspace| locked_dependency(workspace, (name, version), &one.package));
            let request = match locked {
                Some((name, version)) => {
                    CrateRequest { name, version: Some(version), requirement: None }
                }
                None => CrateRequest {
                    name: one.package.clone(),
                    version: None,
                    requirement: one.requirement.clone(),
                },
            };
            let Ok(Located { name, version, dir, .. }) = disk.locate(&request) else { continue };
            if all.iter().any(|known| known.name == name && known.version == version) {
                continue;
            }
            let Some(LookUp { found, elsewhere, near, .. }) = look_up(&name, &dir, &one.path)
            else {
                continue;
            };
            if !found.is_empty() || !one.is_glob {
                all.push(Followed {
                    name,
                    version,
                    path: one.path.clone(),
                    found,
                    elsewhere,
                    near,
                });
            }
        }
        all
    }
}

fn render(info: &ItemInfo) -> String {
    let ItemInfo { name, version, source, path, answer, followed, mentions } = info;
    let mut text = format!("Crate: {name}\nVersion: {version}\nSource: {}\n", source.display());
    let is_known = !answer.found.is_empty() || followed.iter().any(|it| !it.found.is_empty());
    let path = one_line(path, LINE);
    if !is_known && answer.foreign.iter().all(|one| one.is_glob) {
        let _ = writeln!(text, "Not found: {name} {version} declares no `{path}`");
    }
    for Deref { of, to, file, line } in &answer.derefs {
        let (of, to) = (one_line(of, LINE), one_line(to, LINE));
        let place = format!("{}:{line}", file.display());
        let _ = writeln!(text, "Derefs: `{of}` has the methods of `{to}`, by `Deref` at {place}");
    }
    items("Item", &answer.found, &mut text);
    tell_foreign(info, is_known, &mut text);
    items("Elsewhere", &answer.elsewhere, &mut text);
    if answer.elsewhere.is_empty() {
        items("Near", &answer.near, &mut text);
    }
    for unknown in &answer.unknown {
        let why = one_line(&unknown.why, LINE);
        let _ = writeln!(text, "Unknown: {}:{}: {why}", unknown.file.display(), unknown.line);
    }
    for mention in mentions {
        let Mention { version, file, line, text: said } = mention;
        let quoted = quote(said, SHORT);
        let _ = writeln!(text, "Changelog of {version}: {}:{line}\n{quoted}", file.display());
    }
    text.truncate(text.trim_end().len());
    text
}

/// Which other crates the path leads into, and what they have there.
fn tell_foreign(info: &ItemInfo, is_known: bool, text: &mut String) {
    let ItemInfo { answer, followed, .. } = info;
    for foreign in &answer.foreign {
        let Foreign { package, path, file, line, is_glob, .. } = foreign;
        let what = if *is_glob { "All of another crate" } else { "Of another crate" };
        let place = format!("{}:{line}", file.display());
        let path = one_line(path, LINE);
        let _ = writeln!(text, "{what}: {package}, as `{path}`, re-exported at {place}");
    }
    for Followed { name, version, path, found, elsewhere, near } in followed {
        if found.is_empty() {
            let path = one_line(path, LINE);
            let _ = writeln!(text, "Not found: {name} {version} declares no `{path}`");
        }
        items(&format!("Item in {name} {version}"), found, text);
        if !is_known {
            items(&format!("Elsewhere in {name} {version}"), elsewhere, text);
            items(&format!("Near in {name} {version}"), near, text);
        }
    }
    let is_followed = |package: &str| followed.iter().any(|it| same_crate(&it.name, package));
    let others = answer.foreign.iter().filter(|it| !is_known && !it.is_glob);
    for Foreign { package, requirement, path, .. } in
        others.filter(|it| it.package != "std" && !is_followed(&it.package))
    {
        let version = requirement.as_ref().map(|it| format!(" --version \"{it}\""));
        let (version, path) = (version.unwrap_or_default(), one_line(path, LINE));
        let _ = writeln!(
            text,
            "Not looked into: {package} is not on this machine; \
             `cargo agents crate-info {package}{version} {path}` fetches it"
        );
    }
}

fn items(key: &str, items: &[Item], text: &mut String) {
    let budget = if items.len() == 1 { LONG } else { SHORT };
    for item in items {
        let _ = writeln!(text, "{key}: {} ({})", one_line(&item.path, LINE), item.kind.name());
        let _ = writeln!(text, "Declared at: {}:{}", item.file.display(), item.line);
        if !item.is_public {
            text.push_str("Private: not to be used from outside, unless it is re-exported\n");
        }
        if let Some(why) = &item.deprecated {
            let _ = writeln!(text, "Deprecated: {}", one_line(why, LINE));
        }
        for cfg in &item.cfg {
            let _ = writeln!(text, "Only with: {} (not checked)", one_line(cfg, LINE));
        }
        for name in &item.within_macros {
            let name = one_line(name, LINE);
            let _ = writeln!(text, "Within: `{name}!`, and what that makes of it is unknown");
        }
        let shown = quote(&item.declaration, budget);
        text.push_str(&shown);
        text.push('\n');
        if !item.doc.is_empty() {
            let doc = quote(&item.doc, budget.saturating_sub(shown.len()).max(SHORT / 2));
            let _ = writeln!(text, ">\n{doc}");
        }
    }
}
