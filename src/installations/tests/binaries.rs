//! Files on disk, by URL and from repositories.

use std::sync::atomic::Ordering;

use sha2::{Digest as _, Sha256};

use super::*;
use crate::fetch::http::testing::{Server, ok, serve};
use crate::plugins::model::Checksum;

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn download(url: &str, sha256: &str) -> Installation {
    let source = InstallSource::Binary {
        url: url.into(),
        version: Some("1.2".to_owned()),
        sha256: Checksum::One(sha256.to_owned()),
    };
    Installation { source: Some(source), ..bare("tool") }
}

fn archive(name: &str, text: &str) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), Default::default()));
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o755);
    header.set_cksum();
    builder.append_data(&mut header, name, text.as_bytes()).expect("is written");
    builder.into_inner().and_then(|gzip| gzip.finish()).expect("is written")
}

fn serving(body: &[u8]) -> Server {
    let answer = ok(body);
    serve(move |_| answer.clone())
}

#[test]
fn decision_11_an_archive_is_checked_unpacked_and_got_once() {
    let house = House::new();
    let target = super::super::binary::target();
    let body = archive(&format!("tool-1.2-{target}/bin/tool"), "#!/bin/sh\necho hi\n");
    let server = serving(&body);
    let url = format!("{}/tool-{{version}}-{{target}}.tar.gz", server.url);
    let tool = executable(download(&url, &sum(&body)), "tool-{version}-{target}/bin/tool");
    let plugin = house.plugin(vec![tool]);
    assert_eq!(house.probe(&plugin, "tool"), None);
    for _ in 0..2 {
        let acquired = house.acquire(&plugin, "tool", Mode::Explicit).expect("is got");
        let dir = house.binaries().join(format!("sha256-{}", &sum(&body)[..16]));
        assert_eq!(acquired.dir.as_ref(), Some(&dir));
        assert!(path_of(&acquired).starts_with(&dir) && path_of(&acquired).is_file());
        assert_eq!(acquired.path_dir.as_deref(), path_of(&acquired).parent());
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 1);
}

#[test]
fn decision_11_a_bare_executable_is_made_one() {
    let house = House::new();
    let body = b"#!/bin/sh\necho bare\n";
    let server = serving(body);
    let tool = executable(download(&format!("{}/dl/tool-x86", server.url), &sum(body)), "tool");
    let plugin = house.plugin(vec![tool]);
    let acquired = house.acquire(&plugin, "tool", Mode::Explicit).expect("is got");
    let child = acquired.program.expect("has one").child();
    assert_eq!(crate::process::run(&child).expect("starts").stdout_text(), "bare\n");
}

#[test]
fn decision_11_another_file_is_refused_and_nothing_is_left() {
    let house = House::new();
    let server = serving(b"something else");
    let wrong = "0".repeat(64);
    let url = format!("{}/tool", server.url);
    let plugin = house.plugin(vec![executable(download(&url, &wrong), "tool")]);
    let error = said(house.acquire(&plugin, "tool", Mode::Explicit));
    assert!(error.contains(&sum(b"something else")) && error.contains(&wrong), "{error}");
    let left: Vec<_> = fs::read_dir(house.binaries())
        .expect("is there")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, [".stamps"]);
}

#[test]
fn decision_11_what_can_not_be_unpacked_is_named() {
    let house = House::new();
    let body = b"PK\x03\x04....";
    let server = serving(body);
    let plugin = house.plugin(vec![download(&format!("{}/tool.zip", server.url), &sum(body))]);
    let error = said(house.acquire(&plugin, "tool", Mode::Explicit));
    assert!(error.contains("tool.zip is a zip archive; only .tar.gz"), "{error}");
    let insecure = download("http://example.com/tool", &sum(body));
    let error = said(house.acquire(&house.plugin(vec![insecure]), "tool", Mode::Explicit));
    assert!(error.contains("only https is fetched"), "{error}");
}

#[test]
fn decision_26_a_path_is_the_plugins_and_stays_inside_its_source() {
    let house = House::new();
    program(&house.path("source/plugin/scripts/x.sh"), "#!/bin/sh\n");
    program(&house.path("source/shared.sh"), "#!/bin/sh\n");
    program(&house.path("secret.sh"), "#!/bin/sh\n");
    program(&house.path("work/scripts/only-in-the-checkout.sh"), "#!/bin/sh\n");
    std::os::unix::fs::symlink("/bin", house.path("source/plugin/link")).expect("links");
    let acquire = |path: &str| {
        let plugin = house.plugin(vec![script(bare("x"), path)]);
        let acquired = house.acquire(&plugin, "x", BUDGET_NONE);
        assert_eq!(house.probe(&plugin, "x"), acquired.as_ref().ok().cloned());
        acquired
    };
    let found = acquire("scripts/x.sh").expect("is there");
    assert_eq!(path_of(&found), house.path("source/plugin/scripts/x.sh"));
    assert_eq!(found.path_dir, Some(house.path("source/plugin/scripts")));
    assert_eq!(found.dir, None);
    assert!(acquire("../shared.sh").is_ok());
    assert!(acquire("/bin/sh").is_ok());
    for outside in ["../../secret.sh", "link/sh"] {
        let error = said(acquire(outside));
        assert!(error.contains("leads out of"), "{error}");
    }
    let missing = said(acquire("scripts/only-in-the-checkout.sh"));
    assert!(missing.ends_with("scripts/only-in-the-checkout.sh is not there"), "{missing}");
    assert!(said(acquire("scripts")).ends_with("is a folder"));
}

const BUDGET_NONE: Mode = Mode::Dispatch { budget: Duration::ZERO };

#[test]
fn f162_a_repositorys_file_is_run_where_it_lies() {
    let house = House::new();
    program(&house.path("repositories/hooks/aaa/claude/x.sh"), "#!/bin/sh\n");
    let source = Some(InstallSource::Git { url: "hooks".into() });
    let plugin =
        house.plugin(vec![script(Installation { source, ..bare("hooks") }, "claude/x.sh")]);
    let acquired = house.acquire(&plugin, "hooks", Mode::Explicit).expect("is got");
    let tree = house.path("repositories/hooks/aaa");
    assert_eq!(acquired.dir.as_ref(), Some(&tree));
    assert_eq!(path_of(&acquired), tree.join("claude/x.sh"));
    assert!(acquired.program.as_ref().is_some_and(|program| program.is_script));
    // A newer commit comes with the background's daily look; the fetched files are not ours.
    program(&house.path("repositories/hooks/bbb/claude/x.sh"), "#!/bin/sh\n");
    assert_eq!(house.acquire(&plugin, "hooks", Mode::Detached), Ok(acquired));
    house.age(&plugin, "hooks", 25 * HOUR);
    let newer = house.acquire(&plugin, "hooks", Mode::Detached).expect("is got");
    assert!(path_of(&newer).starts_with(house.path("repositories/hooks/bbb")));
    assert!(tree.is_dir());
}

#[test]
fn f162_commands_work_on_a_copy_of_the_repository() {
    let house = House::new();
    program(&house.path("repositories/tool/aaa/build.sh"), "#!/bin/sh\necho built >out.sh\n");
    let source = Some(InstallSource::Git { url: "tool".into() });
    let mut tool = script(Installation { source, ..bare("tool") }, "out.sh");
    tool.install_commands = vec!["./build.sh".to_owned()];
    let plugin = house.plugin(vec![tool]);
    let first = house.acquire(&plugin, "tool", Mode::Explicit).expect("is built");
    assert!(path_of(&first).starts_with(house.binaries()));
    assert!(!house.path("repositories/tool/aaa/out.sh").exists());
    program(&house.path("repositories/tool/bbb/build.sh"), "#!/bin/sh\necho new >out.sh\n");
    house.age(&plugin, "tool", 25 * HOUR);
    let second = house.acquire(&plugin, "tool", Mode::Detached).expect("is built");
    assert_eq!(fs::read_to_string(path_of(&second)).expect("is there"), "new\n");
    sweep_outdated(&house.sym);
    assert!(!path_of(&first).exists() && path_of(&second).exists());
}
