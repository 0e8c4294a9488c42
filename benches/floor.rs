//! The smallest Rust program that does what every hook must: read standard input and exit.

use std::io::Read as _;

fn main() {
    let mut input = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut input);
}
