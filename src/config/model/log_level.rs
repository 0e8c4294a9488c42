//! `[logging] level`.

/// Least severity that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Trace,
    /// Steps and their inputs.
    Debug,
    /// What was done.
    #[default]
    Info,
    /// What went wrong and was worked around.
    Warn,
    /// What failed.
    Error,
}
