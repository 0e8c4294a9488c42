//! Commits as they are written.

/// Whether `text` may be the start of a commit, as git abbreviates them.
pub(super) fn is_short_commit(text: &str) -> bool {
    (7..40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether `text` is a whole object name (SHA-1 or SHA-256).
pub(super) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
