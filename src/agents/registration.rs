//! Where an agent's files are, and what of ours goes into them.

use super::codec::Codec;
use super::command::Shell;
use super::env_references::translate;
use super::identity::Identity;
use super::places::{
    HookPlace, Placement, ServerPlace, SettingsFile, Transport, Trust, TrustedHook,
};

/// How hooks and servers are registered with an agent.
pub(crate) trait Registration: Codec {
    /// Where and how our hooks are registered at the placement's scope.
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace>;

    /// What must stand where for the agent to run `hooks`, ours in `file`; `None` where it runs every
    /// hook that it finds.
    fn trust(
        &self,
        placement: &Placement<'_>,
        file: &std::path::Path,
        hooks: &[TrustedHook<'_>],
    ) -> Option<Trust> {
        let _ = (placement, file, hooks);
        None
    }

    /// The shell that the agent runs a hook's command in.
    fn shell(&self, windows: bool) -> Shell {
        if windows { Shell::GitBash } else { Shell::Posix }
    }

    /// Files that it reads besides those of [`Self::hooks`] and [`Self::server`].
    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let _ = placement;
        Vec::new()
    }

    /// As [`Self::server`], with references to variables in the agent's own form.
    fn place_server(
        &self,
        name: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        let Identity { title, env_reference, .. } = *self.identity();
        let translated = translate(transport, env_reference);
        let mut place = self.server(name, &translated.transport, everywhere, placement);
        if translated.has_references {
            place.add_note(self.reference_note());
        }
        for reference in translated.unknown {
            let note =
                format!("{title} takes `{reference}` as it stands and puts no variable there");
            place.add_note(Some(&note));
        }
        place
    }

    /// What people should know where an entry refers to variables.
    fn reference_note(&self) -> Option<&'static str> {
        None
    }

    /// Where a server goes and what its entry looks like; `everywhere` for servers of plugins that
    /// apply to every workspace, which go to the user's own file.
    fn server(
        &self,
        name: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace;
}
