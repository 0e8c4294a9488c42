//! What the program that had our name and our folder before us wrote into `config.toml`: it is
//! understood, left as it stands, and told in one line.

use super::choices::PluginChoices;
use crate::text::toml::{StringOrTable, Table};

/// What was read of it, for people.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    told: Vec<String>,
}

impl Earlier {
    /// The agents of a table `[agent]`; ours are `[[agent]]`. `None` where there is no such table, or
    /// its names can't be read.
    pub(super) fn agents(&mut self, root: &Table<'_>) -> Option<Vec<String>> {
        if !root.is_table("agent") {
            return None;
        }
        let table = root.table("agent")?;
        let names = table.string_or_strings("name")?.value;
        let names: Vec<String> = names.into_iter().map(|name| our_name(&name.value)).collect();
        let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        self.told.push(format!("`[agent]` names {}", shown.join(" and ")));
        Some(names)
    }

    /// A list `use` outside of `[plugins]`: names, or tables with a name.
    fn used(&mut self, root: &Table<'_>, choices: &mut PluginChoices) {
        if !root.has("use") {
            return;
        }
        let entries = root.strings_or_tables("use").unwrap_or_default();
        let names = entries.into_iter().filter_map(|entry| match entry {
            StringOrTable::String(name) => Some(name.value),
            StringOrTable::Table(table) => ["name", "crate"]
                .into_iter()
                .find(|key| table.has(key))
                .and_then(|key| table.string(key))
                .map(|name| name.value),
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            return;
        }
        let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        self.told.push(format!("`use` counts as that of `[plugins]` for {}", shown.join(", ")));
        choices.use_.extend(names);
    }

    /// Reads the rest, and says what was read.
    pub(super) fn finish(mut self, root: &Table<'_>, choices: &mut PluginChoices) {
        self.used(root, choices);
        if self.told.is_empty() {
            return;
        }
        let message = format!(
            "taken over from an earlier program's configuration, which stays as it is: {}",
            self.told.join("; ")
        );
        root.diagnostics().warning(&root.span, message);
    }
}

/// Our name of an agent: others call a program `claude-code` or `gemini-cli`.
pub(crate) fn our_name(name: &str) -> String {
    let short = name.strip_suffix("-code").or_else(|| name.strip_suffix("-cli"));
    short.unwrap_or(name).to_owned()
}
