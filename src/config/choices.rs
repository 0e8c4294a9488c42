//! `[plugins]`: the user's word on single plugins, skills and crates, everywhere or in one workspace.

use crate::text::same_crate;
use crate::text::toml::Table;
use std::path::{Path, PathBuf};

/// Everything that `[plugins]` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PluginChoices {
    /// Crates whose own skills the user wants though no source vouches for them.
    pub use_: Vec<String>,
    /// Plugins and crates the user does not want.
    pub disable: Vec<String>,
    /// `[plugins.workspace."<root>"]`: the same for one workspace, by its root folder. It comes
    /// before what holds everywhere.
    pub workspaces: Vec<(PathBuf, Choices)>,
    /// What the user took of the team's file. What the user says comes before it.
    pub team: Choices,
}

/// What is said in one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    /// As [`PluginChoices::use_`].
    pub use_: Vec<String>,
    /// As [`PluginChoices::disable`].
    pub disable: Vec<String>,
}

impl Choices {
    /// `use` and `disable` of `table`.
    pub(super) fn read(table: &Table<'_>) -> Self {
        let names = |key| {
            let list = table.string_or_strings(key).into_iter().flat_map(|list| list.value);
            list.map(|item| item.value).collect()
        };
        Self { use_: names("use"), disable: names("disable") }
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Use,
    Disable,
}

/// Where a word was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoiceScope {
    /// For one workspace.
    Workspace,
    /// For all of them.
    Everywhere,
    /// In the team's file, which the user took.
    Team,
}

impl PluginChoices {
    /// The user's word on `name` in the workspace at `root`, and where it was said. What is said of
    /// the workspace comes first; of a yes and a no in one place the no counts. `-` and `_` are
    /// equal.
    pub(crate) fn choice_for(
        &self,
        name: &str,
        root: Option<&Path>,
    ) -> Option<(Choice, ChoiceScope)> {
        let here = self.workspaces.iter().filter(|(known, _)| root == Some(known.as_path()));
        let here =
            here.map(|(_, choices)| (&choices.use_, &choices.disable, ChoiceScope::Workspace));
        let everywhere = (&self.use_, &self.disable, ChoiceScope::Everywhere);
        let team = (&self.team.use_, &self.team.disable, ChoiceScope::Team);
        here.chain([everywhere, team]).find_map(|(use_, disable, reach)| {
            let has = |list: &[String]| list.iter().any(|known| same_crate(known, name));
            match (has(use_), has(disable)) {
                (_, true) => Some((Choice::Disable, reach)),
                (true, false) => Some((Choice::Use, reach)),
                (false, false) => None,
            }
        })
    }

    /// Whether the user does not want `name` in the workspace at `root`.
    pub(crate) fn is_disabled(&self, name: &str, root: Option<&Path>) -> bool {
        matches!(self.choice_for(name, root), Some((Choice::Disable, _)))
    }

    /// Whether the user asked for `name` in the workspace at `root`.
    pub(crate) fn is_used(&self, name: &str, root: Option<&Path>) -> bool {
        matches!(self.choice_for(name, root), Some((Choice::Use, _)))
    }

    /// Whether the user asked for `name` anywhere.
    pub(crate) fn is_used_somewhere(&self, name: &str) -> bool {
        let lists = self.workspaces.iter().map(|(_, choices)| &choices.use_);
        let mut lists = lists.chain([&self.use_, &self.team.use_]);
        lists.any(|list| list.iter().any(|known| same_crate(known, name)))
    }

    /// Where the configuration says no to `name`, for people; `None` where it does not.
    pub(crate) fn disabled_by(&self, name: &str, root: Option<&Path>) -> Option<&'static str> {
        match self.choice_for(name, root)? {
            (Choice::Disable, ChoiceScope::Everywhere) => {
                Some("`[plugins] disable` in the configuration names it")
            }
            (Choice::Disable, ChoiceScope::Workspace) => {
                Some("`disable` in the configuration names it for this workspace")
            }
            (Choice::Disable, ChoiceScope::Team) => {
                Some("`disable` in the team's symposium.toml names it")
            }
            (Choice::Use, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_workspace_s_word_comes_first_the_team_s_last_and_a_no_before_a_yes() {
        let here = Choices { use_: names(&["a", "b"]), disable: names(&["b"]) };
        let choices = PluginChoices {
            use_: names(&["c_d"]),
            disable: names(&["a", "e"]),
            workspaces: vec![("/ws".into(), here)],
            team: Choices { use_: names(&["e", "g"]), disable: names(&["c-d", "f"]) },
        };
        let root = Some(Path::new("/ws"));
        assert_eq!(choices.choice_for("a", root), Some((Choice::Use, ChoiceScope::Workspace)));
        assert_eq!(
            choices.choice_for("a", Some(Path::new("/other"))).map(|(word, _)| word),
            Some(Choice::Disable)
        );
        assert!(choices.is_disabled("a", None));
        assert!(choices.is_disabled("b", root));
        assert!(choices.is_used("c-d", root));
        assert_eq!(choices.choice_for("e", root), Some((Choice::Disable, ChoiceScope::Everywhere)));
        assert_eq!(choices.choice_for("f", None), Some((Choice::Disable, ChoiceScope::Team)));
        assert_eq!(choices.choice_for("g", root), Some((Choice::Use, ChoiceScope::Team)));
        assert_eq!(choices.choice_for("h", root), None);
    }
}
