//! Reading, writing and locking files, and staying inside a folder: the floor under everything on disk.
//!
//! - [`read_text`]: a file is read as far as its kind may be long, and nobody waits for a pipe
//! - [`write_atomic`]: a file is the old one or the new one, never half of either
//! - [`replace_if_same`]: the same, and only when nobody else wrote in the meantime
//! - [`Lock`]: an advisory lock with a deadline
//! - [`contained`]: a path from outside may not lead out of its root
//!
//! May use: `text`. Used by: every room that touches a disk.

mod atomic;
mod cache;
mod contained;
mod lock;
mod mode;
mod private;
mod read;
mod real;
mod rename;
mod temporary;
mod writers;

pub(crate) use atomic::{
    final_target, remove_if_same, replace_if_same, sweep, write_atomic, write_if_changed,
};
pub(crate) use cache::replace_cache;
pub(crate) use contained::{Escape, contained, is_plain_name, relative_inside};
pub(crate) use lock::{Lock, LockError, with_parents};
pub(crate) use mode::is_executable;
pub(crate) use private::{private, private_folders};
pub(crate) use read::{
    Limit, ReadError, Skimmer, has_exactly, is_absent, open, read_bytes, read_optional,
    read_source, read_text,
};
pub(crate) use real::{canonicalize, without_prefix};
pub(crate) use rename::{remove_file, rename};
pub(crate) use temporary::without_its_name;
