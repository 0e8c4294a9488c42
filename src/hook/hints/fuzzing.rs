//! What holds of everything that rustc, or somebody who writes like it, may print.

use super::{MOST, block, collect};

/// What is marked is a part of its line, and no more is asked for than is looked up.
pub(crate) fn rustc_output(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let plain = block::plain(&text);
    for found in block::blocks(&plain) {
        for marked in found.parts.iter().flat_map(block::Part::marked) {
            assert!(marked.line.get(marked.from..marked.to).is_some(), "{marked:?}");
        }
    }
    let mut wanted = Vec::new();
    collect(&text, &mut wanted);
    assert!(wanted.len() <= MOST);
    for wanted in &wanted {
        assert!(!wanted.path.is_empty(), "{wanted:?}");
    }
}
