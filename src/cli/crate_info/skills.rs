//! The skills that a crate offers: those accepted here, and the names of the others.

use std::path::PathBuf;

use serde::Serialize;

use crate::Symposium;
use crate::config::Choice;
use crate::fetch::git::Policy;
use crate::plugins::git::GitPlace;
use crate::plugins::predicate::Facts;
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::skills::Skill;
use crate::skills::crate_source::{CrateRequest, CrateSources, Located, Newest};
use crate::skills::discover::SKILL_FILE;
use crate::skills::resolve::{Resolution, Resolver};
use crate::sync::facts::{Gatherer, checkout};
use crate::text::same_crate;
use crate::workspace::{Dependency, DependencyOrigin, UNOBSERVED, Usage, Workspace};

/// A skill of the crate that is accepted here.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SkillInfo {
    pub(super) name: String,
    pub(super) description: String,
    /// Its `SKILL.md`.
    pub(super) path: PathBuf,
    /// The crate that it is in, when that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
}

/// A skill of the crate that is not accepted: an agent must not be led to its text.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WithheldSkill {
    pub(super) name: String,
    pub(super) because: Withheld,
}

/// Why a skill is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(super) enum Withheld {
    /// The user said no.
    Declined,
    /// No plugin source vouches for it, and the user has not said anything yet.
    Undecided,
}

/// The skills of a crate.
pub(super) struct CrateSkills {
    pub(super) accepted: Vec<SkillInfo>,
    pub(super) withheld: Vec<WithheldSkill>,
}

impl CrateSkills {
    /// What a sync would do with the skills of `located` if the crate were a dependency at this
    /// version.
    pub(super) fn find(
        sym: &Symposium,
        workspace: Option<&Workspace>,
        located: &Located,
        crates: &dyn CrateSources,
    ) -> Self {
        let mut simulated = workspace.cloned().unwrap_or_default();
        simulated.dependencies.retain(|known| !same_crate(&known.name, &located.name));
        simulated.dependencies.push(Dependency {
            name: located.name.clone(),
            version: Some(located.version.clone()),
            origin: DependencyOrigin::Path(located.dir.clone()),
            usage: Usage::default(),
        });
        let root = workspace.map(|workspace| workspace.root.as_path());
        let offer = Offer { sym, workspace: &simulated, root, crates };
        let all = offer.of_crate(located);
        sym.report.diagnostics(&all.problems().collect::<Vec<_>>());
        for missing in &all.missing {
            sym.report.warn(format!("some of its skills are missing: {missing}"));
        }
        let choice = sym.config.plugins.choice_for(&located.name, root).map(|(choice, _)| choice);
        let endorsed = if choice.is_none() { offer.endorsed(&located.name) } else { Vec::new() };
        let mut found = Self { accepted: Vec::new(), withheld: Vec::new() };
        let own = format!("{} {}", located.name, located.version);
        for skill in all.skills {
            let because = match choice {
                Some(Choice::Use) => None,
                Some(Choice::Disable) => Some(Withheld::Declined),
                None if endorsed.iter().any(|known| known.dir == skill.dir) => None,
                None => Some(Withheld::Undecided),
            };
            match because {
                Some(because) => found.withheld.push(WithheldSkill { name: skill.name, because }),
                None => found.accepted.push(info(skill, &own)),
            }
        }
        found
    }
}

fn info(skill: Skill, own: &str) -> SkillInfo {
    let of = skill.origin.to_string();
    SkillInfo {
        name: skill.name,
        description: skill.description,
        path: skill.dir.join(SKILL_FILE),
        of: (of != own).then_some(of),
    }
}

/// A workspace that depends on the crate, and where its skills are looked for.
struct Offer<'a> {
    sym: &'a Symposium,
    workspace: &'a Workspace,
    /// `None` outside of a workspace.
    root: Option<&'a std::path::Path>,
    crates: &'a dyn CrateSources,
}

impl Offer<'_> {
    /// Whatever the crate ships.
    fn of_crate(&self, located: &Located) -> Resolution {
        let (name, version) = (located.name.clone(), Some(located.version.clone()));
        let policy = Policy::for_command(&self.sym.options);
        self.resolve(policy, &|_, _, resolver| {
            let (name, version) = (name.clone(), version.clone());
            resolver.of_crate(&CrateRequest { name, version, requirement: None });
        })
    }

    /// What the plugins bring here that vouch for the crate.
    fn endorsed(&self, name: &str) -> Vec<Skill> {
        let mut registry = Registry::load(self.sym, &Refresh::cached());
        registry.wake(&self.sym.config.plugins, self.root);
        let resolution = self.resolve(Policy::cached(), &|gatherer, facts, resolver| {
            gatherer.endorsed(&registry, name, facts, resolver);
        });
        resolution.skills
    }

    fn resolve(
        &self,
        policy: Policy,
        ask: &dyn Fn(&Gatherer<'_>, &Facts<'_>, &mut Resolver<'_>),
    ) -> Resolution {
        let (sym, workspace, crates) = (self.sym, self.workspace, self.crates);
        let facts = Facts {
            dependencies: &workspace.dependencies,
            newest: &Newest(crates),
            members: &workspace.members,
            root: self.root,
            env: &sym.env,
            observer: &UNOBSERVED,
        };
        let gatherer =
            Gatherer { sym, workspace, crates, on_disk: crates, policy, observer: &UNOBSERVED };
        let checkouts = |place: &GitPlace| checkout(sym, &gatherer.policy, place);
        let mut resolver = Resolver::new(&facts, crates, &checkouts, &UNOBSERVED);
        ask(&gatherer, &facts, &mut resolver);
        resolver.finish()
    }
}
