//! Skill folders in the project, and out again.
//!
//! [`desired_skills`] says which skill should be in which of the folders that [`targets`] chose;
//! [`observe`] reads what is there, [`plan`] says what to change (pure), [`apply`] changes it and
//! decides nothing. [`marker`] tells our folders from the user's, [`folders`] remembers where ours are.
//!
//! May use: `facts` and `bounds`. Used by: a sync, `remove` and `survey`.

pub(crate) mod apply;
pub(crate) mod desired_skills;
pub(crate) mod folders;
pub(crate) mod marker;
pub(crate) mod observe;
pub(crate) mod parents;
pub(crate) mod plan;
pub(crate) mod reasons;
pub(crate) mod targets;
