//! The door: argv in, exit code out.
#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]

#[cfg(not(all(not(test), target_os = "linux", target_env = "gnu")))]
fn main() -> std::process::ExitCode {
    symposium::cli::main().code().into()
}

/// The start on GNU/Linux. A hook's process lives for about a millisecond; what Rust does before its
/// own `main`, and one more library, would be a quarter of what it takes (`md/design/performance.md`).
#[cfg(all(not(test), target_os = "linux", target_env = "gnu"))]
mod start {
    use std::ffi::{c_char, c_int};

    /// What the C library calls. Of what Rust does before `main` the message of a stack that is too
    /// small is given up, for which it reads the list of the process's memory at each start. A
    /// panic's code is Rust's own.
    ///
    /// The arguments are Rust's already: on GNU/Linux it gets them from the dynamic linker.
    #[unsafe(no_mangle)]
    extern "C" fn main(_: c_int, _: *const *const c_char) -> c_int {
        symposium::process::settle();
        let code = std::panic::catch_unwind(symposium::cli::main).map_or(101, |code| code.code());
        #[allow(clippy::disallowed_methods, reason = "the end of `main`")]
        std::process::exit(code.into())
    }

    /// The only function of the C library's mathematics that the program needs (progress bars do):
    /// with one of our own, that library need not be opened at each start.
    #[unsafe(no_mangle)]
    extern "C" fn pow(base: f64, exponent: f64) -> f64 {
        libm::pow(base, exponent)
    }
}
