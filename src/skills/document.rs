//! `SKILL.md` as an author wrote it (agentskills.io, with `crates` and `predicates` of ours).

use std::ops::Range;
use std::sync::Arc;

use serde_yaml::Value;

use super::frontmatter::Frontmatter;
use super::name::{NAME_LIMIT, conforms, could_be_a_path, same_name, slug};
use super::scan::{scan_skill, scan_values};
use crate::plugins::diagnostics::codes;
use crate::text::toml::Located;
use crate::text::{Diagnostic, Source};

mod gate;
#[cfg(test)]
mod tests;

/// Characters that a description may have at most (agentskills.io).
pub(crate) const DESCRIPTION_LIMIT: usize = 1024;
/// Characters that `compatibility` may have at most (agentskills.io).
const COMPATIBILITY_LIMIT: usize = 500;

/// `crates` (or `depends-on`) and `predicates` of a skill as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawGate {
    /// Each string holds one atom or several, with commas between; `None` without the key.
    pub crates: Option<Vec<Located<String>>>,
    /// One predicate each.
    pub predicates: Vec<Located<String>>,
}

impl RawGate {
    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.crates.is_none() && self.predicates.is_empty()
    }
}

/// A `SKILL.md`, read.
#[derive(Debug, Clone)]
pub(crate) struct SkillDocument {
    pub source: Arc<Source>,
    pub name: Located<String>,
    /// The name it can be installed under: the written one where it follows the rules, else a
    /// slug of it.
    pub install_name: String,
    /// The description, cut at [`DESCRIPTION_LIMIT`].
    pub description: Located<String>,
    /// Under which terms it may be used, as it says.
    pub license: Option<String>,
    pub gate: RawGate,
}

/// What [`SkillDocument::check`] found.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub document: Option<SkillDocument>,
    /// When it applies, as far as that could be read; also of a skill that can't be used.
    pub gate: RawGate,
    /// Everything an author should know, in the order of the file.
    pub problems: Vec<Diagnostic>,
}

impl SkillDocument {
    /// Reads a `SKILL.md`. Whether its name is its folder's concerns its author only: see
    /// [`SkillDocument::check`].
    ///
    /// What the rules forbid but an installation can mend is a warning: a name that is no path but
    /// breaks the rules, a description that is too long, YAML with the usual slips.
    ///
    /// # Errors
    /// No readable frontmatter, no `name` or `description`, a name that could be a path, or
    /// `crates` that can't be a list of crates.
    pub(crate) fn parse(source: Arc<Source>) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let read = read(&source, None)?;
        match (read.document, read.errors.into_iter().next()) {
            (Some(document), None) => Ok((document, read.warnings)),
            (_, Some(error)) => Err(Box::new(error)),
            // A document without a field has an error that says so.
            (None, None) => {
                Err(Box::new(Diagnostic::error("it can't be read").in_file(&source.path)))
            }
        }
    }

    /// Everything an author should know about a `SKILL.md`: each problem of
    /// [`SkillDocument::parse`], not the first alone, with those that break the published rules as
    /// errors, and what `scan_skill` and `scan_values` find.
    pub(crate) fn check(source: &Arc<Source>) -> Checked {
        let mut checked = match read(source, folder_of(source).as_deref()) {
            Ok(read) => {
                let mut problems = read.errors;
                problems.extend(read.warnings);
                let hidden = scan_values(&source.text, &read.front);
                problems.extend(hidden.iter().map(|finding| finding.diagnostic(source)));
                Checked { document: read.document, gate: read.gate, problems }
            }
            Err(error) => {
                Checked { document: None, gate: RawGate::default(), problems: vec![*error] }
            }
        };
        for diagnostic in &mut checked.problems {
            if diagnostic.code.is_some_and(|code| RULES.contains(&code)) {
                diagnostic.severity = crate::text::Severity::Error;
            }
        }
        let hidden = scan_skill(&source.text);
        checked.problems.extend(hidden.iter().map(|finding| finding.diagnostic(source)));
        checked.problems.sort_by_key(start);
        checked
    }
}

/// The name of the folder that a file is in.
fn folder_of(source: &Source) -> Option<String> {
    Some(source.path.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// Where a problem stands.
fn start(problem: &Diagnostic) -> usize {
    problem.span.as_ref().map_or(0, |span| span.start)
}

/// A frontmatter, and what could be made of it.
struct Read {
    front: Frontmatter,
    document: Option<SkillDocument>,
    gate: RawGate,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

fn read(source: &Arc<Source>, folder: Option<&str>) -> Result<Read, Box<Diagnostic>> {
    let front = Frontmatter::parse(source)
        .map_err(|problem| Box::new((*problem).code(codes::FRONTMATTER)))?;
    let source = Arc::clone(source);
    Ok(Reader { source, front, warnings: Vec::new(), errors: Vec::new() }.read(folder))
}

/// What breaks the published rules, and an installation mends.
const RULES: [&str; 3] = [codes::SKILL_NAME, codes::FOLDER_NAME, codes::SKILL_LENGTH];

struct Reader {
    source: Arc<Source>,
    front: Frontmatter,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Reader {
    fn read(mut self, folder: Option<&str>) -> Read {
        for mend in self.front.mends.clone() {
            let span = mend.value(&self.source.text);
            self.warn(codes::YAML_SLIP, span, mend.problem);
        }
        let name = self.name();
        let install_name = name.as_ref().map(|name| self.install_name(name, folder));
        let description = self.description();
        let license = self.optional("license").map(|text| text.value);
        self.check_optional();
        let gate = self.gate();
        if self.front.get("hooks").is_some() {
            let span = self.front.span("hooks");
            let message = "`hooks` of a skill are never installed: they run commands unasked";
            self.warn(codes::SKILL_RUNS, span, message);
        }
        let document = match (name, install_name, description) {
            (Some(name), Some(install_name), Some(description)) if self.errors.is_empty() => {
                Some(SkillDocument {
                    source: Arc::clone(&self.source),
                    name,
                    install_name,
                    description,
                    license,
                    gate: gate.clone(),
                })
            }
            _ => None,
        };
        let Self { front, mut errors, mut warnings, .. } = self;
        errors.sort_by_key(start);
        warnings.sort_by_key(start);
        Read { front, document, gate, errors, warnings }
    }

    /// Tells what is wrong with the fields that only agents use.
    fn check_optional(&mut self) {
        if let Some(text) = self.optional("compatibility")
            && text.value.chars().count() > COMPATIBILITY_LIMIT
        {
            let message =
                format!("`compatibility` is longer than {COMPATIBILITY_LIMIT} characters");
            self.warn(codes::SKILL_LENGTH, text.span, message);
        }
        // A string by the rules; agents write lists too.
        if !matches!(self.front.get("allowed-tools"), Some(Value::Sequence(_))) {
            let _ = self.optional("allowed-tools");
        }
        if !matches!(self.front.get("metadata"), None | Some(Value::Null | Value::Mapping(_))) {
            let span = self.front.span("metadata");
            let message = "`metadata` must be `key: value` lines; it is left out";
            self.warn(codes::IGNORED_FIELD, span, message);
        }
    }

    fn warn(&mut self, code: &'static str, span: Range<usize>, message: impl Into<String>) {
        self.warnings.push(Diagnostic::warning(message).code(code).at(&self.source, span));
    }

    fn error(
        &self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(message).code(code).at(&self.source, span)
    }

    /// A value that must be there and be a plain one.
    fn required(&mut self, key: &str) -> Option<Located<String>> {
        let span = self.front.span(key);
        let problem = match self.front.get(key) {
            None => self
                .error(codes::SKILL_FIELD, span, format!("`{key}` is missing"))
                .note(format!("write `{key}: …` between the `---` lines")),
            Some(value) => match scalar(value) {
                Some(text) if !text.trim().is_empty() => {
                    return Some(Located { value: text.trim().to_owned(), span });
                }
                None if !value.is_null() => {
                    self.error(codes::SKILL_FIELD, span, format!("`{key}` must be a string"))
                }
                _ => self.error(codes::SKILL_FIELD, span, format!("`{key}` is empty")),
            },
        };
        self.errors.push(problem);
        None
    }

    /// A plain value; one of another type is told and left out.
    fn optional(&mut self, key: &str) -> Option<Located<String>> {
        let value = self.front.get(key)?;
        let text = scalar(value);
        let span = self.front.span(key);
        if text.is_none() && !value.is_null() {
            let message = format!("`{key}` must be a string; it is left out");
            self.warn(codes::IGNORED_FIELD, span.clone(), message);
        }
        text.map(|value| Located { value, span })
    }

    fn name(&mut self) -> Option<Located<String>> {
        let name = self.required("name")?;
        if could_be_a_path(&name.value) {
            let shown = name.value.escape_debug().to_string();
            let problem = self
                .error(codes::PATH_NAME, name.span, format!("`{shown}` can't be a skill's name"))
                .note("use lower-case letters, digits and single hyphens");
            self.errors.push(problem);
            return None;
        }
        Some(name)
    }

    fn install_name(&mut self, name: &Located<String>, folder: Option<&str>) -> String {
        let install_name = slug(&name.value);
        if !conforms(&name.value) {
            self.warn(
                codes::SKILL_NAME,
                name.span.clone(),
                format!(
                    "the name `{}` breaks the rules (1 to {NAME_LIMIT} lower-case letters, digits \
                     and single hyphens); it is installed as `{install_name}`",
                    name.value
                ),
            );
        }
        if let Some(folder) = folder
            && !same_name(folder, &name.value)
        {
            self.warn(
                codes::FOLDER_NAME,
                name.span.clone(),
                format!("the name `{}` differs from its folder's, `{folder}`", name.value),
            );
        }
        install_name
    }

    fn description(&mut self) -> Option<Located<String>> {
        let mut description = self.required("description")?;
        let length = description.value.chars().count();
        if length > DESCRIPTION_LIMIT {
            description.value = cut_description(&description.value);
            let warning = Diagnostic::warning(format!(
                "the description has {length} characters, {DESCRIPTION_LIMIT} are allowed; it is \
                 cut when installed"
            ));
            let span = description.span.clone();
            self.warnings.push(warning.code(codes::SKILL_LENGTH).at(&self.source, span));
        }
        Some(description)
    }
}

/// A description within the limit, ended by an ellipsis when something was cut.
pub(super) fn cut_description(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION_LIMIT {
        return text.to_owned();
    }
    let short: String = text.chars().take(DESCRIPTION_LIMIT - 1).collect();
    format!("{}…", short.trim_end())
}

/// A string, number or boolean as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
