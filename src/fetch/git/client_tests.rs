use super::*;

fn repository(url: &str) -> Repository {
    Repository::parse(url, None, None).expect("a URL")
}

fn remote(names: &[&str]) -> Vec<RemoteRef> {
    let commit = "a".repeat(40);
    names
        .iter()
        .map(|name| RemoteRef { name: (*name).to_owned(), commit: commit.clone() })
        .collect()
}

#[test]
fn f120_the_longest_ref_wins_and_the_rest_is_the_folder() {
    let refs = remote(&["refs/heads/f", "refs/heads/f/x", "refs/tags/f/x/d", "refs/tags/f"]);
    let tree = |rest: &str| {
        choose(&Wanted::Tree(rest.to_owned()), String::new(), &refs)
            .map(|target| (target.fetch, target.subdir))
    };
    let ok = |fetch: &str, subdir: &str| Ok((fetch.to_owned(), subdir.to_owned()));
    assert_eq!(tree("f/x/d/e"), ok("refs/tags/f/x/d", "e"));
    assert_eq!(tree("f/x/e"), ok("refs/heads/f/x", "e"));
    assert_eq!(tree("f/xx"), ok("refs/heads/f", "xx"));
    assert_eq!(tree("f"), ok("refs/heads/f", ""));
    assert_eq!(tree("g/x"), Err(GitError::NoSuchRef("g".to_owned())));
}

#[test]
fn annotated_tags_are_peeled_and_the_default_branch_is_named() {
    let (tag, commit) = ("a".repeat(40), "b".repeat(40));
    let refs = read_refs(&format!("{tag}\trefs/tags/v1\n{commit}\trefs/tags/v1^{{}}\n"));
    assert_eq!(refs, [RemoteRef { name: "refs/tags/v1".to_owned(), commit: commit.clone() }]);
    let refs = read_refs(&format!("ref: refs/heads/trunk\tHEAD\n{commit}\tHEAD\n"));
    let target = choose(&Wanted::Default, String::new(), &refs).expect("a head");
    assert_eq!((target.fetch.as_str(), target.reference.as_str()), ("HEAD", "trunk"));
    assert_eq!(target.commit, commit);
    assert!(read_refs("zz\tHEAD\n\n\t\nref: x\n").is_empty());
}

#[test]
fn a_repository_around_us_and_questions_have_no_say() {
    let env = Environment::with(
        "/w",
        [
            ("GIT_DIR", "/elsewhere"),
            ("GIT_INDEX_FILE", "x"),
            ("GIT_CONFIG_PARAMETERS", "x"),
            ("SSH_ASKPASS", "/usr/bin/ask"),
            ("GIT_CONFIG_GLOBAL", "/g"),
            ("GIT_SSL_CAINFO", "/ca"),
            ("HTTPS_PROXY", "p"),
        ],
    );
    let names: Vec<String> =
        environment(&env).iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    assert_eq!(
        names,
        [
            "GIT_CONFIG_GLOBAL",
            "GIT_SSL_CAINFO",
            "HTTPS_PROXY",
            "GIT_TERMINAL_PROMPT",
            "GCM_INTERACTIVE",
            "LC_ALL"
        ]
    );
}

#[test]
fn the_users_own_ssh_command_stays_in_front() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let repository = repository("git@host:a/b");
    let command = |vars: &[(&str, &str)]| {
        let env = super::super::testing::environment(dir.path(), vars);
        let scratch = tempfile::tempdir_in(dir.path()).expect("a temporary folder");
        let client = Client::new(&repository, scratch.path(), &env, LOCAL).expect("git runs");
        let found = client.env.into_iter().filter(|(name, _)| name == "GIT_SSH_COMMAND");
        found.map(|(_, value)| value.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let options = "-o BatchMode=yes -o ConnectTimeout=10";
    assert_eq!(command(&[]), [format!("ssh {options}")]);
    assert_eq!(command(&[("GIT_SSH_COMMAND", "ssh -i k")]), [format!("ssh -i k {options}")]);
    assert_eq!(command(&[("GIT_SSH_COMMAND", "plink -batch")]), ["plink -batch"]);
    assert!(command(&[("GIT_SSH", "/my/ssh")]).is_empty());
    std::fs::write(dir.path().join(".gitconfig"), "[core]\nsshCommand = ssh -p 9\n")
        .expect("writes");
    assert_eq!(command(&[]), [format!("ssh -p 9 {options}")]);
}

#[test]
fn the_line_that_is_shown_says_most_and_holds_no_secret() {
    let plain = repository("https://host/a");
    let line = |text: &str| telling_line(text, &plain);
    assert_eq!(
        line(
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote \
             repository.\n\nPlease make sure you have the correct access rights\nand the \
             repository exists.\n"
        ),
        "git@h: Permission denied (publickey)"
    );
    assert_eq!(line("warning: x\nfatal: repository not found\nhint: y\n"), "repository not found");
    assert_eq!(line(""), "git failed without a word");
    let secret = repository("https://me:s3cret@host/a");
    let shown = telling_line("fatal: unable to access 'https://me:s3cret@host/a/': no", &secret);
    assert_eq!(shown, "unable to access 'https://host/a/': no");
    assert!(is_connection("unable to access 'x': Could not resolve host: x"));
    assert!(!is_connection("repository not found"));
}
