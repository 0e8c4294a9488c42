//! What people write for a repository, taken apart and checked before `git` sees any of it.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::commit::is_commit;
use crate::files::relative_inside;
use crate::text::url::is_loopback;
use crate::text::{Diagnostic, SecretUrl, Subject};

/// A repository, or a folder of it, at some ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    url: SecretUrl,
    /// Host and path, or a path on this machine: the same however it is reached.
    identity: String,
    local: bool,
    wanted: Wanted,
    /// `/` between components; empty for the root.
    subdir: String,
}

/// Which commit is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Default,
    /// A branch or tag.
    Named(String),
    /// A commit, in full.
    Commit(String),
    /// What follows `/tree/` in a browser's URL: a ref, perhaps with `/` in it, and perhaps a
    /// folder. Only the repository's refs tell them apart.
    Tree(String),
}

impl Repository {
    /// Takes apart what git takes (`https://`, `ssh://`, `file://`, `user@host:path`, an absolute
    /// path) and what the browser shows: `/tree/<ref>/<path>` (GitHub), `/-/tree/<ref>/<path>`
    /// (GitLab), `/src/branch/<ref>/<path>` (Forgejo, Gitea). `rev` is a branch, tag or full
    /// commit; `subdir` a folder inside.
    ///
    /// # Errors
    /// When it is no such thing, or could be taken for an option or for a command to run.
    pub(crate) fn parse(
        url: &str,
        rev: Option<&str>,
        subdir: Option<&str>,
    ) -> Result<Self, Box<Diagnostic>> {
        let parts = split(url.trim()).map_err(|problem| problem.about(url))?;
        let rev = rev.map(checked_rev).transpose()?;
        let subdir = match subdir {
            None => String::new(),
            Some(subdir) => checked_subdir(subdir).ok_or_else(|| {
                refused_key(
                    "subdir",
                    format!("the folder `{subdir}` leads out of the repository"),
                    "`subdir` is relative to the repository's root, such as `plugins/acme`",
                )
            })?,
        };
        let (wanted, subdir) = combine(parts.tree, rev, subdir)?;
        Ok(Self {
            url: parts.url.into(),
            identity: parts.identity,
            local: parts.local,
            wanted,
            subdir,
        })
    }

    /// Host and path (`github.com/serde-rs/serde`), the same for every way to reach it; for a
    /// repository on this machine, its path.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Whether it is a path on this machine. What comes from outside must not name one.
    pub(crate) fn is_local(&self) -> bool {
        self.local
    }

    /// The URL as it may be shown: without a password.
    pub(crate) fn shown(&self) -> String {
        self.url.to_string()
    }

    /// What `git` is given.
    pub(super) fn url(&self) -> &str {
        self.url.expose()
    }

    pub(super) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The folder, where it is known without asking; `/` between components.
    pub(super) fn subdir(&self) -> &str {
        &self.subdir
    }

    /// The folder `subdir` of it at this commit.
    pub(super) fn at(&self, commit: &str, subdir: &str) -> Self {
        Self {
            wanted: Wanted::Commit(commit.to_owned()),
            subdir: subdir.to_owned(),
            ..self.clone()
        }
    }

    /// Name of the cache entry: readable, and different for whatever differs.
    pub(super) fn key(&self) -> String {
        let (kind, value) = match &self.wanted {
            Wanted::Default => ("default", ""),
            Wanted::Named(name) => ("named", name.as_str()),
            Wanted::Commit(commit) => ("commit", commit.as_str()),
            Wanted::Tree(rest) => ("tree", rest.as_str()),
        };
        // The parts can't hold a NUL, so they can't run into each other.
        let full = [self.url.expose(), kind, value, self.subdir.as_str()].join("\0");
        let last_two: Vec<&str> = self.identity.rsplit('/').take(2).collect();
        let mut readable: String = last_two
            .iter()
            .rev()
            .flat_map(|part| part.chars().chain(['-']))
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(40)
            .collect();
        while readable.ends_with('-') {
            readable.pop();
        }
        format!("{}-{}", readable.trim_start_matches('-'), short_hash(full.as_bytes()))
    }
}

/// The first 8 hex digits of SHA-256.
pub(super) fn short_hash(bytes: &[u8]) -> String {
    crate::text::hex(&Sha256::digest(bytes)[..4])
}

struct Parts {
    url: String,
    identity: String,
    local: bool,
    tree: Option<Tree>,
}

enum Tree {
    /// A ref and a folder, not yet told apart.
    Mixed(String),
    Commit(String, String),
}

/// Why a URL was not taken.
struct Problem {
    what: &'static str,
    remedy: String,
}

impl Problem {
    fn new(what: &'static str, remedy: impl Into<String>) -> Self {
        Self { what, remedy: remedy.into() }
    }

    fn about(self, url: &str) -> Box<Diagnostic> {
        let shown = SecretUrl::from(url).to_string();
        refused(format!("the git URL `{}` {}", shown.escape_debug(), self.what), &self.remedy)
    }
}

const FORMS: &str = "write `https://<host>/<path>`, `ssh://<user>@<host>/<path>`, `<user>@<host>:<path>` or \
     an absolute path";

fn split(url: &str) -> Result<Parts, Problem> {
    if url.is_empty() {
        return Err(Problem::new("is empty", FORMS));
    }
    if url.chars().any(char::is_control) {
        return Err(Problem::new("holds control characters", FORMS));
    }
    if url.starts_with('-') {
        return Err(Problem::new("looks like an option", FORMS));
    }
    let scheme_end =
        url.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(url.len());
    let (scheme, rest) = url.split_at(scheme_end);
    if !scheme.is_empty() && rest.starts_with("::") {
        // `ext::sh -c …` and its like run commands.
        return Err(Problem::new("names a remote helper, which could run any command", FORMS));
    }
    if let Some(rest) = rest.strip_prefix("://") {
        return split_url(&scheme.to_ascii_lowercase(), rest);
    }
    // Elsewhere `c:path` is the folder `path` of the machine `c`, as git has it.
    let is_drive = cfg!(windows) && scheme.len() == 1 && rest.starts_with(':');
    if Path::new(url).is_absolute() || url.starts_with('/') || is_drive {
        return Ok(local(url, url));
    }
    match url.split_once(':') {
        Some((host, path)) if !host.contains('/') => split_scp(url, host, path),
        _ if url.split('/').count() == 2 && !url.starts_with('.') => {
            Err(Problem::new("has no host", format!("did you mean `https://github.com/{url}`?")))
        }
        _ => Err(Problem::new("is a relative path", FORMS)),
    }
}

fn local(url: &str, path: &str) -> Parts {
    let identity = path.trim_end_matches(['/', '\\']);
    let identity = identity.strip_suffix(".git").unwrap_or(identity).trim_end_matches('/');
    Parts { url: url.to_owned(), identity: identity.to_owned(), local: true, tree: None }
}

fn split_scp(url: &str, host: &str, path: &str) -> Result<Parts, Problem> {
    let bare = host.rsplit('@').next().unwrap_or(host);
    if bare.is_empty() || path.trim_matches('/').is_empty() {
        return Err(Problem::new("names no repository", FORMS));
    }
    if bare.starts_with('-') || path.starts_with('-') || url.contains(' ') {
        return Err(Problem::new("looks like an option", FORMS));
    }
    if path.split_once('@').is_some_and(|(_, rest)| rest.contains(':')) {
        return Err(Problem::new(
            "holds a password",
            "ssh takes none: write `<user>@<host>:<path>`",
        ));
    }
    let identity = format!("{}/{}", bare.to_ascii_lowercase(), repository_path(path));
    Ok(Parts { url: url.to_owned(), identity, local: false, tree: None })
}

fn split_url(scheme: &str, rest: &str) -> Result<Parts, Problem> {
    if scheme == "file" {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            return Err(Problem::new("names another machine's file", FORMS));
        }
        return Ok(local(&format!("file://{path}"), path));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if host.is_empty() {
        return Err(Problem::new("has no host", FORMS));
    }
    if authority.starts_with('-') || host.starts_with('-') {
        return Err(Problem::new("looks like an option", FORMS));
    }
    if rest.contains(' ') {
        return Err(Problem::new("holds a space", "write `%20` for a space"));
    }
    match scheme {
        "https" | "ssh" | "git+ssh" | "ssh+git" => {}
        "http" | "git" if is_loopback(bare(host)) => {}
        "http" | "git" => {
            return Err(Problem::new(
                "is not protected on its way: what it serves could be replaced",
                "use https or ssh (a mirror inside your network can be set with git's own \
                 `url.<base>.insteadOf`)",
            ));
        }
        _ => return Err(Problem::new("has a scheme that is not supported", FORMS)),
    }
    let mut path = path;
    if scheme.starts_with("http") {
        path = path.split(['?', '#']).next().unwrap_or(path);
    }
    let (path, tree) = split_tree(path)?;
    if path.trim_matches('/').is_empty() {
        return Err(Problem::new("names no repository", FORMS));
    }
    let default_port = match scheme {
        "https" => ":443",
        "http" => ":80",
        "git" => ":9418",
        _ => ":22",
    };
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    Ok(Parts {
        url: format!("{scheme}://{authority}/{}", path.trim_end_matches('/')),
        identity: format!("{host}/{}", repository_path(&path)),
        local: false,
        tree,
    })
}

/// A host without its port; an IPv6 address without its brackets.
fn bare(host: &str) -> &str {
    let (host, end) = host.strip_prefix('[').map_or((host, ':'), |v6| (v6, ']'));
    host.split(end).next().unwrap_or(host)
}

/// `owner/name.git/` → `owner/name`.
fn repository_path(path: &str) -> String {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path).to_owned()
}

/// Separates what browsers add after the repository's path.
fn split_tree(path: &str) -> Result<(String, Option<Tree>), Problem> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (repository, mode, rest) = match segments.iter().position(|segment| *segment == "-") {
        Some(dash) if dash >= 2 && segments.len() > dash + 2 => {
            (&segments[..dash], segments[dash + 1], &segments[dash + 2..])
        }
        _ if segments.len() > 3 => (&segments[..2], segments[2], &segments[3..]),
        _ => return Ok((path.to_owned(), None)),
    };
    let repository = repository.join("/");
    let decode = |parts: &[&str]| {
        decoded(&parts.join("/"))
            .ok_or_else(|| Problem::new("is not properly percent-encoded", "copy it once more"))
    };
    match (mode, rest) {
        ("tree", rest) => Ok((repository, Some(Tree::Mixed(decode(rest)?)))),
        ("src", ["branch" | "tag", rest @ ..]) if !rest.is_empty() => {
            Ok((repository, Some(Tree::Mixed(decode(rest)?))))
        }
        ("src", ["commit", commit, rest @ ..]) => {
            Ok((repository, Some(Tree::Commit(decode(&[commit])?, decode(rest)?))))
        }
        ("blob" | "raw", _) => Err(Problem::new(
            "points at a file",
            "point at the folder that holds it: `/tree/` instead of `/blob/`",
        )),
        _ => Ok((path.to_owned(), None)),
    }
}

/// Percent-decoding; `None` when the result is not text without control characters.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

/// The rules of `git check-ref-format`, and no leading `-`.
fn is_ref(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '/'])
        && !name.ends_with(['/', '.'])
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains("//")
        && !name.contains([' ', '~', '^', ':', '?', '*', '[', '\\'])
        && !name.chars().any(char::is_control)
        && name.split('/').all(|part| !part.starts_with('.') && !part.ends_with(".lock"))
}

fn checked_rev(rev: &str) -> Result<Wanted, Box<Diagnostic>> {
    let rev = rev.trim();
    if is_commit(rev) {
        return Ok(Wanted::Commit(rev.to_ascii_lowercase()));
    }
    if is_ref(rev) {
        return Ok(if rev == "HEAD" { Wanted::Default } else { Wanted::Named(rev.to_owned()) });
    }
    Err(refused_key(
        "rev",
        format!("`{}` can't be a branch, tag or commit", rev.escape_debug()),
        "`rev` is a branch or tag, such as `main` or `v1.2`, or a commit's digits, at least 7",
    ))
}

/// Normal form with `/`, or `None` when it leads out.
fn checked_subdir(subdir: &str) -> Option<String> {
    let path = relative_inside(subdir)?;
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

fn combine(
    tree: Option<Tree>,
    rev: Option<Wanted>,
    subdir: String,
) -> Result<(Wanted, String), Box<Diagnostic>> {
    let twice = || {
        refused_key(
            "rev",
            "the git URL names a ref or folder that a key names too".to_owned(),
            "leave `/tree/…` out of the URL, or the keys `rev` and `subdir`",
        )
    };
    match (tree, rev) {
        (None, rev) => Ok((rev.unwrap_or(Wanted::Default), subdir)),
        (Some(_), _) if !subdir.is_empty() => Err(twice()),
        (Some(Tree::Commit(commit, rest)), None) => {
            let wanted = checked_rev(&commit)?;
            let subdir = checked_subdir(&rest).ok_or_else(|| leads_out(&rest))?;
            Ok((wanted, subdir))
        }
        (Some(Tree::Commit(..)), Some(_)) => Err(twice()),
        (Some(Tree::Mixed(rest)), None) => {
            let rest = checked_subdir(&rest).ok_or_else(|| leads_out(&rest))?;
            let first = rest.split('/').next().unwrap_or_default();
            if is_commit(first) {
                let folder = rest[first.len()..].trim_start_matches('/').to_owned();
                return Ok((Wanted::Commit(first.to_ascii_lowercase()), folder));
            }
            if !is_ref(first) {
                checked_rev(first)?;
            }
            Ok((Wanted::Tree(rest), String::new()))
        }
        // The key tells where the ref ends.
        (Some(Tree::Mixed(rest)), Some(rev)) => {
            let name = match &rev {
                Wanted::Named(name) | Wanted::Commit(name) | Wanted::Tree(name) => name.as_str(),
                Wanted::Default => "HEAD",
            };
            let folder =
                rest.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let folder = folder.ok_or_else(twice)?.trim_start_matches('/');
            let subdir = checked_subdir(folder).ok_or_else(|| leads_out(folder))?;
            Ok((rev, subdir))
        }
    }
}

fn leads_out(rest: &str) -> Box<Diagnostic> {
    refused(
        format!("the git URL's `{rest}` leads out of the repository"),
        "what follows `/tree/` is a branch or tag and a folder inside the repository",
    )
}

fn refused_key(key: &'static str, message: String, remedy: &str) -> Box<Diagnostic> {
    Box::new(refused(message, remedy).about(Subject::Key(key)))
}

fn refused(message: String, remedy: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(message).note(remedy))
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
