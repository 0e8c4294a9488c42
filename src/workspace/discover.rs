//! The root of a workspace and its members, found by cargo's rules.
//!
//! Rules: <https://doc.rust-lang.org/cargo/reference/workspaces.html>. Where cargo refuses to go on
//! because a package lies inside a workspace that does not list it, that package is taken as its
//! own root, with a warning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::globs::{self, Expansion};
use super::manifest::{Declared, DeclaredFrom, Manifest, WorkspaceTable};
use super::paths::{existing_folder, normalize};
use super::reader::Reader;
use crate::config::Environment;
use crate::files::is_absent;
use crate::text::Diagnostic;
use crate::text::toml::Located;

/// How deep packages are looked for in a folder of the configuration's `paths`.
const OVERRIDE_DEPTH: usize = 4;

/// The folder of the root manifest of the workspace (or lone package) that `start` belongs to;
/// `None` when it is in no Rust project. Absolute and canonical.
///
/// `start` may be any folder or file of the project, relative to the environment's folder or
/// absolute; when it is gone, the nearest folder above that still exists counts. Cheap: it reads
/// the nearest manifest and those above it, and the others only for a package that no pattern of
/// the workspace above it names.
pub(crate) fn locate(start: &Path, env: &Environment) -> Result<Option<PathBuf>, Diagnostic> {
    let Some(folder) = existing_folder(start, env) else { return Ok(None) };
    let mut reader = Reader::new(env, false);
    Ok(root(&mut reader, &folder)?.map(|root| root.dir.clone()))
}

/// The folder of the nearest manifest at or above `start`; `Some(None)` where there is none, and
/// `None` when that can't be told. It is where [`locate`] begins; nothing is read.
pub(crate) fn nearest_manifest(start: &Path, env: &Environment) -> Option<Option<PathBuf>> {
    let Some(folder) = existing_folder(start, env) else { return Some(None) };
    for dir in folder.ancestors() {
        match fs::metadata(dir.join("Cargo.toml")) {
            Ok(found) if found.is_file() => return Some(Some(dir.to_path_buf())),
            Ok(_) => {}
            Err(error) if is_absent(&error) => {}
            Err(_) => return None,
        }
    }
    Some(None)
}

/// The root manifest for `folder`.
pub(super) fn root(reader: &mut Reader, folder: &Path) -> Result<Option<Rc<Manifest>>, Diagnostic> {
    for dir in folder.ancestors() {
        let Some(nearest) = reader.manifest(dir)? else { continue };
        let Some(above) = root_of(reader, &nearest)? else { return Ok(Some(nearest)) };
        if above.dir == nearest.dir || is_member(reader, &above, &nearest)? {
            return Ok(Some(above));
        }
        let workspace = above.source.path.display().to_string();
        reader.diagnostics.push(
            Diagnostic::warning("this package is not a member of the workspace around it")
                .in_file(&nearest.source.path)
                .remark(format!("it was taken by itself; the workspace is {workspace}"))
                .note("add it to `workspace.members` or `workspace.exclude` there"),
        );
        return Ok(Some(nearest));
    }
    Ok(None)
}

/// The root that the package says it belongs to, or that lies above it and does not exclude it.
/// Whether that root knows of the package is another question.
pub(super) fn root_of(
    reader: &mut Reader,
    manifest: &Rc<Manifest>,
) -> Result<Option<Rc<Manifest>>, Diagnostic> {
    if manifest.is_root() {
        return Ok(Some(Rc::clone(manifest)));
    }
    if let Some(root) = pointed_root(reader, manifest)? {
        return Ok(Some(root));
    }
    let mut below = None;
    for dir in manifest.dir.ancestors().skip(1) {
        // Cargo unpacks into this folder when it verifies a package: it must stand alone there.
        if dir.ends_with("target/package") {
            break;
        }
        // Sources that cargo downloaded don't belong to a workspace around cargo's folder.
        if below.is_some() && below == reader.cargo_home.as_deref() {
            break;
        }
        below = Some(dir);
        let Some(above) = reader.manifest(dir)? else { continue };
        if let Some(table) = &above.workspace {
            if !is_excluded(&above.dir, table, &manifest.dir) {
                return Ok(Some(above));
            }
        } else if let Some(root) = pointed_root(reader, &above)? {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

/// The manifest that `package.workspace` points to.
fn pointed_root(
    reader: &mut Reader,
    manifest: &Rc<Manifest>,
) -> Result<Option<Rc<Manifest>>, Diagnostic> {
    let pointer = manifest.package.as_ref().and_then(|package| package.workspace.as_ref());
    let Some(pointer) = pointer else { return Ok(None) };
    let dir = normalize(&manifest.dir.join(&pointer.value));
    let dir = crate::files::canonicalize(&dir).unwrap_or(dir);
    let problem = match reader.manifest(&dir)? {
        Some(root) if root.is_root() => return Ok(Some(root)),
        Some(_) => "`package.workspace` points to a manifest without `[workspace]`",
        None => "`package.workspace` points to a folder without Cargo.toml",
    };
    Err(Diagnostic::error(problem)
        .at(&manifest.source, pointer.span.clone())
        .label(dir.display().to_string())
        .note("give the folder of the workspace's root, or remove the key"))
}

/// Whether the workspace's `exclude` takes `dir` out; what `members` names stays in. Both compare
/// as they are written, `..` included, as cargo does it.
fn is_excluded(root: &Path, table: &WorkspaceTable, dir: &Path) -> bool {
    let under = |item: &str| dir.starts_with(root.join(item));
    table.exclude.iter().any(|item| under(item))
        && !table.members.iter().any(|item| under(&item.value))
}

/// Whether `root` has `package` as a member: named by a pattern, else reached by path dependencies.
fn is_member(
    reader: &mut Reader,
    root: &Rc<Manifest>,
    package: &Rc<Manifest>,
) -> Result<bool, Diagnostic> {
    let Some(table) = &root.workspace else { return Ok(false) };
    if is_excluded(&root.dir, table, &package.dir) {
        return Ok(false);
    }
    for pattern in &table.members {
        if expand(reader, root, pattern)?.folders.contains(&package.dir) {
            return Ok(true);
        }
    }
    let members = members(reader, root)?;
    Ok(members.iter().any(|member| same_folder(&member.dir, &package.dir)))
}

/// Whether two paths are one folder, were it through a link.
pub(super) fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || crate::files::canonicalize(one).is_ok_and(|real| real == other)
}

fn expand(
    reader: &mut Reader,
    root: &Manifest,
    pattern: &Located<String>,
) -> Result<Expansion, Diagnostic> {
    globs::expand(&root.dir, &pattern.value, &mut |path| reader.observe(path)).map_err(|problem| {
        Diagnostic::error(format!("`{}` is no pattern: {problem}", pattern.value))
            .at(&root.source, pattern.span.clone())
            .note("`*` stands for any name, `**` alone for any folders")
    })
}

/// What made a folder a candidate for a member.
enum Named {
    /// An item of `members` without wildcards.
    Listed(Located<String>),
    Matched,
    /// A path dependency of a member.
    Dependency,
    Root,
}

/// The packages of `root`'s workspace, sorted by folder; of a lone package, that one.
///
/// # Errors
/// A listed member that is missing; a member's manifest that is broken.
pub(super) fn members(
    reader: &mut Reader,
    root: &Rc<Manifest>,
) -> Result<Vec<Rc<Manifest>>, Diagnostic> {
    let Some(table) = &root.workspace else { return Ok(vec![Rc::clone(root)]) };
    let mut waiting = vec![(root.dir.clone(), Named::Root)];
    for pattern in table.members.iter().rev() {
        let expansion = expand(reader, root, pattern)?;
        if expansion.folders.is_empty() {
            reader.diagnostics.push(
                Diagnostic::warning(format!("no folder matches `{}`", pattern.value))
                    .at(&root.source, pattern.span.clone())
                    .note("make such a folder, or remove the pattern"),
            );
        }
        for folder in expansion.folders {
            let named =
                if expansion.wild { Named::Matched } else { Named::Listed(pattern.clone()) };
            waiting.push((folder, named));
        }
    }
    let mut found = BTreeMap::new();
    while let Some((dir, named)) = waiting.pop() {
        if found.contains_key(&dir) {
            continue;
        }
        let Some(member) = member(reader, root, table, &dir, &named)? else { continue };
        if member.package.is_none() && !matches!(named, Named::Root) {
            continue;
        }
        for declared in &member.dependencies {
            if let Some(path) = dependency_folder(root, &member, declared) {
                waiting.push((path, Named::Dependency));
            }
        }
        found.insert(dir, member);
    }
    Ok(found.into_values().filter(|member| member.package.is_some()).collect())
}

/// The manifest in `dir`, when it makes a member of the workspace.
fn member(
    reader: &mut Reader,
    root: &Rc<Manifest>,
    table: &WorkspaceTable,
    dir: &Path,
    named: &Named,
) -> Result<Option<Rc<Manifest>>, Diagnostic> {
    if matches!(named, Named::Root) {
        return Ok(Some(Rc::clone(root)));
    }
    let outside = matches!(named, Named::Dependency) && !dir.starts_with(&root.dir);
    if outside && !points_back(reader, root, dir) {
        return Ok(None);
    }
    if is_excluded(&root.dir, table, dir) {
        return Ok(None);
    }
    let Some(manifest) = reader.manifest(dir)? else {
        return missing_member(reader, root, dir, named).map(|()| None);
    };
    // A folder that has its own workspace is that workspace's.
    let owner = if manifest.is_root() {
        Some(Rc::clone(&manifest))
    } else {
        pointed_root(reader, &manifest)?
    };
    if let Some(owner) = owner
        && !same_folder(&owner.dir, &root.dir)
    {
        if !matches!(named, Named::Dependency) {
            reader.diagnostics.push(
                Diagnostic::warning("this member belongs to another workspace")
                    .in_file(&manifest.source.path)
                    .remark(format!("it was left out; that workspace is {}", owner.dir.display()))
                    .note("remove its `[workspace]`, or take it out of `workspace.members`"),
            );
        }
        return Ok(None);
    }
    Ok(Some(manifest))
}

/// Whether a package outside the root's folder says that it belongs to `root`. A package out there
/// that can't be read is nobody's member.
fn points_back(reader: &mut Reader, root: &Rc<Manifest>, dir: &Path) -> bool {
    let Ok(Some(manifest)) = reader.manifest(dir) else { return false };
    root_of(reader, &manifest)
        .is_ok_and(|found| found.is_some_and(|found| same_folder(&found.dir, &root.dir)))
}

fn missing_member(
    reader: &mut Reader,
    root: &Manifest,
    dir: &Path,
    named: &Named,
) -> Result<(), Diagnostic> {
    let manifest = dir.join("Cargo.toml");
    // Cargo passes over files, such as a README beside the members.
    if matches!(named, Named::Listed(_) | Named::Matched) {
        reader.observe(dir);
        if dir.is_file() {
            return Ok(());
        }
    }
    match named {
        Named::Listed(pattern) => Err(Diagnostic::error(format!(
            "the workspace's member `{}` has no Cargo.toml",
            pattern.value
        ))
        .at(&root.source, pattern.span.clone())
        .label(format!("{} is missing", manifest.display()))
        .note("create it, or take it out of `workspace.members`")),
        Named::Matched => {
            reader.diagnostics.push(
                Diagnostic::warning("a folder that `workspace.members` matches has no Cargo.toml")
                    .in_file(&manifest)
                    .note(
                        "cargo stops at this: remove the folder, or add it to `workspace.exclude`",
                    ),
            );
            Ok(())
        }
        // Told where dependencies are resolved.
        Named::Dependency | Named::Root => Ok(()),
    }
}

/// What a member's declaration means: itself, or the entry of `[workspace.dependencies]` that it
/// inherits, with the folder that paths in it start from. `None` when there is no such entry.
pub(super) fn inherited<'a>(
    root: &'a Manifest,
    member: &'a Manifest,
    declared: &'a Declared,
) -> Option<(&'a Declared, &'a Path)> {
    if !declared.inherits {
        return Some((declared, &member.dir));
    }
    let table = root.workspace.as_ref()?;
    let entry = table.dependencies.iter().find(|entry| entry.key == declared.key)?;
    Some((entry, &root.dir))
}

/// The folder of a path dependency.
pub(super) fn dependency_folder(
    root: &Manifest,
    member: &Manifest,
    declared: &Declared,
) -> Option<PathBuf> {
    let (entry, base) = inherited(root, member, declared)?;
    match &entry.from {
        DeclaredFrom::Path(path) => Some(normalize(&base.join(path))),
        DeclaredFrom::Registry(_) | DeclaredFrom::Index(_) | DeclaredFrom::Git => None,
    }
}

/// The packages in the folders that `paths` names, the first of a name first. Hidden folders and
/// what cargo built are not entered, and what can't be read is passed over.
pub(super) fn packages_below(reader: &mut Reader, folders: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut packages = Vec::new();
    let mut level = folders.to_vec();
    for _ in 0..=OVERRIDE_DEPTH {
        let mut below = Vec::new();
        for dir in level {
            if let Ok(Some(manifest)) = reader.manifest(&dir)
                && let Some(package) = &manifest.package
            {
                packages.push((package.name.clone(), dir.clone()));
            }
            let inside = globs::expand(&dir, "*", &mut |path| reader.observe(path));
            below.extend(inside.map(|found| found.folders).unwrap_or_default().into_iter().filter(
                |folder| {
                    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or(".");
                    !name.starts_with('.') && name != "target" && name != "node_modules"
                },
            ));
        }
        level = below;
    }
    packages
}
