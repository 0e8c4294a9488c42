//! The door: argv in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    symposium::cli::main()
}
