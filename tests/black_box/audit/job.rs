//! The job for teams, as the book has it: in a fresh checkout and a fresh home each time.

use symposium_testlib::{Run, Sandbox};

use super::publish_as_is;
use crate::lock::{publish, with_repository};
use crate::skill;

/// The `run` lines of the job in the book that are ours.
fn job() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/md/guide/teams.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let job = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let job: serde_yaml::Value = serde_yaml::from_str(job.expect("a job")).expect("YAML");
    let steps = job["jobs"]["agents"]["steps"].as_sequence().expect("steps");
    let runs = steps.iter().filter_map(|step| step["run"].as_str());
    let ours = ["cargo agents sync", "cargo agents audit"];
    let checks = runs.filter(|run| ours.iter().any(|start| run.starts_with(start)));
    checks.map(str::to_owned).collect()
}

/// Runs the book's job in a fresh checkout and a fresh home that has the team's source alone.
fn run_job(sandbox: &mut Sandbox, number: usize) -> Result<(), Run> {
    let home = format!("home{number}");
    sandbox.write(&format!("{home}/config.toml"), sandbox.read("team.toml"));
    sandbox.set("SYMPOSIUM_HOME", sandbox.dir().join(home));
    for step in job() {
        let words: Vec<_> = step.split_whitespace().skip(2).collect();
        let run = sandbox.run(&words);
        if run.code != 0 {
            return Err(run);
        }
    }
    Ok(())
}

#[test]
fn the_books_job_passes_a_fresh_checkout_and_fails_by_name_for_every_change() {
    assert_eq!(job().len(), 2, "{:?}", job());
    let mut sandbox = with_repository();
    sandbox.registry_crate("widget", "1.2.3", &[("LICENSE", "MIT")]);
    sandbox.write("repo/LICENSE", "MIT");
    sandbox.write(
        "repo/q/SYMPOSIUM.toml",
        "name = \"q\"\ncrates = [\"widget\"]\n[[mcp_servers]]\n\
        name = \"tools\"\ncommand = \"tools\"\n",
    );
    publish_as_is(&sandbox);
    let url = sandbox.at("repo");
    let team = format!(
        "[[plugin-source]]\nname = \"team\"\ngit = \"{url}\"\n[defaults]\nsymposium-recommendations = false\n"
    );
    sandbox.write("team.toml", &team);
    sandbox.write("home0/config.toml", &team);
    sandbox.set("SYMPOSIUM_HOME", sandbox.dir().join("home0"));
    sandbox.run(&["lock"]).ok();
    let lock = sandbox.read("ws/symposium.lock");
    run_job(&mut sandbox, 1).unwrap_or_else(|run| panic!("{}{}", run.stdout, run.stderr));
    // What is newer in the repository changes nothing for those who take what is locked.
    publish(&sandbox, "second", "exit 1\n");
    run_job(&mut sandbox, 2).unwrap_or_else(|run| panic!("{}{}", run.stdout, run.stderr));
    let hash_of = |name: &str| {
        let from = lock.find(&format!("name = \"{name}\"")).expect("it is locked");
        let line = lock[from..].lines().find(|line| line.starts_with("sha256")).expect("a hash");
        line.to_owned()
    };
    let other = |line: &str| lock.replace(line, "sha256 = \"0\"");
    let changes = [
        (other(&hash_of("basics")), "skill basics of team p/skills/basics"),
        (other(&hash_of("guard")), "hook guard of plugin p (team)"),
        (other(&hash_of("tools")), "server tools of plugin q (team)"),
        (lock.replace(&url, "https://example.com/other"), "https://example.com/other"),
    ];
    for (number, (changed, name)) in changes.into_iter().enumerate() {
        sandbox.write("ws/symposium.lock", changed);
        let run = run_job(&mut sandbox, 10 + number).expect_err(name);
        assert!(run.stderr.contains(name), "{name}: {}", run.stderr);
    }
    sandbox.write("ws/symposium.lock", &lock);
    for (number, (path, text, told)) in [
        (".claude/skills/x/SKILL.md", skill("x", "x <!-- y -->"), "hidden-text"),
        (".agents/skills/y/SKILL.md", skill("y", "y").replace("# y", "!`rm x`"), "skill-command"),
    ]
    .into_iter()
    .enumerate()
    {
        sandbox.write(&format!("ws/{path}"), text);
        let run = run_job(&mut sandbox, 20 + number).expect_err(told);
        let printed = format!("{}{}", run.stdout, run.stderr);
        assert!(printed.contains(told) && printed.contains(path), "{printed}");
        std::fs::remove_file(sandbox.ws().join(path)).expect("removes");
    }
    run_job(&mut sandbox, 30).unwrap_or_else(|run| panic!("{}{}", run.stdout, run.stderr));
}
