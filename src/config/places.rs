//! Where things stand in the configuration.

use std::ops::Range;
use std::sync::Arc;

use crate::text::Source;
use crate::text::toml::{self as tables, Diagnostics, Table};

/// Where `key` of the plugin source `name` stands, as a byte range of `source`: its value, else that
/// of `git` or `path`, else the name.
pub(crate) fn place_of_source(source: &Arc<Source>, name: &str, key: &str) -> Option<Range<usize>> {
    find(source, &["plugin-source", "registry"], |table| {
        let own = table.string("name").filter(|at| at.value == name)?;
        let mut places = [key, "git", "path"].into_iter().filter_map(|key| table.span_of(key));
        Some(places.next().unwrap_or(own.span))
    })
}

/// Where the name of an agent stands in its `[[agent]]`.
pub(crate) fn place_of_agent(source: &Arc<Source>, name: &str) -> Option<Range<usize>> {
    find(source, &["agent"], |table| {
        table.string("name").filter(|at| at.value == name).map(|at| at.span)
    })
}

fn find(
    source: &Arc<Source>,
    keys: &[&str],
    place: impl Fn(&Table<'_>) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    // What is wrong with the file is told where it is read.
    let diagnostics = Diagnostics::new(Arc::clone(source));
    tables::read(&diagnostics, |root| {
        let entries = keys.iter().flat_map(|key| root.tables(key).unwrap_or_default());
        entries.into_iter().find_map(|table| place(&table))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_s_keys_have_places() {
        let text = "\
                    [[plugin-source]]\nname = \"a\"\npath = \"p\"\n\
                    [[registry]]\nname = \"b\"\ngit = \"u\"\nrev = \"-x\"\n";
        let source = Source::new("config.toml", text);
        let shown = |span: Option<Range<usize>>| span.map(|span| &text[span]);
        assert_eq!(place_of_source(&source, "c", ""), None);
        assert_eq!(shown(place_of_source(&source, "a", "")), Some("\"p\""));
        assert_eq!(shown(place_of_source(&source, "b", "rev")), Some("\"-x\""));
        assert_eq!(shown(place_of_source(&source, "b", "subdir")), Some("\"u\""));
    }

    #[test]
    fn an_agent_s_name_has_a_place() {
        let text = "[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"antigravity\"\n";
        let source = Source::new("config.toml", text);
        let place = place_of_agent(&source, "antigravity").expect("stands there");
        assert_eq!(source.line_column(place.start), (4, 8));
        assert_eq!(place_of_agent(&source, "codex"), None);
    }
}
