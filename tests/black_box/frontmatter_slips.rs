//! Frontmatter that real skills have and YAML does not take: it is read as text, and only its author
//! is told.

use crate::sandbox;

#[test]
fn unquoted_prose_in_a_frontmatter_is_installed_quoted_and_told_by_validate_alone() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    let values = ["@file", "'a' or b", "[a] [b]", "\"Quick\" way to x", "> 3 things", "| x", "#x"];
    for (at, value) in values.iter().enumerate() {
        sandbox.user_plugin(
            &format!("p/skills/s{at}/SKILL.md"),
            &format!("---\nname: s{at}\ndescription: {value}\nargument-hint: {value}\n---\nbody\n"),
        );
    }
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    for (at, value) in values.iter().enumerate() {
        let installed = sandbox.read(&format!("ws/.claude/skills/s{at}/SKILL.md"));
        let quoted = serde_json::Value::from(*value).to_string();
        let expected = format!(
            "---\nname: s{at}\ndescription: {quoted}\nargument-hint: {quoted}\n---\nbody\n"
        );
        assert_eq!(installed, expected);
    }
    let plugins = sandbox.home().join(".symposium/plugins").display().to_string();
    let run = sandbox.run(&["plugin", "validate", &plugins, "--offline"]).ok();
    assert_eq!(run.stderr.matches("must be quoted").count(), 2 * values.len(), "{}", run.stderr);
    assert!(run.stderr.contains("SKILL.md:3:14"), "{}", run.stderr);
}
