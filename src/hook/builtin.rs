//! What Symposium itself tells the model: what there is to discover, and what came since the client
//! read its skill folders.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::session::Session;
use crate::agents::Agent;
use crate::config::state::State;
use crate::config::update_check::{self, Place};
use crate::config::{AutoUpdate, Config, Dirs, Environment};
use crate::installations::Installed;
use crate::report::fit;
use crate::sync::snapshot::{Offer, SnapshotSkill};

/// Longest announcement, in characters.
pub(super) const LONGEST: usize = 2000;
/// Longest description in an announcement, in characters.
const DESCRIPTION: usize = 200;
/// Longest reason of a failed installation, in columns.
const LONGEST_PROBLEM: usize = 200;
/// Failed installations that are remembered as told.
const TOLD_FAILURES: usize = 32;

/// The hint that there are subcommands for the agent.
pub(super) fn discovery_hint(offer: &Offer) -> Option<String> {
    let mut names: Vec<&str> = offer
        .subcommands
        .iter()
        .filter(|subcommand| subcommand.run.is_some())
        .map(|subcommand| subcommand.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "This Rust workspace has commands made for its crates ({}): run `cargo agents --help` to see \
         what they do.",
        names.join(", ")
    ))
}

/// The line about dependencies that ship skills which nobody approved yet. It is the user who
/// decides, so the agent is told to leave it to them.
pub(super) fn candidates_line(offer: &Offer) -> Option<String> {
    undecided("Dependencies of this workspace ship agent skills", &offer.candidates)
}

/// The line about plugins that are suggested.
pub(super) fn suggestions_line(offer: &Offer) -> Option<String> {
    undecided("The user's plugin sources suggest plugins for this workspace", &offer.suggestions)
}

/// The line about a team's file that waits.
pub(super) fn team_line(offer: &Offer) -> Option<String> {
    offer.team_waits.then(|| {
        "This workspace's symposium.toml has a team's plugin sources and choices of skills that the user \
         has neither taken nor declined. Mention it to the user, who decides with `cargo agents sync` in \
         a terminal; do not run that yourself."
            .to_owned()
    })
}

fn undecided(what: &str, names: &[String]) -> Option<String> {
    let (names, more) = match names {
        [] => return None,
        all if all.len() > 5 => (&all[..5], format!(" and {} more", all.len() - 5)),
        all => (all, String::new()),
    };
    let names = names.join(", ");
    Some(format!(
        "{what} that the user has neither taken nor declined: {names}{more}. Mention it to the user, \
         who decides with `cargo agents use NAME` (`--remove` declines); do not run that yourself."
    ))
}

/// What there may be news of.
#[derive(Debug, Clone, Copy)]
pub(super) struct News<'a> {
    /// What the workspace offers.
    pub offer: &'a Offer,
    /// The workspace's root.
    pub root: &'a Path,
}

/// What this session has not seen of what came after `since`, in `longest` characters; marks it as
/// announced.
///
/// Clients read skill folders before the first hook runs (decision 28), so what a sync brought
/// later is told in words, with the path of each `SKILL.md`.
pub(super) fn announce(
    news: &News<'_>,
    session: &mut Session,
    (since, longest): (u64, usize),
    agent: Option<Agent>,
) -> Option<String> {
    let reads = agent.map(|agent| agent.identity().skill_dirs);
    let mut skills = Vec::new();
    for skill in news.offer.skills.iter().filter(|skill| skill.since >= since) {
        let dir = skill.dirs.iter().find(|dir| {
            reads.is_none_or(|reads| {
                reads.iter().any(|parent| dir.starts_with(&format!("{parent}/")))
            })
        });
        if let Some(dir) = dir
            && !session.announced.contains(&skill.name)
        {
            session.announced.push(skill.name.clone());
            // One kind of separator, on Windows too.
            let place = news.root.join(dir).join("SKILL.md").components().collect();
            skills.push((skill, place));
        }
    }
    let others = others_text(news.offer, session, since);
    let room = longest - others.as_ref().map_or(0, |text| text.chars().count() + 1);
    let parts: Vec<String> = skills_text(&skills, room).into_iter().chain(others).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Marks the subcommands that apply as announced: the hint at a session's start names them.
pub(super) fn mark_subcommands_announced(offer: &Offer, session: &mut Session) {
    news_of(applicable(offer), "command", 0, session);
}

/// One line about new servers and subcommands.
fn others_text(offer: &Offer, session: &mut Session, since: u64) -> Option<String> {
    let servers = offer.servers.iter().map(|server| (server.name.as_str(), server.since));
    let servers = news_of(servers, "server", since, session)
        .map(|names| format!("MCP servers, there in the next session: {names}"));
    let commands = news_of(applicable(offer), "command", since, session)
        .map(|names| format!("commands, which `cargo agents --help` explains: {names}"));
    let parts: Vec<String> = servers.into_iter().chain(commands).collect();
    (!parts.is_empty()).then(|| format!("New for this workspace's crates: {}.", parts.join("; ")))
}

/// Subcommands that apply, each with when it began to.
fn applicable(offer: &Offer) -> impl Iterator<Item = (&str, u64)> {
    let applies = offer.subcommands.iter().filter(|subcommand| subcommand.run.is_some());
    applies.map(|subcommand| (subcommand.name.as_str(), subcommand.since))
}

/// The names of what came after `since` and was not announced in this session; it is now.
fn news_of<'o>(
    all: impl Iterator<Item = (&'o str, u64)>,
    kind: &str,
    since: u64,
    session: &mut Session,
) -> Option<String> {
    let mut names = Vec::new();
    for (name, _) in all.filter(|(_, at)| *at >= since) {
        let key = format!("{kind} {name}");
        if !session.announced.contains(&key) {
            session.announced.push(key);
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| short(&names.join(", ")))
}

/// A stranger's text on one line, of [`DESCRIPTION`] characters at most.
fn short(text: &str) -> String {
    let clean = crate::report::fit(text, usize::MAX);
    if clean.chars().count() <= DESCRIPTION {
        return clean;
    }
    let mut cut: String = clean.chars().take(DESCRIPTION - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut + "…"
}

fn skills_text(skills: &[(&SnapshotSkill, PathBuf)], room: usize) -> Option<String> {
    if skills.is_empty() {
        return None;
    }
    let mut text =
        "New skills for this workspace's crates came after this session started. Read one when the \
         task calls for it:"
            .to_owned();
    for (index, (skill, path)) in skills.iter().enumerate() {
        let description = short(&skill.description);
        let line = format!("\n- {}: {description} ({})", skill.name, path.display());
        let left = skills.len() - index;
        let more = format!("\nand {left} more: `cargo agents status`");
        let reserve = if left > 1 { more.chars().count() } else { 0 };
        if text.chars().count() + line.chars().count() + reserve > room {
            text.push_str(&more);
            break;
        }
        text.push_str(&line);
    }
    Some(text)
}

/// What a session remembers of having been told of a program that is on its way.
pub(super) fn installing_key(program: &str) -> String {
    format!("installing {program}")
}

/// The line about programs that hooks wait for; each is told once a session. Of one that could not be
/// installed nothing is promised again, though it is tried now and then.
pub(super) fn installing(missing: &[String], session: &mut Session, dirs: &Dirs) -> Option<String> {
    let mut new: Vec<&str> = missing
        .iter()
        .filter(|name| !session.nudges.contains(&installing_key(name)))
        .map(String::as_str)
        .collect();
    if new.is_empty() {
        return None;
    }
    session.nudges.extend(new.iter().map(|name| installing_key(name)));
    let told = State::load(&dirs.state_file()).told_failures;
    new.retain(|name| !told.iter().any(|line| line.starts_with(&failure_line(name, ""))));
    (!new.is_empty()).then(|| {
        format!(
            "{} is being installed in the background; until it is there, hooks that need it do \
             nothing.",
            new.join(", ")
        )
    })
}

/// A failure as people are told of it, and as it is remembered that they were.
fn failure_line(program: &str, problem: &str) -> String {
    format!("{program}: {problem}")
}

/// What a session remembers of having been told of a program that could not be installed.
pub(super) fn failure_key(program: &str) -> String {
    format!("failed {program}")
}

/// The line about programs that could not be installed. A failure is told once, not in each
/// session: the user knows by then.
pub(super) fn install_failures(
    failed: &[(String, String)],
    session: &mut Session,
    dirs: &Dirs,
) -> Option<String> {
    let new: Vec<_> =
        failed.iter().filter(|(name, _)| !session.nudges.contains(&failure_key(name))).collect();
    if new.is_empty() {
        return None;
    }
    // Nor does it hear that the next attempt is on its way.
    let keys = new.iter().flat_map(|(name, _)| [failure_key(name), installing_key(name)]);
    session.nudges.extend(keys);
    let line = |(name, problem): &(String, String)| {
        let first = problem.lines().next().unwrap_or_default();
        failure_line(name, &fit(first, LONGEST_PROBLEM))
    };
    let file = dirs.state_file();
    let told = State::load(&file).told_failures;
    let lines: Vec<String> =
        new.into_iter().map(line).filter(|line| !told.contains(line)).collect();
    if lines.is_empty() {
        return None;
    }
    let remembered = State::update(&file, |state| {
        state.told_failures.retain(|known| !lines.contains(known));
        state.told_failures.extend(lines.iter().cloned());
        let surplus = state.told_failures.len().saturating_sub(TOLD_FAILURES);
        state.told_failures.drain(..surplus);
    });
    if let Err(error) = remembered {
        tracing::warn!("it is not remembered that a failed installation was told: {error}");
    }
    Some(format!(
        "Could not be installed, so hooks that need it do not work: {}. Tell the user: `cargo agents \
         sync` tries again and says what is wrong.",
        lines.join("; ")
    ))
}

/// Whether it is time to look for a newer Symposium, and the user wants that.
pub(super) fn update_check_is_due(env: &Environment, dirs: &Dirs) -> bool {
    update_check::is_due(&dirs.state_file(), SystemTime::now())
        && Config::load(dirs).config.auto_update != AutoUpdate::Off
        && Installed::is_from_registry(env)
}

/// The line for the user that there is a newer Symposium, when a check found one: once a day. The
/// model does not get to see it: what is installed on this machine is not its business.
pub(super) fn update_nudge(env: &Environment, dirs: &Dirs) -> Option<String> {
    let file = dirs.state_file();
    let own = semver::Version::parse(crate::symposium::VERSION).ok()?;
    let newest = update_check::untold(&file, SystemTime::now(), &own, Place::Agent)?;
    if Config::load(dirs).config.auto_update == AutoUpdate::Off || !Installed::is_from_registry(env)
    {
        return None;
    }
    if let Err(error) = update_check::told(&file, SystemTime::now(), Place::Agent) {
        tracing::warn!("it is not remembered that an update was offered: {error}");
    }
    Some(format!(
        "symposium {newest} is available (this is {own}): `cargo agents self-update` installs it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::snapshot::SnapshotServer;

    fn skill(name: &str, since: u64, description: &str) -> SnapshotSkill {
        SnapshotSkill {
            name: name.to_owned(),
            description: description.to_owned(),
            dirs: vec![format!(".claude/skills/{name}")],
            since,
        }
    }

    fn news(offer: &Offer) -> News<'_> {
        News { offer, root: Path::new("/w") }
    }

    #[test]
    fn decision_28_new_skills_are_announced_once_a_session() {
        let offer =
            Offer { skills: vec![skill("old", 1, "o"), skill("new", 10, "n")], ..Offer::default() };
        let mut session = Session::default();
        let text = announce(&news(&offer), &mut session, (5, LONGEST), Some(Agent::Claude))
            .expect("an announcement");
        let path: std::path::PathBuf =
            Path::new("/w").join(".claude/skills/new/SKILL.md").components().collect();
        assert!(text.ends_with(&format!("\n- new: n ({})", path.display())), "{text}");
        assert_eq!(announce(&news(&offer), &mut session, (5, LONGEST), Some(Agent::Claude)), None);
    }

    #[test]
    fn candidates_are_one_line_and_at_most_five_names() {
        assert_eq!(candidates_line(&Offer::default()), None);
        let named = |count: usize| Offer {
            candidates: (0..count).map(|number| format!("c{number}")).collect(),
            ..Offer::default()
        };
        let suggested = Offer { suggestions: vec!["p".to_owned()], ..Offer::default() };
        assert_eq!(candidates_line(&suggested), None);
        let line = suggestions_line(&suggested).expect("a line");
        assert!(line.contains("suggest plugins") && line.contains("declined: p. "), "{line}");
        let line = candidates_line(&named(2)).expect("a line");
        assert!(line.contains(": c0, c1. ") && !line.contains('\n'), "{line}");
        let line = candidates_line(&named(7)).expect("a line");
        assert!(line.contains(": c0, c1, c2, c3, c4 and 2 more. "), "{line}");
    }

    #[test]
    fn decision_28_a_skill_the_agent_does_not_read_is_not_announced_to_it() {
        let offer = Offer { skills: vec![skill("new", 10, "n")], ..Offer::default() };
        assert_eq!(
            announce(&news(&offer), &mut Session::default(), (5, LONGEST), Some(Agent::Kiro)),
            None
        );
    }

    #[test]
    fn decision_28_an_announcement_is_bounded_and_says_how_many_more() {
        let skills =
            (0..40).map(|number| skill(&format!("s{number}"), 10, &"d".repeat(900))).collect();
        let server = |number: i32| SnapshotServer { name: format!("server-{number}"), since: 10 };
        let servers = (0..40).map(server).collect();
        let offer = Offer { skills, servers, ..Offer::default() };
        let text = announce(&news(&offer), &mut Session::default(), (5, LONGEST), None)
            .expect("an announcement");
        assert!(text.chars().count() <= LONGEST);
        assert!(text.contains(&format!(": {}… (", "d".repeat(DESCRIPTION - 1))), "{text}");
        let told = text.matches("SKILL.md").count();
        assert!(
            text.contains(&format!("\nand {} more: `cargo agents status`\n", 40 - told)),
            "{text}"
        );
    }

    #[test]
    fn decision_28_a_description_is_cut_at_200_characters_however_wide() {
        for (char, long) in [("x", false), ("x", true), ("語", false), ("語", true)] {
            let whole = char.repeat(DESCRIPTION + usize::from(long));
            let shown = short(&whole);
            assert_eq!(shown.chars().count(), DESCRIPTION);
            assert_eq!(shown == whole, !long);
        }
        assert_eq!(short("two\nlines\u{1b}[31m").lines().count(), 1);
    }

    #[test]
    fn a_program_on_its_way_is_mentioned_once_a_session() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        let mut session = Session::default();
        let missing = ["`rtk` of plugin `p`".to_owned()];
        let line = installing(&missing, &mut session, &dirs).expect("a line");
        assert!(line.starts_with("`rtk` of plugin `p` is being installed"), "{line}");
        assert_eq!(installing(&missing, &mut session, &dirs), None);
        assert_eq!(installing(&[], &mut session, &dirs), None);
    }

    #[test]
    fn a_failed_installation_is_told_once_and_another_failure_of_it_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        let failed = |problem: &str| [("`rtk` of plugin `p`".to_owned(), problem.to_owned())];
        let told = |problem: &str| {
            let mut session = Session::default();
            let first = install_failures(&failed(problem), &mut session, &dirs);
            assert_eq!(install_failures(&failed(problem), &mut session, &dirs), None);
            first
        };
        let line = told("no compiler\nmore").expect("a line");
        assert!(line.contains("do not work: `rtk` of plugin `p`: no compiler. Tell"), "{line}");
        assert!(line.contains("`cargo agents sync`"), "{line}");
        assert_eq!(told("no compiler\nother"), None, "another session");
        assert!(told("no network").is_some());
    }
}
