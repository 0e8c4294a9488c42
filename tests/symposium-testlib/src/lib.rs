//! Fixtures and helpers for Symposium's own tests.

pub mod large;
