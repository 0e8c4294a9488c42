//! The shapes of what `--json` prints, as JSON Schema files of the book: the types are what counts,
//! and these tests keep the files in step. `UPDATE_EXPECT=1` writes them anew.

use expect_test::expect_file;

fn pretty(schema: &schemars::Schema) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    text.push('\n');
    text
}

macro_rules! shapes {
    ($($name:ident: $of:ty,)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name).replace('_', "-");
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/schemas");
            expect_file![format!("{folder}/{name}.json")].assert_eq(&pretty(&schemars::schema_for!($of)));
        })*
    };
}

shapes! {
    status: super::status::model::Status,
    status_use: super::status::usage::Usage,
    why: super::why::model::Why,
    doctor: super::doctor::model::Doctor,
    event: crate::report::Event,
    plugin_add: super::plugin::add::Added,
    plugin_list: super::plugin::list::Listing,
    plugin_show: super::plugin::show::Shown,
    plugin_show_skill: super::plugin::offer::SkillOffer,
    plugin_explain: crate::plugins::diagnostics::Explanation,
    crate_info: super::crate_info::Answer,
    crate_item: super::crate_info::item::ItemAnswer,
    crate_changes: super::crate_info::ChangesAnswer,
    help: super::help::Overview,
    help_page: super::help::Page,
    version: super::version::About,
    completions: super::completions::Script,
}
