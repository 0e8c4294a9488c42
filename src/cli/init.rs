//! `cargo agents init`.

use std::path::Path;
use std::process::ExitCode;

use dialoguer::theme::ColorfulTheme;
use dialoguer::{MultiSelect, Select};

use super::CommandResult;
use super::grammar::InitArgs;
use super::sync::unknown_agent;
use crate::Symposium;
use crate::agents::Agent;
use crate::config::{AutoUpdate, Config, ConfigState, HookScope};
use crate::documents::user_config::{self, UserConfig};
use crate::report::Event;
use crate::sync::registration::{Desired, Registrar};
use crate::sync::setup::{Setup, Sweep};
use crate::sync::{Mode, Request, sync};
use crate::text::Diagnostic;

/// What the user chose.
#[derive(Debug, Clone, PartialEq)]
struct Choices {
    agents: Vec<String>,
    scope: HookScope,
    auto_update: Option<AutoUpdate>,
}

/// Runs the command.
pub(super) fn run(sym: &mut Symposium, args: &InitArgs) -> CommandResult {
    if sym.config_state == ConfigState::Broken {
        return Err(Diagnostic::error("the configuration can't be read, so it is not changed")
            .in_file(sym.dirs.config_file())
            .note("mend it (or move it away) and run `cargo agents init` again")
            .into());
    }
    let choices = if args.is_empty() {
        if !sym.report.is_interactive() {
            return Err(Diagnostic::error("`init` asks questions, and there is nobody to ask")
                .note("name the agents instead: `cargo agents init --add-agent claude`")
                .note("also: `--remove-agent NAME`, `--hook-scope global|project`")
                .into());
        }
        match ask(sym)? {
            Some(choices) => choices,
            None => {
                sym.report.event(&Event::status("Cancelled", "nothing was changed"));
                return Ok(ExitCode::FAILURE);
            }
        }
    } else {
        choose(sym, args)?
    };
    save(sym, &choices)?;
    // The rest works with what the file says now.
    sym.config = Config::load(&sym.dirs).config;
    let failed = register(sym, args)?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn choose(sym: &Symposium, args: &InitArgs) -> anyhow::Result<Choices> {
    let mut agents = sym.config.agents.clone();
    for name in &args.add_agent {
        Agent::from_name(name).ok_or_else(|| unknown_agent(name))?;
        if !agents.contains(name) {
            agents.push(name.clone());
        }
    }
    for name in &args.remove_agent {
        // A name that we do not know any more can be removed, too.
        let known = agents.contains(name) || Agent::from_name(name).is_some();
        if !known {
            return Err(unknown_agent(name).into());
        }
        agents.retain(|agent| agent != name);
    }
    let scope = args.hook_scope.map_or(sym.config.hook_scope, Into::into);
    Ok(Choices { agents, scope, auto_update: None })
}

/// Asks; `None` when the user got out with Esc or Ctrl-C.
fn ask(sym: &Symposium) -> anyhow::Result<Option<Choices>> {
    let theme: Box<dyn dialoguer::theme::Theme> = if sym.report.has_color() {
        Box::new(ColorfulTheme::default())
    } else {
        Box::new(dialoguer::theme::SimpleTheme)
    };
    let setup = Setup::new(sym, None, false)?;
    let configured = &sym.config.agents;
    let mut items = Vec::new();
    let mut chosen = Vec::new();
    for agent in Agent::ALL {
        let spec = agent.spec();
        let found = spec.programs().iter().any(|program| setup.find(program).is_some())
            || sym.env.home().is_some_and(|home| home.join(spec.home_folder()).is_dir());
        let note = if found { "  (found on this machine)" } else { "" };
        items.push(format!("{}{note}", spec.title()));
        let preselected = if configured.is_empty() {
            found
        } else {
            configured.iter().any(|name| name == agent.name())
        };
        chosen.push(preselected);
    }
    let Some(picked) = MultiSelect::with_theme(theme.as_ref())
        .with_prompt("Which agents do you use? (space to select, enter to confirm)")
        .items(&items)
        .defaults(&chosen)
        .interact_opt()?
    else {
        return Ok(None);
    };
    let mut agents: Vec<String> =
        configured.iter().filter(|name| Agent::from_name(name).is_none()).cloned().collect();
    agents.extend(picked.iter().map(|index| Agent::ALL[*index].name().to_owned()));
    let scopes = ["everywhere (recommended)", "only in projects where you run `cargo agents sync`"];
    let Some(scope) = Select::with_theme(theme.as_ref())
        .with_prompt("Where should hooks be registered?")
        .items(scopes)
        .default(usize::from(sym.config.hook_scope == HookScope::Project))
        .interact_opt()?
    else {
        return Ok(None);
    };
    let updates = ["install it", "tell me", "never look"];
    let Some(update) = Select::with_theme(theme.as_ref())
        .with_prompt("When there is a newer Symposium?")
        .items(updates)
        .default(match sym.config.auto_update {
            AutoUpdate::On => 0,
            AutoUpdate::Warn => 1,
            AutoUpdate::Off => 2,
        })
        .interact_opt()?
    else {
        return Ok(None);
    };
    Ok(Some(Choices {
        agents,
        scope: if scope == 0 { HookScope::Global } else { HookScope::Project },
        auto_update: Some([AutoUpdate::On, AutoUpdate::Warn, AutoUpdate::Off][update]),
    }))
}

fn save(sym: &Symposium, choices: &Choices) -> Result<(), Diagnostic> {
    user_config::edit(&sym.dirs, &mut |config: &mut UserConfig| {
        let scope = match choices.scope {
            HookScope::Global => "global",
            HookScope::Project => "project",
        };
        if choices.scope != sym.config.hook_scope || config.get("hook-scope")?.is_some() {
            config.set_value("hook-scope", &scope.into())?;
        }
        if let Some(update) = choices.auto_update
            && (update != sym.config.auto_update || config.get("auto-update")?.is_some())
        {
            let update = match update {
                AutoUpdate::On => "on",
                AutoUpdate::Warn => "warn",
                AutoUpdate::Off => "off",
            };
            config.set_value("auto-update", &update.into())?;
        }
        config.set_agents(&choices.agents)
    })?;
    Ok(())
}

/// Registers what the configuration says, and syncs inside a workspace.
fn register(sym: &Symposium, args: &InitArgs) -> anyhow::Result<bool> {
    let cwd = sym.cwd()?;
    let root = crate::workspace::locate(&cwd, &sym.env).ok().flatten();
    let sweep = if args.hook_scope.is_some() || args.is_empty() {
        Sweep::Everything
    } else {
        Sweep::Recorded
    };
    let mut failed = false;
    if root.is_some() {
        let request = Request { start: cwd, mode: Mode::Apply, sweep, ..Request::default() };
        let synced = sync(sym, &request)?;
        failed |= synced.failed;
        super::sync::finish(sym, &synced, Mode::Apply, std::time::Instant::now());
    } else {
        failed |= register_alone(sym, None, sweep)?;
        let agents: Vec<_> = sym
            .config
            .agents
            .iter()
            .filter(|name| Agent::from_name(name).is_some())
            .cloned()
            .collect();
        let summary = if agents.is_empty() {
            "no agents are configured".to_owned()
        } else {
            format!("start {} in a Rust project", agents.join(" or "))
        };
        sym.report.event(&Event::Finished { summary, changes: 0, planned: false, seconds: 0.0 });
    }
    super::codex_trust::offer(sym, args)?;
    Ok(failed)
}

/// Registers hooks outside any workspace.
fn register_alone(sym: &Symposium, root: Option<&Path>, sweep: Sweep) -> anyhow::Result<bool> {
    let setup = Setup::new(sym, root, true)?;
    let (mut registrar, diagnostics) = Registrar::open(sym, root, true);
    sym.report.diagnostics(&diagnostics);
    let agents: Vec<Agent> =
        sym.config.agents.iter().filter_map(|name| Agent::from_name(name)).collect();
    let mut desired = Desired::default();
    let notes = setup.hooks(&mut desired, &agents, registrar.ledgers(), sweep);
    sym.report.diagnostics(&notes);
    registrar.keep_servers(&mut desired);
    let registered = registrar.carry_out(desired);
    sym.report.diagnostics(&registered.diagnostics);
    for change in &registered.changes {
        sym.report.event(&Event::Change(change.clone()));
    }
    Ok(registered.failed())
}
