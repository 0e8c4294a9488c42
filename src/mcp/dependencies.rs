//! The tool `dependencies`.

use std::fmt::Write as _;

use crate::Symposium;
use crate::skills::crate_source::{CrateDisk, CrateRequest, CrateSources as _};
use crate::text::Diagnostic;
use crate::workspace::{Dependency, DependencyOrigin, Workspace};

pub(super) fn tell(sym: &Symposium) -> anyhow::Result<()> {
    let Some(loaded) = Workspace::load(&sym.cwd()?, &sym.env)? else {
        return Err(no_workspace(sym)?.into());
    };
    sym.report.diagnostics(&loaded.diagnostics);
    let workspace = &loaded.workspace;
    let members: Vec<_> = workspace.members.iter().map(|member| member.name.as_str()).collect();
    let lock = match &workspace.lock_file {
        Some(file) => file.display().to_string(),
        None => "there is none yet".to_owned(),
    };
    let mut text = format!(
        "Workspace: {}\nMembers: {}\nLock file: {lock}\nDirect dependencies: {}\n",
        workspace.root.display(),
        members.join(", "),
        workspace.dependencies.len()
    );
    let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
    for dependency in &workspace.dependencies {
        let _ = write!(text, "\n- {}", line(dependency, &disk));
    }
    sym.report.result(&text);
    Ok(())
}

fn line(dependency: &Dependency, disk: &CrateDisk<'_>) -> String {
    let Dependency { name, version, origin, .. } = dependency;
    let Some(version) = version else {
        return format!("{name}: Cargo.lock has no version of it yet");
    };
    let from = match origin {
        DependencyOrigin::Path(_) => " (a path)".to_owned(),
        DependencyOrigin::Git { url, .. } => format!(" (git {url})"),
        DependencyOrigin::Registry { index: Some(index), .. } => format!(" (registry {index})"),
        DependencyOrigin::Registry { index: None, .. } | DependencyOrigin::Unresolved(_) => {
            String::new()
        }
    };
    let request =
        CrateRequest { name: name.clone(), version: Some(version.clone()), requirement: None };
    match disk.locate(&request) {
        Ok(located) => format!("{name} {version}{from}: {}", located.dir.display()),
        Err(missing) => format!("{name} {version}{from}: {missing}"),
    }
}

/// That there is no workspace where the server was started.
pub(super) fn no_workspace(sym: &Symposium) -> anyhow::Result<Diagnostic> {
    let cwd = sym.cwd()?;
    Ok(Diagnostic::error("this is no Rust workspace")
        .in_file(cwd)
        .note("the server is about the folder that it is started in"))
}
