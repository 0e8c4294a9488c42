//! `source = "cargo"`: a crate's programs.
//!
//! Cargo is run as a program, for what it knows of registries, mirrors and credentials:
//! `cargo binstall` first, then `cargo install --locked`; always outside of any workspace. It works
//! into a new folder, which takes its place under its version only when it holds what is wanted.

mod version;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;

use self::version::{About, Requested};
use super::job::{Got, Job};
use super::locate::global;
use super::stamp::key;
use super::{Root, Trouble, repository};
use crate::files::{is_plain_name, private_folders, rename};
use crate::plugins::model::Runnable;
use crate::process::{Child, find_program};
use crate::text::SecretUrl;

/// What the manifest says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) krate: &'a str,
    pub(super) version: Option<&'a str>,
    pub(super) git: Option<&'a SecretUrl>,
    pub(super) global: bool,
}

/// Whether a newer version may come to take the place of what is there.
pub(super) fn floats(source: Source<'_>) -> bool {
    !source.global && !matches!(Requested::parse(source.version), Ok(Requested::Exact(_)))
}

/// The programs of a crate.
pub(super) fn get(job: &Job<'_>, source: Source<'_>) -> Result<Got, Trouble> {
    let requested = Requested::parse(source.version).map_err(Trouble::Unusable)?;
    if source.krate.is_empty()
        || !source.krate.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    {
        return Err(Trouble::Unusable(format!("`{}` is no crate's name", source.krate)));
    }
    if let Some(git) = source.git
        && (git.expose().is_empty() || git.expose().starts_with('-'))
    {
        return Err(Trouble::Unusable(format!("`{git}` is no repository")));
    }
    let wanted = wanted(job)?;
    if wanted.is_none() && (source.git.is_some() || source.global) {
        let key = if source.global { "global = true" } else { "git" };
        return Err(Trouble::Unusable(format!("`{key}` needs an `executable`")));
    }
    match wanted {
        Some(wanted) if source.global => into_global(job, source, &requested, wanted),
        wanted if source.git.is_some() => from_repository(job, source, &requested, wanted),
        wanted => from_registry(job, source, &requested, wanted),
    }
}

/// The program that the installation itself names.
fn wanted<'a>(job: &Job<'a>) -> Result<Option<&'a str>, Trouble> {
    match &job.installation.runnable {
        Some(Runnable::Executable(name) | Runnable::Script(name)) if !is_plain_name(name) => {
            Err(Trouble::Unusable(format!("`executable` must be a program's name, not `{name}`")))
        }
        Some(Runnable::Executable(name) | Runnable::Script(name)) => Ok(Some(name)),
        Some(Runnable::Shell) | None => Ok(None),
    }
}

fn from_registry(
    job: &Job<'_>,
    source: Source<'_>,
    requested: &Requested,
    wanted: Option<&str>,
) -> Result<Got, Trouble> {
    let base = job.binaries().join(source.krate);
    let mut about = About::default();
    let mut stale = None;
    let version = match requested {
        Requested::Exact(version) => Some(version.clone()),
        floating => match version::newest(job, source.krate, floating) {
            Ok(newest) => {
                about = newest;
                let known = || known_version(job, &base, floating);
                let is_hidden = about.is_hidden && job.refresh;
                about.version.clone().or_else(|| if is_hidden { None } else { known() })
            }
            Err(Trouble::Failed(problem) | Trouble::NotReady(problem)) => {
                stale = Some(problem);
                known_version(job, &base, floating)
            }
            Err(other) => return Err(other),
        },
    };
    if let Some(version) = &version {
        let root = base.join(version.to_string());
        if let Ok(executable) = check(&root.join("bin"), wanted) {
            return Ok(got(root, Some(version.to_string()), executable, stale));
        }
    }
    job.need_network()?;
    let requirement = match (&version, requested) {
        (Some(version), _) => Some(version.to_string()),
        (None, Requested::Requirement(requirement)) => Some(requirement.to_string()),
        (None, _) => None,
    };
    let what = requirement.as_ref().map_or(String::new(), |version| format!(" {version}"));
    job.say("Installing", format!("{}{what}", source.krate));
    let staged = Staged::new(&base)?;
    if let (None, Some(known)) = (&version, known_version(job, &base, requested)) {
        staged.begin_with(&base.join(known.to_string()))?;
    }
    let made = install(job, source, requirement.as_deref(), staged.path())
        .and_then(|()| check(&staged.path().join("bin"), wanted).map_err(Trouble::Unusable));
    let executable = made.map_err(|trouble| explain(job, source, &about, trouble))?;
    let version = version.or_else(|| version::installed(staged.path(), source.krate));
    let version = version.map_or_else(|| "unversioned".to_owned(), |version| version.to_string());
    let target = base.join(&version);
    let is_there = check(&target.join("bin"), wanted).is_ok();
    let root = if is_there { target } else { staged.move_to(&target)? };
    Ok(got(root, Some(version), executable, None))
}

fn from_repository(
    job: &Job<'_>,
    source: Source<'_>,
    requested: &Requested,
    wanted: Option<&str>,
) -> Result<Got, Trouble> {
    let none = SecretUrl::from("");
    let git = source.git.unwrap_or(&none);
    let base = job.binaries().join(source.krate);
    let version = source.version.unwrap_or_default();
    let root = base.join(format!("git-{}", &key(&[git.expose(), version])[..8]));
    let there = check(&root.join("bin"), wanted);
    if let Ok(executable) = &there
        && !job.refresh
    {
        let version = version::built(&root, source.krate);
        return Ok(got(root, version, executable.clone(), None));
    }
    job.need_network()?;
    job.say("Building", format!("{} from {git}", source.krate));
    let requirement = match requested {
        Requested::Exact(version) => Some(version.to_string()),
        Requested::Requirement(requirement) => Some(requirement.to_string()),
        Requested::Newest => None,
    };
    let staged = Staged::new(&base)?;
    if there.is_ok() {
        staged.begin_with(&root)?;
    }
    install(job, source, requirement.as_deref(), staged.path())?;
    let executable = check(&staged.path().join("bin"), wanted).map_err(|problem| {
        Trouble::Unusable(format!("the crate `{}` of {git} {problem}", source.krate))
    })?;
    let version = version::built(staged.path(), source.krate);
    if there.is_err() || version.is_none() || version != version::built(&root, source.krate) {
        staged.move_to(&root)?;
    }
    Ok(got(root, version, executable, None))
}

/// Into the user's own programs. One that is there is theirs, whatever its version.
fn into_global(
    job: &Job<'_>,
    source: Source<'_>,
    requested: &Requested,
    wanted: &str,
) -> Result<Got, Trouble> {
    let got = Got { root: Root::Global, dir: None, version: None, executable: None, stale: None };
    if global(job.sym, wanted).is_some() {
        return Ok(got);
    }
    job.need_network()?;
    job.say("Installing", format!("{} into cargo's own folder", source.krate));
    let requirement = match requested {
        Requested::Exact(version) => Some(version.to_string()),
        Requested::Requirement(requirement) => Some(requirement.to_string()),
        Requested::Newest => None,
    };
    run_installers(job, source, requirement.as_deref(), None)
        .map_err(|trouble| explain(job, source, &About::default(), trouble))?;
    if global(job.sym, wanted).is_none() {
        let problem = format!("was installed, but there is no program `{wanted}` now");
        let trouble = Trouble::Unusable(problem);
        return Err(explain(job, source, &About::default(), trouble));
    }
    Ok(got)
}

fn got(
    root: PathBuf,
    version: Option<String>,
    executable: Option<String>,
    stale: Option<String>,
) -> Got {
    Got { root: Root::Bin(root.join("bin")), dir: Some(root), version, executable, stale }
}

/// The version that was there before, when nobody can say whether there is a newer one.
fn known_version(job: &Job<'_>, base: &Path, requested: &Requested) -> Option<Version> {
    let version = Version::parse(job.before.version.as_deref()?).ok()?;
    (requested.allows(&version) && base.join(version.to_string()).is_dir()).then_some(version)
}

fn install(
    job: &Job<'_>,
    source: Source<'_>,
    requirement: Option<&str>,
    root: &Path,
) -> Result<(), Trouble> {
    // The folder has this name for the time of the work only.
    let place = root.parent().unwrap_or(root).display().to_string();
    let told = |problem: String| problem.replace(&root.display().to_string(), &place);
    run_installers(job, source, requirement, Some(root)).map_err(|trouble| match trouble {
        Trouble::Failed(problem) => Trouble::Failed(told(problem)),
        other => other,
    })
}

/// Downloads what is built already, if anybody offers that; else builds. A repository is built.
fn run_installers(
    job: &Job<'_>,
    source: Source<'_>,
    requirement: Option<&str>,
    root: Option<&Path>,
) -> Result<(), Trouble> {
    let common = |child: Child| {
        let mut args: Vec<OsString> = Vec::new();
        if let Some(root) = root {
            args.extend(["--root".into(), root.as_os_str().to_owned()]);
        }
        if let Some(requirement) = requirement {
            args.extend(["--version".into(), requirement.into()]);
        }
        if let Some(git) = source.git {
            args.extend(["--git".into(), git.expose().into()]);
        }
        args.push(source.krate.into());
        child.args(args)
    };
    if source.git.is_none() {
        // Building is our own affair, below, with the versions that the crate was locked to.
        let mut child =
            cargo(job).args(["binstall", "--no-confirm", "--disable-strategies", "compile"]);
        if root.is_some() {
            // Its links would lead to the folder's first name.
            child = child.args(["--no-symlinks"]);
        }
        let child = common(child.env("BINSTALL_DISABLE_TELEMETRY", "true"));
        match job.run(&child, &format!("cargo binstall {}", source.krate)) {
            Ok(_) => return Ok(()),
            Err(Trouble::Failed(problem)) => {
                tracing::debug!("{problem}");
                // What it may have left must not be taken for the result of the next try.
                if let Some(root) = root {
                    let _ = fs::remove_dir_all(root.join("bin"));
                }
            }
            Err(other) => return Err(other),
        }
    }
    // What goes well needs no telling: a failure is told whole.
    let child = common(cargo(job).args(["install", "--locked"]).env("CARGO_TERM_QUIET", "true"));
    job.run(&child, &format!("cargo install {}", source.krate)).map(drop)
}

/// Cargo, with nothing said by the workspace or the cargo that may have started us.
fn cargo(job: &Job<'_>) -> Child {
    let env = &job.sym.env;
    let path = env.var("PATH").unwrap_or_default();
    let program = match env.var("SYMPOSIUM_CARGO") {
        Some(program) => program.to_owned(),
        None => {
            let found = find_program("cargo".as_ref(), path, Path::new("/"));
            let at_home = || {
                let name = format!("cargo{}", std::env::consts::EXE_SUFFIX);
                let program = env.cargo_home()?.join("bin").join(name);
                program.is_file().then_some(program)
            };
            found.or_else(at_home).map_or_else(|| "cargo".into(), PathBuf::into_os_string)
        }
    };
    let mut child = job.child(program).env("CARGO_TERM_COLOR", "never");
    for name in [
        "RUSTUP_TOOLCHAIN",
        "CARGO",
        "CARGO_MANIFEST_DIR",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_INSTALL_ROOT",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        if !(name == "CARGO_INSTALL_ROOT" && is_global(job)) {
            child = child.env_remove(name);
        }
    }
    child
}

fn is_global(job: &Job<'_>) -> bool {
    use crate::plugins::model::InstallSource;
    matches!(job.installation.source, Some(InstallSource::Cargo { global: true, .. }))
}

/// Whether `bin` holds what is wanted; the only program there is, if nothing is named. A crate of
/// several is fine for hooks that name one.
fn check(bin: &Path, wanted: Option<&str>) -> Result<Option<String>, String> {
    let programs = programs(bin);
    match (wanted, programs.as_slice()) {
        (_, []) => Err("installs no program".to_owned()),
        (Some(wanted), programs) if programs.iter().any(|name| name == wanted) => Ok(None),
        (Some(wanted), programs) => {
            let list = programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            Err(format!("installs no program `{wanted}`, but {}", list.join(", ")))
        }
        (None, [only]) => Ok(Some(only.clone())),
        (None, _) => Ok(None),
    }
}

/// The names of the programs in a folder, sorted.
pub(super) fn programs(bin: &Path) -> Vec<String> {
    let entries = fs::read_dir(bin).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(&name).to_owned())
        .collect();
    names.sort();
    names
}

/// Says what the crate is: names collide often, and the one on the registry may be a stranger.
fn explain(job: &Job<'_>, source: Source<'_>, about: &About, trouble: Trouble) -> Trouble {
    let (problem, unusable) = match trouble {
        Trouble::Unusable(problem) => (problem, true),
        Trouble::Failed(problem) => (problem, false),
        other => return other,
    };
    let mut text =
        if unusable { format!("the crate `{}` {problem}", source.krate) } else { problem };
    let looked_up;
    let about = if about.is_empty() {
        looked_up = version::about(job, source.krate).unwrap_or_default();
        &looked_up
    } else {
        about
    };
    if !about.is_empty() {
        text.push_str(&format!("\n  the registry's `{}` is {about}", source.krate));
    }
    text.push_str("\n  if another tool of that name is meant, say where it is with `git`");
    if unusable { Trouble::Unusable(text) } else { Trouble::Failed(text) }
}

/// A folder that cargo installs into, before it takes its place.
struct Staged {
    dir: tempfile::TempDir,
}

impl Staged {
    /// The lock is held, so what another run left here when it was killed belongs to nobody.
    fn new(base: &Path) -> Result<Self, Trouble> {
        let failed = Job::io(base);
        private_folders(base).map_err(&failed)?;
        for entry in fs::read_dir(base).map_err(&failed)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(".new-") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let dir = tempfile::Builder::new().prefix(".new-").tempdir_in(base).map_err(&failed)?;
        Ok(Self { dir })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Begins with what is in `root`: with its own record at hand cargo builds only what is new.
    fn begin_with(&self, root: &Path) -> Result<(), Trouble> {
        repository::copy_tree(root, self.path()).map_err(Job::io(self.path()))
    }

    /// Takes the place of `target`; what is there does not hold what it should.
    fn move_to(self, target: &Path) -> Result<PathBuf, Trouble> {
        let failed = Job::io(target);
        if target.exists() {
            let away = self.dir.path().with_extension("old");
            rename(target, &away).map_err(&failed)?;
            let _ = fs::remove_dir_all(&away);
        }
        let staged = self.dir.keep();
        rename(&staged, target).map_err(&failed)?;
        Ok(target.to_path_buf())
    }
}
