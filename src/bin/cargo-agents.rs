//! The door: argv in, exit code out.

fn main() -> std::process::ExitCode {
    symposium::main().code().into()
}
