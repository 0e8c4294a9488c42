//! The book's pages about agents say what was verified, and are kept in step with what was.
//!
//! Each page has a part between two marks, which is what the harness would write. With
//! `UPDATE_EXPECT=1` it does write it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::clients;
use crate::harness::{self, Finding, Findings, Point};
use crate::selection::Selected;

const BEGIN: &str = "<!-- written by tests/real_agents: begin -->";
const END: &str = "<!-- written by tests/real_agents: end -->";

fn page(client: &str) -> PathBuf {
    clients::agents_folder().join(format!("../../md/reference/agents/{client}.md"))
}

/// Compares the pages of the clients of whom everything was found with what was found.
pub(crate) fn keep_in_step(
    selected: &[Selected],
    points: &[Point],
    results: &BTreeMap<&'static str, Findings>,
) -> Result<(), String> {
    let update = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    let mut behind = Vec::new();
    for one in selected {
        let Some(found) = results.get(one.client.name()) else { continue };
        let Ok(program) = &one.program else { continue };
        if harness::shown_of(one.client, points).any(|check| !found.contains_key(check.name)) {
            continue;
        }
        let path = page(one.client.name());
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let wanted = part(&program.version, points, found);
        let new = replaced(&text, &wanted)
            .ok_or_else(|| format!("{}: no part between `{BEGIN}` and `{END}`", path.display()))?;
        if new == text {
            continue;
        }
        if update {
            std::fs::write(&path, new).map_err(|error| format!("{}: {error}", path.display()))?;
        } else {
            behind.push(path.display().to_string());
        }
    }
    if behind.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the book says something else of what was verified in {}; run the tests of all checks with \
         UPDATE_EXPECT=1 and read the difference",
        behind.join(", ")
    ))
}

/// What a page says.
fn part(version: &str, points: &[Point], found: &Findings) -> String {
    let mut text = format!("Shown by running {version} against a scripted model:\n");
    for point in points {
        let mut checks =
            point.checks.iter().filter(|check| found.contains_key(check.name)).peekable();
        if checks.peek().is_some() {
            let _ = writeln!(text, "\n*{}*\n", point.name);
        }
        for check in checks {
            let _ = match found.get(check.name) {
                Some(Finding::Cant(why)) => {
                    writeln!(text, "- It can't: {} {why}", check.says)
                }
                _ => writeln!(text, "- {}", check.says),
            };
        }
    }
    text
}

/// `text` with another part.
fn replaced(text: &str, part: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{part}\n{END}{after}"))
}

/// What is wrong with the pages that can be seen without any client: a version that is not the
/// pinned one, a check that a page says nothing of, one that is there no more.
///
/// # Panics
/// When a page or the list of pinned versions can't be read.
pub fn stale(points: &[Point]) -> Vec<String> {
    let pins = std::fs::read_to_string(clients::agents_folder().join("package.json"));
    let pins: serde_json::Value =
        serde_json::from_str(&pins.expect("the list of pins")).expect("the list of pins is JSON");
    let mut wrong = Vec::new();
    for client in clients::CLIENTS {
        let path = page(client.name());
        let text = std::fs::read_to_string(&path).expect("a page");
        let Some(said) =
            text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|found| found.0)
        else {
            wrong.push(format!("{}: nothing of what was verified", path.display()));
            continue;
        };
        let version = pinned(&pins, client.package());
        if !said.contains(&format!("Shown by running {version} ")) {
            wrong.push(format!("{}: not verified with {version}", path.display()));
        }
        let says: Vec<&str> = harness::shown_of(client, points).map(|check| check.says).collect();
        wrong.extend(difference(&path, said, &says));
    }
    wrong
}

fn difference(path: &Path, said: &str, says: &[&str]) -> Vec<String> {
    let lines: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let about = |line: &str, says: &str| {
        line == says || line.strip_prefix("It can't: ").is_some_and(|line| line.starts_with(says))
    };
    let missing = says.iter().filter(|says| !lines.iter().any(|line| about(line, says)));
    let missing = missing.map(|says| format!("{}: nothing of “{says}”", path.display()));
    let surplus = lines.iter().filter(|line| !says.iter().any(|says| about(line, says)));
    let surplus = surplus.map(|line| format!("{}: nobody checks “{line}”", path.display()));
    missing.chain(surplus).collect()
}

/// The pinned version of the package whose name begins with `package`.
fn pinned(pins: &serde_json::Value, package: &str) -> String {
    ["dependencies", "optionalDependencies"]
        .iter()
        .filter_map(|group| pins[*group].as_object())
        .flatten()
        .find(|(name, _)| name.starts_with(package))
        .and_then(|(_, version)| version.as_str())
        // `npm:@openai/codex@0.171.0-linux-x64`
        .and_then(|version| version.rsplit('@').next())
        .and_then(|version| version.split('-').next())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Check;

    const CHECK: Check = Check { name: "a", says: "A holds.", run: |_| Finding::Holds };
    const POINTS: [Point; 1] = [Point { name: "One", checks: &[CHECK] }];

    #[test]
    fn a_page_s_part_is_replaced_and_the_rest_stays() {
        let text = format!("# Page\n\n{BEGIN}\nold\n{END}\n\nmore\n");
        let holds = part("1.2.3", &POINTS, &Findings::from([("a", Finding::Holds)]));
        let new = replaced(&text, &holds).expect("it has marks");
        assert!(new.starts_with("# Page\n\n<!--") && new.ends_with("end -->\n\nmore\n"), "{new}");
        assert!(new.contains("running 1.2.3 against") && new.contains("\n- A holds.\n"), "{new}");
        assert_eq!(replaced(&new, &holds).as_deref(), Some(new.as_str()));
        assert_eq!(replaced("# Page\n", &holds), None);
        let cant = part("1.2.3", &POINTS, &Findings::from([("a", Finding::Cant("No way."))]));
        assert!(cant.contains("- It can't: A holds.. No way.") || cant.contains("No way."));
    }

    #[test]
    fn a_page_that_says_less_or_more_is_noticed() {
        let path = Path::new("page.md");
        assert!(difference(path, "- A\n- It can't: B. Why.\n", &["A", "B"]).is_empty());
        assert_eq!(difference(path, "- A\n", &["A", "B"]).len(), 1);
        assert_eq!(difference(path, "- A\n- C\n", &["A"]).len(), 1);
    }

    #[test]
    fn a_pin_is_found_by_its_package() {
        let pins = serde_json::json!({
            "dependencies": { "@google/gemini-cli": "0.61.0" },
            "optionalDependencies": { "@openai/codex-linux-x64": "npm:@openai/codex@0.171.0-linux-x64" },
        });
        assert_eq!(pinned(&pins, "@google/gemini-cli"), "0.61.0");
        assert_eq!(pinned(&pins, "@openai/codex-"), "0.171.0");
    }
}
