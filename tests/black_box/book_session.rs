//! The migration in the book, with the published crate: what the compiler printed there is answered as
//! it says there. A plain run ignores it, for tests use no network and the crate may not be on the
//! machine.

use std::path::Path;

use symposium_testlib::Sandbox;

use crate::book_screens::keep_in_step;
use crate::hook_kit::*;

const PAGE: &str = "guide/dependencies.md";
const MANIFEST: &str = "[package]\nname = \"dice\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [dependencies]\nrand = \"=0.10.4\"\n";
const HEAD: &str = "What the locked versions of dependencies say about items in these errors";

/// The blocks of the page in this language, in order.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("md").join(PAGE);
    let page = std::fs::read_to_string(path).expect("the page reads");
    let parts = page.split("\n```").skip(1).step_by(2);
    let own = parts.filter_map(|part| part.strip_prefix(&format!("{language}\n")));
    own.map(str::to_owned).collect()
}

/// What the agent is told of what a build printed, with the crate where the page has it.
fn told(sandbox: &Sandbox, printed: &str) -> String {
    let answer = after_failed_build(sandbox, &printed.len().to_string(), printed);
    let said = answer["additionalContext"].as_str().expect("a hint");
    let source = regex::Regex::new("sources: .*/rand-").expect("an expression");
    let here = "sources: /home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rand-";
    source.replace(said, here).into_owned()
}

#[test]
#[ignore = "needs a published crate: cargo test --test black_box -- --ignored book_session"]
fn the_migration_in_the_book_goes_as_it_says() {
    let (programs, builds) = (blocks("rust"), blocks("console"));
    let builds = builds.iter().filter_map(|it| it.strip_prefix("$ cargo check\n"));
    let builds: Vec<&str> = builds.filter(|it| it.contains("error[E")).collect();
    assert_eq!((programs.len(), builds.len()), (3, 2));
    let mut sandbox = lab();
    std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("there was a lock file");
    sandbox.write("ws/Cargo.toml", MANIFEST);
    sandbox.write("ws/src/main.rs", &programs[0]);
    if !crate::real_crates::fetch(&mut sandbox) {
        return;
    }
    sandbox.switch("patience", "100");
    for (number, item) in ["distributions", "ThreadRng::gen_range"].into_iter().enumerate() {
        sandbox.write("ws/src/main.rs", &programs[number]);
        let said = told(&sandbox, builds[number]);
        let head = said.lines().next().unwrap_or_default();
        assert!(head.starts_with(HEAD), "{said}");
        keep_in_step(PAGE, &format!("{head}\n- `{item}`"), &said);
    }
}
