//! What the tests of every format do.

use std::path::Path;

use super::{Change, Created, Document, FileFormat};
use crate::text::Diagnostic;

type Edit<'a> = dyn Fn(&mut Document) -> Result<(), Diagnostic> + 'a;

/// Adds, adds again, which must change nothing, takes out and prunes, which must leave nothing of
/// ours. The text with what was added and the one without it again; `None` when it was refused.
pub(super) fn there_and_back(
    format: FileFormat,
    text: &str,
    add: &Edit<'_>,
    take_out: &Edit<'_>,
) -> Option<(String, String)> {
    let open = |text: &str| Document::open(Path::new("f"), Some(text), format);
    let mut document = open(text).ok()?;
    add(&mut document).ok()?;
    let edited = document.finish();
    let Change::Write(with) = edited.change else { panic!("nothing was added to {text:?}") };

    let mut again = open(&with).expect("what we write can be read");
    add(&mut again).expect("a second time");
    assert_eq!(again.finish().change, Change::Keep, "a second time changes {with:?}");

    // The ledger keeps as JSON what was created.
    let remembered = serde_json::to_string(&edited.created).expect("serialises");
    let created: Vec<Created> = serde_json::from_str(&remembered).expect("reads back");
    let mut back = open(&with).expect("what we write can be read");
    take_out(&mut back).expect("it can be taken out");
    assert_eq!(back.prune(&created).expect("prunes"), [], "all of it goes from {with:?}");
    let Change::Write(back) = back.finish().change else { panic!("nothing to remove") };
    Some((with, back))
}
