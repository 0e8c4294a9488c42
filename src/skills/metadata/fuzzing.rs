//! What holds of everything that a crate may say about its skills.

use super::{Parsed, parse};
use crate::report::fuzzing::{text, told};
use crate::text::{Source, is_crate_name};

/// Whatever is wrong is a warning with its place, and only what could be a crate's name leads to one.
pub(crate) fn crate_metadata(data: &[u8]) {
    let Some(text) = text(data) else { return };
    for (file, keys) in
        [("Cargo.toml", &["package", "metadata", "symposium"][..]), ("SYMPOSIUM.toml", &[])]
    {
        let source = Source::new(format!("/w/{file}"), text);
        match parse(&source, keys) {
            Parsed::Absent => {}
            Parsed::Malformed(problems) => {
                assert!(!problems.is_empty(), "nobody says what is wrong");
                assert!(!problems.iter().any(crate::text::Diagnostic::is_error));
                told(&problems);
            }
            Parsed::Entries(entries, problems) => {
                told(&problems);
                for entry in entries {
                    assert!(source.text.get(entry.span.clone()).is_some(), "{entry:?}");
                    if let super::Place::Crate { name, .. } = &entry.place {
                        assert!(is_crate_name(name), "{name:?}");
                    }
                }
            }
        }
    }
}
