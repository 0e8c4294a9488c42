//! What skills are called once installed: plain where one origin claims a name, told apart by
//! origin where several do.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Skill, SkillOrigin};
use super::name::{NAME_LIMIT, conforms, cut, hyphenated};
use crate::text::sha256_hex;

/// A skill and the name of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedSkill {
    pub skill: Skill,
    /// The folder's name, which is the installed copy's `name` too.
    pub install_name: String,
}

/// Gives every skill a name of its own, sorted by it. Equal origins are one skill: the first of
/// them counts.
///
/// `taken` are folders of the user's own. A skill whose name nobody else claims keeps it; all who
/// claim a contested one get a suffix of their origin, but the workspace's own skill keeps its
/// name whatever happens. The result does not depend on the order of `skills` nor on the machine.
pub(crate) fn assign_names(skills: Vec<Skill>, taken: &BTreeSet<String>) -> Vec<NamedSkill> {
    // A file system that ignores case takes `Foo` for `foo`.
    let taken: BTreeSet<String> = taken.iter().map(|name| name.to_lowercase()).collect();
    let mut by_origin: BTreeMap<SkillOrigin, Skill> = BTreeMap::new();
    for skill in skills {
        by_origin.entry(skill.origin.clone()).or_insert(skill);
    }
    let mut claims: Vec<Claim> = by_origin.into_values().map(Claim::new).collect();
    while raise_contested(&mut claims, &taken) {}
    let mut named: Vec<_> = claims
        .into_iter()
        .map(|claim| NamedSkill { install_name: claim.name(), skill: claim.skill })
        .collect();
    named.sort_by(|one, other| one.install_name.cmp(&other.install_name));
    named
}

/// A skill with how far its name had to be told apart.
struct Claim {
    skill: Skill,
    level: usize,
    /// Of what stays when the source gets a new commit, so that names stay too.
    hash: String,
    /// Of all of it, for two commits of one repository at once.
    exact_hash: String,
}

/// The plain name, the readable suffix, 8 digits of what lasts, then 8, 16 and 32 of all.
const LAST_LEVEL: usize = 5;

impl Claim {
    fn new(skill: Skill) -> Self {
        let lasting = identity(&skill.origin);
        let exact = match &skill.origin {
            SkillOrigin::Git { commit, .. } => format!("{lasting}\n{commit}"),
            _ => lasting.clone(),
        };
        let (hash, exact_hash) = (sha256_hex(lasting.as_bytes()), sha256_hex(exact.as_bytes()));
        Self { skill, level: 0, hash, exact_hash }
    }

    fn is_own(&self) -> bool {
        matches!(self.skill.origin, SkillOrigin::Workspace { .. })
    }

    fn name(&self) -> String {
        match self.level {
            0 => self.skill.name.clone(),
            1 => {
                let readable = match &self.skill.origin {
                    SkillOrigin::Crate { name, version, .. } => {
                        Some(hyphenated(&format!("{name}-{version}")))
                    }
                    _ => None,
                };
                // A suffix as long as a whole name leaves nothing of the skill's own.
                let fits = |suffix: &String| suffix.len() < NAME_LIMIT / 4 * 3;
                with_suffix(
                    &self.skill.name,
                    &readable.filter(fits).unwrap_or_else(|| self.hash[..8].to_owned()),
                )
            }
            2 => with_suffix(&self.skill.name, &self.hash[..8]),
            level => with_suffix(&self.skill.name, &self.exact_hash[..8 << (level - 3)]),
        }
    }
}

/// Raises the claims on one contested name each; says whether there was any.
fn raise_contested(claims: &mut [Claim], taken: &BTreeSet<String>) -> bool {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, claim) in claims.iter().enumerate() {
        by_name.entry(claim.name()).or_default().push(index);
    }
    let mut raised = false;
    for (name, indices) in by_name {
        let users = taken.contains(&name);
        if indices.len() < 2 && !users {
            continue;
        }
        // Who is first by level was there first; those who came to it by a suffix move on. Of the
        // workspace's own (there may be two of one name), the first by path stays.
        let level = |index: &usize| claims[*index].level;
        let lowest = indices.iter().map(level).min().unwrap_or_default();
        let lone = indices.iter().filter(|index| level(index) == lowest).count() == 1;
        let own = indices.iter().copied().find(|index| claims[*index].is_own());
        let stays = |index: usize| match own {
            Some(own) if claims[own].level == 0 => index == own,
            _ => !users && lowest == 0 && lone && claims[index].level == 0,
        };
        let moving: Vec<usize> = indices
            .iter()
            .copied()
            .filter(|index| !stays(*index) && claims[*index].level < LAST_LEVEL)
            .collect();
        for index in moving {
            claims[index].level += 1;
            raised = true;
        }
    }
    raised
}

/// `name-suffix` in at most [`NAME_LIMIT`] characters, the suffix whole.
fn with_suffix(name: &str, suffix: &str) -> String {
    let room = NAME_LIMIT.saturating_sub(suffix.len() + 1);
    let made = format!("{}-{suffix}", cut(name, room));
    debug_assert!(conforms(&made), "{made}");
    made
}

/// The origin as text: what the hash is made of. It may never change, or names would.
fn identity(origin: &SkillOrigin) -> String {
    match origin {
        SkillOrigin::Crate { name, version, path } => format!("crate\n{name}\n{version}\n{path}"),
        SkillOrigin::Git { repo, commit: _, path } => format!("git\n{repo}\n{path}"),
        SkillOrigin::Source { source, path } => format!("source\n{source}\n{path}"),
        SkillOrigin::Workspace { path } => format!("workspace\n{path}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use semver::Version;

    use super::*;

    fn skill(name: &str, origin: SkillOrigin) -> Skill {
        Skill {
            name: name.to_owned(),
            description: String::new(),
            dir: "/x".into(),
            root: "/x".into(),
            origin,
            plugin: None,
            written: None,
            same_as: Vec::new(),
        }
    }

    fn of_crate(name: &str, version: &str, path: &str) -> SkillOrigin {
        SkillOrigin::Crate {
            name: name.to_owned(),
            version: Version::parse(version).expect("a version"),
            path: path.to_owned(),
        }
    }

    fn of_source(path: &str) -> SkillOrigin {
        SkillOrigin::Source { source: "user-plugins".to_owned(), path: path.to_owned() }
    }

    fn of_workspace(path: &str) -> SkillOrigin {
        SkillOrigin::Workspace { path: path.to_owned() }
    }

    fn names(skills: Vec<Skill>, taken: &[&str]) -> Vec<String> {
        let taken = taken.iter().map(|&name| name.to_owned()).collect();
        assign_names(skills, &taken).into_iter().map(|named| named.install_name).collect()
    }

    #[test]
    fn f60_a_name_that_one_origin_claims_stays_plain() {
        let skills =
            vec![skill("b", of_crate("serde", "1.0.0", "skills/b")), skill("a", of_source("a"))];
        assert_eq!(names(skills, &["c"]), ["a", "b"]);
    }

    #[test]
    fn f61_f62_decision_24_every_claimant_gets_a_suffix_of_its_origin() {
        let skills = vec![
            skill("my-skill", of_crate("serde_json", "1.0.0-alpha.1+b", "skills/a")),
            skill("my-skill", of_crate("serde", "1.0.228", "skills/a")),
            skill("my-skill", of_source("p/a")),
        ];
        let expected =
            ["my-skill-3191ad63", "my-skill-serde-1-0-228", "my-skill-serde-json-1-0-0-alpha-1-b"];
        assert_eq!(names(skills, &[]), expected);
    }

    #[test]
    fn f61_a_folder_of_the_users_contests_a_name_in_any_case() {
        let skills = vec![skill("a", of_crate("serde", "1.0.0", "skills/a"))];
        assert_eq!(names(skills.clone(), &["A"]), ["a-serde-1-0-0"]);
        let names = names(skills, &["a", "a-serde-1-0-0"]);
        assert_eq!((names.len(), names[0].len()), (1, "a-12345678".len()), "{names:?}");
    }

    #[test]
    fn decision_24_the_workspaces_own_skill_keeps_its_name() {
        let skills = vec![
            skill("a", of_crate("serde", "1.0.0", "skills/a")),
            skill("a", of_workspace(".agents/skills/a")),
        ];
        assert_eq!(names(skills.clone(), &[]), ["a", "a-serde-1-0-0"]);
        assert_eq!(names(skills, &["a"]), ["a", "a-serde-1-0-0"]);
        let twins = vec![skill("a", of_workspace("x/b")), skill("a", of_workspace("x/a"))];
        let named = assign_names(twins, &BTreeSet::new());
        assert_eq!(named[0].install_name, "a");
        assert_eq!(named[0].skill.origin, of_workspace("x/a"));
    }

    #[test]
    fn f63_equal_origins_are_one_skill() {
        let origin = of_crate("serde", "1.0.0", "skills/a");
        let skills = vec![skill("a", origin.clone()), skill("a", origin)];
        assert_eq!(names(skills, &[]), ["a"]);
    }

    #[test]
    fn decision_24_two_skills_of_one_crate_and_a_name_that_looks_suffixed() {
        let skills = vec![
            skill("a", of_crate("serde", "1.0.0", "skills/a")),
            skill("a", of_crate("serde", "1.0.0", "skills/b")),
            skill("a-serde-1-0-0", of_source("x")),
        ];
        let names = names(skills, &[]);
        assert_eq!(names.len(), 3);
        assert!(names.contains(&"a-serde-1-0-0".to_owned()), "{names:?}");
        assert_eq!(names.iter().filter(|name| name.len() == "a-12345678".len()).count(), 2);
    }

    #[test]
    fn case_86_long_names_are_cut_and_the_suffix_stays_whole() {
        let long = format!("{}-tail", "a".repeat(49));
        let skills = vec![
            skill(&long, of_crate("serde", "1.0.0", "skills/a")),
            skill(&long, of_crate(&"b".repeat(60), "1.0.0", "skills/a")),
        ];
        let names = names(skills, &[]);
        assert!(names.iter().all(|name| conforms(name)), "{names:?}");
        assert!(names[0].ends_with("-ta-serde-1-0-0"), "{names:?}");
    }

    #[test]
    fn a_new_commit_does_not_change_a_name() {
        let of_commit = |commit: &str| {
            let git = SkillOrigin::Git {
                repo: "https://example.com/r".to_owned(),
                commit: commit.to_owned(),
                path: "a".to_owned(),
            };
            names(vec![skill("a", git)], &["a"])
        };
        assert_eq!(of_commit("1111"), of_commit("2222"));
    }

    fn origins() -> impl Strategy<Value = SkillOrigin> {
        let path = "[ab]{1,2}";
        prop_oneof![
            ("[a-c]_?[a-c]", 0_u64..3, path).prop_map(|(name, patch, path)| {
                SkillOrigin::Crate { name, version: Version::new(1, 0, patch), path }
            }),
            ("[12]", path).prop_map(|(commit, path)| SkillOrigin::Git {
                repo: "https://example.com/r".to_owned(),
                commit,
                path,
            }),
            path.prop_map(|path| of_source(&path)),
            path.prop_map(|path| of_workspace(&path)),
        ]
    }

    proptest! {
        #[test]
        fn decision_24_names_are_unique_valid_and_independent_of_order(
            claims in proptest::collection::vec((prop_oneof!["[ab]{1,2}", "a{60,64}"], origins()), 0..12),
            taken in proptest::collection::btree_set("[ab]{1,2}", 0..4),
            seed in any::<u64>(),
        ) {
            // One origin has one name, as on disk.
            let claims: BTreeMap<_, _> =
                claims.into_iter().map(|(name, origin)| (origin, name)).collect();
            let skills: Vec<_> =
                claims.iter().map(|(origin, name)| skill(name, origin.clone())).collect();
            let mut shuffled = skills.clone();
            shuffled.sort_by_key(|skill| {
                sha256_hex(format!("{seed}{:?}", skill.origin).as_bytes())
            });
            let named = assign_names(skills, &taken);
            prop_assert_eq!(&named, &assign_names(shuffled, &taken));
            let unique: BTreeSet<_> = named.iter().map(|named| &named.install_name).collect();
            prop_assert_eq!(unique.len(), named.len());
            for entry in &named {
                prop_assert!(conforms(&entry.install_name), "{}", entry.install_name);
                let own = matches!(entry.skill.origin, SkillOrigin::Workspace { .. });
                prop_assert!(own || !taken.contains(&entry.install_name));
                let rivals = named.iter().filter(|other| other.skill.name == entry.skill.name);
                if rivals.count() == 1 && !taken.contains(&entry.skill.name) {
                    prop_assert_eq!(&entry.install_name, &entry.skill.name);
                }
            }
        }
    }
}
