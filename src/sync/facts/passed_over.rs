//! Plugins that a sync does not even look at, for they are about crates that are no dependencies.

use crate::Symposium;
use crate::plugins::model::Plugin;
use crate::plugins::predicate::{Facts as GateFacts, evaluate_plugin};
use crate::plugins::registry::{PluginEntry, Registry};
use crate::plugins::source::Refresh;
use crate::skills::crate_source::{CrateDisk, Newest};
use crate::workspace::{UNOBSERVED, Workspace};

/// Why each of the plugins that are meant does not apply, for people: one of them brought what is there
/// still.
pub(crate) fn reasons(
    sym: &Symposium,
    workspace: &Workspace,
    is_meant: &dyn Fn(&Plugin) -> bool,
) -> Vec<String> {
    let root = Some(workspace.root.as_path());
    let mut all = Registry::load(sym, &Refresh::cached());
    all.wake(&sym.config.plugins, root);
    let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
    let facts = GateFacts {
        dependencies: &workspace.dependencies,
        newest: &Newest(&disk),
        members: &workspace.members,
        root,
        env: &sym.env,
        observer: &UNOBSERVED,
    };
    let reason = |PluginEntry { plugin, shadowed_by, .. }: &PluginEntry| {
        if let Some(shadow) = shadowed_by {
            return shadow.to_string();
        }
        match sym.config.plugins.disabled_by(&plugin.name, root) {
            Some(reason) => format!("plugin {} is off: {reason}", plugin.name),
            None => evaluate_plugin(plugin, &facts).reason,
        }
    };
    all.plugins.iter().filter(|entry| is_meant(&entry.plugin)).map(reason).collect()
}
