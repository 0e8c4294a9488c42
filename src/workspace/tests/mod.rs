//! Whole workspaces on disk.

mod cargo;
mod dependencies;
mod large;
mod layout;
mod locks;
mod members;
mod place;
mod published;
mod stale;
mod vendor;
