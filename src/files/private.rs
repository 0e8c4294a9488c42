//! What only its owner may read, whatever the umask.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Opens files to add to; a new one is its owner's alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the folders of `path` that are not there, for their owner alone.
pub(crate) fn private_folders(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
