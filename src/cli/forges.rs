//! What a check found, in the forms that forges read: GitHub's commands for a workflow's log, and SARIF.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::text::{Diagnostic, Severity};

/// The forms in which problems are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// Text on standard error
    Human,
    /// JSON
    Json,
    /// Beside the text, commands by which GitHub marks them in a pull request
    Github,
    /// Beside the text, a SARIF 2.1.0 document on standard output
    Sarif,
}

/// What a code stands for.
pub(super) struct Rule {
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What is wrong and why it matters.
    pub text: String,
    /// What to do, or where to read more.
    pub help: String,
}

/// One line a problem, by which GitHub marks it in a pull request. Paths are from `base`, which is to be
/// the repository's root.
pub(super) fn github(diagnostics: &[Diagnostic], base: &Path) -> String {
    let line = |problem: &Diagnostic| {
        let mut properties = Vec::new();
        if let Some(place) = problem.location() {
            properties.push(format!("file={}", property(&relative(&place.path, base))));
            properties.extend(place.line.map(|line| format!("line={line}")));
            properties.extend(place.column.map(|column| format!("col={column}")));
        }
        if let Some(code) = problem.code {
            properties.push(format!("title={code}"));
        }
        let level = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        format!("::{level} {}::{}", properties.join(","), data(&text(problem)))
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a message or property of a workflow command must not have as it is.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The message with what is to be known besides, a line each.
fn text(problem: &Diagnostic) -> String {
    let mut text = problem.message.clone();
    if let Some(label) = &problem.label {
        text.push_str(&format!(" ({label})"));
    }
    for note in &problem.notes {
        text.push('\n');
        text.push_str(note);
    }
    text
}

/// A path with `/`, from `base` where it is inside.
pub(super) fn relative(path: &Path, base: &Path) -> String {
    let shown = path.strip_prefix(base).unwrap_or(path);
    shown.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// SARIF 2.1.0: one run, with those of the rules that occur in it.
pub(super) fn sarif(
    diagnostics: &[Diagnostic],
    rules: impl IntoIterator<Item = Rule>,
    base: &Path,
) -> Value {
    let occurs = |rule: &Rule| diagnostics.iter().any(|problem| problem.code == Some(rule.id));
    let rules: Vec<Value> = rules
        .into_iter()
        .filter(occurs)
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": rule.text },
                "help": { "text": rule.help },
            })
        })
        .collect();
    let results: Vec<Value> =
        diagnostics.iter().map(|problem| result(problem, &rules, base)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-agents",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(problem: &Diagnostic, rules: &[Value], base: &Path) -> Value {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut result = json!({ "level": level, "message": { "text": text(problem) } });
    if let Some(code) = problem.code {
        result["ruleId"] = code.into();
        if let Some(index) = rules.iter().position(|rule| rule["id"] == code) {
            result["ruleIndex"] = index.into();
        }
    }
    if let Some(place) = problem.location() {
        let mut physical = json!({ "artifactLocation": { "uri": uri(&place.path, base) } });
        if let (Some(line), Some(column)) = (place.line, place.column) {
            physical["region"] = json!({ "startLine": line, "startColumn": column });
            if let (Some(source), Some(span)) = (&problem.source, &problem.span)
                && !span.is_empty()
            {
                let (line, column) = source.line_column(span.end);
                physical["region"]["endLine"] = line.into();
                physical["region"]["endColumn"] = column.into();
            }
        }
        result["locations"] = json!([{ "physicalLocation": physical }]);
    }
    result
}

/// A reference from `base`, or the whole address of a file outside of it.
fn uri(path: &Path, base: &Path) -> String {
    let Ok(inside) = path.strip_prefix(base) else {
        return url::Url::from_file_path(path).map_or_else(|()| relative(path, base), String::from);
    };
    let mut url = url::Url::from_directory_path(base).ok();
    if let Some(mut segments) = url.as_mut().and_then(|url| url.path_segments_mut().ok()) {
        segments.clear().extend(inside.iter().map(|part| part.to_string_lossy()));
    }
    url.map_or_else(|| relative(path, base), |url| url.path().trim_start_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;

    #[test]
    fn workflow_commands_keep_their_shape_whatever_is_in_a_message() {
        let source = Source::new("/base/a,b:c/100%.toml", "x = 1\ny = 2\n");
        let problem =
            Diagnostic::error("one\ntwo 50%").code("S001").at(&source, 6..7).note("do: it");
        let told = github(&[problem, Diagnostic::warning("plain")], Path::new("/base"));
        assert_eq!(
            told,
            "::error file=a%2Cb%3Ac/100%25.toml,line=2,col=1,title=S001::one%0Atwo 50%25%0Ado: it\n\
             ::warning ::plain"
        );
    }

    #[cfg(unix)]
    #[test]
    fn sarif_names_files_by_references_that_are_valid() {
        let uri = |path: &str| super::uri(Path::new(path), Path::new("/base"));
        assert_eq!(uri("/base/a b/ü.toml"), "a%20b/%C3%BC.toml");
        assert_eq!(uri("/other/x"), "file:///other/x");
    }
}
