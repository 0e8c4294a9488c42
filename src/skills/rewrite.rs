//! A `SKILL.md` as it is installed: under its new name, without `hooks`, readable by every agent.

use std::sync::Arc;

use serde_yaml::{Mapping, Value};

use super::document::cut_description;
use super::frontmatter::plain::{is_plain, plain_or_quoted, written};
use super::frontmatter::{Frontmatter, Mend, apply, line_ending};
use super::name::conforms;
use crate::plugins::diagnostics::codes;
use crate::text::{Diagnostic, Source};

/// A key that runs commands in Claude.
const HOOKS: &str = "hooks";

/// The text to install for a `SKILL.md`, named `install_name`.
///
/// A frontmatter that every reader takes for the same ([`is_plain`]) stays as it is, but for its
/// `name` line. Any other is written anew from what we understood: without `hooks` and what is in
/// them, with a description within its limit. A byte order mark goes, because Codex rejects it. What
/// is below the frontmatter stays byte for byte.
///
/// # Errors
/// The frontmatter can't be read, or `install_name` breaks the rules for names.
pub(crate) fn rewrite_for_install(
    source: &Arc<Source>,
    install_name: &str,
) -> Result<String, Box<Diagnostic>> {
    if !conforms(install_name) {
        let message = format!("`{install_name}` can't be a skill's name");
        return Err(Box::new(Diagnostic::error(message).in_file(&source.path)));
    }
    let front = Frontmatter::parse(source)?;
    let wanted = wanted_values(&front, install_name);
    let by_line = renamed(source, &front, install_name);
    if is_plain(&by_line) {
        let text = assemble(source, &front, &by_line);
        if reads_as(source, &text, &wanted) {
            return Ok(text);
        }
    }
    let cannot = |message: String| {
        Box::new(Diagnostic::error(message).code(codes::FRONTMATTER).at(source, front.yaml.clone()))
    };
    let anew = written(&wanted)
        .map_err(|key| cannot(format!("`{key}` can't be a key: agents read it differently")))?;
    let ending = line_ending(&source.text, &(0..front.yaml.start));
    let anew = assemble(source, &front, &anew.replace('\n', ending));
    if reads_as(source, &anew, &wanted) {
        return Ok(anew);
    }
    Err(cannot("its frontmatter can't be rewritten".to_owned()))
}

fn wanted_values(front: &Frontmatter, install_name: &str) -> Mapping {
    let mut wanted = front.values.clone();
    wanted.shift_remove(HOOKS);
    wanted.insert("name".into(), install_name.into());
    if let Some(Value::String(text)) = wanted.get_mut("description") {
        let short = cut_description(text.trim());
        if short != text.trim() {
            *text = short;
        }
    }
    // What a tag means is each reader's own affair.
    wanted.values_mut().for_each(untag);
    wanted
}

fn untag(value: &mut Value) {
    while let Value::Tagged(tagged) = value {
        *value = std::mem::take(&mut tagged.value);
    }
    match value {
        Value::Sequence(items) => items.iter_mut().for_each(untag),
        Value::Mapping(values) => values.values_mut().for_each(untag),
        _ => {}
    }
}

/// The YAML with another name.
fn renamed(source: &Source, front: &Frontmatter, install_name: &str) -> String {
    let text = source.text.as_str();
    let old = front.get("name").and_then(Value::as_str);
    let name = front.blocks.iter().find(|block| block.key == "name" && old != Some(install_name));
    let edit = name.map(|block| Mend {
        lines: block.lines.clone(),
        text: format!("name: {}{}", plain_or_quoted(install_name), line_ending(text, &block.lines)),
        problem: "",
    });
    apply(text, &front.yaml, edit.as_slice())
}

/// The whole text around `yaml`, with fences that every reader takes for some.
fn assemble(source: &Source, front: &Frontmatter, yaml: &str) -> String {
    let ending = line_ending(&source.text, &(0..front.yaml.start));
    let closing = &source.text[front.yaml.end..];
    let line = closing.split_inclusive('\n').next().unwrap_or_default();
    let after = &closing[line.len() - line_ending(line, &(0..line.len())).len()..];
    format!("---{ending}{yaml}---{after}")
}

fn reads_as(source: &Source, text: &str, wanted: &Mapping) -> bool {
    let again = Source::new(&source.path, text);
    Frontmatter::parse(&again).is_ok_and(|front| front.mends.is_empty() && &front.values == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(text: &str) -> String {
        rewrite_for_install(&Source::new("s/SKILL.md", text), "new").expect("rewrites")
    }

    #[test]
    fn case_86_only_the_name_line_changes() {
        let text = "---\n# note\nname:   Old  # why\n# between\n\ndescription: >\n  a\n  b\nmetadata:\n  name: x\n\
                    # last\n---\nname: Old\n---\n";
        assert_eq!(rewrite(text), text.replace("name:   Old  # why", "name: new"));
    }

    #[test]
    fn a_fitting_name_leaves_every_byte() {
        let text = "---\r\nname: 'new'\r\ndescription: d\r\n---\r\n\r\nbody\r\n\tx  ";
        assert_eq!(rewrite(text), text);
    }

    #[test]
    fn decision_23_line_endings_stay_and_the_byte_order_mark_goes() {
        let text = "\u{feff}---\r\nname: a\r\ndescription: d\r\n---\r\nb";
        assert_eq!(rewrite(text), "---\r\nname: new\r\ndescription: d\r\n---\r\nb");
    }

    #[test]
    fn section_2_hooks_are_left_out_with_all_that_is_in_them() {
        let text = "---\nname: new\nhooks:\n  PreToolUse:\n  # c\n\n  - matcher: x\n- y: z\n\
                    description: d\n---\n";
        // The list at the margin is no YAML beside the indented one.
        assert!(rewrite_for_install(&Source::new("s", text), "new").is_err());
        let text = text.replace("- y: z\n", "");
        assert_eq!(rewrite(&text), "---\nname: new\ndescription: d\n---\n");
    }

    #[test]
    fn section_2_hooks_in_disguise_are_left_out_too() {
        for hooks in [
            "\"hooks\":\n  a: b",
            "'hooks' : {a: b}",
            "? hooks\n: a: b",
            "\"\\x68ooks\": {a: b}",
            "!!str hooks: {a: b}",
            "hooks: {\n  a: b\n  }",
            "x: &x {hooks: {a: b}}\n<<: *x",
            "hooks: [\n  a]",
        ] {
            let text = format!("---\nname: new\ndescription: d\n{hooks}\n---\nbody\n");
            let made = rewrite(&text);
            let front = Frontmatter::parse(&Source::new("s", made.as_str())).expect("reads");
            assert!(front.get("hooks").is_none(), "{made}");
            assert!(made.ends_with("---\nbody\n"), "{made}");
            let raw: Value = serde_yaml::from_str(&made[front.yaml.clone()]).expect("is YAML");
            assert!(raw.get("<<").is_none(), "{made}");
        }
    }

    #[test]
    fn a_flow_mapping_is_written_anew() {
        let made = rewrite("---\n{name: old, description: d, hooks: {a: b}}\n---\nbody");
        assert_eq!(made, "---\nname: new\ndescription: d\n---\nbody");
    }

    #[test]
    fn decision_23_what_only_we_can_read_is_quoted() {
        let text = "---\nname: new\ndescription: Use when: always\n  and ever\ncrates: *\n---\n";
        let expected =
            "---\nname: new\ndescription: \"Use when: always and ever\"\ncrates: \"*\"\n---\n";
        assert_eq!(rewrite(text), expected);
    }

    #[test]
    fn section_3_a_long_description_is_cut() {
        let text =
            format!("---\nname: new\ndescription: {}\nlicense: MIT\n---\n", "é".repeat(2000));
        let made = rewrite(&text);
        let front = Frontmatter::parse(&Source::new("s", made)).expect("reads");
        let text = front.get("description").and_then(Value::as_str).expect("a string");
        assert_eq!(text.chars().count(), 1024);
        assert!(front.get("license").is_some());
    }

    #[test]
    fn a_name_that_yaml_takes_for_something_else_is_quoted() {
        let source = Source::new("s", "---\nname: a\ndescription: d\n---\n");
        let made = rewrite_for_install(&source, "123").expect("rewrites");
        assert_eq!(made, "---\nname: \"123\"\ndescription: d\n---\n");
        assert!(rewrite_for_install(&source, "../x").is_err());
    }
}
