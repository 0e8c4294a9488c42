//! What the program ends with.

/// An exit code, as [`std::process::ExitCode`], which does not tell its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// 0.
    pub const SUCCESS: Self = Self(0);
    /// 1.
    pub const FAILURE: Self = Self(1);

    /// The number.
    pub fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}
