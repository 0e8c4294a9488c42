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
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/schemas/", stringify!($name), ".json");
            expect_file![file].assert_eq(&pretty(&schemars::schema_for!($of)));
        })*
    };
}

shapes! {
    status: super::status::model::Status,
    why: super::why::model::Why,
    doctor: super::doctor::model::Doctor,
    event: crate::report::Event,
}
