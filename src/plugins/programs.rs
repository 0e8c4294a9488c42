//! Everything a plugin could make run on this machine. Values of variables and headers are never
//! among it.

use serde::Serialize;

use crate::plugins::model::{
    Checksum, Hook, InstallSource, Installation, McpServer, Plugin, Runnable, Subcommand, Transport,
};

/// One thing that could run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Program {
    /// `hook`, `install`, `server`, `subcommand` or `skill`.
    pub(crate) kind: &'static str,
    /// Of which one.
    pub(crate) name: String,
    /// What it is, as one would type it.
    pub(crate) runs: String,
}

/// Everything `plugin` could run, in the order in which people ask: hooks run unasked. `skills` are the
/// names of its skills, each with what of its text can run.
pub(crate) fn programs<'s>(
    plugin: &Plugin,
    skills: impl IntoIterator<Item = (&'s str, &'s str)>,
) -> Vec<Program> {
    let mut all = Vec::new();
    let mut add = |kind, name: &str, runs: String| {
        all.push(Program { kind, name: name.to_owned(), runs });
    };
    for hook in &plugin.hooks {
        add("hook", &hook.name, of_hook(plugin, hook));
    }
    for installation in &plugin.installations {
        if let Some(source) = &installation.source {
            add("install", &installation.name, of_source(source));
        }
        for command in &installation.install_commands {
            add("install", &installation.name, format!("sh -c {}", quoted(command)));
        }
    }
    for server in &plugin.servers {
        add("server", &server.name, of_server(plugin, server));
    }
    for subcommand in &plugin.subcommands {
        add("subcommand", &subcommand.name, of_subcommand(plugin, subcommand));
    }
    for (name, runs) in skills {
        add("skill", name, runs.to_owned());
    }
    all
}

/// The command line of a server, or its address, with the names of its variables or headers.
pub(super) fn of_server(plugin: &Plugin, server: &McpServer) -> String {
    let (runs, names) = match &server.transport {
        Transport::Stdio { command, args, env } => {
            let runs = match installation(plugin, command) {
                Some(found) => line(found, None, Some(args).filter(|args| !args.is_empty())),
                None => words(std::iter::once(command).chain(args)),
            };
            (runs, env)
        }
        Transport::Http { url, headers } | Transport::Sse { url, headers } => {
            (url.to_string(), headers)
        }
    };
    with_names(runs, names)
}

/// The command line of a subcommand.
pub(super) fn of_subcommand(plugin: &Plugin, subcommand: &Subcommand) -> String {
    let found = installation(plugin, &subcommand.command);
    found.map_or_else(|| subcommand.command.clone(), |found| line(found, None, None))
}

/// The installation of that name.
pub(super) fn installation<'p>(plugin: &'p Plugin, name: &str) -> Option<&'p Installation> {
    plugin.installations.iter().find(|installation| installation.name == name)
}

/// The command line of a hook.
pub(super) fn of_hook(plugin: &Plugin, hook: &Hook) -> String {
    match installation(plugin, &hook.command) {
        Some(found) => line(found, hook.runnable.as_ref(), hook.args.as_ref()),
        None => hook.command.clone(),
    }
}

/// The command line of an installation, where whoever refers to it may say what to run.
fn line(
    installation: &Installation,
    runnable: Option<&Runnable>,
    args: Option<&Vec<String>>,
) -> String {
    let args = args.or(installation.args.as_ref()).into_iter().flatten().cloned();
    let program = match runnable.or(installation.runnable.as_ref()) {
        Some(Runnable::Script(path)) => vec!["sh".to_owned(), path.clone()],
        Some(Runnable::Executable(path)) => vec![path.clone()],
        Some(Runnable::Shell) => vec!["sh".to_owned()],
        None => match &installation.source {
            Some(InstallSource::Cargo { krate, .. }) => vec![krate.clone()],
            _ => vec![installation.name.clone()],
        },
    };
    words(program.into_iter().chain(args))
}

/// What gets an installation onto disk.
pub(super) fn of_source(source: &InstallSource) -> String {
    match source {
        InstallSource::Cargo { krate, version, git, global } => {
            let mut command = vec!["cargo".to_owned(), "install".to_owned()];
            if let Some(url) = git {
                command.extend(["--git".to_owned(), url.to_string()]);
            }
            command.push(krate.clone());
            if let Some(version) = version {
                command.extend(["--version".to_owned(), version.clone()]);
            }
            let place = if *global { " (into your own cargo folder)" } else { "" };
            format!("{}{place}", words(command))
        }
        InstallSource::Git { url } => format!("git clone {url}"),
        InstallSource::Binary { url, version, sha256 } => {
            let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            let sums = match sha256 {
                Checksum::One(sum) => format!("sha256 {}", sum.get(..12).unwrap_or(sum)),
                Checksum::ByTarget(sums) => format!("a checksum for {} targets", sums.len()),
            };
            format!("download {url}{version} ({sums})")
        }
    }
}

/// The names of variables or headers, whose values are nobody's business here.
fn with_names(runs: String, pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return runs;
    }
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    format!("{runs} (with {})", names.join(", "))
}

/// Words as one would type them.
fn words<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    words.into_iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.escape_debug().to_string(), Into::into)
}
