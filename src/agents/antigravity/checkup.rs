//! What is known of Antigravity's own settings: a server's switch, from its documentation.

use crate::agents::checkup::{Finding, Look};
use crate::agents::places::{FileFormat, JsonRules};

pub(in crate::agents) fn checkup(look: &Look<'_>) -> Vec<Finding> {
    let format = FileFormat::Json(JsonRules::STRICT);
    look.switched_off(format, "mcpServers", ("disabled", true))
}
