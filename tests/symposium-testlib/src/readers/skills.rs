//! `SKILL.md` as both clients read it.

use std::path::Path;

use serde_json::{Map, Value};

use super::Skill;
use super::rules::{Reading, Refusal, Rule, Shape, text};

const FRONTMATTER: Rule = Rule {
    says: "SKILL.md begins with a block of YAML between two lines of ---",
    source: "https://agentskills.io/specification",
};
const NAME: Rule = Rule {
    says: "`name` is 1 to 64 lower-case letters, digits and single hyphens, and the folder's name",
    source: "https://agentskills.io/specification",
};
const DESCRIPTION: Rule = Rule {
    says: "`description` has 1 to 1024 characters",
    source: "https://agentskills.io/specification",
};

/// The skill of this file, where the client would offer it.
pub(super) fn read(file: &Path, refused: &mut Vec<Refusal>) -> Option<Skill> {
    let folder = file.parent()?;
    let mut reading = Reading::new(file, refused);
    let map = std::fs::read_to_string(file).ok().and_then(|text| frontmatter(&text));
    if !reading.hold(map.is_some(), "", FRONTMATTER) {
        return None;
    }
    let map = map?;
    let (name, description) = (text(&map, "name"), text(&map, "description"));
    let named = well_formed(&name) && folder.file_name().is_some_and(|own| *own == *name);
    let described = (1..=1024).contains(&description.chars().count());
    let good = reading.hold(named, "name", NAME)
        & reading.hold(described, "description", DESCRIPTION)
        & reading.shapes(&map, "", &[("license", Shape::Text)], FRONTMATTER);
    good.then(|| Skill { name, description, folder: folder.to_path_buf() })
}

fn frontmatter(text: &str) -> Option<Map<String, Value>> {
    let rest = text.strip_prefix("---\n")?;
    let (yaml, _) = rest.split_once("\n---")?;
    let value: Value = serde_yaml::from_str(yaml).ok()?;
    value.as_object().cloned()
}

fn well_formed(name: &str) -> bool {
    let good = |part: &str| {
        !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    name.len() <= 64 && name.split('-').all(good)
}
