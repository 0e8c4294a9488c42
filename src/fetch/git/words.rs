//! Why `git` failed, in its own words.

use std::path::Path;

use super::url::Repository;
use crate::process::Output;
use crate::report::fit;
use crate::text::url::without_secrets;

/// All that `git` said, with the URL as it may be shown, and without the name of the folder `ours`
/// that it worked in.
pub(super) fn words(output: &Output, repository: &Repository, ours: &Path) -> String {
    let ours = ours.display().to_string();
    let said = output.said().replace(repository.url(), &repository.shown());
    let said = without_secrets(&said)
        .replace(&format!("{ours}/git/"), "")
        .replace(&format!("{ours}/"), "")
        .replace(&ours, "the copy");
    if said.is_empty() { "git failed without a word".to_owned() } else { said }
}

/// The line of git's words that names the cause, not the advice that follows it.
pub(super) fn main_line(words: &str) -> String {
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_generic = |line: &str| {
        line.starts_with("fatal: Could not read from remote repository")
            || line.starts_with("fatal: the remote end hung up")
    };
    let marked =
        |line: &&&str| ["fatal: ", "error: ", "remote: "].iter().any(|mark| line.starts_with(mark));
    let before_generic = lines
        .iter()
        .position(|line| is_generic(line))
        .and_then(|place| place.checked_sub(1))
        .and_then(|place| lines.get(place));
    let line = before_generic
        .or_else(|| lines.iter().rev().find(marked))
        .or_else(|| lines.last())
        .copied()
        .unwrap_or_default();
    let line =
        line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
    fit(line.trim_end_matches('.'), 300)
}

/// Whether git, curl or ssh say that they could not get through.
pub(super) fn is_connection(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    [
        "could not resolve host",
        "couldn't resolve host",
        "could not resolve hostname",
        "could not resolve proxy",
        "failed to connect",
        "couldn't connect",
        "connection refused",
        "connection timed out",
        "network is unreachable",
        "no route to host",
        "unable to connect",
        "temporary failure in name resolution",
    ]
    .iter()
    .any(|words| line.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Status;

    #[test]
    fn the_line_that_is_shown_says_most() {
        assert_eq!(
            main_line(
                "git@h: Permission denied (publickey).\nfatal: Could not read from remote \
                 repository.\n\nPlease make sure you have the correct access rights\nand the \
                 repository exists.\n"
            ),
            "git@h: Permission denied (publickey)"
        );
        let line = main_line("warning: x\nfatal: repository not found\nhint: y\n");
        assert_eq!(line, "repository not found");
        assert!(is_connection("unable to access 'x': Could not resolve host: x"));
        assert!(!is_connection("repository not found"));
    }

    #[test]
    fn its_words_are_whole_and_hold_no_secret_and_no_folder_of_ours() {
        let told = |url: &str, stderr: &str| {
            let repository = Repository::parse(url, None, None).expect("a URL");
            let stderr = stderr.as_bytes().to_vec();
            let status = Status::Exited(128);
            let output = Output { status, stdout: Vec::new(), stderr, truncated: false };
            words(&output, &repository, Path::new("/c/.tmpX"))
        };
        assert_eq!(told("https://host/a", "\n"), "git failed without a word");
        let said = "error: '/c/.tmpX/git/objects/1': no room\n\n\
                    fatal: unable to access 'https://me:s3cret@host/a/': no\n";
        let shown = "error: 'objects/1': no room\n\nfatal: unable to access 'https://host/a/': no";
        assert_eq!(told("https://me:s3cret@host/a", said), shown);
    }
}
