//! The questions. All are asked before anything is written.

use dialoguer::{Confirm, MultiSelect, Select};

use super::{Agents, Choices};
use crate::Symposium;
use crate::agents::Agent;
use crate::cli::codex_trust::{self, TrustChoice};
use crate::cli::terminal::{RawKeys, is_ctrl_c};
use crate::cli::theme::Plain;
use crate::config::{AutoUpdate, HookScope};
use crate::report::Event;
use crate::sync::registration::setup::Setup;
use crate::text::Diagnostic;

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

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
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
        return Err(cannot_ask().into());
    }
    let asked = {
        let _raw_keys = RawKeys::new();
        Questions { sym, theme: Plain::new(&sym.report) }.all()
    };
    match asked {
        Ok(choices) => Ok(Asked::Chosen(choices)),
        Err(NoAnswer::Cancelled) => Ok(Asked::Cancelled),
        Err(NoAnswer::Interrupted) => Ok(Asked::Interrupted),
        Err(NoAnswer::Failed(error)) => Err(error),
    }
}

fn can_ask(sym: &Symposium) -> bool {
    let size = dialoguer::console::Term::stderr().size_checked();
    sym.report.is_interactive()
        && sym.env.text("TERM") != Some("dumb")
        && size.is_none_or(|(lines, _)| lines >= LINES)
}

fn cannot_ask() -> Diagnostic {
    Diagnostic::error("`init` asks questions, and there is nobody (or no terminal) to ask")
        .note("name your agents instead: `cargo agents init --add-agent claude`")
        .note("also: `--remove-agent NAME`, `--hook-scope global|project`, `--trust-codex-hooks`")
}

/// Why there are no answers.
enum NoAnswer {
    Cancelled,
    Interrupted,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for NoAnswer {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// What came of a question that drew `lines` lines above the cursor's.
fn answered<T>(answer: dialoguer::Result<Option<T>>, lines: usize) -> Result<T, NoAnswer> {
    match answer {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(NoAnswer::Cancelled),
        Err(error) if is_ctrl_c(&error, lines) => Err(NoAnswer::Interrupted),
        Err(error) => Err(NoAnswer::Failed(error.into())),
    }
}

struct Questions<'a> {
    sym: &'a Symposium,
    theme: Plain,
}

impl Questions<'_> {
    fn all(&self) -> Result<Choices, NoAnswer> {
        let agents = self.agents()?;
        if agents.is_empty() {
            // Nothing is registered, so nothing else matters.
            let agents = Agents::Exactly(agents);
            let (scope, auto_update, trust) = (None, None, TrustChoice::Remind);
            return Ok(Choices { agents, scope, auto_update, mcp: None, trust });
        }
        let config = &self.sym.config;
        let scope = self.one_of("Where should hooks be registered?", &SCOPES, config.hook_scope)?;
        let update =
            self.one_of("When there is a newer Symposium?", &UPDATES, config.auto_update)?;
        let trust = self.trust(&agents, scope)?;
        let (scope, auto_update) = (Some(scope), Some(update));
        let agents = Agents::Exactly(agents);
        Ok(Choices { agents, scope, auto_update, mcp: None, trust })
    }

    fn agents(&self) -> Result<Vec<String>, NoAnswer> {
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
            items.push((format!("{}{note}", agent.title()), chosen));
        }
        let question = "Which agents do you use?  (space to select, enter to confirm)";
        let height = self.theme.height(question) + items.len();
        let picked = MultiSelect::with_theme(&self.theme)
            .with_prompt(question)
            .items_checked(items)
            .interact_opt();
        let picked = answered(picked, height)?;
        // Names that we do not know are not ours to drop.
        let unknown = configured.iter().filter(|name| Agent::from_name(name).is_none());
        let known = picked.iter().filter_map(|index| Agent::ALL.get(*index));
        Ok(unknown.cloned().chain(known.map(|agent| agent.name().to_owned())).collect())
    }

    fn one_of<T: Copy + PartialEq>(
        &self,
        question: &str,
        answers: &[(T, &str)],
        now: T,
    ) -> Result<T, NoAnswer> {
        let default = answers.iter().position(|(answer, _)| *answer == now).unwrap_or_default();
        let picked = Select::with_theme(&self.theme)
            .with_prompt(question)
            .items(answers.iter().map(|(_, text)| *text))
            .default(default)
            .interact_opt();
        let index = answered(picked, self.theme.height(question) + answers.len())?;
        answers.get(index).map(|(answer, _)| *answer).ok_or(NoAnswer::Cancelled)
    }

    /// Whether to trust our Codex hooks, where that is still open.
    fn trust(&self, agents: &[String], scope: HookScope) -> Result<TrustChoice, NoAnswer> {
        let Some(why) = codex_trust::is_open(self.sym, agents, scope)? else {
            return Ok(TrustChoice::Remind);
        };
        self.sym.report.event(&Event::status("Note", why));
        let question = "Trust Symposium's hooks now?";
        let answer =
            Confirm::with_theme(&self.theme).with_prompt(question).default(true).interact_opt();
        // The cursor waits behind the question.
        let yes = answered(answer, self.theme.height(question) - 1)?;
        Ok(if yes { TrustChoice::Give } else { TrustChoice::Remind })
    }
}
