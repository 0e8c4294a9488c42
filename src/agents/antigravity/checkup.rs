//! What is known of Antigravity's own settings: a server's switch, from its documentation.

use crate::agents::checkup::{Context, Finding};
use crate::agents::places::{FileFormat, JsonRules};

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let format = FileFormat::Json(JsonRules::STRICT);
    context.switched_off(format, "mcpServers", ("disabled", true))
}
