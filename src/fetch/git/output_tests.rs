use super::*;

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
