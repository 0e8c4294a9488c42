//! What may be in the place of a file or a folder: links of each kind, pipes, sockets, devices, files
//! that are large or only look so.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::drive::{Place, two_at_a_time};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    AbsoluteLink,
    RelativeLink,
    LinkToItself,
    DanglingLink,
    LinkToADevice,
    LinkToOwnMemory,
    Pipe,
    Socket,
    Device,
    Sparse,
    Folder,
}

const SHAPES: [Shape; 11] = [
    Shape::AbsoluteLink,
    Shape::RelativeLink,
    Shape::LinkToItself,
    Shape::DanglingLink,
    Shape::LinkToADevice,
    Shape::LinkToOwnMemory,
    Shape::Pipe,
    Shape::Socket,
    Shape::Device,
    Shape::Sparse,
    Shape::Folder,
];

const WIDGET: &str = "home/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/widget-1.2.3";

/// Puts `shape` at a path below the sandbox's folder; links of a user's kind lead to the secret, to its
/// folder where `to` is empty.
fn lay(place: &Place, shape: Shape, path: &str, to: &str) {
    let sandbox = &place.sandbox;
    let at = sandbox.dir().join(path);
    std::fs::create_dir_all(at.parent().expect("a parent")).expect("creates");
    let _ = std::fs::remove_file(&at).or_else(|_| std::fs::remove_dir_all(&at));
    let link = |target: &Path| symlink(target, &at).expect("links");
    let secret = place.outside().join("secret").join(to);
    match shape {
        Shape::AbsoluteLink => link(&secret),
        Shape::RelativeLink => {
            let up = "../".repeat(path.split('/').count() - 1);
            link(&Path::new(&up).join("outside/secret").join(to));
        }
        Shape::LinkToItself => link(Path::new(path.rsplit('/').next().expect("a name"))),
        Shape::DanglingLink => link(&place.outside().join("made-by-us")),
        Shape::LinkToADevice => link(Path::new("/dev/zero")),
        Shape::LinkToOwnMemory => link(Path::new("/proc/self/environ")),
        Shape::Pipe => symposium_testlib::make_pipe(&at),
        Shape::Socket => {
            // A socket's path is short.
            let short = sandbox.dir().join("s");
            drop(std::os::unix::net::UnixListener::bind(&short).expect("binds"));
            std::fs::rename(short, &at).expect("moves");
        }
        Shape::Device => {
            let made = std::process::Command::new("mknod").arg(&at).args(["c", "1", "5"]).status();
            if !made.is_ok_and(|status| status.success()) {
                // Only root makes devices.
                link(Path::new("/dev/full"));
            }
        }
        Shape::Sparse => {
            File::create(&at).and_then(|file| file.set_len(20 << 30)).expect("grows");
        }
        Shape::Folder => std::fs::create_dir(&at).expect("creates"),
    }
}

#[test]
fn in_the_place_of_a_skill_a_plugin_a_crates_file_or_an_agents_settings() {
    two_at_a_time(&SHAPES, |shape| {
        let place = Place::one_of_many();
        for skills in ["ws/.agents/skills", "home/.symposium/plugins/trap/skills"] {
            lay(&place, *shape, &format!("{skills}/folder"), "");
            lay(&place, *shape, &format!("{skills}/head/SKILL.md"), "SKILL.md");
            place.sandbox.write(&format!("{skills}/body/SKILL.md"), crate::skill("body", "d"));
            lay(&place, *shape, &format!("{skills}/body/file.md"), "file.md");
            lay(&place, *shape, &format!("{skills}/body/references"), "");
        }
        for (path, to) in [
            ("ws/.mcp.json", "file.md"),
            ("ws/.claude/settings.json", "file.md"),
            ("ws/.claude/skills/of-trap", ""),
            ("ws/.codex/config.toml", "file.md"),
            ("ws/.gemini/settings.json", "file.md"),
            ("ws/.kiro", ""),
            ("ws/opencode.json", "file.md"),
            ("ws/.github", ""),
            ("ws/src/lib.rs", "file.md"),
            ("ws/symposium.toml", "file.md"),
            ("ws/symposium.lock", "file.md"),
            ("home/.symposium/plugins/other", ""),
            ("home/.symposium/plugins/manifest/SYMPOSIUM.toml", "file.md"),
        ] {
            lay(&place, *shape, path, to);
        }
        for (path, to) in [
            ("CHANGELOG.md", "file.md"),
            ("src/lib.rs", "file.md"),
            ("src/other.rs", "file.md"),
            ("README.md", "file.md"),
            ("skills/linked", ""),
            ("skills/of-widget/more.md", "file.md"),
        ] {
            lay(&place, *shape, &format!("{WIDGET}/{path}"), to);
        }
        place.endures(match shape {
            Shape::Folder => &[],
            Shape::Sparse => &["larger than 10 MB", "more than 20 MB in one file"],
            _ => &["file.md"],
        });
    });
}

#[test]
fn in_the_place_of_what_says_which_workspace_it_is() {
    two_at_a_time(&SHAPES, |shape| {
        for path in ["Cargo.toml", "Cargo.lock"] {
            let place = Place::one_of_many();
            lay(&place, *shape, &format!("ws/{path}"), "file.md");
            for beside in [".git", ".cargo/config.toml", "rust-toolchain.toml", "member/Cargo.toml"]
            {
                lay(&place, *shape, &format!("ws/{beside}"), "file.md");
            }
            place.endures(&[path]);
        }
    });
}
