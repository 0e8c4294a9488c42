//! `evals/evals.json`, as published skills ship it (agentskills.io, "Evaluating skills"): tasks with what
//! their author expects. Keys that others add are passed over.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::files::{Limit, contained, read_source};
use crate::text::Diagnostic;

const FILE: &str = "evals/evals.json";

#[derive(Deserialize)]
struct EvalsFile {
    evals: Vec<Eval>,
}

#[derive(Deserialize)]
struct Eval {
    /// A number or a word.
    #[serde(default)]
    id: Value,
    prompt: String,
    #[serde(default)]
    expected_output: Option<String>,
    /// Relative to the skill's folder; some authors mean that of the file.
    #[serde(default)]
    files: Vec<String>,
    #[serde(default, alias = "assertions")]
    expectations: Vec<Value>,
}

/// One thing that an agent is asked to do.
pub(super) struct Task {
    pub(super) id: String,
    pub(super) prompt: String,
    pub(super) expected: Vec<String>,
    /// The files that it is about: where they are, and their path in the agent's folder.
    pub(super) files: Vec<(PathBuf, String)>,
}

/// The tasks of the skill in `dir`; `None` where it ships none.
///
/// # Errors
/// The file is there and can't be understood, or names a file that is not there.
pub(super) fn read(dir: &Path) -> Result<Option<Vec<Task>>, Diagnostic> {
    let path = dir.join(FILE);
    let source = match read_source(&path, Limit::MANIFEST) {
        Ok(source) => source,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.diagnose("the tasks", &path)),
    };
    let file: EvalsFile = serde_json::from_str(&source.text).map_err(|error| {
        let before: usize = source
            .text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        let at = (before + error.column().saturating_sub(1)).min(source.text.len());
        Diagnostic::error(error.to_string()).at(&source, at..at)
    })?;
    let task = |(index, eval): (usize, Eval)| {
        let id = match &eval.id {
            Value::String(id) => id.clone(),
            Value::Null => (index + 1).to_string(),
            other => other.to_string(),
        };
        let expectations = eval.expectations.iter().map(|expectation| {
            let text = expectation.as_str().or_else(|| expectation["text"].as_str());
            text.map_or_else(|| expectation.to_string(), str::to_owned)
        });
        let expected = eval.expected_output.iter().cloned().chain(expectations).collect();
        let files = eval.files.iter().map(|file| place(dir, &path, file));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        Ok(Task { id, prompt: eval.prompt, expected, files })
    };
    file.evals.into_iter().enumerate().map(task).collect::<Result<_, _>>().map(Some)
}

fn place(dir: &Path, file: &Path, named: &str) -> Result<(PathBuf, String), Diagnostic> {
    let roots = [dir.to_path_buf(), dir.join("evals")];
    let mut found = roots.iter().filter_map(|root| contained(root, named).ok());
    let path = found.find(|path| path.is_file()).ok_or_else(|| {
        Diagnostic::error(format!("the file `{named}` of a task is not in the skill's folder"))
            .in_file(file)
    })?;
    Ok((path, named.to_owned()))
}
