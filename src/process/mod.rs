//! The only room that starts programs.
//!
//! May use: the ground. Used by: `fetch` and every floor above.

mod model;
mod run;

pub use model::{Child, Output, RunError, Status};
pub use run::run;
