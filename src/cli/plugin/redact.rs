//! A manifest's text without the values of its servers' variables and headers.

use std::ops::Range;

use crate::text::Source;
use crate::text::toml::{Diagnostics, Table, read};

/// What stands in place of a value.
const HIDDEN: &str = "\"…\"";

/// The text of a manifest, fit to be shown. One that is no TOML is not shown at all.
pub(super) fn redacted(text: &str) -> Option<String> {
    let diagnostics = Diagnostics::new(Source::new("", text));
    let source = std::sync::Arc::clone(&diagnostics.source);
    let mut secrets = read(&diagnostics, |root| {
        let servers = root.tables("mcp_servers").unwrap_or_default();
        servers.iter().flat_map(secrets).collect::<Vec<_>>()
    })?;
    secrets.sort_by_key(|span| span.start);
    let mut shown = String::new();
    let mut at = 0;
    for span in secrets {
        shown.push_str(source.text.get(at..span.start)?);
        shown.push_str(HIDDEN);
        at = span.end;
    }
    shown.push_str(source.text.get(at..)?);
    Some(shown)
}

/// Where the values of `env` and `headers` stand, in either of their forms.
fn secrets(server: &Table<'_>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for key in ["env", "headers"] {
        if server.is_table(key) {
            let Some(values) = server.table(key) else { continue };
            let names = values.keys();
            spans.extend(names.iter().filter_map(|name| values.span_of(&name.value)));
        } else if server.has(key) {
            for entry in server.tables(key).unwrap_or_default() {
                spans.extend(entry.span_of("value"));
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn values_of_env_and_headers_are_hidden_in_every_form() {
        let text = "name = \"x\" # kept\n[[mcp_servers]]\nname = \"a\"\n\
                    env = [{ name = \"TOKEN\", value = \"s3cret\" }, { name = \"N\", value = 1 }]\n\
                    [[mcp_servers]]\nname = \"b\"\nurl = \"https://example.com\"\n\
                    headers = { Authorization = '''s3cret\nand more''' }\n\
                    [[mcp_servers]]\nname = \"c\"\n[[mcp_servers.env]]\nname = \"K\"\nvalue = 's3cret'\n\
                    [[mcp_servers]]\nname = \"d\"\n[mcp_servers.env]\nK = \"s3cret\"\n";
        let shown = redacted(text).expect("is TOML");
        assert!(!shown.contains("s3cret") && !shown.contains("and more"), "{shown}");
        expect![[r#"
            name = "x" # kept
            [[mcp_servers]]
            name = "a"
            env = [{ name = "TOKEN", value = "…" }, { name = "N", value = "…" }]
            [[mcp_servers]]
            name = "b"
            url = "https://example.com"
            headers = { Authorization = "…" }
            [[mcp_servers]]
            name = "c"
            [[mcp_servers.env]]
            name = "K"
            value = "…"
            [[mcp_servers]]
            name = "d"
            [mcp_servers.env]
            K = "…"
        "#]]
        .assert_eq(&shown);
        assert_eq!(redacted("a = "), None);
    }
}
