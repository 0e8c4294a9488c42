//! `[[mcp_servers]]`.

use super::context::{Context, shown};
use super::hooks::check_args;
use super::installations::{Pool, values};
use super::{gate, paths, urls};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{McpServer, Transport};
use crate::text::toml::{Located, Table};

/// What an entry is called.
pub(super) const WHAT: &str = "server";

/// The keys of every server, and of each transport.
pub(super) const COMMON: [&str; 5] = ["name", "type", "crates", "depends-on", "predicates"];
pub(super) const STDIO: [&str; 3] = ["command", "args", "env"];
pub(super) const REMOTE: [&str; 2] = ["url", "headers"];

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Stdio,
    Http,
    Sse,
}

/// Reads `[[mcp_servers]]`.
pub(super) fn read(cx: &Context<'_>, root: &Table<'_>, pool: &Pool) -> Vec<McpServer> {
    let mut servers: Vec<McpServer> = Vec::new();
    for table in root.tables("mcp_servers").unwrap_or_default() {
        let read = || {
            let server = server(cx, &table, pool)?;
            if servers.iter().any(|known| known.name == server.name) {
                let message = format!("the server `{}` is declared twice", shown(&server.name));
                cx.reject(cx.problem(codes::TAKEN_NAME, &table.span, message));
            }
            Some(server)
        };
        servers.extend(cx.entry(WHAT, read));
    }
    servers
}

fn server(cx: &Context<'_>, table: &Table<'_>, pool: &Pool) -> Option<McpServer> {
    let name = cx.required(table, "server", "name");
    if let Some(name) = &name {
        cx.check_name("server", name, false);
    }
    let gate = gate::read_of(cx, table, WHAT);
    let transport = match kind(cx, table)? {
        Kind::Stdio => {
            cx.unknown_keys(table, &[&COMMON[..], &STDIO].concat());
            stdio(cx, table, pool)
        }
        remote => {
            cx.unknown_keys(table, &[&COMMON[..], &REMOTE].concat());
            let url = cx.required(table, "server", "url");
            let headers = pairs(cx, table, "headers", check_header);
            let url = url.filter(|url| urls::check_web(cx, url))?.value.into();
            Some(match remote {
                Kind::Sse => Transport::Sse { url, headers },
                _ => Transport::Http { url, headers },
            })
        }
    };
    let (name, transport) = (name?.value, transport?);
    Some(McpServer { name, gate, transport, cwd: None, is_withheld: false })
}

fn kind(cx: &Context<'_>, table: &Table<'_>) -> Option<Kind> {
    let kinds = [("stdio", Kind::Stdio), ("http", Kind::Http), ("sse", Kind::Sse)];
    let Some(text) = table.string("type") else {
        if table.has("url") && !table.has("command") && !table.has("type") {
            let message = "a server with a `url` needs a `type`";
            let note = "`type = \"http\"` or `type = \"sse\"`";
            cx.reject(cx.problem(codes::MISSING_KEY, &table.span, message).note(note));
            return None;
        }
        return Some(Kind::Stdio);
    };
    let found = kinds.iter().find(|(name, _)| *name == text.value);
    if found.is_none() {
        let names = kinds.map(|(name, _)| name);
        cx.reject(cx.unknown_value(codes::BAD_VALUE, &text, "type", &names));
    }
    found.map(|&(_, kind)| kind)
}

fn stdio(cx: &Context<'_>, table: &Table<'_>, pool: &Pool) -> Option<Transport> {
    let command = cx.required(table, "server", "command");
    let args = table.strings("args");
    let env = pairs(cx, table, "env", check_variable);
    let command = command?;
    check_command(cx, table, pool, &command);
    if let Some(installation) = pool.get(&command.value).filter(|_| pool.declares(&command.value)) {
        check_args(cx, args.as_ref(), installation);
    }
    Some(Transport::Stdio {
        command: command.value,
        args: args.map(values).unwrap_or_default(),
        env,
    })
}

/// A command is an installation's name, a program on `PATH`, an absolute path, or a path in the
/// plugin's source.
fn check_command(cx: &Context<'_>, table: &Table<'_>, pool: &Pool, command: &Located<String>) {
    if pool.declares(&command.value) {
        match pool.get(&command.value) {
            Some(installation) => pool.check_runs(cx, &table.span, "server", installation, None),
            None if cx.strict => {}
            None => pool.broken(cx, command),
        }
    } else if command.value.contains(['/', '\\', '~']) {
        paths::check_on_disk(cx, command);
    }
}

/// `env` or `headers`: an array of `{ name, value }`, or a table of strings.
fn pairs(
    cx: &Context<'_>,
    table: &Table<'_>,
    key: &str,
    wrong: fn(&str, &str) -> Option<&'static str>,
) -> Vec<(String, String)> {
    let mut pairs: Vec<(Located<String>, String)> = Vec::new();
    if table.is_table(key) {
        if let Some(map) = table.table(key) {
            for name in map.keys() {
                if let Some(value) = map.string(&name.value) {
                    pairs.push((name, value.value));
                }
            }
        }
    } else {
        for item in table.tables(key).unwrap_or_default() {
            cx.unknown_keys(&item, &["name", "value"]);
            let what = if key == "env" { "variable" } else { "header" };
            cx.missing(&item, what, "name");
            cx.missing(&item, what, "value");
            if let (Some(name), Some(value)) = (item.string("name"), item.string("value")) {
                pairs.push((name, value.value));
            }
        }
    }
    let mut kept: Vec<(String, String)> = Vec::new();
    for (name, value) in pairs {
        let twice = kept.iter().any(|(known, _)| *known == name.value);
        // Never the value: it may be secret.
        if let Some(wrong) = wrong(&name.value, &value).or(twice.then_some("stands twice")) {
            let message = format!("`{}` in `{}` {wrong}", shown(&name.value), table.path_of(key));
            cx.reject(cx.problem(codes::BAD_VARIABLE, &name.span, message));
        }
        kept.push((name.value, value));
    }
    kept
}

/// What is wrong with a variable.
pub(crate) fn check_variable(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Some("is no variable's name");
    }
    value.contains('\0').then_some("has a value with a NUL character")
}

/// What is wrong with a header: names are tokens (RFC 9110, section 5.6.2); values are on one line.
pub(crate) fn check_header(name: &str, value: &str) -> Option<&'static str> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        return Some("is no header's name");
    }
    let odd = |c: char| c.is_control() && c != '\t';
    value.contains(odd).then_some("has a value with control characters")
}
