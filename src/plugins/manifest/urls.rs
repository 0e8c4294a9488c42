//! Addresses in a manifest.

use std::ops::Range;

use super::context::{Context, shown};
use crate::fetch::git::Repository;
use crate::plugins::diagnostics::codes;
use crate::text::toml::Located;
use crate::text::url::is_loopback;
use crate::text::{Diagnostic, SecretUrl};

/// What a binary's address may hold in braces.
const PLACEHOLDERS: [&str; 4] = ["target", "version", "arch", "os"];

/// An http or https address, taken apart as far as we need.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WebAddress<'a> {
    pub secure: bool,
    pub host: &'a str,
}

pub(crate) fn web_address(url: &str) -> Option<WebAddress<'_>> {
    // What a lenient parser would skip or turn into a `/` could move the host.
    if url.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let secure = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_port = authority.rsplit('@').next()?;
    let host = match host_port.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => host_port.split(':').next()?,
    };
    (!host.is_empty()).then_some(WebAddress { secure, host })
}

/// Checks a server's address.
pub(super) fn check_web(cx: &Context<'_>, url: &Located<String>) -> bool {
    if web_address(&url.value).is_some() {
        return true;
    }
    let address = shown(&SecretUrl::from(url.value.as_str()).to_string());
    let message = format!("`{address}` is no http or https address");
    cx.reject(cx.problem(codes::BAD_URL, &url.span, message));
    false
}

/// Checks the address of something we download and run; `version` tells whether `{version}` has a
/// meaning.
pub(super) fn check_download(cx: &Context<'_>, url: &Located<String>, version: bool) -> bool {
    let text = shown(&SecretUrl::from(url.value.as_str()).to_string());
    let wrong = match web_address(&url.value) {
        None => format!("`{text}` is no https address"),
        Some(address) if !address.secure && !is_loopback(address.host) => {
            format!("`{text}` must be https")
        }
        Some(address) if !address.host.is_ascii() => {
            format!("the host of `{text}` has letters beyond ASCII: write it as DNS does, `xn--…`")
        }
        Some(_) => match unknown_placeholder(&url.value, version) {
            None => return true,
            Some(wrong) => wrong,
        },
    };
    let note = "placeholders: {target}, {version}, {arch}, {os}";
    cx.reject(cx.problem(codes::BAD_URL, &url.span, wrong).note(note));
    false
}

fn unknown_placeholder(url: &str, version: bool) -> Option<String> {
    let mut rest = url;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Some("a `{` is not closed".to_owned());
        };
        if !PLACEHOLDERS.contains(&name) {
            return Some(format!("`{{{}}}` is no placeholder", shown(name)));
        }
        if name == "version" && !version {
            return Some("`{version}` stands in the address, but there is no `version`".to_owned());
        }
        rest = after;
    }
    None
}

/// Checks an address that is handed to git, by the judgement of what fetches it.
pub(super) fn check_git(cx: &Context<'_>, url: &Located<String>) -> bool {
    let Err(problem) = Repository::parse(&url.value, None, None) else { return true };
    cx.reject(git_problem(cx, &url.span, *problem));
    false
}

/// The problem of a git address, at its place in the manifest.
pub(super) fn git_problem(
    cx: &Context<'_>,
    span: &Range<usize>,
    problem: Diagnostic,
) -> Diagnostic {
    let placed = cx.problem(codes::BAD_URL, span, problem.message);
    problem.notes.into_iter().fold(placed, Diagnostic::note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_11_only_the_machine_itself_is_loopback() {
        for (url, loopback) in [
            ("http://localhost:8080/x", true),
            ("http://LOCALHOST", true),
            ("http://127.0.0.1/x", true),
            ("http://[::1]:80/x", true),
            ("http://localhost@evil.example/x", false),
            ("http://user@127.0.0.1/x", true),
            ("http://127.0.0.1.evil.example/", false),
            ("http://localhost.evil.example/", false),
            ("http://evil.example/#@localhost", false),
            ("http://evil.example?@localhost/", false),
        ] {
            let address = web_address(url).expect(url);
            assert_eq!(is_loopback(address.host), loopback, "{url}");
        }
        for url in
            ["", "https://", "ftp://x", "http://localhost\\@evil", "http:/x", "http://a b", "x"]
        {
            assert_eq!(web_address(url), None, "{url}");
        }
    }

    #[test]
    fn decision_11_placeholders() {
        let wrong = |url, version| unknown_placeholder(url, version);
        assert_eq!(wrong("https://x/{target}/{arch}-{os}-{version}.tgz", true), None);
        assert!(wrong("https://x/{version}", false).is_some());
        assert!(wrong("https://x/{triple}", true).is_some());
        assert!(wrong("https://x/{target", true).is_some());
    }
}
