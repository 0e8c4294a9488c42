//! What becomes of one plugin, and of each thing that it offers.

use super::{Facts, Part, PluginFate, is_everywhere};
use crate::installations::awaited;
use crate::plugins::model::{Gate, MatchedCrate, Plugin, SkillGroup, SkillSource};
use crate::plugins::predicate::{Evaluation, Facts as GateFacts, evaluate_all, evaluate_plugin};
use crate::plugins::trust::part::PartKind;
use crate::plugins::trust::record::Owner;
use crate::plugins::trust::{Trust, Waits};
use crate::report::{Event, Kind, Verdict};
use crate::skills::resolve::Resolver;
use crate::sync::facts::candidates::Suggestion;
use crate::text::Diagnostic;

/// What the user said of plugins and crates.
#[derive(Clone, Copy)]
pub(super) struct UsersWords<'a> {
    /// Why the user does not want a crate's skills, where that is so.
    pub(super) refused: &'a dyn Fn(&str) -> Option<&'static str>,
    /// What may run.
    pub(super) trust: &'a Trust<'a>,
}

/// Something that applies and does not run, for the user did not allow it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub owner: Owner,
    pub kind: PartKind,
    pub name: String,
    pub why: Waits,
}

impl Waiting {
    /// `hook guard of p: it waits until you allow it: …`, without the first two words.
    pub(crate) fn told(&self) -> String {
        format!("{}: {}", self.owner.name, self.why.told(&self.owner.name))
    }

    /// What to tell of each plugin (or crate) of which something waits: `guard: hook no-force (not allowed
    /// yet); …`.
    pub(crate) fn events(all: &[Self]) -> Vec<Event> {
        let mut found: Vec<(&Owner, Vec<String>)> = Vec::new();
        for Self { owner, kind, name, why } in all.iter().filter(|it| it.why != Waits::Denied) {
            let told = format!("{kind} {name} ({why})");
            match found.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, parts)) => parts.push(told),
                None => found.push((owner, vec![told])),
            }
        }
        let event = |(owner, parts): (&Owner, Vec<String>)| {
            let (name, what) = (&owner.name, parts.join(", "));
            let told = format!("{name}: {what}; `cargo agents plugin review {name}` shows it");
            Event::status("Waiting", told)
        };
        found.into_iter().map(event).collect()
    }
}

impl<'r> Facts<'r> {
    pub(super) fn plugin(
        &mut self,
        plugin: &'r Plugin,
        facts: &GateFacts<'_>,
        resolver: &mut Resolver<'_>,
        words: UsersWords<'_>,
    ) {
        let evaluation = evaluate_plugin(plugin, facts);
        for warning in &evaluation.warnings {
            self.diagnostics.push(Diagnostic::warning(warning).in_file(&plugin.manifest));
        }
        if !evaluation.holds {
            self.suggestions.extend(Suggestion::of(plugin, facts));
            for subcommand in &plugin.subcommands {
                self.subcommands.push((plugin, subcommand, Some(evaluation.reason.clone())));
            }
            return self.left_out(plugin, Verdict::Skipped, evaluation.reason);
        }
        self.explain(Kind::Plugin, &plugin.name, Verdict::Matched, &*evaluation.reason);
        self.active.push(plugin);
        awaited(plugin).iter().for_each(|program| facts.observer.observe(program));
        let judge = |gate: &Gate| evaluate_all(&[&plugin.gate, gate], facts);
        let mut parts = self.groups(plugin, &judge, resolver, words);
        parts.extend(self.programs(plugin, &judge, words.trust));
        let mut reason = evaluation.reason;
        if let Some(told) = delivers_nothing(&parts) {
            reason = format!("{reason}; {told}");
        }
        self.plugins.push(PluginFate { plugin, verdict: Verdict::Matched, reason, parts });
    }

    fn groups(
        &mut self,
        plugin: &'r Plugin,
        judge: &dyn Fn(&Gate) -> Evaluation,
        resolver: &mut Resolver<'_>,
        words: UsersWords<'_>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, group) in plugin.skills.iter().enumerate() {
            let levels = judge(&group.gate);
            let mut part = part(Kind::Group, index, &levels);
            if levels.holds {
                part.lacks = self.group(plugin, group, levels.matched, resolver, words);
            } else {
                let name = format!("a group of skills in {}", plugin.name);
                self.explain(Kind::Group, &name, Verdict::Skipped, levels.reason);
            }
            parts.push(part);
        }
        parts
    }

    /// Adds the hooks, servers and subcommands.
    fn programs(
        &mut self,
        plugin: &'r Plugin,
        judge: &dyn Fn(&Gate) -> Evaluation,
        trust: &Trust<'_>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, hook) in plugin.hooks.iter().enumerate() {
            let levels = judge(&hook.gate);
            let mut part = part(Kind::Hooks, index, &levels);
            if levels.holds {
                part.lacks = self.waits(plugin, (PartKind::Hook, &hook.name), trust);
                if part.lacks.is_none() {
                    self.hooks.push((plugin, hook));
                    self.hook_files.push(trust.files_of_hook(plugin, &hook.name));
                }
            }
            parts.push(part);
            let name = format!("{} of {}", hook.name, plugin.name);
            self.explain(Kind::Hooks, &name, verdict_of(levels.holds), levels.reason);
        }
        for (index, server) in plugin.servers.iter().enumerate() {
            let levels = judge(&server.gate);
            let mut part = part(Kind::Server, index, &levels);
            if levels.holds {
                part.lacks = self.waits(plugin, (PartKind::Server, &server.name), trust);
            }
            if levels.holds && part.lacks.is_none() {
                let is_teams = trust.is_teams(&plugin.source);
                let everywhere =
                    !is_teams && is_everywhere(&plugin.gate) && is_everywhere(&server.gate);
                self.servers.push((plugin, server, everywhere));
            }
            parts.push(part);
            self.explain(Kind::Server, &server.name, verdict_of(levels.holds), levels.reason);
        }
        for (index, subcommand) in plugin.subcommands.iter().enumerate() {
            let levels = judge(&subcommand.gate);
            let mut part = part(Kind::Subcommand, index, &levels);
            let needs = if levels.holds {
                part.lacks = self.waits(plugin, (PartKind::Subcommand, &subcommand.name), trust);
                part.lacks.clone()
            } else {
                Some(levels.reason)
            };
            parts.push(part);
            self.subcommands.push((plugin, subcommand, needs));
        }
        parts
    }

    /// Why something that applies does not run, where the user has a say in it.
    fn waits(
        &mut self,
        plugin: &Plugin,
        (kind, name): (PartKind, &str),
        trust: &Trust<'_>,
    ) -> Option<String> {
        let why = trust.waits(plugin, kind, name)?;
        let owner = Owner::of(plugin);
        self.waiting.push(Waiting { owner, kind, name: name.to_owned(), why });
        Some(why.told(&plugin.name))
    }

    /// Adds a group's skills. The answer: why it delivers none, where it does not.
    fn group(
        &mut self,
        plugin: &'r Plugin,
        group: &SkillGroup,
        mut matched: Vec<MatchedCrate>,
        resolver: &mut Resolver<'_>,
        words: UsersWords<'_>,
    ) -> Option<String> {
        let mut declined = Vec::new();
        let mut decline = |name: &str| {
            let reason = (words.refused)(name)?;
            self.explain(Kind::Crate, name, Verdict::Disabled, reason);
            declined.push(format!("{name}: {reason}"));
            Some(())
        };
        let is_left = match &group.source {
            SkillSource::Crate { .. } => {
                let all = matched.len();
                matched.retain(|found| decline(&found.name).is_none());
                all == 0 || !matched.is_empty()
            }
            SkillSource::NamedCrate { name, .. } => decline(name).is_none(),
            SkillSource::Path(_) | SkillSource::Git(_) => true,
        };
        if is_left {
            let lacks = resolver.group(plugin, group, &matched)?;
            declined.push(lacks);
        }
        Some(declined.join("; "))
    }
}

fn part(kind: Kind, index: usize, levels: &Evaluation) -> Part {
    Part { kind, index, holds: levels.holds, reason: levels.reason.clone(), lacks: None }
}

fn verdict_of(holds: bool) -> Verdict {
    if holds { Verdict::Matched } else { Verdict::Skipped }
}

/// What to say of an active plugin of which nothing comes.
fn delivers_nothing(parts: &[Part]) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for part in parts {
        let reason: &str = match (part.holds, &part.lacks) {
            (true, None) => return None,
            (_, Some(lacks)) => lacks,
            (false, None) => &part.reason,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let why = if reasons.is_empty() { "there is nothing in it" } else { &reasons.join("; ") };
    Some(format!("it delivers nothing: {why}"))
}
