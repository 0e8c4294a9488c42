//! A snapshot with other hooks, for those who try a plugin out.

use symposium_hook::Event;

use super::{LINES, SnapshotHook, Stored};

impl Stored {
    /// The same with what `change` makes of each of its hooks.
    ///
    /// # Errors
    /// A path in it that is no Unicode.
    pub(crate) fn with_hooks(
        &self,
        mut change: impl FnMut(&mut SnapshotHook),
    ) -> serde_json::Result<Self> {
        let mut parts: Vec<Vec<u8>> =
            self.bytes.splitn(LINES + 1, |byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for (part, event) in parts.iter_mut().skip(1).zip(Event::ALL) {
            let mut hooks = self.hooks(event);
            hooks.iter_mut().for_each(&mut change);
            *part = serde_json::to_vec(&hooks)?;
        }
        Ok(Self { bytes: parts.join(&b'\n'), header: self.header.clone(), is_outdated: false })
    }
}
