//! The tools `skills` and `read_skill`.

use std::fmt::Write as _;

use super::dependencies::no_workspace;
use crate::Symposium;
use crate::report::fit;
use crate::skills::discover::SKILL_FILE;
use crate::sync::survey::{Because, Inputs, OfferedSkill, WithheldSkill};
use crate::text::Diagnostic;

/// Letters of a description.
const DESCRIPTION: usize = 1024;
/// Files that are named.
const FILES: usize = 40;

pub(super) fn list(sym: &Symposium) -> anyhow::Result<()> {
    let (offered, withheld) = offered(sym)?;
    let mut text = match offered.len() {
        0 => "No skills apply here.".to_owned(),
        _ => "The skills that apply here; `read_skill` gives the text of one.\n".to_owned(),
    };
    for skill in &offered {
        let description = fit(&skill.description, DESCRIPTION);
        let _ = write!(text, "\n- {} (from {}): {description}", skill.name, skill.origin);
    }
    let mut refused = withheld.iter().filter_map(|skill| Some((skill, refusal(skill)?))).peekable();
    if refused.peek().is_some() {
        text.push_str("\n\nNot accepted, so their texts are not given:\n");
    }
    for (skill, refusal) in refused {
        let _ = write!(text, "\n- {} (from {}): {refusal}", skill.name, skill.origin);
    }
    sym.report.result(&text);
    Ok(())
}

pub(super) fn read(sym: &Symposium, name: &str) -> anyhow::Result<()> {
    let (offered, withheld) = offered(sym)?;
    let Some(skill) = offered.iter().find(|skill| skill.name == name) else {
        return Err(not_offered(name, &offered, &withheld).into());
    };
    let file = skill.dir.join(SKILL_FILE);
    let mut head = format!("Skill: {name}\nFrom: {}\n", fit(&skill.origin, 200));
    // One that is written for the workspace is nowhere before it is installed.
    if file.is_file() {
        let _ = writeln!(head, "File: {}", file.display());
    }
    let more: Vec<_> = skill.more_files().collect();
    if !more.is_empty() {
        let named = more[..more.len().min(FILES)].join(", ");
        let rest = if more.len() > FILES { ", …" } else { "" };
        let _ = writeln!(head, "Beside it: {named}{rest}");
    }
    sym.report.result(&format!("{head}\n{}", skill.text()));
    Ok(())
}

fn offered(sym: &Symposium) -> anyhow::Result<(Vec<OfferedSkill>, Vec<WithheldSkill>)> {
    let mut inputs = Inputs::read(sym, &sym.cwd()?)?;
    if let Some(trouble) = inputs.trouble.take() {
        return Err(trouble.into());
    }
    if inputs.loaded.is_none() {
        return Err(no_workspace(sym)?.into());
    }
    Ok(inputs.offered())
}

/// Why a skill's text is not given, where somebody could decide otherwise.
fn refusal(skill: &WithheldSkill) -> Option<String> {
    match skill.because {
        Because::Declined => Some("the user declined it".to_owned()),
        Because::Undecided => Some(format!(
            "nobody vouches for it, and the user has not decided; for the user: \
             `cargo agents use {}`",
            skill.crate_name
        )),
        Because::NotForHere => None,
    }
}

fn not_offered(name: &str, offered: &[OfferedSkill], withheld: &[WithheldSkill]) -> Diagnostic {
    let shown = fit(name, 80);
    match withheld.iter().find(|skill| skill.name == name) {
        Some(skill) => match refusal(skill) {
            Some(why) => Diagnostic::error(format!(
                "the skill `{shown}` of {} is not accepted: {why}",
                skill.origin
            )),
            None => Diagnostic::error(format!(
                "the skill `{shown}` of {} does not apply here",
                skill.origin
            ))
            .note("`cargo agents why` with its name says why"),
        },
        None => {
            let names: Vec<_> = offered.iter().map(|skill| skill.name.as_str()).collect();
            let problem = Diagnostic::error(format!("no skill `{shown}` applies here"));
            match names.as_slice() {
                [] => problem.note("there are none"),
                names => problem.note(format!("there are: {}", names.join(", "))),
            }
        }
    }
}
