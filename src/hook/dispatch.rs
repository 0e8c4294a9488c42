//! The plugins' hooks of an event: one after the other, each seeing what the one before rewrote.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use symposium_hook::{Decision, Event};

use super::event::name_tool;
use super::run::{HookCall, run_hook};
use super::witness::{Asked, Witness};
use crate::agents::Codec;
use crate::agents::json::as_object;
use crate::agents::merge::merge;
use crate::agents::tools::native_of;
use crate::agents::wire::{Decoded, Outcome};
use crate::config::Environment;
use crate::sync::snapshot::SnapshotHook;

/// What is kept of the time registered with the agent for everything but the plugins' hooks.
const MARGIN: Duration = Duration::from_secs(3);
/// What each hook that comes later is left of the time, while there is enough.
const RESERVE: Duration = Duration::from_secs(3);

/// What all hooks of an event are run with.
pub(super) struct Dispatch<'a> {
    /// The agent's formats.
    pub codec: &'static dyn Codec,
    /// The event.
    pub event: Event,
    /// Our surroundings.
    pub env: &'a Environment,
    /// When the event came.
    pub started: Instant,
    /// Where the agent works.
    pub cwd: &'a Path,
    /// Names of the workspace's servers.
    pub servers: &'a [String],
    /// Who watches a plugin that is tried out.
    pub witness: Option<&'a Witness>,
}

/// A hook, and the root of the workspace that it is in force for; none outside of one.
pub(super) type HookInForce<'a> = (Option<&'a Path>, &'a SnapshotHook);

/// The event as the next hook reads it.
struct Current {
    native: Vec<u8>,
    decoded: Decoded,
}

/// What the hooks did to the tool's input.
struct Rewrites {
    original: Map<String, Value>,
    latest: Option<(String, Map<String, Value>)>,
}

impl Dispatch<'_> {
    /// Runs `hooks` in order and adds what they want to `outcome`. The answer: the event with the
    /// last rewritten input, if any was.
    pub(super) fn run(
        &self,
        hooks: &[HookInForce<'_>],
        stdin: &[u8],
        decoded: &Decoded,
        outcome: &mut Outcome,
    ) -> Option<Decoded> {
        if hooks.is_empty() {
            return None;
        }
        let budget = budget(self.codec, self.event);
        let mut rewritten: Option<Current> = None;
        let mut rewrites = Rewrites { original: input_of(decoded), latest: None };
        let mut canonical: Option<Vec<u8>> = None;
        for (index, (root, hook)) in hooks.iter().enumerate() {
            let native = rewritten.as_ref().map_or(stdin, |current| &current.native);
            let event = rewritten.as_ref().map_or(decoded, |current| &current.decoded);
            let stdin = match hook.foreign_format(self.codec) {
                _ if hook.is_canonical() => canonical
                    .get_or_insert_with(|| serde_json::to_vec(&event.input).unwrap_or_default())
                    .clone(),
                Some(format) => format.encode_event(event).unwrap_or_default(),
                None => native.to_vec(),
            };
            let left = budget.saturating_sub(self.started.elapsed());
            let later = hooks.len() - index - 1;
            let limit = limit(Duration::from_millis(hook.timeout), left, later);
            let began = Instant::now();
            let mut verdict = run_hook(hook, &self.call(*root, stdin, limit));
            if let Some(witness) = self.witness {
                witness.asked(Asked {
                    hook: hook.name.clone(),
                    output: verdict.output.take(),
                    took: began.elapsed(),
                    problem: verdict.problem.take(),
                    notes: std::mem::take(&mut verdict.notes),
                    answer: in_words(&verdict.outcome),
                });
            }
            tracing::debug!("{} answers: {}", hook.who(), in_words(&verdict.outcome));
            if let Some(updated) = verdict.outcome.updated_input.take()
                && let Some((current, input)) = self.rewrite(hook, native, event, updated)
            {
                rewrites.record(&hook.who(), &input);
                verdict.outcome.updated_input = Some(input);
                if current.is_some() {
                    rewritten = current;
                    canonical = None;
                }
            }
            merge(outcome, verdict.outcome);
            if verdict.last {
                break;
            }
        }
        // An input that is the same again is no rewrite, and must not come with the leave to run that
        // some agents take a rewrite for.
        if outcome.updated_input.as_ref() == Some(&rewrites.original) {
            outcome.updated_input = None;
        }
        self.log(outcome);
        rewritten.map(|current| current.decoded)
    }

    /// What plugins do to the agent is logged as a decision; that they let it go on happens all day.
    fn log(&self, outcome: &Outcome) {
        let (event, agent) = (self.event.name(), self.codec.name());
        let words = in_words(outcome);
        let lets_go_on = matches!(outcome.decision, None | Some(Decision::Allow));
        if lets_go_on && outcome.updated_input.is_none() && outcome.stop.is_none() {
            tracing::debug!("{event} of {agent}: {words}");
        } else {
            tracing::info!("{event} of {agent}: {words}");
        }
    }

    fn call<'c>(&'c self, root: Option<&'c Path>, stdin: Vec<u8>, limit: Duration) -> HookCall<'c> {
        HookCall {
            codec: self.codec,
            event: self.event,
            root,
            cwd: self.cwd,
            env: self.env,
            stdin,
            limit,
        }
    }

    /// What a hook's new input makes of the event: the event as the next hook sees it, and the
    /// whole input in the agent's own words. An event without an input can't be rewritten.
    fn rewrite(
        &self,
        hook: &SnapshotHook,
        native: &[u8],
        event: &Decoded,
        updated: Map<String, Value>,
    ) -> Option<(Option<Current>, Map<String, Value>)> {
        if self.event != Event::PreToolUse {
            return None;
        }
        let is_in_common_words = hook.is_canonical() || hook.foreign_format(self.codec).is_some();
        let updated =
            if is_in_common_words { self.codec.native_input(event, &updated) } else { updated };
        let again = self.codec.replace_input(native, &updated).and_then(|native| {
            let mut decoded = self.codec.decode(self.event, &native, self.env).ok()?;
            name_tool(self.codec, &mut decoded, self.servers);
            Some(Current { native, decoded })
        });
        match again {
            // The whole of it: some agents lay a new input over the one that is there, and what an
            // earlier hook put in must not get lost by that.
            Some(current) => {
                let input = input_of(&current.decoded);
                Some((Some(current), input))
            }
            None => {
                tracing::warn!("the next hook can't see what {} rewrote", hook.who());
                Some((None, updated))
            }
        }
    }
}

impl Rewrites {
    /// Logs when a hook changes what another had changed: the last one counts.
    fn record(&mut self, who: &str, input: &Map<String, Value>) {
        if let Some((before, theirs)) = &self.latest {
            let keys = theirs.iter().filter(|(key, value)| {
                self.original.get(*key) != Some(*value) && input.get(*key) != Some(*value)
            });
            let keys: Vec<String> = keys.map(|(key, _)| format!("`{key}`")).collect();
            if !keys.is_empty() {
                let keys = keys.join(", ");
                tracing::warn!("{who} rewrites {keys}, which {before} had rewritten: it counts");
            }
        }
        self.latest = Some((who.to_owned(), input.clone()));
    }
}

/// An answer for the log. Of what may hold secrets (a tool's input, text for the model) it has no
/// more than that it is there.
fn in_words(outcome: &Outcome) -> String {
    let decision = match outcome.decision {
        None => "no opinion",
        Some(Decision::Allow) => "allow",
        Some(Decision::Ask) => "ask",
        Some(Decision::Deny) => "deny",
    };
    let mut words = match outcome.reasons.is_empty() {
        true => decision.to_owned(),
        false => format!("{decision} ({})", outcome.reasons.join("; ")),
    };
    let context: usize = outcome.context.iter().map(String::len).sum();
    if context > 0 {
        words.push_str(&format!(", {context} bytes for the model"));
    }
    for (there, what) in [
        (outcome.updated_input.is_some(), "another input"),
        (outcome.user_message.is_some(), "a line for the user"),
        (outcome.stop.is_some(), "the end of the turn"),
    ] {
        if there {
            words.push_str(&format!(", {what}"));
        }
    }
    words
}

/// The tool's input in the agent's own words.
fn input_of(decoded: &Decoded) -> Map<String, Value> {
    as_object(native_of(decoded).1)
}

/// How long all hooks of an event may take, of the time that is registered with the agent.
pub(super) fn budget(codec: &dyn Codec, event: Event) -> Duration {
    Duration::from_secs(codec.registered_timeout(event)).saturating_sub(MARGIN)
}

/// How long a hook may take: what it asks for, and at most what is left after each later one got
/// its reserve. So a hook that hangs does not keep the others from being asked.
fn limit(own: Duration, left: Duration, later: usize) -> Duration {
    let later = u32::try_from(later).unwrap_or(u32::MAX - 1);
    let reserve = RESERVE.min(left / (later + 1)).saturating_mul(later);
    own.min(left.saturating_sub(reserve))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;

    #[test]
    fn case_58_our_own_deadline_is_below_every_registered_one() {
        let hour = Duration::from_secs(3600);
        for agent in Agent::ALL {
            for event in Event::COMMON {
                let registered = Duration::from_secs(agent.codec().registered_timeout(event));
                let budget = registered - MARGIN;
                assert!(limit(hour, budget, 0) <= budget);
                assert!(budget >= Duration::from_secs(20), "{} {}", agent.name(), event.name());
            }
        }
    }

    #[test]
    fn case_58_a_hook_that_hangs_leaves_the_later_ones_their_share() {
        let seconds = Duration::from_secs;
        assert_eq!(limit(seconds(30), seconds(57), 0), seconds(30));
        assert_eq!(limit(seconds(600), seconds(57), 0), seconds(57));
        assert_eq!(limit(seconds(600), seconds(27), 2), seconds(21));
        assert_eq!(limit(seconds(600), seconds(3), 2), seconds(1), "little is shared");
        assert_eq!(limit(seconds(600), seconds(0), 5), seconds(0));
        // All hang: each in turn takes what it may, and together they stay within the budget.
        for count in 1..40 {
            let mut left = seconds(27);
            for index in 0..count {
                let taken = limit(seconds(600), left, count - index - 1);
                assert!(taken > Duration::ZERO, "{count} {index}");
                left -= taken;
            }
        }
    }
}
