//! Getting a plugin's programs onto disk, and saying how to run them.
//!
//! - [`Acquirer::acquire`]: the work, once per installation and version, under a lock
//! - [`Acquirer::probe`]: what is on disk now, in microseconds and without any work
//! - [`Acquirer::hook`], [`Acquirer::command`]: all of it together, ready to be started
//! - [`packaged_server`]: the same for a server of a package in another format
//! - [`Acquirer::obstacles`]: what keeps it from being started
//! - [`syntax_error`]: what a shell finds wrong with a script
//! - [`environment`]: the variables that tell a child where its tools are
//! - [`Installed`]: how this program itself got where it is
//!
//! On disk, below the cache's `binaries` folder:
//!
//! ```text
//! <crate>/<version>/bin/   a crate's programs; each version beside the others
//! <crate>/git-<8 hex>/bin/ the same, built from a repository
//! sha256-<16 hex>/         a downloaded file or archive
//! work-<8 hex>/<commit>/   a repository's files where commands finish the installation
//! .stamps/<16 hex>.json    what each installation of each plugin came to
//! .outdated.json           folders that go when nothing names them any more
//! ```
//!
//! May use: `plugins`, `fetch`, `process`, `documents` and the ground. Used by: `sync`, `hook`, `cli`.

mod acquire;
mod binary;
mod cargo;
mod commands;
mod environment;
mod fetcher;
mod job;
mod locate;
mod model;
mod obstacle;
mod outdated;
mod own;
mod packaged;
mod prepare;
mod repository;
mod stamp;
mod syntax;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use acquire::Acquirer;
pub(crate) use environment::environment;
pub(crate) use fetcher::{Fetcher, Network};
pub(crate) use locate::awaited;
pub(crate) use model::{Acquired, InstallError, Invocation, Mode, Root, Trouble};
pub(crate) use obstacle::{Obstacle, ObstacleKind, unusable};
pub(crate) use outdated::{FoundPrograms, sweep_outdated};
pub(crate) use own::{Installed, Otherwise, recorded};
pub(crate) use packaged::packaged_server;
pub(crate) use prepare::Prepared;
pub(crate) use syntax::syntax_error;
