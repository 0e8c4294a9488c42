use super::*;

fn parse(url: &str) -> Repository {
    Repository::parse(url, None, None).unwrap_or_else(|problem| panic!("{url}: {problem}"))
}

fn refused(url: &str) -> String {
    match Repository::parse(url, None, None) {
        Ok(found) => panic!("{url} was taken: {found:?}"),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn f120_every_way_to_write_a_repository_has_one_identity() {
    for url in [
        "https://github.com/Acme/tools",
        "https://github.com/Acme/tools.git",
        "https://GitHub.com/Acme/tools/",
        "https://user@github.com:443/Acme/tools",
        "ssh://git@github.com/Acme/tools.git",
        "ssh://git@github.com:22/Acme/tools",
        "git@github.com:Acme/tools.git",
        "github.com:Acme/tools",
        "https://github.com/Acme/tools/tree/main",
        "https://github.com/Acme/tools/tree/main/plugins?tab=readme#top",
    ] {
        assert_eq!(parse(url).identity(), "github.com/Acme/tools", "{url}");
    }
    assert_eq!(parse("https://git.example:8443/a/b").identity(), "git.example:8443/a/b");
    assert_eq!(parse("file:///srv/git/a.git").identity(), "/srv/git/a");
    assert_eq!(parse("/srv/git/a.git").identity(), "/srv/git/a");
    assert!(parse("/srv/git/a.git").is_local() && parse("file:///srv/git/a.git").is_local());
    assert_eq!(parse("C:/git/a").is_local(), cfg!(windows));
    assert!(!parse("git@github.com:a/b").is_local());
}

#[test]
fn f120_browser_urls_are_taken_apart() {
    let tree = |rest: &str| Wanted::Tree(rest.to_owned());
    for (url, remote, wanted, subdir) in [
        ("https://github.com/a/b/tree/main/x/y/", "https://github.com/a/b", tree("main/x/y"), ""),
        ("https://github.com/a/b.git/tree/v1", "https://github.com/a/b.git", tree("v1"), ""),
        ("https://gl.example/g/s/p/-/tree/f/x/d", "https://gl.example/g/s/p", tree("f/x/d"), ""),
        ("https://cb.example/a/b/src/branch/m/d", "https://cb.example/a/b", tree("m/d"), ""),
        ("https://github.com/a/b/tree/f%2Fx/d%20e", "https://github.com/a/b", tree("f/x/d e"), ""),
        ("https://github.com/a/tree", "https://github.com/a/tree", Wanted::Default, ""),
        ("https://gl.example/tree/a/tree", "https://gl.example/tree/a/tree", Wanted::Default, ""),
        (
            "https://github.com/a/b/tree/0123456789abcdef0123456789ABCDEF01234567/d",
            "https://github.com/a/b",
            Wanted::Commit("0123456789abcdef0123456789abcdef01234567".to_owned()),
            "d",
        ),
    ] {
        let found = parse(url);
        assert_eq!(
            (found.url(), found.wanted(), found.subdir()),
            (remote, &wanted, subdir),
            "{url}"
        );
    }
    assert!(refused("https://github.com/a/b/blob/main/SKILL.md").contains("`/tree/`"));
    assert!(refused("https://github.com/a/b/tree/main/../../..").contains("leads out"));
    assert!(refused("https://github.com/a/b/tree/main/%2e%2e/%2e%2e/x").contains("leads out"));
    assert!(refused("https://github.com/a/b/tree/%2").contains("percent"));
}

#[test]
fn keys_and_urls_must_not_say_two_things() {
    let tree = "https://github.com/a/b/tree/feature/x/skills";
    let found = Repository::parse(tree, Some("feature/x"), None).expect("the key ends the ref");
    assert_eq!(found.wanted(), &Wanted::Named("feature/x".to_owned()));
    assert_eq!(found.subdir(), "skills");
    assert!(Repository::parse(tree, Some("main"), None).is_err());
    assert!(Repository::parse(tree, None, Some("docs")).is_err());
    let found = Repository::parse("/srv/a", Some("v1"), Some("./x//y/")).expect("fine");
    assert_eq!((found.wanted(), found.subdir()), (&Wanted::Named("v1".to_owned()), "x/y"));
}

#[test]
fn what_git_could_take_for_an_option_or_a_command_is_refused() {
    for url in [
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=x",
        "ssh://-oProxyCommand=touch/x",
        "ssh://user@-oProxyCommand=touch/x",
        "-oProxyCommand=x:y",
        "git@-oProxyCommand=x:y",
        "git@host:--upload-pack=x",
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "EXT::sh",
        "ftp://host/a",
        "http://example.com/a/b",
        "git://example.com/a/b",
        "https://host/a b",
        "https:///a",
        "https://github.com",
        "file://other/a",
        "me:s3cret@host:a/b",
        "a/b",
        "../a",
        "",
        "https://host/a\nb",
        "https://host/\u{0}",
    ] {
        refused(url);
    }
    assert!(refused("acme/tools").contains("https://github.com/acme/tools"));
    for rev in ["-x", "--upload-pack=x", "a..b", "a b", "@{1}", "", "a:b", "refs/*", "x.lock", ".a"]
    {
        assert!(Repository::parse("/a", Some(rev), None).is_err(), "{rev}");
    }
    for subdir in ["..", "/x", "a/../../b", "C:\\x"] {
        assert!(Repository::parse("/a", None, Some(subdir)).is_err(), "{subdir}");
    }
    for url in ["http://127.0.0.1:80/a", "http://localhost/a", "http://[::1]:81/a"] {
        parse(url);
    }
    refused("http://127.0.0.1.example.com/a");
}

#[test]
fn f22_different_sources_never_share_a_cache_entry() {
    let key = |url: &str, rev, subdir| Repository::parse(url, rev, subdir).expect(url).key();
    let keys = [
        key("https://h/a/b--c", None, None),
        key("https://h/a--b/c", None, None),
        key("https://h/a/b", None, None),
        key("https://h/a/b", Some("b"), None),
        key("https://h/a/b", None, Some("b")),
        key("https://h/a/b", Some("b"), Some("b")),
        key("https://h/a/b/tree/b/b", None, None),
        key("https://other/a/b", None, None),
        key("ssh://h/a/b", None, None),
    ];
    let mut distinct = keys.to_vec();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), keys.len(), "{keys:?}");
    assert!(keys[2].starts_with("a-b-"), "{keys:?}");
    let long = key(&format!("https://h/{}/ü ../x", "y".repeat(300)).replace(' ', ""), None, None);
    assert!(crate::files::is_plain_name(&long) && long.len() < 60, "{long}");
}

#[test]
fn a_password_is_never_shown() {
    assert_eq!(parse("https://me:s3cret@host/a").shown(), "https://host/a");
    assert_eq!(parse("https://t0ken@host/a").shown(), "https://host/a");
    assert_eq!(parse("ssh://git@host/a").shown(), "ssh://git@host/a");
    assert_eq!(parse("git@host:a/b").shown(), "git@host:a/b");
    assert!(!parse("https://me:s3cret@host/a").key().contains("s3cret"));
}

proptest::proptest! {
    #[test]
    fn no_text_panics_or_becomes_an_option(
        url in ".{0,40}",
        rev in proptest::option::of(".{0,12}"),
        subdir in proptest::option::of(".{0,12}"),
    ) {
        if let Ok(found) = Repository::parse(&url, rev.as_deref(), subdir.as_deref()) {
            assert!(!found.url().starts_with('-') && !found.subdir().starts_with(".."));
            assert!(crate::files::is_plain_name(&found.key()));
        }
    }
}
