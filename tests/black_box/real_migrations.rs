//! The numbers of the book: programs written for old versions of published crates, compiled against
//! newer ones, and what the compiler's true output is answered with.
//!
//! `tests/fixtures/rustc` has the programs, with what rustc 1.95 said of each, and the manifest that
//! they were compiled with; a `todo!()` in one stands where its error does not ask for more. Of the
//! crates nothing is kept here. The two tests that need them are ignored by a plain `cargo test`, for
//! that must not fetch 34 crates: they are run by name, and end with a word where there is no registry.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// Each program, and what its replacement is called; one of several words is enough.
const MIGRATIONS: &[(&str, &[&str])] = &[
    ("arrayvec_array", &["ArrayVec<T, CAP>"]),
    ("axum_body", &["from_stream", "body::Body::new"]),
    ("axum_next", &["type param"]),
    ("axum_server", &["axum::serve"]),
    ("base64_config", &["engine.encode", "Engine::encode"]),
    ("bitflags_unchecked", &["from_bits_retain"]),
    ("bytes_buf", &["Removed › - `IntoBuf`"]),
    ("crossterm_shape", &["SetCursorStyle"]),
    ("dalek_keypair", &["SigningKey"]),
    ("epoch_set", &["compare_exchange"]),
    ("getrandom_fill", &["to `fill`"]),
    ("hmac_varkey", &["new_from_slice", "KeyInit"]),
    ("http_try_from", &["convert::TryFrom"]),
    ("indexmap_remove", &["swap_remove", "shift_remove"]),
    ("itertools_group", &["chunk_by"]),
    ("itertools_results", &["map_ok"]),
    ("jsonwebtoken_insecure", &["dangerous::insecure_decode"]),
    ("jsonwebtoken_validation", &["dangerous::insecure_decode"]),
    ("mio_ready", &["`Interest`"]),
    ("ndarray_rows", &["`rows/"]),
    ("nix_read", &["AsFd"]),
    ("nix_socket", &["SockaddrIn"]),
    ("nom_named", &["function combinators"]),
    ("nom_traits", &["`Input` trait"]),
    ("petgraph_scc", &["kosaraju_scc"]),
    ("polling_insert", &["`add()`"]),
    ("rand_choose", &["`sample`"]),
    ("rand_distributions", &["`rand::distr`"]),
    ("rand_range", &["`rand::rng()`"]),
    ("rayon_configuration", &["ThreadPoolBuilder"]),
    ("redis_connection", &["get_multiplexed"]),
    ("redis_query", &["query_async<T: FromRedisValue>("]),
    ("regex_captures", &["renamed to `get`", "renamed to `escape`"]),
    ("rmcp_error", &["ErrorData"]),
    ("rmcp_sse", &["streamable", "Streamable"]),
    ("sha2_input", &["Update::update"]),
    ("subscriber_layer", &["to `Layer`"]),
    ("toasty_all", &[".exec()"]),
    ("toasty_select", &["stmt::Query"]),
    ("tokio_delay", &["`sleep`"]),
    ("tokio_incoming", &["TcpListenerStream", "tokio-stream"]),
    ("tokio_runtime", &["new_current_thread", "new_multi_thread"]),
    ("tower_http_auth", &["ValidateRequest"]),
    ("tower_ready", &["`ServiceExt::ready`"]),
    ("tungstenite_read", &["WebSocket::read`"]),
    ("ureq_agent", &["config_builder", "AgentConfig", "Agent::config"]),
    ("ureq_set", &[".header(", "RequestBuilder::header"]),
    ("zip_name", &["mangled_name", "enclosed_name"]),
    ("zip_start", &["with_alignment"]),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rustc")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the outputs in a folder of the fixtures, sorted.
fn outputs(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(fixtures().join(folder)).expect("the fixtures");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let texts = paths.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
    let mut names: Vec<String> =
        texts.map(|path| path.file_stem().expect("a name").to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Lays the programs of a folder where the compiler found them.
fn lay(sandbox: &Sandbox, folder: &str) {
    sandbox.write("ws/Cargo.toml", read(&fixtures().join("manifest.toml")));
    for name in outputs(folder) {
        let program = read(&fixtures().join(folder).join(format!("{name}.rs")));
        sandbox.write(&format!("ws/src/bin/{name}.rs"), program);
    }
}

/// What the output of a program is answered with, in a session of its own.
fn said(sandbox: &Sandbox, folder: &str, name: &str) -> Option<String> {
    let printed = read(&fixtures().join(folder).join(format!("{name}.txt")));
    let session = format!("{folder}-{name}").leak();
    let told = Told { printed: printed.leak(), ..Told::in_ws(sandbox) }.session(session);
    send(sandbox, "claude", Event::PostToolUse, &told).context
}

/// A workspace on the published crates, fetched; `None` when that can't be done here.
fn published(folder: &str) -> Option<Sandbox> {
    let mut sandbox = lab();
    std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("there was a lock file");
    lay(&sandbox, folder);
    if !crate::real_crates::fetch(&mut sandbox) {
        return None;
    }
    sandbox.switch("patience", "100");
    Some(sandbox)
}

#[test]
#[ignore = "needs 34 published crates: cargo test --test black_box -- --ignored real_migrations"]
fn the_answer_names_the_replacement_in_real_migrations() {
    let Some(sandbox) = published("migrations") else { return };
    let known: BTreeSet<&str> = MIGRATIONS.iter().map(|(name, _)| *name).collect();
    let there = outputs("migrations");
    assert_eq!(known, there.iter().map(String::as_str).collect());
    let (mut table, mut hits) = (String::new(), 0);
    for (name, words) in MIGRATIONS {
        let said = said(&sandbox, "migrations", name).unwrap_or_default();
        let is_named = words.iter().any(|word| said.contains(word));
        assert!(said.chars().count() <= 1_500, "{name}: {said}");
        hits += usize::from(is_named);
        let verdict = match (is_named, said.is_empty()) {
            (true, _) => "names it",
            (false, true) => "says nothing",
            (false, false) => "says something else",
        };
        writeln!(table, "{name}: {verdict}").expect("is written");
    }
    let _ = writeln!(std::io::stderr(), "{table}{hits} of {}", MIGRATIONS.len());
    assert!(hits >= NAMED, "{hits} of {}\n{table}", MIGRATIONS.len());
}

/// How many of them the book says there are.
const NAMED: usize = 41;

#[test]
#[ignore = "needs 34 published crates: cargo test --test black_box -- --ignored real_migrations"]
fn errors_in_ones_own_code_beside_published_crates_are_not_answered() {
    let Some(sandbox) = published("own") else { return };
    for name in outputs("own") {
        assert_eq!(said(&sandbox, "own", &name), None, "{name}");
    }
}

/// The same without the crates, and harder: each dependency claims all names that the compiler says.
#[test]
fn errors_in_ones_own_code_are_not_answered_whatever_dependencies_have_to_say() {
    let names = outputs("own");
    assert!(names.len() >= 25);
    let texts: String = names
        .iter()
        .map(|name| read(&fixtures().join("own").join(format!("{name}.txt"))))
        .collect();
    let mut changelog = "## 1.0.0\n\n### Breaking\n\n".to_owned();
    let ticked: BTreeSet<&str> = texts.split('`').skip(1).step_by(2).collect();
    for name in ticked {
        writeln!(changelog, "- Removed `{name}`, use `other` instead").expect("is written");
    }
    let crates = ["rand", "tokio", "axum", "regex", "bytes", "tower"];
    let sandbox = lab();
    sandbox.package(&crates.map(|name| (name, "1.2.3")));
    for name in crates {
        let files = [("CHANGELOG.md", changelog.as_str()), ("src/lib.rs", "")];
        sandbox.registry_crate(name, "1.2.3", &files);
    }
    for name in &names {
        let program = read(&fixtures().join("own").join(format!("{name}.rs")));
        sandbox.write(&format!("ws/src/bin/{name}.rs"), program);
    }
    for name in &names {
        assert_eq!(said(&sandbox, "own", name), None, "{name}");
    }
}
