//! `SKILL.md` as an author wrote it (agentskills.io, with `crates` and `predicates` of ours).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_yaml::Value;

use super::frontmatter::Frontmatter;
use super::name::{NAME_LIMIT, conforms, could_be_a_path, same_name, slug};
use super::scan::scan_hidden;
use crate::plugins::diagnostics::codes;
use crate::text::toml::Located;
use crate::text::{Diagnostic, Source};

#[cfg(test)]
mod tests;

/// Characters that a description may have at most (agentskills.io).
pub const DESCRIPTION_LIMIT: usize = 1024;
/// Characters that `compatibility` may have at most (agentskills.io).
const COMPATIBILITY_LIMIT: usize = 500;

/// `crates` (or `depends-on`) and `predicates` of a skill as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawGate {
    /// Each string holds one atom or several, with commas between; `None` without the key.
    pub crates: Option<Vec<Located<String>>>,
    /// One predicate each.
    pub predicates: Vec<Located<String>>,
}

impl RawGate {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.crates.is_none() && self.predicates.is_empty()
    }
}

/// A `SKILL.md`, read.
#[derive(Debug, Clone)]
pub struct SkillDocument {
    /// The file.
    pub source: Arc<Source>,
    /// The name as written.
    pub name: Located<String>,
    /// The name it can be installed under: the written one where it follows the rules, else a
    /// slug of it.
    pub install_name: String,
    /// The description, cut at [`DESCRIPTION_LIMIT`].
    pub description: Located<String>,
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`.
    pub compatibility: Option<String>,
    /// The plain values of `metadata`.
    pub metadata: BTreeMap<String, String>,
    /// Tools that the skill may use without asking, in agents that honour it.
    pub allowed_tools: Option<Located<String>>,
    /// When it applies.
    pub gate: RawGate,
    /// Whether it carries `hooks`, which are never installed.
    pub has_hooks: bool,
}

impl SkillDocument {
    /// Reads a `SKILL.md`; the folder in the source's path is what its name is compared with.
    ///
    /// What the rules forbid but an installation can mend is a warning: a name that is no path but
    /// breaks the rules, a description that is too long, YAML with the usual slips.
    ///
    /// # Errors
    /// No readable frontmatter, no `name` or `description`, a name that could be a path, or
    /// `crates` that can't be a list of crates.
    pub fn parse(source: Arc<Source>) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let folder = source.path.parent().and_then(|dir| dir.file_name());
        let folder = folder.map(|name| name.to_string_lossy().into_owned());
        Self::parse_in(source, folder.as_deref())
    }

    /// As [`SkillDocument::parse`], with the name of the folder given; `None` where that name
    /// means nothing, as for a checkout of a whole repository.
    ///
    /// # Errors
    /// The same.
    pub fn parse_in(
        source: Arc<Source>,
        folder: Option<&str>,
    ) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let front = Frontmatter::parse(&source)
            .map_err(|problem| Box::new((*problem).code(codes::FRONTMATTER)))?;
        let reader = Reader { source, front, warnings: Vec::new() };
        reader.read(folder)
    }

    /// Everything an author should know about a `SKILL.md`: the problems of
    /// [`SkillDocument::parse`], with those that break the published rules as errors, and what
    /// [`scan_hidden`] finds.
    pub fn check(source: &Arc<Source>) -> Vec<Diagnostic> {
        let mut found = match Self::parse(Arc::clone(source)) {
            Ok((_, warnings)) => warnings,
            Err(error) => vec![*error],
        };
        for diagnostic in &mut found {
            if diagnostic.code.is_some_and(|code| RULES.contains(&code)) {
                diagnostic.severity = crate::text::Severity::Error;
            }
        }
        found.extend(scan_hidden(&source.text).iter().map(|finding| finding.diagnostic(source)));
        found.sort_by_key(|diagnostic| diagnostic.span.as_ref().map_or(0, |span| span.start));
        found
    }
}

/// What breaks the published rules, and an installation mends.
const RULES: [&str; 3] = [codes::SKILL_NAME, codes::FOLDER_NAME, codes::SKILL_LENGTH];

struct Reader {
    source: Arc<Source>,
    front: Frontmatter,
    warnings: Vec<Diagnostic>,
}

impl Reader {
    fn read(
        mut self,
        folder: Option<&str>,
    ) -> Result<(SkillDocument, Vec<Diagnostic>), Box<Diagnostic>> {
        for mend in self.front.mends.clone() {
            self.warn(codes::YAML_SLIP, mend.lines.start..mend.lines.start, mend.problem);
        }
        let name = self.name()?;
        let install_name = self.install_name(&name, folder);
        let description = self.description()?;
        let compatibility = self.optional("compatibility").map(|found| found.value);
        if compatibility.as_ref().is_some_and(|text| text.chars().count() > COMPATIBILITY_LIMIT) {
            let span = self.front.span("compatibility");
            self.warn(
                codes::SKILL_LENGTH,
                span,
                format!("`compatibility` is longer than {COMPATIBILITY_LIMIT} characters"),
            );
        }
        let license = self.optional("license").map(|found| found.value);
        let allowed_tools = self.allowed_tools();
        let metadata = self.metadata();
        let gate = self.gate()?;
        let has_hooks = self.front.get("hooks").is_some();
        if has_hooks {
            let span = self.front.span("hooks");
            let message = "`hooks` of a skill are never installed: they run commands unasked";
            self.warn(codes::SKILL_RUNS, span, message);
        }
        let document = SkillDocument {
            source: Arc::clone(&self.source),
            name,
            install_name,
            description,
            license,
            compatibility,
            metadata,
            allowed_tools,
            gate,
            has_hooks,
        };
        self.warnings.sort_by_key(|warning| warning.span.as_ref().map_or(0, |span| span.start));
        Ok((document, self.warnings))
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
    fn required(&self, key: &str) -> Result<Located<String>, Box<Diagnostic>> {
        let span = self.front.span(key);
        let missing = || {
            Box::new(
                self.error(codes::SKILL_FIELD, span.clone(), format!("`{key}` is missing"))
                    .note(format!("write `{key}: …` between the `---` lines")),
            )
        };
        let value = self.front.get(key).ok_or_else(missing)?;
        match scalar(value) {
            Some(text) if !text.trim().is_empty() => {
                Ok(Located { value: text.trim().to_owned(), span })
            }
            None if !value.is_null() => Err(self
                .error(codes::SKILL_FIELD, span, format!("`{key}` must be a string"))
                .into()),
            _ => Err(self.error(codes::SKILL_FIELD, span, format!("`{key}` is empty")).into()),
        }
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

    fn name(&self) -> Result<Located<String>, Box<Diagnostic>> {
        let name = self.required("name")?;
        if could_be_a_path(&name.value) {
            let shown = name.value.escape_debug().to_string();
            return Err(self
                .error(codes::PATH_NAME, name.span, format!("`{shown}` can't be a skill's name"))
                .note("use lower-case letters, digits and single hyphens")
                .into());
        }
        Ok(name)
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

    fn description(&mut self) -> Result<Located<String>, Box<Diagnostic>> {
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
        Ok(description)
    }

    /// A string by the rules; agents write lists too.
    fn allowed_tools(&mut self) -> Option<Located<String>> {
        let span = self.front.span("allowed-tools");
        if let Some(Value::Sequence(items)) = self.front.get("allowed-tools") {
            let names: Vec<_> = items.iter().filter_map(scalar).collect();
            return Some(Located { value: names.join(", "), span });
        }
        self.optional("allowed-tools")
    }

    fn metadata(&mut self) -> BTreeMap<String, String> {
        match self.front.get("metadata") {
            Some(Value::Mapping(values)) => values
                .iter()
                .filter_map(|(key, value)| Some((scalar(key)?, scalar(value)?)))
                .collect(),
            None | Some(Value::Null) => BTreeMap::new(),
            Some(_) => {
                let span = self.front.span("metadata");
                let message = "`metadata` must be `key: value` lines; it is left out";
                self.warn(codes::IGNORED_FIELD, span, message);
                BTreeMap::new()
            }
        }
    }

    fn gate(&mut self) -> Result<RawGate, Box<Diagnostic>> {
        let mut found: Option<(String, Vec<Located<String>>)> = None;
        for key in ["crates", "depends-on"] {
            for within in [None, Some("metadata")] {
                let Some(items) = self.list(within, key)? else { continue };
                let place = within.map_or(key.to_owned(), |parent| format!("{parent}.{key}"));
                match &found {
                    // Said twice for the sake of two readers: fine as long as it is the same.
                    Some((other, before)) if atoms(before) != atoms(&items) => {
                        let span = items.first().map_or(0..0, |item| item.span.clone());
                        return Err(self
                            .error(
                                codes::SKILL_GATE,
                                span,
                                format!("`{other}` and `{place}` say different things"),
                            )
                            .note("keep one of them")
                            .into());
                    }
                    Some(_) => {}
                    None => found = Some((place, items)),
                }
            }
        }
        if let Some((place, items)) = &found
            && items.iter().all(|item| item.value.trim().is_empty())
        {
            let span = self.front.span(place.split('.').next().unwrap_or(place));
            let message = format!("`{place}` is empty: the skill never applies");
            self.warn(codes::SKILL_GATE, span, message);
        }
        let mut predicates = self.list(None, "predicates")?.unwrap_or_default();
        predicates.extend(self.list(Some("metadata"), "predicates")?.unwrap_or_default());
        Ok(RawGate { crates: found.map(|(_, items)| items), predicates })
    }

    /// A string, or a list of strings, at the top or inside a mapping.
    fn list(
        &self,
        within: Option<&str>,
        key: &str,
    ) -> Result<Option<Vec<Located<String>>>, Box<Diagnostic>> {
        let (value, span) = match within {
            None => (self.front.get(key), self.front.span(key)),
            Some(parent) => (
                self.front.get(parent).and_then(|values| values.get(key)),
                self.front.span_within(&self.source.text, parent, key),
            ),
        };
        let wrong = || {
            let message = format!("`{key}` must be a string or a list");
            Box::new(self.error(codes::SKILL_GATE, span.clone(), message))
        };
        let located = |value: String| Located { value, span: span.clone() };
        match value {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(Vec::new())),
            Some(Value::String(text)) => Ok(Some(vec![located(text.clone())])),
            Some(Value::Sequence(items)) => items
                .iter()
                .map(|item| item.as_str().map(|text| located(text.to_owned())).ok_or_else(wrong))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(wrong()),
        }
    }
}

/// The atoms of a list, in whatever way they were written.
fn atoms(items: &[Located<String>]) -> Vec<String> {
    let parts = items.iter().flat_map(|item| item.value.split(','));
    let mut all: Vec<_> = parts
        .map(|part| part.split_whitespace().collect())
        .filter(|part: &String| !part.is_empty())
        .collect();
    all.sort();
    all
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
