use super::*;

fn repository(url: &str) -> Repository {
    Repository::parse(url, None, None).expect("a URL")
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
