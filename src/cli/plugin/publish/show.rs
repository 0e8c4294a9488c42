//! What would be published, for people.

use super::super::lines::Lines;
use super::{Answers, Honoured, Offer, Publication};
use crate::Symposium;
use crate::cli::screen::count;

pub(super) fn render(sym: &Symposium, publication: &Publication) -> String {
    let mut lines = Lines::new(sym);
    for offer in &publication.offers {
        of_offer(&mut lines, offer);
    }
    for way in &publication.ways {
        lines.add(0, &way.title);
        for command in &way.commands {
            lines.add(2, &format!("$ {command}"));
        }
        lines.add(2, &way.then);
    }
    lines.finish()
}

fn of_offer(lines: &mut Lines, offer: &Offer) {
    let size = format!("{}, {}", count(offer.files, "file"), bytes(offer.bytes));
    lines.add(0, &format!("{} ({}): {size}", offer.name, offer.kind));
    if let Some(condition) = &offer.condition {
        lines.add(2, &format!("for      {condition}"));
    }
    for skill in &offer.skills {
        let condition = skill.condition.as_ref().map(|text| format!(", for {text}"));
        lines.add(
            2,
            &format!(
                "skill    {}: {}, {}{}",
                skill.name,
                count(skill.files, "file"),
                bytes(skill.bytes),
                condition.unwrap_or_default()
            ),
        );
    }
    for from in &offer.from_elsewhere {
        lines.add(2, &format!("skills   {from}"));
    }
    for program in &offer.may_run {
        lines.add(2, &format!("may run  {} {}: {}", program.kind, program.name, program.runs));
    }
    if offer.may_run.is_empty() {
        lines.add(2, "may run  nothing");
    }
    for agent in &offer.agents {
        lines.add(2, &format!("{:<11} {}", agent.agent, honoured(agent)));
    }
}

/// `2 skills, hook check (PreToolUse: deny, ask; allow: nothing), server docs; without: …`.
fn honoured(agent: &Honoured) -> String {
    let mut parts = Vec::new();
    if agent.skills > 0 {
        parts.push(count(agent.skills, "skill"));
    }
    if !agent.hooks.is_empty() {
        let answers: Vec<String> = agent.answers.iter().map(answers).collect();
        parts.push(format!("hook {} ({})", agent.hooks.join(", "), answers.join("; ")));
    }
    if !agent.servers.is_empty() {
        parts.push(format!("server {}", agent.servers.join(", ")));
    }
    let mut text = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
    for without in &agent.without_effect {
        text.push_str(&format!("; not {}: {}", without.what, without.why));
    }
    text
}

fn answers(answers: &Answers) -> String {
    let mut text = format!("{}: {}", answers.event, answers.honoured.join(", "));
    if answers.honoured.is_empty() {
        text.push_str("nothing is honoured");
    }
    for other in &answers.otherwise {
        text.push_str(&format!(", {other}"));
    }
    text
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} bytes"),
        1_000..=999_999 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_in_the_unit_that_fits() {
        assert_eq!(
            [0, 999, 1_050, 2_500_000].map(bytes),
            ["0 bytes", "999 bytes", "1.0 kB", "2.5 MB"]
        );
    }
}
