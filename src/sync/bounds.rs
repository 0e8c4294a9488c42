//! Which places of a checkout we write, remove and read back: those whose real path is inside it.
//!
//! Whoever wrote a checkout may have put a link in place of any of its folders and files. So none is
//! followed, but for one kind that many repositories have: a link from one agent's skill folder to
//! another's (`.claude/skills -> ../.agents/skills`). Links above the checkout, and those in the home
//! folder, are the user's own.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::agents::Agent;
use crate::config::Environment;
use crate::documents::checkout;
use crate::files::relative_inside;
use crate::text::Diagnostic;

/// How many links lead from one skill folder to the next; more than that is a loop.
const HOPS: usize = 8;

/// The vendor-neutral skill folder, preferred where there is a choice.
pub(crate) const NEUTRAL: &str = ".agents/skills";

/// Every folder that some agent reads, the neutral one first.
pub(crate) fn every_skill_dir() -> Vec<&'static str> {
    let mut dirs = vec![NEUTRAL];
    for agent in Agent::ALL {
        for dir in agent.identity().skill_dirs {
            if !dirs.contains(dir) {
                dirs.push(dir);
            }
        }
    }
    dirs
}

/// A checkout's bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    top: PathBuf,
    home: Option<PathBuf>,
}

impl Bounds {
    /// The bounds of the workspace at `root`: the git checkout that it is in, else its own folder.
    /// A checkout that holds the home folder is none of a project's, so the workspace counts alone
    /// there. `None` when that holds it, too: then all links are the user's.
    pub(crate) fn of(root: &Path, home: Option<&Path>) -> Option<Self> {
        let real_home = home.and_then(|home| crate::files::canonicalize(home).ok());
        let is_project = |top: &PathBuf| {
            !home.into_iter().chain(real_home.as_deref()).any(|home| home.starts_with(top))
        };
        // A remembered root may be behind a link by now, which counts as one of what it is in.
        let link = root.ancestors().filter(|folder| folder.is_symlink()).last();
        let start = link.and_then(Path::parent).unwrap_or(root);
        let found = checkout::find(start).map(|found| found.top).filter(is_project);
        let top = found.or_else(|| Some(root.to_path_buf()).filter(is_project))?;
        Some(Self { top, home: home.map(Path::to_path_buf) })
    }

    /// See [`is_users_own`].
    pub(crate) fn is_users_own(&self, root: &Path, folder: &str) -> bool {
        self.home.as_ref().is_some_and(|home| is_users_own(home, root, Path::new(folder)))
    }

    /// Whether `path` belongs to the checkout by its name.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        path.starts_with(&self.top)
    }

    /// Where the folder `path` really is; itself, where it is none of the checkout's.
    ///
    /// # Errors
    /// A link that is not followed.
    pub(crate) fn real(&self, path: &Path) -> Result<PathBuf, Diagnostic> {
        match path.strip_prefix(&self.top) {
            Ok(below) => self.walk(below, HOPS).map_err(|refused| refused.in_file(path)),
            Err(_) => Ok(path.to_path_buf()),
        }
    }

    /// Lets something be done to `path`, right before it is done: there may be a link by now where
    /// there was none.
    ///
    /// # Errors
    /// A link on the way, or in the place itself.
    pub(crate) fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        let real = self.real(path)?;
        if real == path {
            return Ok(());
        }
        let message = format!("a link to {} came in its way", real.display());
        Err(Diagnostic::error(message).in_file(path).note("try again"))
    }

    fn walk(&self, below: &Path, hops: usize) -> Result<PathBuf, Diagnostic> {
        let mut here = self.top.clone();
        let mut parts = below.components();
        while let Some(part) = parts.next() {
            here.push(part);
            if !here.is_symlink() {
                continue;
            }
            let leads = fs::read_link(&here).unwrap_or_default();
            return match self.other_skill_folder(&here, &leads) {
                Some(target) if hops > 0 => self.walk(&target.join(parts.as_path()), hops - 1),
                _ => Err(self.refused(&here, &leads)),
            };
        }
        Ok(here)
    }

    /// What `link` leads to, below the top, where both are agents' skill folders of this checkout.
    fn other_skill_folder(&self, link: &Path, leads: &Path) -> Option<PathBuf> {
        let from = link.strip_prefix(&self.top).ok()?;
        let to = match leads.components().next()? {
            Component::ParentDir | Component::CurDir | Component::Normal(_) => {
                from.parent()?.join(leads)
            }
            _ => leads.strip_prefix(&self.top).ok()?.to_path_buf(),
        };
        let to = relative_inside(to.to_str()?)?;
        let is_skills = |path: &Path| every_skill_dir().iter().any(|dir| path.ends_with(dir));
        // A checkout within this one is another one; the skill folder itself may well be one.
        let is_here = |folder: &Path| {
            folder.as_os_str().is_empty()
                || self.top.join(folder).join(".git").symlink_metadata().is_err()
        };
        let followed = is_skills(from) && is_skills(&to) && to.ancestors().skip(2).all(is_here);
        followed.then_some(to)
    }

    fn refused(&self, link: &Path, leads: &Path) -> Diagnostic {
        let name = link.strip_prefix(&self.top).unwrap_or(link).display();
        Diagnostic::error(format!(
            "`{name}` is a link to `{}`, and such a link of a checkout is not followed",
            leads.display()
        ))
        .note(
            "only one from an agent's skill folder to another's in the same checkout is, such as \
             `.claude/skills -> ../.agents/skills`",
        )
        .note(format!("put a real folder or file in its place: `rm {}`", link.display()))
    }
}

/// Whether `folder` of the workspace at `root` is the user's own of that name, or in it: a link of
/// the user's leads from the home folder here (`~/.claude -> dotfiles/.claude`). Agents read it
/// everywhere.
pub(crate) fn is_users_own(home: &Path, root: &Path, folder: &Path) -> bool {
    let mut above = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    above.any(|folder| {
        let own = crate::files::canonicalize(home.join(folder)).ok();
        own.is_some() && own == crate::files::canonicalize(root.join(folder)).ok()
    })
}

/// Which agent reads the skill folder `folder` of the workspace at `root` in every workspace, by which
/// folder of the user's and which variable: a link or a variable of the user's may lead there.
pub(crate) fn reader_everywhere(
    (home, env): (&Path, &Environment),
    root: &Path,
    folder: &str,
) -> Option<(Agent, PathBuf, Option<&'static str>)> {
    let (root, here) = (real_place(root), real_place(&root.join(folder)));
    let each = Agent::ALL.into_iter().flat_map(|agent| {
        let folders = agent.identity().users_skills.iter();
        let places = folders.flat_map(|folder| folder.places(home, env));
        places.map(move |(place, variable)| (agent, place, variable))
    });
    each.into_iter().find(|(_, place, _)| {
        let real = real_place(place);
        real.starts_with(&root) && here.starts_with(&real)
    })
}

/// Where `path` is or would be: links of what there is of it are resolved.
fn real_place(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|part| {
        Some((crate::files::canonicalize(part).ok()?, path.strip_prefix(part).ok()?))
    });
    there.map_or_else(
        || path.to_path_buf(),
        |(real, rest)| match rest.as_os_str().is_empty() {
            true => real,
            false => real.join(rest),
        },
    )
}

/// As [`Bounds::check`]; outside of a workspace, and where it holds the home folder, nothing is out
/// of bounds.
pub(crate) fn check(bounds: Option<&Bounds>, path: &Path) -> Result<(), Diagnostic> {
    bounds.map_or(Ok(()), |bounds| bounds.check(path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A checkout, and what lies beside it.
    fn place(dir: &tempfile::TempDir) -> (PathBuf, Bounds) {
        let top = crate::files::canonicalize(dir.path()).expect("is there").join("checkout");
        fs::create_dir_all(top.join(".git")).expect("creates");
        fs::write(top.join(".git/HEAD"), "x").expect("writes");
        fs::create_dir_all(top.join("ws/.agents/skills")).expect("creates");
        fs::create_dir_all(top.join("ws/.claude")).expect("creates");
        let bounds = Bounds::of(&top.join("ws"), None).expect("a project");
        (top, bounds)
    }

    #[test]
    fn only_a_link_from_one_agents_skill_folder_to_anothers_is_followed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (top, bounds) = place(&dir);
        fs::create_dir_all(top.join("nested/.git")).expect("creates");
        let link = top.join("ws/.claude/skills");
        for (leads, real) in [
            ("../.agents/skills", Some("ws/.agents/skills")),
            ("../.agents/./skills/", Some("ws/.agents/skills")),
            ("../.kiro/skills", Some("ws/.kiro/skills")),
            ("../../.agents/skills", Some(".agents/skills")),
            ("../../nested/.agents/skills", None),
            ("../../../other/.agents/skills", None),
            ("../.agents", None),
            ("../docs", None),
            ("skills", None),
            ("/", None),
            ("/elsewhere/.agents/skills", None),
        ] {
            let _ = fs::remove_file(&link);
            symlink(leads, &link).expect("links");
            let real = real.map(|real| top.join(real).join("x"));
            let found = bounds.real(&link.join("x"));
            assert_eq!(found.as_ref().ok(), real.as_ref(), "{leads}");
            assert!(bounds.check(&link.join("x")).is_err(), "{leads}");
            if let Err(refused) = found {
                let told = refused.to_string();
                assert!(told.contains("`ws/.claude/skills`"), "{told}");
                assert!(told.contains(&format!("`{leads}`")) && told.contains("rm "), "{told}");
            }
        }
    }

    #[test]
    fn links_in_other_places_and_loops_are_refused_and_missing_folders_are_not() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (top, bounds) = place(&dir);
        let ws = top.join("ws");
        symlink(".agents", ws.join(".gemini")).expect("links");
        symlink("nowhere", ws.join(".mcp.json")).expect("links");
        symlink("../.github/skills", ws.join(".claude/skills")).expect("links");
        fs::create_dir(ws.join(".github")).expect("creates");
        symlink("../.claude/skills", ws.join(".github/skills")).expect("links");
        for refused in [".gemini/skills", ".gemini/settings.json", ".mcp.json", ".claude/skills/x"]
        {
            assert!(bounds.real(&ws.join(refused)).is_err(), "{refused}");
        }
        for fine in [".kiro/skills", ".agents/skills/x", "opencode.json", ".codex/config.toml"] {
            assert_eq!(bounds.check(&ws.join(fine)), Ok(()), "{fine}");
        }
        assert_eq!(bounds.check(&dir.path().join("elsewhere")), Ok(()));
    }

    #[test]
    fn a_workspace_that_became_a_link_of_its_checkout_is_out_of_bounds() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (top, _) = place(&dir);
        let other = top.with_file_name("other");
        fs::create_dir_all(other.join(".git")).expect("creates");
        fs::write(other.join(".git/HEAD"), "x").expect("writes");
        fs::rename(top.join("ws"), other.join("ws")).expect("moves");
        symlink("../other/ws", top.join("ws")).expect("links");
        let bounds = Bounds::of(&top.join("ws"), None).expect("a project");
        assert!(bounds.check(&top.join("ws/.agents/skills/x")).is_err());
        // Above the checkout the user may link what they like.
        symlink(&other, top.with_file_name("mine")).expect("links");
        let root = top.with_file_name("mine").join("ws");
        let bounds = Bounds::of(&root, None).expect("a project");
        assert_eq!(bounds.check(&root.join(".agents/skills/x")), Ok(()));
    }

    #[test]
    fn a_checkout_that_holds_the_home_folder_is_no_projects() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (top, _) = place(&dir);
        let home = |home: &str| top.join(home);
        let of = |at: &Path| Bounds::of(&home("ws"), Some(at)).map(|bounds| bounds.top);
        assert_eq!(of(&home("")), Some(home("ws")));
        assert_eq!(of(&home("h")), Some(home("ws")));
        assert_eq!(of(&home("ws")), None);
        assert_eq!(of(&dir.path().join("beside")), Some(top));
    }
}
