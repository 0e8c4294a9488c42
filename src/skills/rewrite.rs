//! A `SKILL.md` as it is installed: under its new name, without `hooks`, readable by every agent.

use std::sync::Arc;

use serde_yaml::{Mapping, Value};

use super::document::cut_description;
use super::frontmatter::{Frontmatter, Mend, apply, line_ending, quoted};
use super::name::conforms;
use crate::text::{Diagnostic, Source};

/// What stands in the way of every other change: a key that runs commands in Claude.
const HOOKS: &str = "hooks";

/// The text to install for a `SKILL.md`, named `install_name`.
///
/// The `name` line is rewritten, `hooks` and what is in it are left out, a description that is too
/// long is cut, and YAML that only a lenient reader understands is quoted. A byte order mark goes,
/// because Codex rejects it. Every other byte stays. The result is read again and compared: where
/// an unusual spelling (a quoted key, a merged map) keeps the lines from being changed one by one,
/// the frontmatter is written anew.
///
/// # Errors
/// The frontmatter can't be read, or `install_name` breaks the rules for names.
pub fn rewrite_for_install(
    source: &Arc<Source>,
    install_name: &str,
) -> Result<String, Box<Diagnostic>> {
    if !conforms(install_name) {
        let message = format!("`{install_name}` can't be a skill's name");
        return Err(Box::new(Diagnostic::error(message).in_file(&source.path)));
    }
    let front = Frontmatter::parse(source)?;
    let wanted = wanted_values(&front, install_name);
    let by_lines = assemble(source, &front, &edited_yaml(source, &front, install_name, &wanted));
    if reads_as(source, &by_lines, &wanted) {
        return Ok(by_lines);
    }
    let anew = serde_yaml::to_string(&wanted).unwrap_or_default();
    let ending = line_ending(&source.text, &(0..front.yaml.start));
    let anew = assemble(source, &front, &anew.replace('\n', ending));
    if reads_as(source, &anew, &wanted) {
        return Ok(anew);
    }
    let message = "its frontmatter can't be rewritten";
    Err(Box::new(Diagnostic::error(message).at(source, front.yaml.clone())))
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
    wanted
}

/// The YAML with single lines changed.
fn edited_yaml(
    source: &Source,
    front: &Frontmatter,
    install_name: &str,
    wanted: &Mapping,
) -> String {
    let text = source.text.as_str();
    let mut edits: Vec<Mend> = Vec::new();
    for block in &front.blocks {
        let ending = line_ending(text, &block.lines);
        let changed = front.values.get(&block.key) != wanted.get(&block.key);
        let replacement = match block.key.as_str() {
            HOOKS => String::new(),
            "name" if changed => format!("name: {}{ending}", plain_or_quoted(install_name)),
            "description" if changed => {
                let value = wanted.get("description").and_then(Value::as_str).unwrap_or_default();
                format!("description: {}{ending}", quoted(value))
            }
            _ => {
                edits.extend(
                    front
                        .mends
                        .iter()
                        .filter(|mend| block.lines.contains(&mend.lines.start))
                        .cloned(),
                );
                continue;
            }
        };
        edits.push(Mend { lines: block.lines.clone(), text: replacement, problem: "" });
    }
    apply(text, &front.yaml, &edits)
}

/// A name such as `123` or `null` is no string in YAML unless it is quoted.
fn plain_or_quoted(name: &str) -> String {
    match serde_yaml::from_str(name) {
        Ok(Value::String(text)) if text == name => name.to_owned(),
        _ => quoted(name),
    }
}

fn assemble(source: &Source, front: &Frontmatter, yaml: &str) -> String {
    let text = &source.text;
    format!("{}{yaml}{}", &text[..front.yaml.start], &text[front.yaml.end..])
}

fn reads_as(source: &Source, text: &str, wanted: &Mapping) -> bool {
    let again = Source::new(&source.path, text);
    match Frontmatter::parse(&again) {
        Ok(front) => {
            // No merge key may bring back in another reader what was left out for this one.
            front.mends.is_empty()
                && &front.values == wanted
                && !text[front.yaml.clone()].lines().any(|line| line.starts_with("<<"))
        }
        Err(_) => false,
    }
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
