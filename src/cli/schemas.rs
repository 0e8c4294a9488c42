//! The shapes of what `--json` prints and of the files that people write, as JSON Schema files of the
//! book: the types are what counts, and these tests keep the files in step. `UPDATE_EXPECT=1` writes
//! them anew.

use expect_test::expect_file;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};

/// As editors know it.
fn draft_7<T: JsonSchema>() -> Schema {
    schemars::generate::SchemaSettings::draft07().into_generator().into_root_schema_for::<T>()
}

/// The same for TOML, which has no null: what may be absent is not said to be that as well.
fn for_toml<T: JsonSchema>() -> Schema {
    let mut schema = draft_7::<T>();
    NeverNull.transform(&mut schema);
    schema
}

struct NeverNull;

impl Transform for NeverNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if object.get("default").is_some_and(serde_json::Value::is_null) {
            object.remove("default");
        }
        if let Some(types) = object.get_mut("type").and_then(|types| types.as_array_mut()) {
            types.retain(|name| name != "null");
            if let [one] = types.as_slice() {
                let one = one.clone();
                object.insert("type".to_owned(), one);
            }
        }
        if let Some(choices) = object.get_mut("anyOf").and_then(|any| any.as_array_mut()) {
            choices.retain(|choice| choice["type"] != "null");
            if let [one] = choices.as_slice()
                && let Some(one) = one.as_object().cloned()
            {
                object.remove("anyOf");
                object.extend(one);
            }
        }
    }
}

macro_rules! shapes {
    ($schema_of:ident: $($name:ident: $of:ty,)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name).replace('_', "-");
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/schemas");
            let mut text =
                serde_json::to_string_pretty(&$schema_of::<$of>()).expect("a schema is JSON");
            text.push('\n');
            expect_file![format!("{folder}/{name}.json")].assert_eq(&text);
        })*
    };
}

fn of_answer<T: JsonSchema>() -> Schema {
    schemars::schema_for!(T)
}

shapes! {
    for_toml:
    manifest: crate::plugins::manifest::schema::Manifest,
    crate_skills: crate::skills::schema::CrateSkills,
    config: crate::config::schema::Settings,
    team_file: crate::config::team::schema::TeamFile,
    skill: crate::skills::schema::Frontmatter,
}

shapes! {
    draft_7:
    hook_input: symposium_hook::Input,
    hook_output: symposium_hook::Output,
    plugin_tests_file: super::plugin::test::suite::SuiteFile,
}

shapes! {
    of_answer:
    status: super::status::model::Status,
    status_use: super::status::usage::Usage,
    why: super::why::model::Why,
    doctor: super::doctor::model::Doctor,
    audit: super::audit::model::Audit,
    event: crate::report::Event,
    plugin_add: super::plugin::add::Added,
    plugin_list: super::plugin::list::Listing,
    plugin_show: super::plugin::show::Shown,
    plugin_show_skill: super::plugin::offer::SkillOffer,
    plugin_publish: super::plugin::publish::Publication,
    plugin_test: super::plugin::test::model::Tested,
    plugin_test_eval: super::plugin::test::eval::Evaluated,
    plugin_review: super::plugin::trust::review::Review,
    plugin_explain: crate::plugins::diagnostics::Explanation,
    crate_info: super::crate_info::Answer,
    crate_item: super::crate_info::item::ItemAnswer,
    crate_changes: super::crate_info::ChangesAnswer,
    help: super::help::Overview,
    help_page: super::help::Page,
    version: super::version::About,
    completions: super::completions::Script,
}
