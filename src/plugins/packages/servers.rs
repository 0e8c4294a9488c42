//! MCP servers of packages, in both formats' words.

use serde_json::{Map, Value};

use super::draft::{NAME_LENGTH, string_pairs, strings};
use super::folder::{Folder, LEADS_OUT};
use super::placeholders::{DATA, ROOT};
use crate::plugins::manifest::{check_header, check_variable, web_address};
use crate::plugins::model::{Gate, McpServer, Transport};
use crate::text::url::is_loopback;

/// A server's name in a list of what is not taken.
pub(super) fn shown(name: &str) -> String {
    format!("server `{}`", crate::report::fit(name, 80))
}

/// A server of an Agent Plugin: a closed form, of which nothing else is taken.
///
/// # Errors
/// What is wrong with it.
pub(super) fn portable(
    name: &str,
    value: &Value,
    folder: &dyn Folder,
) -> Result<McpServer, String> {
    let object = value.as_object().ok_or("it is no object")?;
    let known: &[&str] = match object.get("type").and_then(Value::as_str) {
        Some("stdio") => &["type", "command", "args", "env", "cwd"],
        Some("streamable-http" | "sse") => &["type", "url", "headers"],
        Some(other) => return Err(format!("its `type` is `{other}`, which there is not")),
        None => return Err("it has no `type`".to_owned()),
    };
    if let Some(key) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("it has the field `{key}`, which its `type` does not have"));
    }
    if known.contains(&"url") {
        let url = text(object, "url")?;
        check_address(&url)?;
        let headers = pairs(object, "headers", check_header)?;
        // No client may put a variable's value in the place of this, and most do.
        if headers.iter().any(|(_, value)| value.contains('$')) {
            return Err("a header's value has a `$`, which agents take for a variable".to_owned());
        }
        return server(name, remote(object, url, headers), None);
    }
    let command = text(object, "command")?;
    let is_bare = !command.contains(['/', '\\']) && !command.contains(char::is_whitespace);
    if !is_bare && !command.starts_with("./") {
        return Err(format!("`{command}` is neither a program's name nor a path with `./` first"));
    }
    if !is_bare && !folder.contains(&command) {
        return Err(format!("`{command}`: {LEADS_OUT}"));
    }
    let env = pairs(object, "env", check_variable)?;
    if let Some((reserved, _)) = env.iter().find(|(name, _)| {
        ["PLUGIN_ROOT", "PLUGIN_DATA"].iter().any(|known| name.eq_ignore_ascii_case(known))
    }) {
        return Err(format!("its `env` has {reserved}, which every server is given"));
    }
    let cwd = object.get("cwd").map(|_| text(object, "cwd")).transpose()?;
    if let Some(cwd) = &cwd {
        check_folder(cwd, folder)?;
    }
    let args = list(object, "args")?;
    // Without a word the server starts in the package's folder.
    let cwd = cwd.unwrap_or_else(|| "./".to_owned());
    server(name, Transport::Stdio { command, args, env }, Some(cwd))
}

/// The folder that a server starts in.
fn check_folder(cwd: &str, folder: &dyn Folder) -> Result<(), String> {
    let below = |root: &str| {
        let rest = cwd.strip_prefix(root)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!(".{rest}"))
    };
    let inside = match (below(ROOT), below(DATA)) {
        (Some(path), _) => folder.contains(&path),
        (None, Some(path)) => crate::files::relative_inside(&path).is_some(),
        (None, None) if cwd.starts_with("./") => folder.contains(cwd),
        (None, None) => {
            return Err(format!("its `cwd` `{cwd}` begins with none of `./`, `{ROOT}`, `{DATA}`"));
        }
    };
    if inside { Ok(()) } else { Err(format!("its `cwd` `{cwd}`: {LEADS_OUT}")) }
}

fn check_address(url: &str) -> Result<(), String> {
    let bad = |what: &str| Err(format!("its `url` {what}"));
    let Some(address) = web_address(url) else { return bad("is no http or https address") };
    let authority = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
    if authority.is_some_and(|authority| authority.contains('@')) {
        return bad("names a user");
    }
    if url.contains('#') {
        return bad("has a fragment");
    }
    if !address.secure && !is_loopback(address.host) {
        return bad("is not https, and leads to another machine");
    }
    Ok(())
}

/// A server of a Claude package: a form with more fields than we know, which cost nothing.
///
/// # Errors
/// What is wrong with it, and whether that is its author's mistake.
pub(super) fn claudes(name: &str, value: &Value) -> Result<McpServer, (String, bool)> {
    let mistake = |why: String| (why, true);
    let object = value.as_object().ok_or_else(|| mistake("it is no object".to_owned()))?;
    let kind = object.get("type").and_then(Value::as_str);
    match kind {
        None | Some("stdio") if object.contains_key("command") => {
            let command = text(object, "command").map_err(mistake)?;
            let args = list(object, "args").map_err(mistake)?;
            let env = pairs(object, "env", check_variable).map_err(mistake)?;
            let all = std::iter::once(&command).chain(&args).chain(env.iter().map(|(_, v)| v));
            if all.clone().any(|text| text.contains(super::USER_OPTION)) {
                return Err((super::ASKS_OPTIONS.to_owned(), false));
            }
            server(name, Transport::Stdio { command, args, env }, None).map_err(mistake)
        }
        Some("http" | "streamable-http" | "sse") => {
            let url = text(object, "url").map_err(mistake)?;
            if url.contains("${") {
                let why = "its address depends on a variable, which not every agent puts in";
                return Err((why.to_owned(), false));
            }
            if object.contains_key("headersHelper") {
                let why = "a program makes its headers, which only Claude Code runs";
                return Err((why.to_owned(), false));
            }
            if web_address(&url).is_none() {
                return Err(mistake("its `url` is no http or https address".to_owned()));
            }
            let headers = pairs(object, "headers", check_header).map_err(mistake)?;
            server(name, remote(object, url, headers), None).map_err(mistake)
        }
        Some(other) => {
            Err((format!("its `type` is `{other}`, which Symposium does not know"), false))
        }
        None => Err(mistake("it has neither a `command` nor a `type`".to_owned())),
    }
}

fn remote(object: &Map<String, Value>, url: String, headers: Vec<(String, String)>) -> Transport {
    let url = url.into();
    match object.get("type").and_then(Value::as_str) {
        Some("sse") => Transport::Sse { url, headers },
        _ => Transport::Http { url, headers },
    }
}

fn server(name: &str, transport: Transport, cwd: Option<String>) -> Result<McpServer, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= NAME_LENGTH
        && name.chars().all(allowed);
    if !is_good {
        let rule = format!(
            "agents take up to {NAME_LENGTH} letters, digits, `-` and `_` for a server's name"
        );
        return Err(rule);
    }
    let gate = Gate::default();
    Ok(McpServer { name: name.to_owned(), gate, transport, cwd, is_withheld: false })
}

fn text(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    match object.get(key).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("its `{key}` is no string, or empty")),
    }
}

fn list(object: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    match object.get(key) {
        None => Ok(Vec::new()),
        Some(value) if value.is_array() => {
            strings(value).ok_or_else(|| format!("its `{key}` is no list of strings"))
        }
        Some(_) => Err(format!("its `{key}` is no list of strings")),
    }
}

/// `env` or `headers`. What is wrong never has a value in it, which may be secret.
fn pairs(
    object: &Map<String, Value>,
    key: &str,
    wrong: fn(&str, &str) -> Option<&'static str>,
) -> Result<Vec<(String, String)>, String> {
    let Some(value) = object.get(key) else { return Ok(Vec::new()) };
    let pairs =
        string_pairs(value).ok_or_else(|| format!("its `{key}` is no object of strings"))?;
    for (index, (name, value)) in pairs.iter().enumerate() {
        let is_header = key == "headers";
        let is_twice = is_header
            && pairs.iter().take(index).any(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some(wrong) = wrong(name, value).or(is_twice.then_some("stands twice")) {
            return Err(format!("`{}` in its `{key}` {wrong}", crate::report::fit(name, 80)));
        }
    }
    Ok(pairs)
}
