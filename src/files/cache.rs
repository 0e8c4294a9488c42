//! Files that are only a memory of ours.

use std::io::{self, Write as _};
use std::path::Path;

use super::rename::persist;
use super::temporary::without_its_name;
use super::with_parents;

/// Puts `bytes` in the place of the file at `path` in one step, made with its parents where there is
/// none; only we may read it. Nothing waits for the disk: after a power cut the file may be empty,
/// which whoever reads it takes for no file.
pub(crate) fn replace_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file =
        with_parents(path, || tempfile::NamedTempFile::new_in(folder)).map_err(without_its_name)?;
    file.as_file_mut().write_all(bytes)?;
    persist(file.into_temp_path(), path)
}
