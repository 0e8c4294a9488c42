//! What holds of every `SKILL.md`.

use std::sync::Arc;

use super::document::{DESCRIPTION_LIMIT, SkillDocument};
use super::frontmatter::Frontmatter;
use super::name::conforms;
use super::rewrite::rewrite_for_install;
use crate::report::fuzzing::{text, told};
use crate::text::Source;

/// What is installed has the wanted name, a description within its limit, no hooks, and all that is
/// below the frontmatter; to install that again changes nothing.
pub(crate) fn frontmatter(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let source = Source::new("/w/skills/widget/SKILL.md", text);
    let checked = SkillDocument::check(&source);
    assert_eq!(format!("{checked:?}"), format!("{:?}", SkillDocument::check(&source)));
    told(&checked.problems);
    match SkillDocument::parse(Arc::clone(&source)) {
        Ok((document, warnings)) => {
            told(&warnings);
            assert!(checked.document.is_some());
            assert!(conforms(&document.install_name), "{:?}", document.install_name);
            assert!(document.description.value.chars().count() <= DESCRIPTION_LIMIT);
            installed(&source, &document.install_name);
        }
        Err(problem) => {
            assert!(checked.problems.iter().any(crate::text::Diagnostic::is_error));
            told(&[*problem]);
        }
    }
    installed(&source, "widget");
}

fn installed(source: &Arc<Source>, name: &str) {
    let written = match rewrite_for_install(source, name) {
        Ok(written) => written,
        Err(problem) => return told(&[*problem]),
    };
    let again = Source::new(&source.path, written.as_str());
    let front = Frontmatter::parse(&again).expect("what is installed can be read");
    assert!(front.mends.is_empty(), "{written:?}");
    assert_eq!(front.get("name").and_then(serde_yaml::Value::as_str), Some(name));
    assert!(front.get("hooks").is_none(), "{written:?}");
    let before = Frontmatter::parse(source).expect("it was read");
    let below = |text: &str, end: usize| text[end..].trim_start_matches("---").to_owned();
    let rest = |text: String| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(
        rest(below(&written, front.yaml.end)),
        rest(below(&source.text, before.yaml.end)),
        "below the frontmatter"
    );
    let twice = rewrite_for_install(&again, name).expect("once more");
    assert_eq!(twice, written, "to install it again changes it");
}
