//! git sources whose address is a command, repositories whose configuration and contents attack.

use std::os::unix::fs::symlink;

use super::drive::Place;
use crate::NO_BUILTIN;

/// Writes the configuration anew, with these sources.
fn with_sources(place: &Place, sources: &[(String, &str)]) {
    let mut config: String = symposium_testlib::AGENTS
        .iter()
        .map(|name| format!("[[agent]]\nname = \"{name}\"\n"))
        .collect();
    for (number, (url, more)) in sources.iter().enumerate() {
        let url = toml::Value::String(url.clone());
        config.push_str(&format!("[[plugin-source]]\nname = \"s{number}\"\ngit = {url}\n{more}\n"));
    }
    place.sandbox.write("home/.symposium/config.toml", format!("{config}{NO_BUILTIN}"));
}

#[test]
fn addresses_that_are_options_or_commands() {
    let mut place = Place::new();
    let mark = place.leaves_a_mark();
    let file = place.sandbox.dir().join("ran").display().to_string();
    let urls = [
        format!("--upload-pack={mark}"),
        format!("-u{mark}"),
        format!("ext::sh -c {mark}"),
        format!("EXT::sh -c {mark}"),
        "fd::17".to_owned(),
        format!("transport::ext::sh -c {mark}"),
        format!("ssh://-oProxyCommand={mark}/x"),
        format!("ssh://user@-oProxyCommand={mark}/x"),
        format!("-oProxyCommand={mark}:x"),
        format!("user@-oProxyCommand={mark}:x"),
        format!("https://127.0.0.1:1/$({mark})"),
        format!("https://127.0.0.1:1/a\n{mark}"),
        format!("https://127.0.0.1:1/`{mark}`"),
        format!("file:///{file}"),
        "https://127.0.0.1:1/../../../etc".to_owned(),
        "git://127.0.0.1:1/x".to_owned(),
        format!("https://{}/x", "h".repeat(10_000)),
        "https://127.0.0.1:1/\u{202e}\u{1b}[2J".to_owned(),
    ];
    for (number, url) in urls.iter().enumerate() {
        let quoted = toml::Value::String(url.clone());
        place.sandbox.user_plugin(
            &format!("u{number}/SYMPOSIUM.toml"),
            &format!(
                "name = \"u{number}\"\ncrates = [\"widget\"]\n[[skills]]\nsource.git = {quoted}\n\
                 [[installations]]\nname = \"g\"\nsource = \"github\"\nurl = {quoted}\nexecutable = \"x\"\n\
                 [[installations]]\nname = \"c\"\nsource = \"cargo\"\ncrate = \"x\"\ngit = {quoted}\n\
                 [subcommand.g{number}]\ndescription = \"d\"\ncommand = \"g\"\n\
                 [subcommand.c{number}]\ndescription = \"d\"\ncommand = \"c\"\n"
            ),
        );
        place.also(&["plugin", "add", url.as_str()]);
        place.also(&[format!("g{number}")]);
        place.also(&[format!("c{number}")]);
    }
    let sources: Vec<_> = urls.into_iter().map(|url| (url, "")).collect();
    with_sources(&place, &sources);
    place.endures(&["looks like an option", "names a remote helper", "holds control characters"]);
}

/// Configuration and files that git would start something for.
fn attack(place: &Place, folder: &str, git: &str) {
    let sandbox = &place.sandbox;
    let mark = place.leaves_a_mark();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.askPass",
        "core.gitProxy",
        "uploadpack.packObjectsHook",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "diff.x.textconv",
        "diff.external",
        "merge.x.driver",
        "remote.origin.uploadpack",
        "gpg.program",
        "credential.helper",
        "alias.fetch",
        "sequence.editor",
    ] {
        let value = if key == "alias.fetch" { format!("!{mark}") } else { mark.clone() };
        sandbox.git_in(folder, &["config", key, &value]);
    }
    let hooks = place.sandbox.dir().join(git).join("hooks").display().to_string();
    sandbox.git_in(folder, &["config", "core.hooksPath", &hooks]);
    let secret = place.outside().join("secret/file.md").display().to_string();
    sandbox.git_in(folder, &["config", "core.attributesFile", &secret]);
    for hook in [
        "post-checkout",
        "post-merge",
        "pre-auto-gc",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
        "pre-receive",
        "update",
        "post-update",
        "proc-receive",
    ] {
        sandbox.program(&format!("{git}/hooks/{hook}"), &format!("#!/bin/sh\n{mark}\n"));
    }
}

#[test]
fn repositories_with_hooks_filters_submodules_and_links() {
    let place = Place::new();
    let sandbox = &place.sandbox;
    let mark = place.leaves_a_mark();
    let put = |path: &str, text: &str| sandbox.write(&format!("repos/evil/{path}"), text);
    put(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    put("p/skills/one/SKILL.md", &crate::skill("one", "d"));
    put(".gitattributes", "* filter=x diff=x merge=x ident\n");
    put("p/.gitattributes", "* filter=x\n");
    put(
        ".gitmodules",
        &format!(
            "[submodule \"x\"]\n\tpath = p/sub\n\turl = ext::sh -c {mark}\n\tupdate = !{mark}\n\
             [submodule \"y\"]\n\tpath = -x\n\turl = --upload-pack={mark}\n\
             [submodule \"../../x\"]\n\tpath = ../../x\n\turl = ./x\n"
        ),
    );
    let root = sandbox.dir().join("repos/evil");
    let outside = place.outside();
    for (target, link) in [
        (outside.join("secret").as_path(), "p/skills/absolute"),
        ("../../../../outside/secret".as_ref(), "p/skills/relative"),
        (outside.join("secret/file.md").as_path(), "p/skills/one/file.md"),
        ("itself".as_ref(), "p/skills/itself"),
        ("/dev/zero".as_ref(), "p/skills/one/zero.md"),
        (".git/config".as_ref(), "p/config"),
    ] {
        symlink(target, root.join(link)).expect("links");
    }
    sandbox.git_in("repos/evil", &["init", "-q"]);
    sandbox.git_in("repos/evil", &["add", "-A"]);
    let commit = "0123456789012345678901234567890123456789";
    let sub = format!("160000,{commit},p/sub");
    sandbox.git_in("repos/evil", &["update-index", "--add", "--cacheinfo", &sub]);
    sandbox.git_in("repos/evil", &["commit", "-qm", "x"]);
    attack(&place, "repos/evil", "repos/evil/.git");
    // The checkout that the user is in, likewise.
    sandbox.write("ws/.gitattributes", "* filter=x diff=x\n");
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "x"]);
    attack(&place, "ws", "ws/.git");
    let url = format!("file://{}", root.display());
    with_sources(&place, &[(url.clone(), ""), (url, "subdir = \"p\"")]);
    place.endures(&["Fetched", "skills/absolute", "leads out"]);
}

/// What git itself refuses to make, written as objects.
#[test]
fn trees_with_names_that_lead_out_and_more_than_is_taken() {
    let place = Place::new();
    let sandbox = &place.sandbox;
    let evil = sandbox.dir().join("repos");
    let mut sources = Vec::new();
    for (name, stream) in [("many", many_files()), ("large", large_file()), ("deep", deep_tree())] {
        let folder = evil.join(name);
        std::fs::create_dir_all(&folder).expect("creates");
        sandbox.git_in(&format!("repos/{name}"), &["init", "-q", "--bare"]);
        symposium_testlib::run_git(&folder, &sandbox.home(), &["fast-import", "--quiet"], &stream);
        sources.push((format!("file://{}", folder.display()), ""));
    }
    let folder = evil.join("names");
    std::fs::create_dir_all(&folder).expect("creates");
    let git = |args: &[&str], stdin: &[u8]| {
        symposium_testlib::run_git(&folder, &sandbox.home(), args, stdin).trim().to_owned()
    };
    git(&["init", "-q", "--bare"], b"");
    let blob = git(&["hash-object", "-w", "--stdin"], b"x");
    let hash: Vec<u8> =
        (0..20).map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).expect("hex")).collect();
    let mut tree = Vec::new();
    for name in [
        &b".."[..],
        b".",
        b".git",
        b".GIT",
        b"git~1",
        b".g\xe2\x80\x8cit",
        b"../../escaped",
        b"/escaped",
        b"C:\\escaped",
        b"..\\escaped",
        b"a\nb",
        b"\x1b[2J",
        b"\xff\xfe",
        b"CON",
        b"-rf",
        b"aux.md",
        "\u{202e}md.x".as_bytes(),
    ] {
        tree.extend_from_slice(&[b"100644 ", name, b"\0", &hash].concat());
    }
    let tree = git(&["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &tree);
    let commit = git(&["commit-tree", &tree, "-m", "x"], b"");
    git(&["update-ref", "refs/heads/main", &commit], b"");
    git(&["symbolic-ref", "HEAD", "refs/heads/main"], b"");
    sources.push((format!("file://{}", folder.display()), ""));
    with_sources(&place, &sources);
    place.endures(&["10001 files", "the limit is 20 MB a file"]);
}

const COMMIT: &str = "commit refs/heads/main\ncommitter x <x@x> 0 +0000\ndata 1\nx\n";

fn many_files() -> Vec<u8> {
    let files = (0..10_001).map(|number| format!("M 100644 :1 d{}/f{number}\n", number % 7));
    format!("blob\nmark :1\ndata 1\nx\n{COMMIT}{}\n", files.collect::<String>()).into_bytes()
}

fn large_file() -> Vec<u8> {
    let size = 30_000_000;
    let mut stream = format!("blob\nmark :1\ndata {size}\n").into_bytes();
    stream.resize(stream.len() + size, b' ');
    stream.extend_from_slice(format!("\n{COMMIT}M 100644 :1 large.md\n\n").as_bytes());
    stream
}

fn deep_tree() -> Vec<u8> {
    let path = format!("{}f", "d/".repeat(1900));
    format!("blob\nmark :1\ndata 1\nx\n{COMMIT}M 100644 :1 {path}\n\n").into_bytes()
}
