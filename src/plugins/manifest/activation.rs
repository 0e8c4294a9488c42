//! `activation`: whether a plugin applies by itself.

use super::context::{Context, shown};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Activation, Predicate};
use crate::text::toml::Table;

const KEY: &str = "activation";

/// What the plugin `name` waits for before it applies; nothing where it applies wherever its gate
/// holds. A value that can't be read never holds: nothing becomes active by a slip of the pen.
pub(super) fn read(cx: &Context<'_>, root: &Table<'_>, name: &str) -> Option<Predicate> {
    let mark = cx.diagnostics.mark();
    let written = root.string(KEY);
    let waits = |activation| Some(Predicate::Waits { activation, plugin: name.to_owned() });
    match written.as_ref().map(|text| text.value.as_str()) {
        Some("always") => None,
        Some("suggested") => waits(Activation::Suggested),
        Some("off") => waits(Activation::Off),
        None if !root.has(KEY) => None,
        unknown => {
            if let Some(text) = &written {
                let known = ["always", "suggested", "off"];
                cx.reject(cx.unknown_value(codes::BAD_VALUE, text, KEY, &known));
            }
            if !cx.strict {
                cx.diagnostics.soften_since(mark, "the plugin never applies");
            }
            Some(Predicate::Unsupported(format!("{KEY} = {}", shown(unknown.unwrap_or("…")))))
        }
    }
}
