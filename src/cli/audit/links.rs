//! Where a skill's Markdown sends its reader: to other hosts, and to files outside of its folder.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::model::Findings;
use crate::cli::audit_args::rules;
use crate::files::{Limit, read_source};
use crate::skills::content::Content;
use crate::text::Diagnostic;

/// Looks at every Markdown file of the skill in `dir`; returns the hosts that it names, sorted.
pub(super) fn look(dir: &Path, content: &Content, found: &mut Findings) -> BTreeSet<String> {
    let mut hosts = BTreeSet::new();
    for path in content.files.keys().filter(|path| path.to_lowercase().ends_with(".md")) {
        let Ok(source) = read_source(&dir.join(path), Limit::MANIFEST) else { continue };
        hosts.extend(hosts_in(&source.text));
        let depth = path.matches('/').count();
        for span in leading_out(&source.text, depth) {
            let to = &source.text[span.clone()];
            let problem = Diagnostic::warning(format!("`{to}` is no file of the skill"))
                .at(&source, span)
                .note("an installed copy is without it: put the file itself into the skill");
            found.add(rules::LINK_OUT, problem);
        }
    }
    hosts
}

/// The hosts of all addresses, as links or bare.
fn hosts_in(text: &str) -> BTreeSet<String> {
    let starts = ["https://", "http://"];
    let rests = starts.into_iter().flat_map(|start| text.split(start).skip(1));
    let host = |rest: &str| {
        let end = rest.find(|letter: char| {
            !(letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '@'))
        });
        let host = rest[..end.unwrap_or(rest.len())].rsplit('@').next().unwrap_or_default();
        let host = host.trim_end_matches(['.', ':', '-']).to_ascii_lowercase();
        (!host.is_empty()).then_some(host)
    };
    rests.filter_map(host).collect()
}

/// The targets of links that leave a folder which is `depth` levels above the file.
fn leading_out(text: &str, depth: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, opening) in text.match_indices("](") {
        let start = at + opening.len();
        let end = text[start..].find(|letter: char| letter == ')' || letter.is_whitespace());
        let target = &text[start..end.map_or(text.len(), |length| start + length)];
        let path = target.split(['#', '?']).next().unwrap_or_default();
        if leaves(path, depth) {
            found.push(start..start + path.len());
        }
    }
    found
}

fn leaves(path: &str, depth: usize) -> bool {
    let mut level = depth;
    for part in path.split('/') {
        match part {
            ".." if level == 0 => return true,
            ".." => level -= 1,
            "" | "." => {}
            _ => level += 1,
        }
    }
    // From the root of a disk; `//host/x` has a host.
    path.starts_with('/') && !path.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_in_whatever_form_they_stand() {
        let text = "See [a](https://Docs.rs/x), <http://u:p@evil.example:8080/>, https://docs.rs. \
                    http:// and `https://a-b.example/?q=http://c.example`";
        let hosts: Vec<_> = hosts_in(text).into_iter().collect();
        assert_eq!(hosts, ["a-b.example", "c.example", "docs.rs", "evil.example:8080"]);
    }

    #[test]
    fn a_link_leaves_a_skill_where_it_climbs_above_its_folder() {
        let targets = |text: &str, depth: usize| {
            let spans = leading_out(text, depth).into_iter();
            spans.map(|span| text[span].to_owned()).collect::<Vec<_>>()
        };
        let text = "[a](../x.md#part) [b](x/../y.md) [c](x/../../y.md \"t\") [d](/etc/hosts) \
                    [e](//host/x) [f](https://x.example/../..) [g](#here) ](";
        assert_eq!(targets(text, 0), ["../x.md", "x/../../y.md", "/etc/hosts"]);
        assert_eq!(targets(text, 1), ["/etc/hosts"]);
        assert_eq!(targets("[a](../../x)", 1), ["../../x"]);
    }
}
