//! Whole workspaces on disk.

mod cargo;
mod dependencies;
mod large;
mod locks;
mod members;
mod place;
mod vendor;
