//! Archives that lead out of their folder or are bombs: as a crate's file, and as a download.

use sha2::{Digest as _, Sha256};
use symposium_testlib::hostile::archives;
use symposium_testlib::{Manner, Server};

use super::drive::Place;

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn downloads_of_programs() {
    let mut place = Place::new();
    let server = Server::start(&place.sandbox.dir().join("files"), Manner::Files);
    let mut said = Vec::new();
    for archive in archives(|_| ".".to_owned()) {
        let name = archive.name;
        place.sandbox.write(&format!("files/{name}.tar.gz"), &archive.bytes);
        place.sandbox.user_plugin(
            &format!("{name}/SYMPOSIUM.toml"),
            &format!(
                "name = \"{name}\"\ncrates = [\"widget\"]\n\
                 [[installations]]\nname = \"i\"\nsource = \"binary\"\nurl = \"{}\"\nsha256 = \"{}\"\n\
                 executable = \"Cargo.toml\"\n\
                 [subcommand.get-{name}]\ndescription = \"d\"\ncommand = \"i\"\n",
                server.url(&format!("{name}.tar.gz")),
                hex(&archive.bytes)
            ),
        );
        place.also(&[format!("get-{name}")]);
        said.extend(archive.refused);
    }
    place.endures(&said);
}

/// What refuses each of the archives where it is a crate's.
const OF_CRATES: [&str; 4] =
    ["leads out of it", "20 MB in one file", "can't unpack", "header is too long"];

/// Depends on a crate of each kind of archive, all with the right checksum in the lock file but one, and
/// has a plugin that takes their skills; `put` says where the files of crates are.
fn depending_on_each(place: &Place, put: &str) {
    let sandbox = &place.sandbox;
    let mut dependencies: Vec<(String, String)> = Vec::new();
    // Those take seconds, and here every command would unpack them.
    let slow = ["many", "many-folders", "ratio"];
    let all = archives(|kind| format!("x{kind}-1.0.0"));
    for archive in all.into_iter().filter(|archive| !slow.contains(&archive.name)) {
        let name = format!("x{}", archive.name);
        sandbox.write(&format!("{put}/{name}-1.0.0.crate"), &archive.bytes);
        dependencies.push((name, hex(&archive.bytes)));
    }
    let wrong = dependencies.iter_mut().find(|(name, _)| name == "xodd-names").expect("is one");
    wrong.1 = "ab".repeat(32);
    let mut all: Vec<(&str, &str)> =
        dependencies.iter().map(|(name, _)| (name.as_str(), "1.0.0")).collect();
    all.push(("widget", "1.2.3"));
    sandbox.package(&all);
    let mut lock = sandbox.read("ws/Cargo.lock");
    for (name, sum) in &dependencies {
        let package = format!("name = \"{name}\"\nversion = \"1.0.0\"\n");
        lock = lock.replace(&package, &format!("{package}checksum = \"{sum}\"\n"));
    }
    sandbox.write("ws/Cargo.lock", lock);
    sandbox.user_plugin(
        "takers/SYMPOSIUM.toml",
        &format!(
            "name = \"takers\"\ncrates = [{}]\n[[skills]]\nsource = \"crate\"\n",
            dependencies
                .iter()
                .map(|(name, _)| format!("\"{name}\""))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
}

#[test]
fn files_of_crates_that_cargo_has() {
    let place = Place::new();
    depending_on_each(&place, "home/.cargo/registry/cache/index.crates.io-1949cf8c6b5b557f");
    place.endures(&[&OF_CRATES[..], &["Cargo.lock has abab"]].concat());
}

#[test]
fn files_of_crates_in_a_folder_that_stands_in_for_crates_io() {
    let place = Place::one_of_many();
    depending_on_each(&place, "local");
    let local = place.sandbox.dir().join("local").display().to_string();
    place.sandbox.write(
        "ws/.cargo/config.toml",
        format!("[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = {local:?}\n"),
    );
    place.endures(&[&OF_CRATES[..], &["Cargo.lock has abab"]].concat());
}
