//! A package on its way to a plugin, and how its JSON is read.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::folder::Folder;
use super::{Place, ReadPackage};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{
    CrateAtom, Gate, Hook, Installation, McpServer, NotTaken, Package, PackageFormat, Plugin,
    Predicate, SkillGroup, SkillSource,
};
use crate::plugins::source::BUILTIN_PLUGIN;
use crate::text::{Diagnostic, Source, same_crate};

/// The longest name of a plugin or server.
pub(super) const NAME_LENGTH: usize = 64;
/// The namespace of what a package says to us.
const NAMESPACE: &str = "dev.symposium";
/// Names of a list that are told.
const TOLD: usize = 6;

/// What comes together of a package.
pub(super) struct Draft<'a> {
    pub place: &'a Place<'a>,
    pub folder: &'a dyn Folder,
    /// The file that makes it a package, below its folder.
    manifest: &'static str,
    format: PackageFormat,
    pub version: Option<String>,
    pub description: Option<String>,
    gate: Option<Gate>,
    pub skills: Vec<SkillGroup>,
    pub hooks: Vec<Hook>,
    pub installations: Vec<Installation>,
    pub servers: Vec<McpServer>,
    not_taken: Vec<NotTaken>,
    /// Whether every file could be read.
    is_whole: bool,
}

/// Why a package is none.
pub(super) struct Refused {
    message: String,
    /// Where in the text of the manifest.
    at: usize,
}

impl Refused {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), at: 0 }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        place: &'a Place<'a>,
        folder: &'a dyn Folder,
        (format, manifest): (PackageFormat, &'static str),
    ) -> Self {
        Self {
            place,
            folder,
            manifest,
            format,
            version: None,
            description: None,
            gate: None,
            skills: Vec::new(),
            hooks: Vec::new(),
            installations: Vec::new(),
            servers: Vec::new(),
            not_taken: Vec::new(),
            is_whole: true,
        }
    }

    /// Notes something that has no effect here, though the format has it.
    pub(super) fn leave(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.note(what.into(), why.into(), false);
    }

    /// Notes something that breaks a rule of the format, and costs no more than itself.
    pub(super) fn mistake(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.note(what.into(), why.into(), true);
    }

    fn note(&mut self, what: String, why: String, is_mistake: bool) {
        let found = NotTaken { what, why, is_mistake };
        if !self.not_taken.contains(&found) {
            self.not_taken.push(found);
        }
    }

    /// The JSON of a file; `None` where there is none, or none that can be read, which is noted.
    pub(super) fn json(&mut self, path: &str) -> Option<Value> {
        let problem = match self.folder.text(path) {
            Ok(text) => match parse(&text?) {
                Ok(value) => return Some(value),
                Err(error) => format!("it is no JSON: {error}"),
            },
            Err(problem) => problem,
        };
        self.is_whole = false;
        self.mistake(format!("`{path}`"), problem);
        None
    }

    /// Adds the skills in a folder.
    pub(super) fn skill_folder(&mut self, path: &str) {
        let source = SkillSource::Path(path.to_owned());
        if !self.skills.iter().any(|known| known.source == source) {
            self.skills.push(SkillGroup { gate: Gate::default(), source, span: 0..0 });
        }
    }

    /// Adds a server, unless one of its name is there.
    pub(super) fn server(&mut self, server: McpServer) {
        if self.servers.iter().any(|known| known.name == server.name) {
            let what = format!("a second server `{}`", server.name);
            return self.mistake(what, "the first one is taken");
        }
        self.servers.push(server);
    }

    /// Reads what the package says to us.
    pub(super) fn extensions(&mut self, manifest: &Map<String, Value>) {
        let Some(said) = manifest.get("extensions").and_then(|all| all.get(NAMESPACE)) else {
            return;
        };
        let Value::Object(said) = said else {
            return self.mistake(format!("`{NAMESPACE}`"), "it is no object");
        };
        for key in said.keys() {
            if !["crates", "depends-on", "predicates"].contains(&key.as_str()) {
                let why = "known keys: crates, depends-on, predicates";
                self.mistake(format!("`{key}` of `{NAMESPACE}`"), why);
            }
        }
        let both = ["crates", "depends-on"].map(|key| said.get(key));
        if let [Some(_), Some(_)] = both {
            let why = "`crates` and `depends-on` mean the same; it never applies until one is gone";
            self.mistake(format!("both lists of `{NAMESPACE}`"), why);
            self.gate = Some(unread("crates"));
            return;
        }
        let crates = both.into_iter().flatten().next().map(|value| self.atoms(value));
        let predicates = said.get("predicates").map(|value| self.predicates(value));
        if crates.is_some() || predicates.is_some() {
            let mut gate = Gate { crates: None, predicates: predicates.unwrap_or_default() };
            if let Some((atoms, unread)) = crates {
                gate.crates = Some(atoms);
                gate.predicates.extend(unread);
            }
            self.gate = Some(gate);
        }
    }

    /// What is in a list of crates; with what can't be read where nothing else is.
    fn atoms(&mut self, value: &Value) -> (Vec<CrateAtom>, Option<Predicate>) {
        let Some(texts) = strings(value) else {
            let why = "it is a string or a list of strings; until then it never applies";
            self.mistake(format!("the crates of `{NAMESPACE}`"), why);
            return (Vec::new(), Some(Predicate::Unsupported("crates".to_owned())));
        };
        let mut atoms = Vec::new();
        let mut unread = None;
        for text in texts {
            match CrateAtom::parse(&text) {
                Ok(atom) => atoms.push(atom),
                Err(error) => {
                    let what = format!("`{text}` in the crates of `{NAMESPACE}`");
                    self.mistake(what, error.message);
                    unread = Some(Predicate::Unsupported(text));
                }
            }
        }
        let unread = unread.filter(|_| atoms.is_empty());
        (atoms, unread)
    }

    fn predicates(&mut self, value: &Value) -> Vec<Predicate> {
        let Some(texts) = strings(value) else {
            let why = "they are a string or a list of strings; until then it never applies";
            self.mistake(format!("the predicates of `{NAMESPACE}`"), why);
            return vec![Predicate::Unsupported("predicates".to_owned())];
        };
        let read = texts.into_iter().map(|text| {
            Predicate::parse(&text).unwrap_or_else(|error| {
                let what = format!("`{text}` in the predicates of `{NAMESPACE}`");
                self.mistake(what, format!("{}; it counts as not holding", error.message));
                Predicate::Unsupported(text)
            })
        });
        read.collect()
    }

    /// The plugin. Without a word of its authors on when it applies it waits for the user's.
    pub(super) fn finish(self, name: String) -> ReadPackage {
        let never = Gate { crates: Some(Vec::new()), predicates: Vec::new() };
        let Place { source, source_root, dir, entry } = *self.place;
        let manifest = match entry {
            Some(entry) if entry.is_whole => entry.manifest.clone(),
            _ => dir.join(self.manifest),
        };
        let at = manifest.clone();
        let plugin = Plugin {
            name,
            version: self.version,
            description: self.description,
            package: Some(Package {
                format: self.format,
                elsewhere: None,
                not_taken: self.not_taken,
            }),
            source: source.to_owned(),
            source_root: source_root.to_path_buf(),
            manifest,
            dir: dir.to_path_buf(),
            gate: self.gate.unwrap_or(never),
            installations: self.installations,
            skills: self.skills,
            hooks: self.hooks,
            servers: self.servers,
            subcommands: Vec::new(),
        };
        let diagnostics = Vec::new();
        ReadPackage { plugin: Some(plugin), manifest: at, is_whole: self.is_whole, diagnostics }
    }

    /// A package that is refused, with the text that was read.
    pub(super) fn refuse(self, text: &str, refused: Refused) -> ReadPackage {
        let manifest = self.place.dir.join(self.manifest);
        let source = Source::new(&manifest, text);
        let diagnostics = vec![refused.diagnose(&source, "this package is left out")];
        ReadPackage { plugin: None, manifest, is_whole: false, diagnostics }
    }
}

impl Refused {
    /// The problem at its place.
    pub(super) fn diagnose(self, source: &Arc<Source>, what: &str) -> Diagnostic {
        let mut at = self.at.min(source.text.len());
        while !source.text.is_char_boundary(at) {
            at -= 1;
        }
        let end = at + source.text[at..].chars().next().map_or(0, char::len_utf8);
        let problem = Diagnostic::error(format!("{what}: {}", self.message));
        problem.code(codes::PACKAGE).at(source, at..end)
    }

    /// What is wrong with the value of `key`, which is looked for in the text.
    pub(super) fn at_key(text: &str, key: &str, message: impl Into<String>) -> Self {
        let at = text.find(&format!("\"{key}\"")).unwrap_or(0);
        Self { message: message.into(), at }
    }
}

/// A gate that never holds, because `what` can't be read.
fn unread(what: &str) -> Gate {
    Gate { crates: Some(Vec::new()), predicates: vec![Predicate::Unsupported(what.to_owned())] }
}

/// A string or a list of strings.
pub(super) fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// A map of strings, in file order.
pub(super) fn string_pairs(value: &Value) -> Option<Vec<(String, String)>> {
    let pairs = value.as_object()?.iter();
    pairs.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// What a manifest or the entry of an index says there, where that is a string.
pub(in crate::plugins) fn text_of(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// A manifest's text as an object.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, Refused> {
    match parse(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Refused::new("its manifest is no JSON object")),
        Err(error) => {
            let line = error.line().saturating_sub(1);
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let at = (start + error.column().saturating_sub(1)).min(text.len());
            Err(Refused { message: format!("its manifest is no JSON: {error}"), at })
        }
    }
}

/// What keeps a name from being a plugin's, whatever its format allows.
pub(super) fn unusable_name(name: &str) -> Option<String> {
    if same_crate(name, BUILTIN_PLUGIN) {
        return Some(format!("`{BUILTIN_PLUGIN}` is the name of the plugin inside the program"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= NAME_LENGTH
        && name.chars().all(allowed);
    (!is_good).then(|| {
        let shown = crate::report::fit(name, 80);
        format!(
            "`{shown}` can't be a plugin's name: up to {NAME_LENGTH} letters, digits, `-`, `_` and \
             `.`, a letter or digit first"
        )
    })
}

/// `2 commands: deploy, review`.
pub(super) fn listed<T: AsRef<str>>(names: &[T], one: &str) -> String {
    let told: Vec<&str> = names.iter().take(TOLD).map(AsRef::as_ref).collect();
    let more = match names.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names {
        [name] => format!("{one} `{}`", name.as_ref()),
        _ => format!("{} {one}s: {}{more}", names.len(), told.join(", ")),
    }
}

/// A path of the manifest in its normal form, with `/`.
pub(super) fn normal(path: &str) -> Option<String> {
    let inside = crate::files::relative_inside(path)?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_short() {
        let names = |count: usize| (0..count).map(|n| format!("n{n}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1), "command"), "command `n0`");
        assert_eq!(listed(&names(2), "command"), "2 commands: n0, n1");
        assert_eq!(listed(&names(8), "agent"), "8 agents: n0, n1, n2, n3, n4, n5 and 2 more");
    }
}
