//! A machine on which something breaks: each call that changes a file fails once, or from then on; there
//! are no descriptors, no memory, no programs; the clock goes back; signals come at any moment; many
//! run at once. Each time nothing of the user's is lost, nothing is left behind, and the next run heals.
//!
//! `tests/reliability.sh` runs all rounds instead of some, and writes the figures into the book.

mod calls;
mod limits;
mod moments;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use symposium_testlib::{Node, Run, Sandbox, Tree};

use crate::registration;

/// How many rounds there are: `few` in the suite, `all` for the figures.
fn rounds(few: usize, all: usize) -> usize {
    if std::env::var_os("SYMPOSIUM_RELIABILITY_FIGURES").is_some() { all } else { few }
}

/// A workspace and a home folder that are laid anew for each round, at the same place: files name it.
struct Machine {
    sandbox: Sandbox,
    template: std::path::PathBuf,
    /// What is there before a sync and after one that nothing disturbs.
    before: Tree,
    after: Tree,
}

impl Machine {
    fn new() -> Self {
        let sandbox = crate::registration::sandbox();
        crate::configure(&sandbox, &["claude", "codex", "goose", "opencode"], "");
        sandbox.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
        sandbox.write("home/.claude.json", "{\"numStartups\":7}");
        sandbox.write("home/.codex/config.toml", "model = \"x\" # mine\n");
        let skill =
            "---\nname: widget-basics\ndescription: How to turn widgets.\n---\n\nTurn it.\n";
        sandbox.user_plugin("skilled/skills/widget-basics/SKILL.md", skill);
        sandbox.user_plugin(
            "skilled/SYMPOSIUM.toml",
            "name = \"skilled\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
        );
        let template = sandbox.dir().with_extension("template");
        copy(&sandbox.dir(), &template);
        let before = outside(&sandbox);
        sandbox.run(&["sync"]).ok();
        let after = outside(&sandbox);
        assert!(after.files().len() > before.files().len() + 4, "{:?}", after.files());
        Self { sandbox, template, before, after }
    }

    /// Lays everything anew.
    fn lay(&self) {
        for part in ["home", "ws"] {
            let place = self.sandbox.dir().join(part);
            std::fs::remove_dir_all(&place).expect("removes");
            copy(&self.template.join(part), &place);
        }
    }

    /// What the user had is as it was, or as a sync that nothing disturbs leaves it.
    fn check_nothing_is_lost(&self, when: &str) {
        let now = outside(&self.sandbox);
        for (path, node) in &self.before.0 {
            let found = now.0.get(path);
            let is_whole = found == Some(node) || found == self.after.0.get(path);
            assert!(is_whole || path.ends_with("info/exclude"), "{when}: {path} is {found:?}");
        }
    }

    /// The next run does all that is left to do, and leaves nothing that does not belong there.
    fn check_it_heals(&self, when: &str) {
        let run = self.sandbox.run(&["sync"]);
        assert_eq!(run.code, 0, "{when}: {}", run.stderr);
        let mut now = outside(&self.sandbox);
        if !temporary(&now).is_empty() {
            // What could not be removed counts as left when it is two seconds old.
            std::thread::sleep(Duration::from_millis(2_100));
            self.sandbox.run(&["sync"]).ok();
            now = outside(&self.sandbox);
        }
        let changes = now.changes_since(&self.after);
        assert_eq!(changes, [""; 0], "{when}: {}", run.stderr);
    }

    /// Whether all is as after a sync that nothing disturbs, but for what could not be removed: the next
    /// sync does that.
    fn is_done(&self) -> bool {
        let mut now = outside(&self.sandbox);
        let left: Vec<String> = temporary(&now).into_iter().map(str::to_owned).collect();
        now.0.retain(|path, _| !left.contains(path));
        now.changes_since(&self.after).is_empty()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.template);
    }
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp starts");
    assert!(done.success());
}

/// A run ended by itself: done, or with an error that is told.
fn check_its_end(run: &Run, when: &str) {
    assert!([0, 1].contains(&run.code), "{when}: exit code {}\n{}", run.code, run.stderr);
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(run.code == 0 || told.contains("error"), "{when}: {told}");
    assert!(!run.stderr.contains("panicked"), "{when}: {}", run.stderr);
}

/// All that is not ours in the home folder and the workspace; git's own file with its lines in order,
/// for they come and go one by one.
fn outside(sandbox: &Sandbox) -> Tree {
    let mut tree = registration::outside(sandbox);
    if let Some(Node::File(bytes, _)) = tree.0.get_mut("ws/.git/info/exclude") {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        *bytes = lines.join(&b'\n');
    }
    tree
}

/// Adds a line to the table of figures, if one is wanted.
fn figure(what: &str, count: usize, found: &str) {
    use std::io::Write as _;
    let Some(path) = std::env::var_os("SYMPOSIUM_RELIABILITY_FIGURES") else { return };
    let file = std::fs::File::options().append(true).create(true).open(path);
    writeln!(file.expect("opens"), "| {what} | {count} | {found} |").expect("writes");
}

/// A child that nobody listens to.
fn spawn(command: &mut Command) -> std::process::Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Files of `tree` that are on the way to take another's place.
fn temporary(tree: &Tree) -> Vec<&str> {
    let is_file = |node: &Node| matches!(node, Node::File(..));
    let files = tree.0.iter().filter(|(_, node)| is_file(node)).map(|(path, _)| path.as_str());
    files
        .filter(|path| path.rsplit('/').next().is_some_and(|it| it.starts_with(".symposium-")))
        .collect()
}
