//! What a crate's own files say of it: its changelog, its items, what it ships.
//!
//! - [`changelog`]: the sections of a changelog, whatever its shape, and what it says of a name
//! - [`changes`]: what it says happened since a version
//! - [`about`]: what it ships beside its code, and which of its features are on
//! - [`items`]: where it declares a name
//! - [`quote`]: a crate's text as a quotation: harmless, marked in every line, and of bounded length
//!
//! A crate's text is data. It is read as far as a file of its kind may be long, and never speaks as
//! us. Nothing here prints, fetches or runs anything, so commands, events and servers share it.
//!
//! May use: `skills` and the ground. Used by: `sync`, `hook`, `cli`.

pub(crate) mod about;
pub(crate) mod changelog;
pub(crate) mod changes;
pub(crate) mod items;
pub(crate) mod quote;
