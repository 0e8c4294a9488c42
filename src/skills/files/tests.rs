use super::*;
use crate::skills::SkillOrigin;
use crate::workspace::UNOBSERVED;

struct Place {
    dir: tempfile::TempDir,
}

const SKILL: &str = "---\nname: old\ndescription: d\n---\nbody\n";

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        place.put("root/s/SKILL.md", SKILL);
        place
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(&path, text).expect("writes");
        path
    }

    fn skill(&self) -> Skill {
        Skill {
            name: "old".to_owned(),
            description: "d".to_owned(),
            dir: self.dir.path().join("root/s"),
            root: self.dir.path().join("root"),
            origin: SkillOrigin::Workspace { path: "s".to_owned() },
            plugin: None,
            written: None,
            same_as: Vec::new(),
        }
    }

    fn collect(&self) -> SkillFiles {
        collect(&self.skill(), "new", &UNOBSERVED).expect("collects")
    }

    fn refused(&self, limits: &Limits) -> String {
        collect_within(&self.skill(), "new", &UNOBSERVED, limits)
            .expect_err("must be refused")
            .to_string()
    }
}

#[cfg(unix)]
fn set_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
}

#[cfg(not(unix))]
fn set_executable(_path: &Path, _executable: bool) {}

fn paths(files: &SkillFiles) -> Vec<&str> {
    files.content.files.keys().map(String::as_str).collect()
}

#[test]
fn f90_everything_beside_skill_md_comes_along_sorted_with_its_execute_bit() {
    let place = Place::new();
    let script = place.put("root/s/scripts/run.sh", "#!/bin/sh\n");
    set_executable(&script, true);
    place.put("root/s/resources/a.bin", [0, 159, 146, 150]);
    let files = place.collect();
    assert_eq!(paths(&files), ["SKILL.md", "resources/a.bin", "scripts/run.sh"]);
    assert_eq!(files.content.files["scripts/run.sh"].executable, cfg!(unix));
    assert!(!files.content.files["resources/a.bin"].executable);
    let text = &files.content.files["SKILL.md"].bytes;
    assert_eq!(String::from_utf8_lossy(text), SKILL.replace("old", "new"));
    assert_eq!(files.warnings, []);
}

#[test]
fn section_2_what_claude_would_start_is_left_out_with_a_warning() {
    let place = Place::new();
    place.put("root/s/.claude-plugin/plugin.json", "{}");
    place.put("root/s/deep/.Claude-Plugin/plugin.json", "{}");
    let files = place.collect();
    assert_eq!(paths(&files), ["SKILL.md"]);
    assert_eq!(files.warnings.len(), 2);
    assert!(files.warnings[0].message.contains("Claude Code reads or runs it"));
}

#[test]
fn our_own_files_and_junk_are_not_copied() {
    let place = Place::new();
    for path in [".symposium", ".gitignore", ".ignore", ".git/config", "target/x", "a/.DS_Store"] {
        place.put(&format!("root/s/{path}"), "x");
    }
    place.put("root/s/a/.gitignore", "x");
    assert_eq!(paths(&place.collect()), ["SKILL.md", "a/.gitignore"]);
}

#[cfg(unix)]
#[test]
fn case_84_links_are_resolved_inside_the_root_and_never_lead_out() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.put("root/shared/guide.md", "guide");
    place.put("root/.git/config", "secret");
    place.put("outside/id_rsa", "secret");
    let skill = place.dir.path().join("root/s");
    symlink("../shared/guide.md", skill.join("guide.md")).expect("links");
    symlink("../shared", skill.join("shared")).expect("links");
    symlink("../../outside/id_rsa", skill.join("key")).expect("links");
    symlink(place.dir.path().join("outside"), skill.join("out")).expect("links");
    symlink("../.git/config", skill.join("config")).expect("links");
    symlink("nowhere", skill.join("dangling")).expect("links");
    symlink(".", skill.join("loop")).expect("links");
    let files = place.collect();
    assert_eq!(paths(&files), ["SKILL.md", "guide.md", "shared/guide.md"]);
    assert_eq!(files.warnings.len(), 5, "{:?}", files.warnings);
    for file in files.content.files.values() {
        assert!(!String::from_utf8_lossy(&file.bytes).contains("secret"));
    }
}

#[cfg(unix)]
#[test]
fn case_73_a_linked_skill_md_becomes_a_file() {
    let place = Place::new();
    let skill = place.dir.path().join("root/s/SKILL.md");
    fs::rename(&skill, place.dir.path().join("root/real.md")).expect("moves");
    std::os::unix::fs::symlink("../real.md", &skill).expect("links");
    let text = place.collect().content.files["SKILL.md"].bytes.clone();
    assert_eq!(String::from_utf8(text), Ok(SKILL.replace("old", "new")));
}

#[cfg(unix)]
#[test]
fn case_84_a_skill_md_that_leads_out_is_no_skill() {
    let place = Place::new();
    let skill = place.dir.path().join("root/s/SKILL.md");
    fs::remove_file(&skill).expect("removes");
    let outside = place.put("outside/SKILL.md", SKILL);
    std::os::unix::fs::symlink(outside, &skill).expect("links");
    assert!(place.refused(&Limits::default()).contains("no usable `SKILL.md`"));
}

#[test]
fn section_2_each_limit_is_named() {
    let place = Place::new();
    place.put("root/s/a", vec![0; 3_000_000]);
    place.put("root/s/b", vec![0; 3_000_000]);
    let limits = Limits::default();
    let error = place.refused(&Limits { files: 2, ..limits });
    assert!(error.ends_with("the skill holds more than 2 files"), "{error}");
    let error = place.refused(&Limits { file: 2 * MEGABYTE, ..limits });
    assert!(error.ends_with("more than 2 MB in one file"), "{error}");
    // A folder has no order.
    let named = |name: &str| error.contains(&Path::new("s").join(name).display().to_string());
    assert!(named("a: ") || named("b: "), "which file: {error}");
    let error = place.refused(&Limits { total: 5 * MEGABYTE, ..limits });
    assert!(error.ends_with("more than 5 MB in all"), "{error}");
}

#[test]
fn case_85_hidden_text_refuses_the_skill_in_any_markdown() {
    for path in ["root/s/SKILL.md", "root/s/references/more.MD"] {
        let place = Place::new();
        place.put(path, format!("{SKILL}x\u{e0041}\u{e0042}\n"));
        let error = place.refused(&Limits::default());
        assert!(error.contains(":6:2: invisible text"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn section_2_links_that_multiply_folders_are_limited() {
    let place = Place::new();
    let skill = place.dir.path().join("root/s");
    for level in 0..20 {
        fs::create_dir(skill.join(format!("{level}"))).expect("creates");
        for copy in ["x", "y"] {
            let link = skill.join(format!("{level}/{copy}"));
            std::os::unix::fs::symlink(format!("../{}", level + 1), link).expect("links");
        }
    }
    fs::create_dir(skill.join("20")).expect("creates");
    let error = place.refused(&Limits { files: 500, ..Limits::default() });
    assert!(error.ends_with("the skill holds more than 500 folders"), "{error}");
}

#[test]
fn case_85_no_file_that_an_agent_can_read_hides_text() {
    let hidden = "\u{e0049}\u{e0067}";
    let stray = [b"note \xff".as_slice(), hidden.as_bytes()].concat();
    let files: [(&str, &[u8]); 4] = [
        ("ref.txt", hidden.as_bytes()),
        ("scripts/run.py", b"x = '\xe2\x80\xae'"),
        ("no-extension", hidden.as_bytes()),
        ("one-bad-byte.md", &stray),
    ];
    for (path, bytes) in files {
        let place = Place::new();
        place.put(&format!("root/s/{path}"), bytes);
        let error = place.refused(&Limits::default());
        assert!(error.contains("invisible text (U+"), "{path}: {error}");
        assert!(inspect(&place.skill(), &UNOBSERVED).iter().any(Diagnostic::is_error), "{path}");
    }
    let place = Place::new();
    let escaped = "---\nname: s\ndescription: \"d \\U000E0049\"\n---\n";
    place.put("root/s/SKILL.md", escaped);
    let error = place.refused(&Limits::default());
    assert!(error.contains("SKILL.md:3:14: invisible text (U+E0049)"), "{error}");
    // Pictures hold any bytes at all.
    let place = Place::new();
    place.put("root/s/a.png", [b"\x89PNG\0\xff".as_slice(), hidden.as_bytes()].concat());
    assert_eq!(paths(&place.collect()), ["SKILL.md", "a.png"]);
}

#[test]
fn validate_hears_of_every_file_that_hides_something() {
    let place = Place::new();
    place.put("root/s/a.txt", "\u{e0049}");
    place.put("root/s/b.md", "\u{e0049}");
    let found = inspect(&place.skill(), &UNOBSERVED);
    assert_eq!(found.iter().filter(|problem| problem.is_error()).count(), 2, "{found:?}");
}
