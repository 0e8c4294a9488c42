//! Cargo itself, to compare with.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What `cargo metadata --offline` prints in `dir`.
///
/// # Errors
/// What cargo said, when it failed or did not start.
pub fn metadata(dir: &Path, arguments: &[&str]) -> Result<Value, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(arguments)
        .current_dir(dir)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
