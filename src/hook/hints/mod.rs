//! The moment of need: where a tool's result holds rustc's errors about items of dependencies, the
//! answer adds what the locked versions say of those items.
//!
//! - `block`: rustc's output, taken apart
//! - `wanted`: what an error is about
//! - `asking`: the file that asks
//! - `asked`: the dependency that is asked
//! - `known`: what it says, with its changelog's words (`said`)
//! - `answer`: the words
//!
//! An event without an error costs one search over its bytes. Whatever else is done here is done on
//! a thread of its own, for which the agent waits [`PATIENCE`] at most: what was found by then is told.

mod answer;
mod asked;
mod asking;
mod block;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod known;
mod said;
mod wanted;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;
use symposium_hook::Input;

use self::answer::Hint;
use self::asked::Dependencies;
use self::known::Known;
use self::wanted::Wanted;
use crate::config::{Config, Dirs, Environment};
use crate::workspace::Workspace;

pub(super) use self::block::may_hold_errors;

/// How long the agent waits.
const PATIENCE: Duration = Duration::from_millis(200);
/// Items that are looked up for one event.
const MOST: usize = 12;
/// Bytes of a result that are looked at, from its beginning.
const LONGEST: usize = 4 * 1024 * 1024;
/// Tools whose results are what the agent itself wrote.
const WRITERS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// What a search for hints needs to know.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub env: Environment,
    pub dirs: Dirs,
    /// The workspace's root.
    pub root: PathBuf,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// What the session was told of.
    pub told: Vec<String>,
}

/// A text for the model, and what the session is to remember of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub text: String,
    pub told: Vec<String>,
}

impl Search {
    /// What there is to be told of the errors in the event's result.
    pub(super) fn run(self, input: &Input) -> Option<Found> {
        let Input::PostToolUse(input) = input else { return None };
        if WRITERS.contains(&input.tool_name.as_str()) {
            return None;
        }
        let hints = Config::load(&self.dirs).config.hints;
        if !hints.errors || hints.budget == 0 {
            return None;
        }
        let mut wanted = Vec::new();
        for_each_text(&input.tool_response, &mut |text| collect(text, &mut wanted));
        if wanted.is_empty() {
            return None;
        }
        let deadline = Instant::now() + self.env.test_switches().patience(PATIENCE);
        let (each, found) = mpsc::channel();
        let work = move || self.look_up(&wanted, &mut |hint| each.send(hint).is_ok());
        let thread = std::thread::Builder::new().name("hints".to_owned()).spawn(work);
        if let Err(error) = thread {
            tracing::warn!("no hints for this event: {error}");
            return None;
        }
        let mut all = Vec::new();
        loop {
            match found.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(hint) => all.push(hint),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    tracing::debug!("some hints for this event take too long");
                    break;
                }
            }
        }
        let (text, told) = answer::render(&all, hints.budget)?;
        Some(Found { text, told })
    }

    /// Tells `each` hint as soon as it is found, until nobody wants more.
    fn look_up(&self, wanted: &[Wanted], each: &mut impl FnMut(Hint) -> bool) {
        let Ok(Some(loaded)) = Workspace::load(&self.root, &self.env) else { return };
        let places = (&self.env, &self.dirs);
        let dependencies = Dependencies::new(&loaded.workspace, places, &self.cwd);
        let mut told = self.told.clone();
        let mut declarations = Vec::new();
        for wanted in wanted {
            let candidates = dependencies.candidates(wanted);
            if candidates.iter().any(|candidate| told.contains(&answer::key(wanted, candidate))) {
                continue;
            }
            let known = candidates.iter().find_map(|it| Some((it, Known::of(wanted, it)?)));
            let Some((candidate, known)) = known else { continue };
            // Of two errors at one declaration one is enough.
            if let (Some((line, _)), Some(shown)) = (&known.signature, &wanted.shown) {
                let place = (candidate.dir.join(&shown.file), *line);
                if declarations.contains(&place) {
                    continue;
                }
                declarations.push(place);
            }
            let hint = Hint::new(wanted, candidate, &known);
            told.push(hint.key.clone());
            if !each(hint) {
                return;
            }
        }
    }
}

/// What the errors in `text` ask for, each once.
fn collect(text: &str, wanted: &mut Vec<Wanted>) {
    if !may_hold_errors(text.as_bytes()) {
        return;
    }
    let text = block::plain(bounded(text));
    for found in block::blocks(&text).iter().flat_map(wanted::wanted) {
        if wanted.len() < MOST && !wanted.iter().any(|known| known.path == found.path) {
            wanted.push(found);
        }
    }
}

/// The start of what is too long to be looked at.
fn bounded(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    &text[..end]
}

/// All texts in a tool's result, however the agent packs it.
fn for_each_text(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| for_each_text(value, each)),
        Value::Object(fields) => fields.values().for_each(|value| for_each_text(value, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
