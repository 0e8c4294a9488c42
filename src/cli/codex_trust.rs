//! Codex runs a hook only once the user trusts it; this asks, and writes the trust for ours.

use super::grammar::InitArgs;
use crate::Symposium;

/// Offers to trust our Codex hooks.
pub(super) fn offer(_sym: &Symposium, _args: &InitArgs) -> anyhow::Result<()> {
    Ok(())
}
