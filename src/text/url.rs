//! URLs from outside, and what of them may be shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A URL that somebody else wrote. It may hold a password or a token, so it shows itself without
/// user, password, query and fragment, in errors and in `{:?}` too.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SecretUrl(String);

impl SecretUrl {
    /// The whole text: only for what fetches it, and for an agent's file.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for SecretUrl {
    fn from(url: T) -> Self {
        Self(url.into())
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.0.as_str();
        let secret = match url.find("://") {
            Some(at) => secret_ranges(&url[..at], at + 3, &url[at + 3..]),
            // `user:password@host:path`, which git takes for the host `user`.
            None => {
                let login = url.rfind('@').filter(|at| url[..*at].contains(':'));
                login.map(|at| 0..at + 1).into_iter().collect()
            }
        };
        f.write_str(&without(url, &secret))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// Whether a URL's host (an IPv6 address without its brackets) is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `text` without what is secret in the URLs that it holds.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    let secret = secret_ranges_in(text);
    if secret.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, &secret)) }
}

/// As [`without_secrets`], with as many bytes as before: places in the text stay true.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let secret = secret_ranges_in(text);
    if secret.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = text.to_owned();
    for range in secret {
        let stars = "*".repeat(range.len());
        masked.replace_range(range, &stars);
    }
    Cow::Owned(masked)
}

fn without(text: &str, secret: &[Range<usize>]) -> String {
    let mut shown = text.to_owned();
    for range in secret.iter().rev() {
        shown.replace_range(range.clone(), "");
    }
    shown
}

/// Where the secrets stand of all URLs in `text`, in their order.
fn secret_ranges_in(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let start = from + at + 3;
        let end = start + url_length(&text[start..]);
        found.extend(logins_in(&text[from..start], from));
        found.extend(secret_ranges(&text[from..from + at], start, &text[start..end]));
        from = end;
    }
    found.extend(logins_in(&text[from..], from));
    found
}

/// The `user:password@` of words like `user:password@host:path`, in a text that begins at `start`.
fn logins_in(text: &str, start: usize) -> Vec<Range<usize>> {
    let words = text.split(|letter: char| letter.is_whitespace() || is_delimiter(letter));
    let mut found = Vec::new();
    for word in words {
        if let Some((login, place)) = word.rsplit_once('@')
            && login.contains(':')
            && !login.contains(['/', '\\'])
            && place.split_once(':').is_some_and(|(_, path)| !path.is_empty())
        {
            // A word is a part of the text, so this is where it stands in it.
            let at = start + (word.as_ptr().addr() - text.as_ptr().addr());
            found.push(at..at + login.len() + 1);
        }
    }
    found
}

/// Whether `letter` stands around a URL, and in none.
fn is_delimiter(letter: char) -> bool {
    letter.is_control() || matches!(letter, '"' | '`' | '<' | '>')
}

/// The length of what follows `://` in a text.
fn url_length(rest: &str) -> usize {
    let quote = rest.find(is_delimiter).unwrap_or(rest.len());
    let word = rest[..quote].find(char::is_whitespace).unwrap_or(quote);
    // A password with a blank in it.
    let is_cut = !rest[..word].contains('@') && port(authority(&rest[..word])) == Port::Invalid;
    if is_cut && rest[word..quote].contains('@') { quote } else { word }
}

/// The secrets of one URL: `before` ends with its scheme, `rest` is what follows `://` at `start`.
fn secret_ranges(before: &str, start: usize, rest: &str) -> Vec<Range<usize>> {
    let scheme = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let scheme = before[scheme.len()..].to_ascii_lowercase();
    let name = authority(rest);
    let last = rest.char_indices().next_back().map_or(0, |(at, _)| at);
    let at = match (name.find('@'), port(name)) {
        // A user alone.
        (Some(at), _) if !name[..at].contains(':') => name.rfind('@'),
        (_, Port::Absent) => None,
        // A port, or the digits that a password with a `/`, `?` or `#` in it begins with.
        (_, Port::Number) => rest.rfind('@'),
        // A password, of which the end is perhaps not there.
        (_, Port::Invalid) => Some(rest.rfind('@').unwrap_or(last)),
    };
    let mut found = Vec::new();
    let mut host = 0;
    if let Some(at) = at {
        host = at + rest[at..].chars().next().map_or(0, char::len_utf8);
        // Over ssh a lone user is no secret, over HTTP it is usually a token.
        if !scheme.contains("ssh") || rest[..at].contains(':') {
            found.push(start..start + host);
        }
    }
    let query = rest[host..].find(['?', '#']).map_or(rest.len(), |at| host + at);
    // A URL in the path, as mirrors have it.
    if let Some(at) = rest[host..query].find("://").map(|at| host + at) {
        found.extend(secret_ranges(&rest[host..at], start + at + 3, &rest[at + 3..query]));
    }
    if query + 1 < rest.len() {
        found.push(start + query..start + rest.len());
    }
    found
}

/// What stands before the first `/`, `?` or `#`.
fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())]
}

/// What follows the colon of an authority.
#[derive(PartialEq, Eq)]
enum Port {
    /// There is no colon.
    Absent,
    /// A number, or nothing yet.
    Number,
    /// Something that is no port: the beginning of a password.
    Invalid,
}

fn port(authority: &str) -> Port {
    let after = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, after)) => after.strip_prefix(':'),
        None => authority.split_once(':').map(|(_, after)| after),
    };
    match after.map(|port| port.trim_end_matches(|c: char| !c.is_alphanumeric())) {
        None => Port::Absent,
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Port::Number,
        Some(_) => Port::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_of_a_url_is_shown() {
        for (url, shown) in [
            ("https://me:s3cret@host/a", "https://host/a"),
            ("https://s3cret@host/a?sig=s3cret", "https://host/a"),
            ("HTTPS://me:s3cret@host", "HTTPS://host"),
            ("git+https://me:s3cret@host/a?branch=m#abc", "git+https://host/a"),
            ("https://host/a#access_token=s3cret", "https://host/a"),
            ("https://me:s3cret/s3@cret@host/a", "https://host/a"),
            ("https://me:12/s3cret@host/a", "https://host/a"),
            ("https://me:s3?cret#s3cret@host/a", "https://host/a"),
            ("https://me:s3 cret@host/a", "https://host/a"),
            ("https://me:s3@cret/s3cret@host/a", "https://host/a"),
            ("https://me:@s3cret\\@host/a", "https://host/a"),
            ("https://[::1]:80/a@b", "https://b"),
            ("https://me:s3cret", "https://"),
            ("https://me:s3crét", "https://"),
            ("https://m/https://me:s3cret@host/a?b#c", "https://m/https://host/a"),
            ("ssh://git@host/a", "ssh://git@host/a"),
            ("ssh://git:s3cret@host:22/a", "ssh://host:22/a"),
            ("git@host:a/b", "git@host:a/b"),
            ("me:s3cret@host:a/b", "host:a/b"),
            ("ftp://me:s3cret@host", "ftp://host"),
            ("https://host:8080/a", "https://host:8080/a"),
            ("https://me:/s3cret/@host/a", "https://host/a"),
            ("https://me:1/s3cret?/@host/a", "https://host/a"),
            ("https://host/a@v1", "https://host/a@v1"),
            ("https://host/{target}.tgz", "https://host/{target}.tgz"),
            ("/srv/a b", "/srv/a b"),
        ] {
            assert_eq!(SecretUrl::from(url).to_string(), shown, "{url}");
            assert_eq!(format!("{:?}", SecretUrl::from(url)), format!("{shown:?}"));
        }
    }

    #[test]
    fn text_around_urls_stays() {
        for (text, shown) in [
            ("the URL `http://me:s3cret@h/a` is bad: see https://x.org/a?", None),
            ("(https://t0ken@h/a?sig=s3cret), and ssh://git@h/b?x=s3cret or http://h:80:", None),
            ("git = \"https://me:s3cret s3cret@h/a?b=s3cret\" # mine", None),
            ("can't reach https://h: ask me@example.com", Some(())),
            ("git = \"me:s3cret@host:a/b\" and git@host:a/b", None),
        ] {
            let out = without_secrets(text);
            assert!(!out.contains("s3cret") && !out.contains("t0ken"), "{out}");
            assert_eq!(shown.is_some(), out == text);
            assert_eq!(without_secrets(&out), out);
            let mask = masked(text);
            assert_eq!(mask.len(), text.len());
            assert_eq!(without_secrets(&mask), mask);
        }
        let text = "a (https://t@h/a?s=1) b http://u:p@h:1/c\nhttps://x.org/?";
        assert_eq!(without_secrets(text), "a (https://h/a b http://h:1/c\nhttps://x.org/?");
        assert_eq!(masked("x = \"https://t@h/a?s\" #"), "x = \"https://**h/a**\" #");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(?s)([ -~é…\n]|://|@|:|https|[?#/]){0,40}") {
            proptest::prop_assert_eq!(masked(&text).len(), text.len());
            let shown = without_secrets(&text).into_owned();
            proptest::prop_assert!(shown.len() <= text.len());
            let _ = SecretUrl::from(text).to_string();
        }

        #[test]
        fn a_password_of_any_letters_is_hidden(password in "[!-~]{0,6}s3cret[!-~]{0,6}") {
            let url = format!("https://me:{password}@host/a");
            proptest::prop_assert!(!SecretUrl::from(url).to_string().contains("s3cret"));
        }
    }
}
