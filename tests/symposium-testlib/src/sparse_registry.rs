//! Registries of crates made for a test: a sparse index with downloads, or a vendored folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::{Manner, Server};

/// A sparse registry on the loopback.
#[derive(Debug)]
pub struct SparseRegistry {
    /// The server; its requests tell what was asked for.
    pub server: Server,
    root: PathBuf,
}

impl SparseRegistry {
    /// An empty registry, with its files below `root`.
    ///
    /// # Panics
    /// When they can't be written.
    pub fn start(root: &Path) -> Self {
        std::fs::create_dir_all(root.join("crates")).expect("creates");
        let server = Server::start(root, Manner::Files);
        let download = server.url("crates/{crate}-{version}.crate");
        let config = format!("{{\"dl\":\"{download}\"}}");
        std::fs::create_dir_all(root.join("index")).expect("creates");
        std::fs::write(root.join("index/config.json"), config).expect("writes");
        Self { server, root: root.to_path_buf() }
    }

    /// The index as cargo's configuration takes it.
    pub fn index(&self) -> String {
        format!("sparse+{}", self.server.url("index/"))
    }

    /// Publishes a version; a `Cargo.toml` is made unless `files` have one. Returns its checksum.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn publish(&self, name: &str, version: &str, files: &[(&str, &str)]) -> String {
        self.add(name, version, files, false)
    }

    /// As [`SparseRegistry::publish`], and yanks it.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn publish_yanked(&self, name: &str, version: &str, files: &[(&str, &str)]) -> String {
        self.add(name, version, files, true)
    }

    /// As [`SparseRegistry::publish`]; the version needs version 1 of each of `others`.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn publish_needing(
        &self,
        name: &str,
        version: &str,
        others: &[&str],
        files: &[(&str, &str)],
    ) -> String {
        self.add_with(name, version, others, files, false)
    }

    fn add(&self, name: &str, version: &str, files: &[(&str, &str)], yanked: bool) -> String {
        self.add_with(name, version, &[], files, yanked)
    }

    fn add_with(
        &self,
        name: &str,
        version: &str,
        others: &[&str],
        files: &[(&str, &str)],
        yanked: bool,
    ) -> String {
        let archive = archive(name, version, files);
        let sum = hex(&archive);
        let file = self.root.join("crates").join(format!("{name}-{version}.crate"));
        std::fs::write(file, archive).expect("writes");
        let index = self.root.join("index").join(index_path(name));
        std::fs::create_dir_all(index.parent().expect("a parent")).expect("creates");
        let needs = |other: &&str| {
            format!(
                "{{\"name\":\"{other}\",\"req\":\"^1\",\"features\":[],\"optional\":false,\
                 \"default_features\":true,\"target\":null,\"kind\":\"normal\"}}"
            )
        };
        let needed = others.iter().map(needs).collect::<Vec<_>>().join(",");
        let line = format!(
            "{{\"name\":\"{name}\",\"vers\":\"{version}\",\"deps\":[{needed}],\"cksum\":\"{sum}\",\
             \"features\":{{}},\"yanked\":{yanked}}}\n"
        );
        let mut lines = std::fs::OpenOptions::new();
        let mut lines = lines.create(true).append(true).open(index).expect("opens");
        lines.write_all(line.as_bytes()).expect("writes");
        sum
    }
}

/// Puts a crate into a vendored folder (`directory = …` in cargo's configuration).
///
/// # Panics
/// When it can't be written.
pub fn vendor(folder: &Path, name: &str, version: &str, files: &[(&str, &str)]) {
    let dir = folder.join(name);
    for (path, text) in with_manifest(name, version, files) {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }
    std::fs::write(dir.join(".cargo-checksum.json"), "{\"files\":{}}").expect("writes");
}

fn with_manifest(name: &str, version: &str, files: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let mut add = |path: &str, text: String| {
        if !all.iter().any(|(known, _)| known == path) {
            all.push((path.to_owned(), text));
        }
    };
    add(
        "Cargo.toml",
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n"),
    );
    add("src/lib.rs", String::new());
    all
}

fn archive(name: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in with_manifest(name, version, files) {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let path = format!("{name}-{version}/{path}");
        tar.append_data(&mut header, path, text.as_bytes()).expect("packs");
    }
    tar.into_inner().expect("packs").finish().expect("packs")
}

/// Where a crate is in an index (The Cargo Book, "Index Format").
fn index_path(name: &str) -> String {
    match name.len() {
        1 | 2 => format!("{}/{name}", name.len()),
        3 => format!("3/{}/{name}", &name[..1]),
        _ => format!("{}/{}/{name}", &name[..2], &name[2..4]),
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
