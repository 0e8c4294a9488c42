//! What a checkout can say to cargo: programs in the place of cargo's own, members everywhere.

use super::drive::Place;

#[test]
fn configurations_of_cargo_and_toolchains_that_name_programs() {
    let place = Place::new();
    let sandbox = &place.sandbox;
    let run = place.outside().join("bin/run");
    let run = run.display();
    let outside = place.outside();
    let outside = outside.display();
    sandbox.write(
        "ws/.cargo/config.toml",
        format!(
            "include = \"{outside}/secret/file.md\"\npaths = [\"{outside}\"]\n\
             [alias]\nagents = \"!{run}\"\ninfo = \"run\"\nfetch = [\"run\"]\nmetadata = \"run\"\n\
             [build]\nrustc = \"{run}\"\nrustc-wrapper = \"{run}\"\nrustc-workspace-wrapper = \"{run}\"\n\
             rustdoc = \"{run}\"\ntarget-dir = \"{outside}/target\"\n\
             [target.'cfg(all())']\nrunner = \"{run}\"\nlinker = \"{run}\"\n\
             [env]\nPATH = \"{outside}/bin\"\nRUSTC_WRAPPER = \"{run}\"\nCARGO = \"{run}\"\n\
             [http]\nproxy = \"http://127.0.0.1:1\"\n[net]\ngit-fetch-with-cli = true\n\
             [registry]\nglobal-credential-providers = [\"cargo:token-from-stdout {run}\"]\n\
             credential-provider = [\"{run}\"]\n[credential-alias]\nmine = [\"{run}\"]\n\
             [registries.evil]\nindex = \"file://{outside}/index\"\ncredential-provider = [\"{run}\"]\n\
             [source.crates-io]\nreplace-with = \"evil\"\n[source.evil]\ndirectory = \"{outside}\"\n\
             [patch.crates-io]\nwidget = {{ path = \"{outside}\" }}\n"
        ),
    );
    sandbox.write("ws/.cargo/config", format!("[build]\nrustc = \"{run}\"\n"));
    sandbox.write("ws/rust-toolchain.toml", format!("[toolchain]\npath = \"{outside}\"\n"));
    sandbox.write("ws/rust-toolchain", format!("{outside}\n"));
    sandbox.write("ws/build.rs", "fn main() { std::fs::write(\"../ran\", \"\").unwrap(); }\n");
    for name in ["cargo", "rustc", "git", "sh", "widget", "true", ".cargo/bin/cargo"] {
        sandbox.program(&format!("ws/{name}"), &format!("#!/bin/sh\n{}\n", place.leaves_a_mark()));
    }
    for (path, text) in [
        ("ws/.envrc", "exec"),
        ("ws/mise.toml", "[hooks]\nenter = \"touch ../ran\"\n[env]\n_.source = \"./sh\"\n"),
        ("ws/.tool-versions", "rust path:../outside\n"),
    ] {
        sandbox.write(path, text);
    }
    place.endures(&["widget"]);
}

#[test]
fn members_dependencies_and_roots_that_are_elsewhere() {
    let patterns = [
        "/**",
        "../**",
        "/*/*/*",
        "**/**/**/**",
        "../outside",
        "/",
        "..",
        "*/../../*",
        "[",
        "{a,b}",
    ];
    for pattern in patterns {
        let place = Place::one_of_many();
        let outside = place.outside();
        let outside = outside.display();
        let manifest = place.sandbox.read("ws/Cargo.toml");
        place.sandbox.write(
            "ws/Cargo.toml",
            format!(
                "{manifest}stolen = {{ path = \"{outside}\" }}\nother = {{ path = \"../outside/secret\" }}\n\
                 git = {{ git = \"ext::sh -c touch% {outside}/ran\" }}\n\
                 [workspace]\nmembers = [\"{pattern}\"]\nexclude = [\"/**\"]\n\
                 [workspace.metadata.symposium]\nx = \"/\"\n"
            ),
        );
        place.endures(&["Cargo.toml"]);
    }
    let place = Place::new();
    let manifest = place.sandbox.read("ws/Cargo.toml");
    let outside = place.outside();
    let root = format!(
        "edition = \"2021\"\nworkspace = \"{}\"\nreadme = \"/dev/zero\"",
        outside.display()
    );
    place.sandbox.write("ws/Cargo.toml", manifest.replace("edition = \"2021\"", &root));
    place.endures(&["widget"]);
}
