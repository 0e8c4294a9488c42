use super::place::Place;
use crate::config::Environment;
use crate::workspace::vendored;

const VENDORED: &str = "[source.crates-io]\nreplace-with = \"mine\"\n[source.mine]\ndirectory = \"third party/vendor\"\n";

#[test]
fn folders_that_replace_a_registry_are_found_upwards_and_in_cargos_home() {
    let place = Place::with(&[
        ("../.cargo/config.toml", VENDORED),
        (
            "../home/.cargo/config",
            "[source.\"https://example.com/x\"]\ngit = \"https://example.com/x\"\nreplace-with = \"hop\"\n[source.hop]\nreplace-with = \"far\"\n[source.far]\ndirectory = \"/srv/far\"\n",
        ),
        // Named, but nothing is replaced by it.
        (
            ".cargo/config.toml",
            "[source.unused]\ndirectory = \"unused\"\n[source.r]\nlocal-registry = \"l\"\n",
        ),
    ]);
    let found = vendored(&place.path(""), &place.env());
    let near = place.root.with_file_name("third party").join("vendor");
    // On Windows it is on the drive that the file is on.
    let drive = place.root.ancestors().last().expect("a root");
    assert_eq!(found.folders, [near, drive.join("srv/far")]);
    assert!(found.diagnostics.is_empty());
    assert!(found.inputs.contains(&place.path(".cargo/config")), "also what is missing");
    place.package("", "root", "");
    let watched = place.load("").workspace.inputs;
    assert!(found.inputs.iter().all(|path| watched.contains(path)));
}

#[test]
fn the_nearer_file_wins_and_the_old_name_before_the_new() {
    let place = Place::with(&[
        (
            ".cargo/config",
            "[source.crates-io]\nreplace-with = \"near\"\n[source.near]\ndirectory = \"near\"\n",
        ),
        (".cargo/config.toml", "[source.near]\ndirectory = \"not-this\"\n"),
        (
            "../.cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"far\"\n[source.far]\ndirectory = \"far\"\n",
        ),
    ]);
    assert_eq!(vendored(&place.root, &place.env()).folders, [place.path("near")]);
}

#[test]
fn a_broken_or_circular_configuration_is_a_warning_at_most() {
    let place = Place::with(&[
        (".cargo/config.toml", "[source\n"),
        (
            "../.cargo/config.toml",
            "[source.a]\nreplace-with = \"b\"\n[source.b]\nreplace-with = \"a\"\ndirectory = 7\n",
        ),
    ]);
    let found = vendored(&place.root, &place.env());
    assert!(found.folders.is_empty());
    let told: Vec<_> = found.diagnostics.iter().map(|problem| place.tell(problem)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with(".cargo/config.toml:1:"), "{told:?}");
    assert!(found.diagnostics.iter().all(|problem| !problem.is_error()));
}

#[test]
fn cargos_home_may_be_anywhere() {
    let place = Place::with(&[("else/config.toml", VENDORED)]);
    let home = place.path("else");
    let env = Environment::with(&place.root, [("CARGO_HOME", home.as_os_str())]);
    // Paths in that file start at the folder that holds cargo's home.
    assert_eq!(vendored(&place.root, &env).folders, [place.path("third party/vendor")]);
}

#[test]
fn included_files_count_less_than_the_one_that_includes_them() {
    let place = Place::with(&[
        (
            ".cargo/config.toml",
            "include = [\"sub/a.toml\", { path = \"sub/b.toml\", optional = true }]\n[source.crates-io]\nreplace-with = \"v\"\n",
        ),
        (".cargo/sub/a.toml", "[source.v]\ndirectory = \"a\"\n"),
        (
            ".cargo/sub/b.toml",
            "include = [\"b.toml\"]\n[source.v]\ndirectory = \"b\"\n[source.crates-io]\nreplace-with = \"w\"\n",
        ),
    ]);
    let found = vendored(&place.root, &place.env());
    assert_eq!(found.folders, [place.path(".cargo/b")]);
    assert!(found.inputs.contains(&place.path(".cargo/sub/a.toml")));
}
