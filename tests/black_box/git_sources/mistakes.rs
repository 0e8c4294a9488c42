//! Mistakes in files of a source that others maintain, and in the user's own.

use super::configure;
use crate::sandbox;

#[test]
fn decision_34_other_people_s_mistakes_are_one_line_and_the_user_s_own_are_told() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.write(
        "repos/acme/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\nnonsense = 1\npredicates = [\"shell(ls)\"]\n",
    );
    sandbox.write("repos/acme/q/SYMPOSIUM.toml", "name = \"q\"\ncrates = [\"widget\"]\nodd = 1\n");
    sandbox.git_in("repos/acme", &["init", "-q"]);
    sandbox.git_in("repos/acme", &["add", "-A"]);
    sandbox.git_in("repos/acme", &["commit", "-qm", "x"]);
    let url = sandbox.file_url("repos/acme");
    configure(&sandbox, &url, "");
    sandbox
        .user_plugin("mine/SYMPOSIUM.toml", "name = \"mine\"\ncrates = [\"widget\"]\nodder = 1\n");
    let brief = "3 mistakes in files of `acme`, which others maintain";
    for args in [&["sync", "--agent", "claude"][..], &["plugin", "list"], &["plugin", "list"]] {
        let run = sandbox.run(args).ok();
        let told = format!("warning: {brief}: `cargo agents plugin list -v` lists them");
        assert_eq!(run.stderr.matches(&told).count(), 1, "{}", run.stderr);
        assert!(!run.stderr.contains("nonsense"), "{}", run.stderr);
        assert!(run.stderr.contains("unknown key `odder`"), "{}", run.stderr);
    }
    for args in [&["sync", "--agent", "claude", "-v"][..], &["plugin", "list", "-v"]] {
        let run = sandbox.run(args).ok();
        for mistake in
            ["unknown key `nonsense`", "unknown key `odd`", "`shell(ls)` is not supported"]
        {
            assert!(run.stderr.contains(mistake), "{}", run.stderr);
        }
        // A bad predicate is told once.
        assert_eq!(run.stderr.matches("warning[S009]").count(), 1, "{}", run.stderr);
        assert_eq!(run.stderr.matches("never run").count(), 1, "{}", run.stderr);
        assert!(!run.stderr.contains("which others maintain"), "{}", run.stderr);
    }
    let doctor = sandbox.run(&["doctor", "--offline"]);
    assert_eq!(doctor.stdout.matches(brief).count(), 1, "{}", doctor.stdout);
    assert!(!doctor.stdout.contains("nonsense"), "{}", doctor.stdout);
    let doctor = sandbox.run(&["doctor", "--offline", "-v"]);
    assert!(doctor.stdout.contains("nonsense"), "{}", doctor.stdout);
}
