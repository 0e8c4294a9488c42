//! The questions. All are asked before anything is written.

use dialoguer::{Confirm, MultiSelect, Select};

use super::{Agents, Choices};
use crate::Symposium;
use crate::agents::Agent;
use crate::cli::codex_trust::{self, Wish};
use crate::cli::terminal::{Held, is_ctrl_c};
use crate::cli::theme::Plain;
use crate::config::{AutoUpdate, HookScope};
use crate::report::Event;
use crate::sync::setup::Setup;
use crate::text::Diagnostic;

/// Columns from which a question and its keys fit on one line.
const ONE_LINE: usize = 66;
/// Lines that the questions need.
const LINES: u16 = 4;

const SCOPES: [(HookScope, &str); 2] = [
    (HookScope::Global, "everywhere (recommended)"),
    (HookScope::Project, "in each project you sync"),
];
const UPDATES: [(AutoUpdate, &str); 3] = [
    (AutoUpdate::On, "install it"),
    (AutoUpdate::Warn, "tell me"),
    (AutoUpdate::Off, "never look"),
];

/// How the questions ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    /// With answers.
    Chosen(Choices),
    /// With Esc.
    Cancelled,
    /// With Ctrl-C.
    Interrupted,
}

/// Asks.
///
/// # Errors
/// When there is nobody to ask, or the terminal can't show the questions.
pub(super) fn ask(sym: &Symposium) -> anyhow::Result<Asked> {
    if !can_ask(sym) {
        return Err(nobody().into());
    }
    let asked = {
        let _held = Held::new();
        Questions { sym, theme: Plain::new(sym.report.has_color()) }.all()
    };
    match asked {
        Ok(Some(choices)) => Ok(Asked::Chosen(choices)),
        Ok(None) => Ok(Asked::Cancelled),
        Err(error) => match error.downcast_ref::<dialoguer::Error>() {
            Some(cause) if is_ctrl_c(cause) => Ok(Asked::Interrupted),
            _ => Err(error),
        },
    }
}

fn can_ask(sym: &Symposium) -> bool {
    let size = dialoguer::console::Term::stderr().size_checked();
    sym.report.is_interactive()
        && sym.env.text("TERM") != Some("dumb")
        && size.is_none_or(|(lines, _)| lines >= LINES)
}

fn nobody() -> Diagnostic {
    Diagnostic::error("`init` asks questions, and there is nobody (or no terminal) to ask")
        .note("name your agents instead: `cargo agents init --add-agent claude`")
        .note("also: `--remove-agent NAME`, `--hook-scope global|project`, `--trust-codex-hooks`")
}

struct Questions<'a> {
    sym: &'a Symposium,
    theme: Plain,
}

impl Questions<'_> {
    /// `None`: the user got out.
    fn all(&self) -> anyhow::Result<Option<Choices>> {
        let Some(agents) = self.agents()? else { return Ok(None) };
        let config = &self.sym.config;
        let scope = self.one_of("Where should hooks be registered?", &SCOPES, config.hook_scope)?;
        let Some(scope) = scope else { return Ok(None) };
        let update =
            self.one_of("When there is a newer Symposium?", &UPDATES, config.auto_update)?;
        let Some(update) = update else { return Ok(None) };
        let Some(trust) = self.trust(&agents, scope)? else { return Ok(None) };
        let (scope, auto_update) = (Some(scope), Some(update));
        let agents = Agents::Exactly(agents);
        Ok(Some(Choices { agents, scope, auto_update, trust }))
    }

    fn agents(&self) -> anyhow::Result<Option<Vec<String>>> {
        let setup = Setup::new(self.sym, None, false)?;
        let configured = &self.sym.config.agents;
        let mut items = Vec::new();
        for agent in Agent::ALL {
            let found = setup.is_found(agent);
            let chosen = if configured.is_empty() {
                found
            } else {
                configured.iter().any(|name| name == agent.name())
            };
            let note = if found { "  found" } else { "" };
            items.push((format!("{}{note}", agent.spec().title()), chosen));
        }
        let break_ = if self.sym.report.width() < ONE_LINE { "\n" } else { "" };
        let picked = MultiSelect::with_theme(&self.theme)
            .with_prompt(format!(
                "Which agents do you use?{break_}  (space to select, enter to confirm)"
            ))
            .items_checked(items)
            .interact_opt()?;
        Ok(picked.map(|picked| {
            // Names that we do not know are not ours to drop.
            let unknown = configured.iter().filter(|name| Agent::from_name(name).is_none());
            let known = picked.iter().filter_map(|index| Agent::ALL.get(*index));
            unknown.cloned().chain(known.map(|agent| agent.name().to_owned())).collect()
        }))
    }

    fn one_of<T: Copy + PartialEq>(
        &self,
        question: &str,
        answers: &[(T, &str)],
        now: T,
    ) -> anyhow::Result<Option<T>> {
        let default = answers.iter().position(|(answer, _)| *answer == now).unwrap_or_default();
        let picked = Select::with_theme(&self.theme)
            .with_prompt(question)
            .items(answers.iter().map(|(_, text)| *text))
            .default(default)
            .interact_opt()?;
        Ok(picked.and_then(|index| answers.get(index)).map(|(answer, _)| *answer))
    }

    /// Whether to trust our Codex hooks, where that is still open.
    fn trust(&self, agents: &[String], scope: HookScope) -> anyhow::Result<Option<Wish>> {
        let Some(why) = codex_trust::is_open(self.sym, agents, scope)? else {
            return Ok(Some(Wish::Remind));
        };
        self.sym.report.event(&Event::status("Note", why));
        let question = "Trust Symposium's hooks now?";
        let answer =
            Confirm::with_theme(&self.theme).with_prompt(question).default(true).interact_opt()?;
        Ok(answer.map(|yes| if yes { Wish::Give } else { Wish::Remind }))
    }
}
