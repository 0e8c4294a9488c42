//! Whole workspaces on disk.

mod cargo;
mod dependencies;
mod locks;
mod members;
mod place;
mod vendor;
