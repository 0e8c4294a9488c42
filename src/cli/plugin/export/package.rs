//! A plugin as a package: what can be expressed, and what can't.

use serde_json::{Map, Value, json};

use super::programs::{Program, of_installation};
use crate::Symposium;
use crate::agents::places::string_map;
use crate::cli::grammar::PackageFormat;
use crate::fetch::git::Policy;
use crate::files::contained;
use crate::plugins::in_words as gates;
use crate::plugins::model::{
    Hook, McpServer, OnFailure, Plugin, Predicate, SkillGroup, SkillSource, Transport,
};
use crate::skills::content::{Content, FileContent};
use crate::skills::discover::discover;
use crate::skills::files::collect;
use crate::skills::resolve::read_source;
use crate::skills::{Skill, SkillDocument, SkillOrigin};
use crate::sync::facts::checkout;
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

const SCHEMAS: &str = "https://agent-plugins.org/schemas/1.0.0";
/// Our namespace among the extensions of a package.
const EXTENSION: &str = "dev.symposium";
/// Longest name of a package.
const NAME_LENGTH: usize = 64;

/// A package, before it is written.
pub(super) struct Package<'a> {
    sym: &'a Symposium,
    plugin: &'a Plugin,
    format: PackageFormat,
    /// Its files, by their paths in it.
    pub(super) content: Content,
    /// What of the plugin is not in it, and why, a line each.
    pub(super) left_out: Vec<String>,
}

impl<'a> Package<'a> {
    /// # Errors
    /// When the plugin's name is none for a package.
    pub(super) fn of(
        sym: &'a Symposium,
        plugin: &'a Plugin,
        format: PackageFormat,
    ) -> Result<Self, Diagnostic> {
        let content = Content::default();
        let mut package = Self { sym, plugin, format, content, left_out: Vec::new() };
        package.manifest()?;
        plugin.skills.iter().for_each(|group| package.group(group));
        package.servers();
        package.hooks();
        for subcommand in &plugin.subcommands {
            package.omit(&format!("the subcommand `{}`", subcommand.name), "packages have none");
        }
        Ok(package)
    }

    fn omit(&mut self, what: &str, why: &str) {
        self.left_out.push(format!("not in the package: {what}: {why}"));
    }

    fn add_json(&mut self, path: &str, value: &Value) {
        let file = FileContent::text(format!("{value:#}\n"));
        self.content.files.insert(path.to_owned(), file);
    }

    fn manifest(&mut self) -> Result<(), Diagnostic> {
        let name = package_name(&self.plugin.name).ok_or_else(|| {
            Diagnostic::error(format!("`{}` can't be a package's name", self.plugin.name))
                .in_file(&self.plugin.manifest)
                .note("a package's name has lower-case letters, digits, single `-` and `.`")
        })?;
        if name != self.plugin.name {
            let was = &self.plugin.name;
            self.left_out.push(format!("the package is called `{name}`: `{was}` is no name there"));
        }
        let mut manifest = Map::new();
        if self.format == PackageFormat::AgentPlugins {
            manifest.insert("$schema".to_owned(), format!("{SCHEMAS}/plugin.schema.json").into());
        }
        manifest.insert("name".to_owned(), name.into());
        let Plugin { version, description, .. } = self.plugin;
        for (key, value) in [("version", version), ("description", description)] {
            manifest.extend(value.as_ref().map(|value| (key.to_owned(), value.as_str().into())));
        }
        let gate = self.gate();
        if !gate.is_empty() {
            manifest.insert("extensions".to_owned(), json!({ EXTENSION: gate }));
        }
        let path = match self.format {
            PackageFormat::AgentPlugins => "plugin.json",
            PackageFormat::Claude => ".claude-plugin/plugin.json",
        };
        self.add_json(path, &manifest.into());
        Ok(())
    }

    /// The plugin's own conditions, as they are written.
    fn gate(&mut self) -> Map<String, Value> {
        let plugin = self.plugin;
        let gate = &plugin.gate;
        let mut written = Map::new();
        if let Some(crates) = &gate.crates {
            written.insert("crates".to_owned(), crates.iter().map(gates::atom).collect());
        }
        let waits = |predicate: &&Predicate| matches!(predicate, Predicate::Waits { .. });
        let predicates: Vec<_> = gate
            .predicates
            .iter()
            .filter(|predicate| !waits(predicate))
            .map(gates::predicate)
            .collect();
        if gate.predicates.iter().any(|predicate| waits(&predicate)) {
            self.omit("`activation`", "whoever installs a package decides");
        }
        if !predicates.is_empty() {
            written.insert("predicates".to_owned(), predicates.into());
        }
        written
    }

    fn group(&mut self, group: &SkillGroup) {
        let (root, start) = match &group.source {
            SkillSource::Path(path) => match self.plugin.resolve(path) {
                Ok(start) => (self.plugin.source_root.clone(), start),
                Err(escape) => return self.omit("a group of skills", &escape.to_string()),
            },
            SkillSource::Git(place) => match checkout(self.sym, &Policy::cached(), place) {
                Ok(folder) if folder.start.is_empty() => (folder.root.clone(), folder.root),
                Ok(folder) => match contained(&folder.root, &folder.start) {
                    Ok(start) => (folder.root, start),
                    Err(escape) => return self.omit("a group of skills", &escape.to_string()),
                },
                Err(problem) => return self.omit("a group of skills", &problem.message),
            },
            SkillSource::Crate { .. } => {
                return self.omit("the skills of the matched crates", "they come with each crate");
            }
            SkillSource::NamedCrate { name, .. } => {
                let what = format!("the skills of the crate {name}");
                return self.omit(&what, "they come with the crate");
            }
        };
        if let Some(needs) = gates::needs(&[&group.gate]) {
            self.omit(
                &format!("the condition `{needs}` of a group of skills"),
                "a package has one condition for all, and the skills are in it",
            );
        }
        let found = discover(&root, &start, &UNOBSERVED);
        for problem in found.told {
            self.left_out.push(problem.to_string());
        }
        for skill in found.skills {
            if let Err(problem) = self.skill(&root, skill.path, &skill.dir) {
                self.omit(&format!("the skill in {}", skill.dir.display()), &problem.to_string());
            }
        }
    }

    /// A skill as it would be delivered.
    fn skill(
        &mut self,
        root: &std::path::Path,
        path: String,
        dir: &std::path::Path,
    ) -> Result<(), Box<Diagnostic>> {
        let (document, _) = read_source(root, dir, &UNOBSERVED).and_then(SkillDocument::parse)?;
        let name = document.install_name.clone();
        let skill = Skill {
            name: name.clone(),
            description: document.description.value.clone(),
            dir: dir.to_path_buf(),
            root: root.to_path_buf(),
            origin: SkillOrigin::Source { source: self.plugin.source.clone(), path },
            plugin: Some(self.plugin.name.clone()),
            same_as: Vec::new(),
            written: None,
        };
        let files = collect(&skill, &name, &UNOBSERVED)?;
        if !document.gate.is_empty() {
            self.omit(
                &format!("the condition of the skill `{name}`"),
                "other programs pass it over, and the skill is in it",
            );
        }
        self.left_out.extend(files.warnings.iter().map(ToString::to_string));
        let folder = format!("skills/{name}");
        if self.content.files.contains_key(&format!("{folder}/SKILL.md")) {
            self.omit(&format!("another skill `{name}`"), "there is one of this name");
            return Ok(());
        }
        for (path, file) in files.content.files {
            self.content.files.insert(format!("{folder}/{path}"), file);
        }
        Ok(())
    }

    fn servers(&mut self) {
        let mut servers = Map::new();
        let plugin = self.plugin;
        for server in &plugin.servers {
            let what = format!("the server `{}`", server.name);
            match self.server(server) {
                Ok(entry) => {
                    if let Some(needs) = gates::needs(&[&server.gate]) {
                        let what = format!("the condition `{needs}` of {what}");
                        self.omit(&what, "a package has one condition for all");
                    }
                    servers.insert(server.name.clone(), entry);
                }
                Err(why) => self.omit(&what, &why),
            }
        }
        if servers.is_empty() {
            return;
        }
        match self.format {
            PackageFormat::AgentPlugins => {
                let schema = format!("{SCHEMAS}/mcp.schema.json");
                self.add_json("mcp.json", &json!({ "$schema": schema, "mcpServers": servers }));
            }
            PackageFormat::Claude => {
                self.add_json(".mcp.json", &json!({ "mcpServers": servers }));
            }
        }
    }

    fn server(&mut self, server: &McpServer) -> Result<Value, String> {
        let http = match self.format {
            PackageFormat::AgentPlugins => "streamable-http",
            PackageFormat::Claude => "http",
        };
        let (command, args, env) = match &server.transport {
            Transport::Http { url, headers } => return self.remote(http, url.expose(), headers),
            Transport::Sse { url, headers } => return self.remote("sse", url.expose(), headers),
            Transport::Stdio { command, args, env } => (command, args, env),
        };
        if server.is_withheld {
            return Err("its variables are not known".to_owned());
        }
        let plugin = self.plugin;
        let installation = plugin.installations.iter().find(|found| found.name == *command);
        let program = match installation {
            None if command.contains('/') => return Err(format!("`{command}` is not in it")),
            None => Program::Named(command.clone()),
            Some(found) => of_installation(plugin, found, None, &mut self.content)?,
        };
        let own = installation.and_then(|found| found.args.clone()).unwrap_or_default();
        let args: Vec<String> = own.into_iter().chain(args.iter().cloned()).collect();
        let (command, first) = match (program, self.format) {
            (Program::Named(name), _) => (name, None),
            (Program::Bundled { path, is_script: true }, format) => {
                ("sh".to_owned(), Some(format!("{}/{path}", root_of(format))))
            }
            (Program::Bundled { path, .. }, PackageFormat::AgentPlugins) => {
                (format!("./{path}"), None)
            }
            (Program::Bundled { path, .. }, format) => {
                (format!("{}/{path}", root_of(format)), None)
            }
        };
        let args: Vec<String> = first.into_iter().chain(args).collect();
        Ok(json!({ "type": "stdio", "command": command, "args": args, "env": string_map(env) }))
    }

    fn remote(&self, kind: &str, url: &str, headers: &[(String, String)]) -> Result<Value, String> {
        let takes_variable = headers.iter().any(|(_, value)| value.contains('$'));
        if self.format == PackageFormat::AgentPlugins && takes_variable {
            return Err("a header takes a variable's value, and there nobody puts it in".to_owned());
        }
        Ok(json!({ "type": kind, "url": url, "headers": string_map(headers) }))
    }

    fn hooks(&mut self) {
        let mut events: Map<String, Value> = Map::new();
        let plugin = self.plugin;
        for hook in &plugin.hooks {
            match self.hook(hook) {
                Ok(group) => {
                    let groups = events.entry(hook.event.name()).or_insert_with(|| json!([]));
                    groups.as_array_mut().into_iter().for_each(|all| all.push(group.clone()));
                }
                Err(why) => self.omit(&format!("the hook `{}`", hook.name), &why),
            }
        }
        if !events.is_empty() {
            self.add_json("hooks/hooks.json", &json!({ "hooks": events }));
        }
    }

    fn hook(&mut self, hook: &Hook) -> Result<Value, String> {
        if self.format == PackageFormat::AgentPlugins {
            return Err("Agent Plugins has no hooks".to_owned());
        }
        if hook.agent.as_deref().is_some_and(|agent| agent != "claude") {
            return Err("it is for another agent than Claude Code".to_owned());
        }
        if hook.format != "claude" {
            return Err(format!(
                "it speaks the format `{}`, which takes `cargo agents` to be understood",
                hook.format
            ));
        }
        if !hook.requirements.is_empty() {
            return Err("a package can't install what it requires".to_owned());
        }
        let plugin = self.plugin;
        let installation = plugin.installations.iter().find(|found| found.name == hook.command);
        let installation = installation.ok_or("its program is not known")?;
        let content = &mut self.content;
        let program = of_installation(plugin, installation, hook.runnable.as_ref(), content)?;
        let mut words = match program {
            Program::Named(name) => vec![name],
            Program::Bundled { path, is_script } => {
                let file = format!("\"{}/{path}\"", root_of(self.format));
                let shell = is_script.then(|| "sh".to_owned());
                shell.into_iter().chain([file]).collect()
            }
        };
        let args = hook.args.as_ref().or(installation.args.as_ref());
        for arg in args.into_iter().flatten() {
            let quoted = shlex::try_quote(arg).map_err(|_| "an argument has a zero byte")?;
            words.push(quoted.into_owned());
        }
        let what = format!("of the hook `{}`", hook.name);
        if let Some(needs) = gates::needs(&[&hook.gate]) {
            let why = "a package has one condition for all";
            self.omit(&format!("the condition `{needs}` {what}"), why);
        }
        if hook.on_failure == OnFailure::Block {
            self.omit(&format!("`on-failure` {what}"), "there a failure never blocks");
        }
        let command = words.join(" ");
        let handler =
            json!({ "type": "command", "command": command, "timeout": hook.timeout.as_secs() });
        let mut group = Map::new();
        if let Some(matcher) = &hook.matcher {
            group.insert("matcher".to_owned(), claudes_matcher(matcher).into());
        }
        group.insert("hooks".to_owned(), json!([handler]));
        Ok(group.into())
    }
}

/// A matcher of ours, which is for the whole name: Claude Code finds an expression anywhere in it, and
/// compares only what is made of names.
fn claudes_matcher(matcher: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | '*');
    let is_names = matcher == "*" || (matcher.chars().all(is_name) && !matcher.contains('*'));
    if is_names { matcher.to_owned() } else { format!("^(?:{matcher})$") }
}

/// What stands for the package's own folder.
fn root_of(format: PackageFormat) -> &'static str {
    match format {
        PackageFormat::AgentPlugins => "${PLUGIN_ROOT}",
        PackageFormat::Claude => "${CLAUDE_PLUGIN_ROOT}",
    }
}

/// The plugin's name as a package may have it: lower-case letters, digits, single `-` and `.`.
fn package_name(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let ends_well = |edge: Option<char>| edge.is_some_and(|c| c.is_ascii_alphanumeric());
    let is_name = name.len() <= NAME_LENGTH
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'))
        && ends_well(name.chars().next())
        && ends_well(name.chars().last())
        && !name.contains("--")
        && !name.contains("..");
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{claudes_matcher, package_name};

    #[test]
    fn a_matcher_is_for_the_whole_name_there_too() {
        for (ours, theirs) in [
            ("Bash|Edit", "Bash|Edit"),
            ("*", "*"),
            ("mcp__.*", "^(?:mcp__.*)$"),
            ("a*", "^(?:a*)$"),
        ] {
            assert_eq!(claudes_matcher(ours), theirs);
        }
    }

    #[test]
    fn a_package_has_a_name_that_its_format_allows() {
        assert_eq!(package_name("My_Crate").as_deref(), Some("my-crate"));
        assert_eq!(package_name("a.b-c2").as_deref(), Some("a.b-c2"));
        for none in ["a__b", "a..b", "a-", ".a", "", &"a".repeat(65)] {
            assert_eq!(package_name(none), None, "{none}");
        }
    }
}
