//! The hook trace: with `SYMPOSIUM_HOOK_TRACE=<file>`, one JSON line an event, for tests that drive
//! real agents.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agents::wire::Answer;
use crate::config::Environment;
use crate::files::private;

/// Appends what was asked and answered. Trouble is logged.
pub(super) fn record(
    env: &Environment,
    agent: &str,
    event: &str,
    stdin: &[u8],
    answer: &Answer,
    took: Duration,
) {
    let Some(path) = env.var("SYMPOSIUM_HOOK_TRACE") else { return };
    let input = serde_json::from_slice::<Value>(stdin)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(stdin).into_owned()));
    let line = json!({
        "agent": agent,
        "event": event,
        "input": input,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        "exit": answer.exit,
        "seconds": took.as_secs_f64(),
    });
    // In one write, so that lines of events at the same time do not mix.
    let written = private()
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        tracing::warn!("no trace in {}: {error}", path.to_string_lossy());
    }
}
