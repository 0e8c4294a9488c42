//! Skills reach the model, and leave it again.

use std::path::{Path, PathBuf};

use symposium_testlib::clients::Action;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Sandbox, Step, Turn, World, smuggled};

pub(crate) const POINT: Point = Point {
    name: "skills",
    checks: &[
        Check {
            name: "skills_are_offered_once_each",
            says: "A skill of a matched crate and one of the workspace's own `.agents/skills` are \
                   offered to the model with their descriptions, once each.",
            run: skills_are_offered_once_each,
        },
        Check {
            name: "a_skill_and_its_files_can_be_read",
            says: "A skill is activated, and the files that it brings are read, with the client's own \
                   tools.",
            run: a_skill_and_its_files_can_be_read,
        },
        Check {
            name: "skills_of_a_removed_dependency_are_gone",
            says: "After the dependency is removed and `sync` run, its skill is offered no more.",
            run: skills_of_a_removed_dependency_are_gone,
        },
        Check {
            name: "a_dependency_added_in_mid_session_is_told",
            says: "A dependency added during a session: the model is told of its skill, once, with its \
                   description and where it is; the next session offers it.",
            run: a_dependency_added_in_mid_session_is_told,
        },
        Check {
            name: "a_first_session_is_told",
            says: "The first session in a workspace that was never synced: the model is offered or \
                   told of the skills; the next session offers them.",
            run: a_first_session_is_told,
        },
        Check {
            name: "no_hooks_of_a_skill_run",
            says: "Skills with `hooks:` in a hundred spellings are synced and used: none of their \
                   commands runs.",
            run: no_hooks_of_a_skill_run,
        },
    ],
};

/// The description of the crate's skill.
pub(crate) const CRATES_SKILL: &str = "Take care of widgets, as a gardener would.";
const OWN_SKILL: &str = "Keep to the rules of this very house.";
pub(crate) const BODY: &str = "WATER-THEM-DAILY";
const REFERENCE: &str = "NEVER-AT-NOON";

/// A crate that ships a skill with a file beside it, and a plugin that recommends it.
pub(crate) fn crate_with_skill(sandbox: &Sandbox) {
    let skill = format!(
        "---\nname: widget-care\ndescription: {CRATES_SKILL}\n---\n\n{BODY}. See \
         `references/details.md`.\n"
    );
    let files = [
        ("skills/widget-care/SKILL.md", skill.as_str()),
        ("skills/widget-care/references/details.md", REFERENCE),
    ];
    sandbox.registry_crate("widget", "1.0.0", &files);
    let manifest = "name = \"w\"\ncrates = [\"widget\"]\n\n[[skills]]\nsource = \"crate\"\n";
    sandbox.user_plugin("w/SYMPOSIUM.toml", manifest);
}

/// A workspace that depends on the crate, synced.
fn synced(bench: &Bench) -> World {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    world.sandbox.package(&[("widget", "1.0.0")]);
    world.init(&[]);
    world
}

fn skills_are_offered_once_each(bench: &Bench) -> Finding {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    let own = format!("---\nname: house-rules\ndescription: {OWN_SKILL}\n---\n\nBe kind.\n");
    world.sandbox.write("ws/.agents/skills/house-rules/SKILL.md", own);
    world.sandbox.package(&[("widget", "1.0.0")]);
    world.init(&[]);
    let turn = world.turn(&[Step::say("Done.")]);
    if bench.client.name() == "cline" {
        let named = ["widget-care", "house-rules"].iter().all(|name| turn.shows(name));
        assert!(named && !turn.shows(OWN_SKILL), "Cline tells otherwise now\n{}", turn.told());
        return Finding::Cant("It tells the model their names alone.");
    }
    for description in [CRATES_SKILL, OWN_SKILL] {
        assert_eq!(turn.count_in(0, description), 1, "{description}\n{}", turn.told());
    }
    Finding::Holds
}

fn a_skill_and_its_files_can_be_read(bench: &Bench) -> Finding {
    let world = synced(bench);
    let turn = read_all(&world);
    assert!(turn.shows(BODY), "the skill was not activated\n{}", turn.told());
    if !bench.is("gemini") {
        assert!(turn.shows(REFERENCE), "its file was not read\n{}", turn.told());
        return Finding::Holds;
    }
    let refused = turn.results().join("\n").contains("ignored by") && !turn.shows(REFERENCE);
    assert!(refused, "Gemini CLI can read ignored files now\n{}", turn.told());
    // What the page recommends.
    world.sandbox.config("skill-ignore = \"none\"\n[[agent]]\nname = \"gemini\"\n");
    world.sync();
    let turn = read_all(&world);
    assert!(turn.shows(REFERENCE), "nor with `skill-ignore = \"none\"`\n{}", turn.told());
    Finding::Cant("It refuses to read ignored files; with `skill-ignore = \"none\"` it reads them.")
}

fn read_all(world: &World) -> Turn {
    let path = installed(world).join("references/details.md");
    let skill = Step::Do(Action::Skill("widget-care".into()));
    world.turn(&[skill, Step::read(path), Step::say("Done.")])
}

/// A workspace without dependencies, and the command that gives it the crate, as `cargo add widget`
/// would.
pub(crate) fn later(world: &World) -> String {
    world.sandbox.package(&[("widget", "1.0.0")]);
    let later = world.sandbox.dir().join("later");
    std::fs::create_dir_all(&later).expect("creates a folder");
    for file in ["Cargo.toml", "Cargo.lock"] {
        std::fs::rename(world.sandbox.ws().join(file), later.join(file)).expect("moves");
    }
    world.sandbox.package(&[]);
    format!("cp '{}'/Cargo.* .", later.display())
}

/// Where the skill was put.
pub(crate) fn installed(world: &World) -> PathBuf {
    let folders =
        [".agents/skills", ".claude/skills"].map(|folder| world.sandbox.ws().join(folder));
    let found = folders.iter().map(|folder| folder.join("widget-care")).find(|dir| dir.is_dir());
    found.expect("the skill is installed")
}

fn skills_of_a_removed_dependency_are_gone(bench: &Bench) -> Finding {
    let world = synced(bench);
    world.sandbox.package(&[]);
    world.sync();
    let turn = world.turn(&[Step::say("Done.")]);
    for words in [CRATES_SKILL, "widget-care"] {
        assert!(!turn.shows(words), "{words}\n{}", turn.told());
    }
    Finding::Holds
}

fn a_dependency_added_in_mid_session_is_told(bench: &Bench) -> Finding {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    let add = later(&world);
    world.init(&[]);
    let turn = world.turn(&[Step::shell(add), Step::shell("echo hi"), Step::say("Done.")]);
    assert!(turn.count_in(0, CRATES_SKILL) == 0, "too early\n{}", turn.told());
    told_of_the_skill(&world, &turn, 2);
    next_session_offers(&world);
    Finding::Holds
}

fn a_first_session_is_told(bench: &Bench) -> Finding {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    world.sandbox.package(&[("widget", "1.0.0")]);
    // Outside of any workspace.
    world.init_in("home", &[]);
    assert!(!world.sandbox.has("ws/.claude") && !world.sandbox.has("ws/.agents"), "it synced");
    let turn = world.turn(&[Step::say("Done.")]);
    // OpenCode looks for skills after our program made them.
    if !bench.is("opencode") {
        told_of_the_skill(&world, &turn, 0);
    }
    assert_eq!(turn.count_in(0, CRATES_SKILL), 1, "{}", turn.told());
    next_session_offers(&world);
    Finding::Holds
}

fn no_hooks_of_a_skill_run(bench: &Bench) -> Finding {
    let world = bench.world();
    let ran = world.sandbox.dir().join("ran");
    std::fs::create_dir_all(&ran).expect("creates a folder");
    let touch = |who: &str| format!("touch {}", ran.join(who).display());
    world.sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \".\"\n",
    );
    let skills = smuggled::skills(|name| touch(name));
    for (name, text) in &skills {
        world.sandbox.user_plugin(&format!("p/{name}/SKILL.md"), text);
    }
    world.sandbox.package(&[]);
    world.init(&[]);
    let folder = [".claude/skills", ".agents/skills"].map(|folder| format!("ws/{folder}"));
    let folder = folder.iter().find(|folder| world.sandbox.has(&format!("{folder}/s-0")));
    let folder = folder.expect("the first is installed");
    let installed = skills.iter().map(|(name, _)| name.clone());
    let mut used: Vec<String> =
        installed.filter(|name| world.sandbox.has(&format!("{folder}/{name}"))).collect();
    assert!(used.len() > 40, "only {} are installed", used.len());
    if bench.is("claude") {
        // The same by hand, so that it is known which of them Claude obeys.
        for (name, text) in smuggled::skills(|name| touch(&format!("raw-{name}"))) {
            world.sandbox.write(&format!("{folder}/raw-{name}/SKILL.md"), text);
            used.push(format!("raw-{name}"));
        }
    } else {
        // The others know no hooks of skills: to see one used is enough.
        used.truncate(1);
    }
    let mut steps: Vec<_> = used.into_iter().map(|name| Step::Do(Action::Skill(name))).collect();
    steps.extend([Step::shell("echo hi"), Step::say("Done.")]);
    let turn = world.turn(&steps);
    let entries = std::fs::read_dir(&ran).expect("reads").map(|entry| entry.expect("an entry"));
    let obeyed: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let (raw, ours): (Vec<_>, Vec<_>) =
        obeyed.into_iter().partition(|name| name.starts_with("raw-"));
    assert!(ours.is_empty(), "hooks ran: {ours:?}\n{}", turn.told());
    assert!(!bench.is("claude") || raw.len() > 30, "placed by hand, only {raw:?} ran");
    Finding::Holds
}

/// The request has the description once, and the path of what is to be read.
fn told_of_the_skill(world: &World, turn: &Turn, request: usize) {
    assert_eq!(turn.count_in(request, CRATES_SKILL), 1, "{}", turn.told());
    let path = installed(world).join("SKILL.md");
    let relative = path.strip_prefix(world.sandbox.ws()).map_or(path.as_path(), Path::new);
    assert!(turn.count_in(request, &relative.to_string_lossy()) > 0, "{}", turn.told());
}

fn next_session_offers(world: &World) {
    let turn = world.turn(&[Step::say("Done.")]);
    assert_eq!(turn.count_in(0, CRATES_SKILL), 1, "the next session\n{}", turn.told());
    assert!(!turn.shows("came after this session started"), "{}", turn.told());
}
