//! The schemas of the files that people write: what is right fits them, what is wrong does not.

use std::path::{Path, PathBuf};

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::sandbox;

/// What is wrong with `value` by the schema that the program prints as `name`; empty when nothing is.
fn mistakes(name: &str, value: &Value) -> String {
    let printed = sandbox().run(&["plugin", "schema", name]).ok();
    let schema: Value = serde_json::from_str(&printed.stdout).expect("a schema is JSON");
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.add_resource("schema.json", schema).expect("a schema");
    let index = compiler.compile("schema.json", &mut schemas);
    let index = index.unwrap_or_else(|error| panic!("{name}: {error:#}"));
    schemas.validate(value, index).err().map(|error| format!("{error:#}")).unwrap_or_default()
}

fn from_toml(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    serde_json::to_value(table).expect("is JSON")
}

/// The frontmatter of a skill.
fn frontmatter(text: &str) -> Value {
    let yaml = text.split("---").nth(1).expect("a frontmatter");
    serde_yaml::from_str(yaml).expect("is YAML")
}

fn files(folder: &str, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let all = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.expect("reads"));
    all.map(walkdir::DirEntry::into_path).filter(|path| is_wanted(path)).collect()
}

/// Which schema a block of TOML in the book is an example for, and the block as a whole file.
fn example(block: &str) -> Option<(&'static str, Value)> {
    let mut value = from_toml(block);
    let object = value.as_object_mut().expect("a table");
    let has = |keys: &[&str]| keys.iter().any(|key| object.contains_key(*key));
    if has(&["minimum-version"]) {
        return Some(("team-file", value));
    }
    if has(&["agent", "plugin-source", "registry", "auto-update", "hints", "skill-ignore", "mcp"])
        || object.get("plugins").is_some_and(Value::is_object)
        || object
            .get("defaults")
            .is_some_and(|table| table["symposium-recommendations"].is_boolean())
    {
        return Some(("config", value));
    }
    if let Some(metadata) = object.get("package").and_then(|package| package.get("metadata")) {
        return Some(("crate-skills", metadata.get("symposium")?.clone()));
    }
    if !has(&["skills", "installations", "hooks", "mcp_servers", "subcommand"]) {
        return None;
    }
    let groups = object.get("skills").and_then(Value::as_array).into_iter().flatten();
    let is_crate_s =
        groups.into_iter().any(|group| group.get("path").is_some() || group.get("crate").is_some());
    if is_crate_s {
        return Some(("crate-skills", value));
    }
    object.entry("name").or_insert_with(|| "a-part".into());
    Some(("manifest", value))
}

#[test]
fn every_manifest_and_skill_of_the_fixtures_fits_its_schema() {
    let manifests = files("tests/fixtures", |path| path.ends_with("SYMPOSIUM.toml"));
    assert!(manifests.len() >= 5, "{manifests:?}");
    for path in manifests {
        let text = std::fs::read_to_string(&path).expect("reads");
        assert_eq!(mistakes("manifest", &from_toml(&text)), "", "{}", path.display());
    }
    let skills = files("tests/fixtures", |path| path.ends_with("SKILL.md"));
    assert!(skills.len() >= 2, "{skills:?}");
    for path in skills {
        let text = std::fs::read_to_string(&path).expect("reads");
        assert_eq!(mistakes("skill", &frontmatter(&text)), "", "{}", path.display());
    }
}

#[test]
fn every_example_in_the_book_fits_its_schema() {
    let mut seen = Vec::new();
    // The pages of agents show files of the agents'.
    let is_ours = |path: &Path| {
        let of_agents = path.parent().is_some_and(|folder| folder.ends_with("reference/agents"));
        path.extension().is_some_and(|kind| kind == "md") && !of_agents
    };
    for path in files("md", is_ours) {
        let text = std::fs::read_to_string(&path).expect("reads");
        let parts: Vec<&str> = text.split("```").collect();
        let blocks = parts.iter().filter_map(|part| part.strip_prefix("toml\n"));
        for (schema, value) in blocks.filter_map(example) {
            assert_eq!(mistakes(schema, &value), "", "{}: {value:#}", path.display());
            seen.push(schema);
        }
    }
    let all = [("manifest", 4), ("config", 3), ("crate-skills", 1), ("team-file", 1)];
    for (schema, least) in all {
        let number = seen.iter().filter(|name| **name == schema).count();
        assert!(number >= least, "{number} examples of {schema}");
    }
}

#[test]
fn what_validate_refuses_the_schema_refuses_too() {
    let manifests = [
        "crates = [\"*\"]",
        "name = \"p\"\ncrate = \"serde\"",
        "name = \"p\"\ncrates = 1",
        "name = \"p\"\ncrates = \"*\"\nactivation = \"sometimes\"",
        "name = \"p\"\ncrates = \"*\"\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUs\"\ncommand = { script = \"h.sh\" }",
        "name = \"p\"\ncrates = \"*\"\n[[hooks]]\nname = \"h\"\nevent = \"Stop\"",
        "name = \"p\"\ncrates = \"*\"\n[[hooks]]\nname = \"h\"\nevent = \"Stop\"\ncommand = { script = \"h.sh\" }\ntimeout = 0",
        "name = \"p\"\ncrates = \"*\"\n[[installations]]\nname = \"i\"\nsource = \"local\"\nscript = \"i.sh\"",
        "name = \"p\"\ncrates = \"*\"\n[[mcp_servers]]\nname = \"s\"\ntype = \"pigeon\"\nurl = \"https://example.com\"",
        "name = \"p\"\ncrates = \"*\"\n[[skills]]\nsource = \"crates\"",
        "name = \"p\"\ncrates = \"*\"\n[subcommand.go]\ncommand = { executable = \"/bin/true\" }",
    ];
    for text in manifests {
        assert_ne!(mistakes("manifest", &from_toml(text)), "", "{text}");
        let sandbox = sandbox();
        sandbox.write("p/SYMPOSIUM.toml", text);
        sandbox.write("p/h.sh", "exit 0\n");
        let run = sandbox.run(&["plugin", "validate", "../p", "--no-check-crates"]);
        assert_eq!(run.code, 1, "{text}\n{}", run.stderr);
    }
    for text in ["auto-sync = \"yes\"", "hook-scope = \"local\"", "[[agent]]\nnom = \"claude\""] {
        assert_ne!(mistakes("config", &from_toml(text)), "", "{text}");
    }
    for text in ["use = [\"a\"]", "minimum-version = 1", "[plugins.workspace]", "[trust]"] {
        assert_ne!(mistakes("team-file", &from_toml(text)), "", "{text}");
    }
    let long = format!("name: a\ndescription: {}", "x".repeat(1025));
    for text in ["description: d", "name: Not A Name\ndescription: d", &long] {
        assert_ne!(mistakes("skill", &serde_yaml::from_str(text).expect("YAML")), "", "{text}");
    }
    for text in ["[[skills]]\npaths = \"s\"", "[defaults]\nskills = 1"] {
        assert_ne!(mistakes("crate-skills", &from_toml(text)), "", "{text}");
    }
}

#[test]
fn what_a_hook_reads_and_writes_fits_the_schemas_of_events() {
    use symposium_hook::{Input, Output, PreToolUseInput, PreToolUseOutput, StopInput, StopOutput};
    let input = PreToolUseInput { tool_name: "Bash".to_owned(), ..PreToolUseInput::default() };
    let inputs = [
        Input::PreToolUse(input),
        Input::PostToolUse(Default::default()),
        Input::UserPromptSubmit(Default::default()),
        Input::SessionStart(Default::default()),
        Input::Stop(StopInput::default()),
    ];
    for input in inputs {
        let written = serde_json::to_value(&input).expect("is JSON");
        assert_eq!(mistakes("hook-input", &written), "", "{written}");
        assert_eq!(serde_json::from_value::<Input>(written).expect("is read"), input);
    }
    let outputs: [Output; 2] = [
        PreToolUseOutput::deny("no").and_context("try less").into(),
        StopOutput::go_on("tests").into(),
    ];
    for output in outputs {
        let written = serde_json::to_value(&output).expect("is JSON");
        assert_eq!(mistakes("hook-output", &written), "", "{written}");
    }
    for wrong in [json!({"PreToolUse": {"decision": "maybe"}}), json!({"decision": "deny"})] {
        assert_ne!(mistakes("hook-output", &wrong), "", "{wrong}");
    }
    for wrong in [json!({"PreToolUse": {}}), json!({"tool": "Bash"})] {
        assert_ne!(mistakes("hook-input", &wrong), "", "{wrong}");
    }
}

#[test]
fn the_page_of_events_has_every_field_of_the_schemas() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("md/reference/events.md");
    let page = std::fs::read_to_string(page).expect("reads");
    for name in ["hook-input", "hook-output"] {
        let printed = sandbox().run(&["plugin", "schema", name]).ok();
        let schema: Value = serde_json::from_str(&printed.stdout).expect("a schema is JSON");
        for (record, shape) in schema["definitions"].as_object().expect("definitions") {
            for field in shape["properties"].as_object().into_iter().flat_map(|all| all.keys()) {
                assert!(page.contains(&format!("| `{field}` |")), "{record}: {field}");
            }
        }
    }
    for event in symposium_hook::Event::ALL {
        assert!(page.contains(&format!("| `{}` | `{}` |", event.name(), event.cli_name())));
    }
}
