//! Does a thing apply to this workspace?
//!
//! - [`atom`]: `serde`, `tokio>=1.40`, `*`, alone and in lists
//! - function predicates: `env(CI)`, `not(depends-on(tokio))`
//! - [`Gate::evaluate`]: both against the [`Facts`], with the reason in words
//!
//! Nothing here runs a program.

pub(crate) mod atom;
mod function;
mod reasons;
mod version;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use semver::Version;

use crate::config::Environment;
use crate::files::contained;
use crate::plugins::model::{Activation, CrateAtom, Gate, MatchedCrate, Plugin, Predicate};
use crate::text::same_crate;
use crate::workspace::{Dependency, Member, Observer, UNOBSERVED};

pub(crate) use atom::{AtomError, parse_crate_list};

/// Who tells the version of a dependency that `Cargo.lock` does not settle.
pub(crate) trait NewestAdmitted {
    /// The newest version that the dependency's manifest admits, where that can be told.
    fn newest_admitted(&self, dependency: &Dependency) -> Option<Version>;
}

impl<T: NewestAdmitted> NewestAdmitted for Option<T> {
    fn newest_admitted(&self, dependency: &Dependency) -> Option<Version> {
        self.as_ref()?.newest_admitted(dependency)
    }
}

/// For conditions that are not decided.
impl NewestAdmitted for () {
    fn newest_admitted(&self, _: &Dependency) -> Option<Version> {
        None
    }
}

/// What predicates are evaluated against.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// Direct dependencies of the workspace's members, sorted by name.
    pub dependencies: &'a [Dependency],
    /// Asked only where a predicate is about the version: the answer may be a registry's.
    pub newest: &'a dyn NewestAdmitted,
    pub members: &'a [Member],
    /// The workspace's root; `None` outside one.
    pub root: Option<&'a Path>,
    pub env: &'a Environment,
    /// Who is told which paths and variables were looked at.
    pub observer: &'a Observer,
}

impl<'a> Facts<'a> {
    /// Outside of a workspace, or where conditions are only read.
    pub(crate) fn outside(env: &'a Environment) -> Self {
        let (dependencies, members) = (&[], &[]);
        Self { dependencies, newest: &(), members, root: None, env, observer: &UNOBSERVED }
    }
}

/// Whether a gate holds, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evaluation {
    pub holds: bool,
    /// Why, for people: `serde 1.0.228 ≥ 1.0`, `bevy is not a dependency of this workspace`.
    pub reason: String,
    /// Every dependency that satisfies a crate named in the gate, sorted, each once. Whether the
    /// gate as a whole holds makes no difference.
    pub matched: Vec<MatchedCrate>,
    /// What could not be decided and therefore counts as not holding.
    pub warnings: Vec<String>,
}

impl Gate {
    /// Whether it names nothing that could make it hold: only the user can, who asks for it.
    pub(crate) fn is_dormant(&self) -> bool {
        self.predicates.is_empty() && self.crates.as_ref().is_some_and(Vec::is_empty)
    }

    /// What it waits for, where a plugin's `activation` says so.
    pub(crate) fn waits(&self) -> Option<Activation> {
        self.predicates.iter().find_map(|predicate| match predicate {
            Predicate::Waits { activation, .. } => Some(*activation),
            _ => None,
        })
    }

    /// The gate of a plugin that the user asked for by name. What it says of crates still counts,
    /// unless it names none.
    pub(crate) fn woken(&self) -> Self {
        let mut woken = self.clone();
        woken.predicates.retain(|predicate| !matches!(predicate, Predicate::Waits { .. }));
        if woken.is_dormant() {
            woken.crates = None;
        }
        woken.predicates.push(Predicate::AskedFor);
        woken
    }

    /// The crates this level names: in its list, and in `depends-on(…)` outside of `not`.
    pub(crate) fn crates_named(&self) -> Vec<&str> {
        let mut names: Vec<_> =
            self.crates.iter().flatten().filter_map(CrateAtom::crate_name).collect();
        for predicate in &self.predicates {
            predicate.add_crates(&mut names);
        }
        names
    }
}

impl CrateAtom {
    /// The crate's name; `None` for `*`.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Crate { name, .. } => Some(name),
        }
    }
}

impl Predicate {
    fn add_crates<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::DependsOn(atom) => names.extend(atom.crate_name()),
            Self::Any(list) | Self::All(list) => {
                list.iter().for_each(|item| item.add_crates(names));
            }
            Self::Env { .. }
            | Self::PathExists(_)
            | Self::WorkspaceMember
            | Self::Waits { .. }
            | Self::AskedFor
            | Self::Not(_)
            | Self::Unsupported(_) => {}
        }
    }
}

/// Evaluates several levels (plugin, group, skill) together: all must hold.
pub(crate) fn evaluate_all(gates: &[&Gate], facts: &Facts<'_>) -> Evaluation {
    let mut evaluator = Evaluator {
        facts,
        named: gates.iter().flat_map(|gate| gate.crates_named()).collect(),
        matched: BTreeSet::new(),
        warnings: Vec::new(),
    };
    let mut findings = Vec::new();
    for gate in gates {
        match &gate.crates {
            Some(crates) if crates.is_empty() => findings.extend(no_crates(gate)),
            Some(crates) => findings.push(evaluator.list(crates)),
            None => {}
        }
        findings.extend(gate.predicates.iter().map(|predicate| evaluator.predicate(predicate)));
    }
    let holds = findings.iter().all(|finding| finding.truth == Truth::Yes);
    Evaluation {
        holds,
        reason: reasons::summary(holds, findings),
        matched: evaluator.matched.into_iter().collect(),
        warnings: evaluator.warnings,
    }
}

/// Evaluates a plugin as a whole.
pub(crate) fn evaluate_plugin(plugin: &Plugin, facts: &Facts<'_>) -> Evaluation {
    let mut evaluation = evaluate_all(&[&plugin.gate], facts);
    if plugin.gate.is_dormant() {
        evaluation.reason.push_str(&format!(": `cargo agents use {}` takes it", plugin.name));
    }
    evaluation
}

/// What an empty list of crates comes to. Where nothing in it could be read, that is what is said.
fn no_crates(gate: &Gate) -> Option<Finding> {
    let is_unread = |predicate: &Predicate| matches!(predicate, Predicate::Unsupported(_));
    if gate.predicates.iter().any(is_unread) {
        return None;
    }
    let reason = "it names no crate that it could be for".to_owned();
    Some(Finding { truth: Truth::No, reason })
}

/// What a plugin waits for, with the way to end it.
fn waiting(activation: Activation, plugin: &str) -> Finding {
    let reason = match activation {
        Activation::Suggested => format!(
            "it is suggested and waits for your word: `cargo agents use {plugin}` takes it, \
             `--remove` declines"
        ),
        Activation::Off => {
            format!("it is off until you ask for it: `cargo agents use {plugin}` takes it")
        }
    };
    Finding { truth: Truth::No, reason }
}

/// The dependencies that crates named in any of `gates` match, sorted, each once: whose sources
/// `source = "crate"` looks into.
pub(crate) fn matched_crates(gates: &[&Gate], facts: &Facts<'_>) -> Vec<MatchedCrate> {
    evaluate_all(gates, facts).matched
}

/// What a predicate came to. What can't be decided stays undecided through `not`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// A part's truth and the words for it.
struct Finding {
    truth: Truth,
    reason: String,
}

struct Evaluator<'a> {
    facts: &'a Facts<'a>,
    /// The crates that the gates name.
    named: Vec<&'a str>,
    matched: BTreeSet<MatchedCrate>,
    warnings: Vec<String>,
}

/// How one atom fares.
enum AtomResult {
    Holds(String),
    Missing(String),
    WrongVersion(String),
}

impl Evaluator<'_> {
    fn list(&mut self, atoms: &[CrateAtom]) -> Finding {
        let mut holding = Vec::new();
        let mut missing = Vec::new();
        let mut wrong = Vec::new();
        for atom in atoms {
            match self.atom(atom) {
                AtomResult::Holds(reason) => holding.push(reason),
                AtomResult::Missing(name) => missing.push(name),
                AtomResult::WrongVersion(reason) => wrong.push(reason),
            }
        }
        if holding.is_empty() {
            let outside = self.facts.root.is_none();
            return Finding {
                truth: Truth::No,
                reason: reasons::no_crate(wrong, missing, outside),
            };
        }
        Finding { truth: Truth::Yes, reason: reasons::holding(holding) }
    }

    fn atom(&mut self, atom: &CrateAtom) -> AtomResult {
        let CrateAtom::Crate { name, requirement, .. } = atom else {
            return AtomResult::Holds(reasons::EVERYWHERE.to_owned());
        };
        let dependencies = self.facts.dependencies.iter();
        let same: Vec<(&Dependency, Cow<'_, Dependency>)> = dependencies
            .filter(|dependency| same_crate(&dependency.name, name))
            .map(|dependency| match requirement {
                Some(_) => (dependency, self.settled(dependency)),
                None => (dependency, Cow::Borrowed(dependency)),
            })
            .collect();
        if same.is_empty() {
            return AtomResult::Missing(name.clone());
        }
        let good = |dependency: &Dependency| match (requirement, &dependency.version) {
            (None, _) => true,
            (Some(requirement), Some(version)) => version::satisfies(requirement, version),
            (Some(_), None) => false,
        };
        let satisfying = || same.iter().filter(|(_, settled)| good(settled));
        self.matched.extend(satisfying().map(|(dependency, _)| MatchedCrate {
            name: dependency.name.clone(),
            version: dependency.version.clone(),
        }));
        let satisfied: Vec<&Dependency> = satisfying().map(|(_, settled)| &**settled).collect();
        if satisfied.is_empty() {
            let all: Vec<&Dependency> = same.iter().map(|(_, settled)| &**settled).collect();
            return AtomResult::WrongVersion(reasons::wrong_version(&all, requirement.as_ref()));
        }
        AtomResult::Holds(reasons::satisfied(&satisfied, requirement.as_ref()))
    }

    /// The dependency with a version, where one can be told.
    fn settled<'d>(&self, dependency: &'d Dependency) -> Cow<'d, Dependency> {
        if dependency.version.is_some() {
            return Cow::Borrowed(dependency);
        }
        match self.facts.newest.newest_admitted(dependency) {
            None => Cow::Borrowed(dependency),
            newest => Cow::Owned(Dependency { version: newest, ..dependency.clone() }),
        }
    }

    fn predicate(&mut self, predicate: &Predicate) -> Finding {
        match predicate {
            Predicate::Env { name, value } => self.variable(name, value.as_deref()),
            Predicate::PathExists(path) => self.path(path),
            Predicate::DependsOn(atom) => self.list(std::slice::from_ref(atom)),
            Predicate::WorkspaceMember => self.member(),
            Predicate::Waits { activation, plugin } => waiting(*activation, plugin),
            Predicate::AskedFor => {
                let reason = "`use` in the configuration asks for it".to_owned();
                Finding { truth: Truth::Yes, reason }
            }
            Predicate::Not(inner) => self.not(inner),
            Predicate::Any(list) => self.group(list, Truth::Yes, Truth::No),
            Predicate::All(list) => self.group(list, Truth::No, Truth::Yes),
            // Whoever read the manifest has told of it.
            Predicate::Unsupported(text) => {
                Finding { truth: Truth::Unknown, reason: format!("`{text}` is not understood") }
            }
        }
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn variable(&self, name: &str, value: Option<&str>) -> Finding {
        let env = self.facts.env;
        self.facts.observer.variable(name);
        let (holds, wanted) = match value {
            None => (env.var(name).is_some(), "set".to_owned()),
            Some("") if !env.has(name) => {
                let reason = format!("the variable {name} is not set");
                return Finding { truth: Truth::No, reason };
            }
            Some("") => (env.var(name).is_none(), "empty".to_owned()),
            Some(value) => (env.text(name) == Some(value), format!("`{value}`")),
        };
        let not = if holds { "" } else { "not " };
        Finding { truth: holds.into(), reason: format!("the variable {name} is {not}{wanted}") }
    }

    fn path(&self, path: &str) -> Finding {
        let Some(root) = self.facts.root else {
            let reason = format!("`{path}` is needed, and this is no Rust workspace");
            return Finding { truth: Truth::No, reason };
        };
        let observer = self.facts.observer;
        // Observed as it is written: a link on the way may be pointed elsewhere.
        observer.observe(&root.join(path));
        let exists = contained(root, path).is_ok_and(|path| observer.exists(&path));
        let verb = if exists { "exists" } else { "does not exist" };
        Finding { truth: exists.into(), reason: format!("`{path}` {verb} in the workspace") }
    }

    fn member(&mut self) -> Finding {
        if self.named.is_empty() {
            self.warn("`workspace-member()` does not hold: no `crates` say which crate".to_owned());
        }
        let member = self
            .facts
            .members
            .iter()
            .find(|member| self.named.iter().any(|name| same_crate(name, &member.name)));
        match member {
            Some(member) => Finding {
                truth: Truth::Yes,
                reason: format!("{} is a member of this workspace", member.name),
            },
            None => Finding {
                truth: Truth::No,
                reason: "none of its crates is a member of this workspace".to_owned(),
            },
        }
    }

    fn not(&mut self, inner: &Predicate) -> Finding {
        // What must be absent names no crate to take skills from.
        let before = self.matched.clone();
        let finding = self.predicate(inner);
        self.matched = before;
        let truth = match finding.truth {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
        };
        Finding { truth, ..finding }
    }

    /// `any` and `all`: `deciding` is the truth of one part that settles the whole.
    fn group(&mut self, list: &[Predicate], deciding: Truth, otherwise: Truth) -> Finding {
        let findings: Vec<_> = list.iter().map(|item| self.predicate(item)).collect();
        let truth = strongest(&findings, deciding, otherwise);
        let reasons = findings.into_iter().filter(|finding| finding.truth == truth);
        let reasons: Vec<_> = reasons.map(|finding| finding.reason).collect();
        Finding { truth, reason: reasons.join(" and ") }
    }
}

/// `deciding` if one finding is that, else undecided if one is, else `otherwise`.
fn strongest(findings: &[Finding], deciding: Truth, otherwise: Truth) -> Truth {
    let has = |truth| findings.iter().any(|finding| finding.truth == truth);
    match (has(deciding), has(Truth::Unknown)) {
        (true, _) => deciding,
        (false, true) => Truth::Unknown,
        (false, false) => otherwise,
    }
}

#[cfg(test)]
mod tests;
