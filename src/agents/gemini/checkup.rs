//! Gemini runs hooks only in a trusted folder, and refuses to read files that git ignores. Measured
//! with 0.61.0; the kinds of trust are in Google's reference (geminicli.com/docs, trusted folders).

use std::path::Path;

use serde_json::Value;

use super::{project_settings, user_settings};
use crate::agents::checkup::{Context, Finding, SeenSkill, Topic, says};

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let user = user_settings(context.placement);
    let project = context.placement.root.map(project_settings);
    let files: Vec<_> = std::iter::once(&user).chain(&project).collect();
    let mut findings = Vec::new();
    for file in &files {
        if says(context.json(file).as_ref(), "/hooksConfig/enabled", false) {
            let message = "`hooksConfig.enabled = false` turns every hook off";
            findings.push(
                Finding::warning("hooks-disabled", Topic::Hooks, message)
                    .in_file(*file)
                    .remedy("set `hooksConfig.enabled` to true, or take it out"),
            );
        }
    }
    findings.extend(untrusted(context, &user));
    let reads_ignored = files.iter().any(|file| {
        says(context.json(file).as_ref(), "/context/fileFiltering/respectGitIgnore", false)
    });
    if !reads_ignored {
        findings.extend(hidden(context));
    }
    findings
}

/// Even the user's own hooks need a trusted folder. Trust reaches the folders below.
fn untrusted(context: &Context<'_>, user: &Path) -> Option<Finding> {
    let root = context.placement.root?;
    let off = says(context.json(user).as_ref(), "/security/folderTrust/enabled", false);
    if off || context.placement.env.text("GEMINI_CLI_TRUST_WORKSPACE") == Some("true") {
        return None;
    }
    let file = user.with_file_name("trustedFolders.json");
    let rules = context.json(&file);
    let rules = rules.as_ref().and_then(Value::as_object);
    let trusts = |(path, kind): (&String, &Value)| {
        let path = Path::new(path);
        match kind.as_str() {
            Some("TRUST_FOLDER") => root.starts_with(path),
            Some("TRUST_PARENT") => path.parent().is_some_and(|parent| root.starts_with(parent)),
            _ => false,
        }
    };
    let refused = rules.and_then(|rules| rules.get(root.to_str()?)?.as_str());
    if refused != Some("DO_NOT_TRUST") && rules.into_iter().flatten().any(trusts) {
        return None;
    }
    let message = "this folder is not trusted, so Gemini runs no hooks and starts no servers here";
    Some(
        Finding::warning("folder-untrusted", Topic::Hooks, message)
            .in_file(file)
            .remedy(format!("start `gemini` in {} and choose to trust it", root.display())),
    )
}

/// Our `.gitignore` keeps skills out of the user's commits, and Gemini honours it.
fn hidden(context: &Context<'_>) -> Option<Finding> {
    let root = context.placement.root?;
    let file = root.join(".geminiignore");
    let rules = (context.read)(&file).unwrap_or_default();
    let hides = |skill: &&SeenSkill| {
        skill.is_ignored && skill.more_files > 0 && !readmits(&rules, &skill.folder)
    };
    let skills: Vec<_> = context.skills.iter().filter(hides).collect();
    let first = skills.first()?;
    let parent = parent_of(&first.folder);
    let names: Vec<_> = skills.iter().map(|skill| format!("`{}`", skill.name)).collect();
    let message = format!(
        "git ignores the files beside SKILL.md of {}, and Gemini refuses to read ignored files",
        names.join(", ")
    );
    Some(Finding::warning("skill-files-hidden", Topic::Skills, message).in_file(file).remedy(
        format!(
            "write `!{parent}/**` into .geminiignore, or set `skill-ignore = \"none\"` in the \
             configuration"
        ),
    ))
}

/// Whether a line of `.geminiignore` takes the folder back in.
fn readmits(rules: &str, folder: &str) -> bool {
    rules.lines().filter_map(|line| line.trim().strip_prefix('!')).any(|pattern| {
        let start = pattern.trim_start_matches('/').trim_end_matches("**").trim_end_matches('/');
        pattern.ends_with("**") && (start.is_empty() || Path::new(folder).starts_with(start))
    })
}

fn parent_of(folder: &str) -> &str {
    folder.rsplit_once('/').map_or(folder, |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use crate::agents::Agent;
    use crate::agents::checkup::testing::{World, skill};

    const USER: &str = "/home/me/.gemini/settings.json";
    const TRUST: (&str, &str) =
        ("/home/me/.gemini/trustedFolders.json", "{\"/src\": \"TRUST_FOLDER\"}");

    #[test]
    fn a_folder_must_be_trusted() {
        assert_eq!(World::new(&[]).codes(Agent::Gemini), ["folder-untrusted"]);
        assert!(World::new(&[TRUST]).codes(Agent::Gemini).is_empty());
        let off = "{\"security\": {\"folderTrust\": {\"enabled\": false}}}";
        assert!(World::new(&[(USER, off)]).codes(Agent::Gemini).is_empty());
        let vars = vec![("GEMINI_CLI_TRUST_WORKSPACE", "true")];
        assert!(World { vars, ..World::new(&[]) }.codes(Agent::Gemini).is_empty());
        for (rules, codes) in [
            ("{\"/src/other\": \"TRUST_PARENT\"}", &[][..]),
            ("{\"/srcs\": \"TRUST_FOLDER\"}", &["folder-untrusted"][..]),
            (
                "{\"/src\": \"TRUST_FOLDER\", \"/src/shop\": \"DO_NOT_TRUST\"}",
                &["folder-untrusted"],
            ),
        ] {
            assert_eq!(World::new(&[(TRUST.0, rules)]).codes(Agent::Gemini), codes, "{rules}");
        }
    }

    #[test]
    fn hooks_may_be_off_in_either_file() {
        for file in [USER, "/src/shop/.gemini/settings.json"] {
            let world = World::new(&[TRUST, (file, "{\"hooksConfig\": {\"enabled\": false}}")]);
            assert_eq!(world.codes(Agent::Gemini), ["hooks-disabled"], "{file}");
        }
    }

    #[test]
    fn decision_18_files_of_skills_that_git_ignores_are_hidden() {
        let with = |files: &[(&str, &str)], more: usize| {
            let all: Vec<_> = files.iter().copied().chain([TRUST]).collect();
            World { skills: vec![skill(".agents/skills/w", more)], ..World::new(&all) }
                .codes(Agent::Gemini)
        };
        assert_eq!(with(&[], 2), ["skill-files-hidden"]);
        assert!(with(&[], 0).is_empty());
        let ignore = "/src/shop/.geminiignore";
        assert!(with(&[(ignore, "target\n!.agents/skills/**\n")], 2).is_empty());
        assert_eq!(with(&[(ignore, "!.gemini/skills/**\n")], 2), ["skill-files-hidden"]);
        let reads = "{\"context\": {\"fileFiltering\": {\"respectGitIgnore\": false}}}";
        assert!(with(&[(USER, reads)], 2).is_empty());
    }
}
