use std::fs;

use super::*;
use crate::text::sha256_hex;
use crate::workspace::Usage;

mod fetched;
mod on_disk;

const CRATES_IO: &str = "index.crates.io-1949cf8c6b5b557f";
const INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

struct Place {
    dir: tempfile::TempDir,
    dirs: Dirs,
    workspace: Workspace,
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn manifest(name: &str, version: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n")
}

/// A `.crate` file with a manifest.
fn crate_file(name: &str, version: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    let text = manifest(name, version);
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    let path = format!("{name}-{version}/Cargo.toml");
    builder.append_data(&mut header, path, text.as_bytes()).expect("appends");
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("finishes")
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        Self { dir, dirs, workspace: Workspace::default() }
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(&path, bytes).expect("writes");
        path
    }

    fn source(&self, registry: &str, name: &str, version: &str) -> PathBuf {
        let dir = format!("cargo/registry/src/{registry}/{name}-{version}");
        self.put(&format!("{dir}/.cargo-ok"), "{\"v\":1}");
        let manifest = self.put(&format!("{dir}/Cargo.toml"), manifest(name, version));
        manifest.parent().expect("has a folder").to_path_buf()
    }

    fn cached(&self, registry: &str, name: &str, version: &str) -> String {
        let bytes = crate_file(name, version);
        self.put(&format!("cargo/registry/cache/{registry}/{name}-{version}.crate"), &bytes);
        sha256_hex(&bytes)
    }

    fn depends(&mut self, name: &str, at: &str, origin: DependencyOrigin) {
        let (name, version, usage) = (name.to_owned(), Some(version(at)), Usage::default());
        let dependency = Dependency { name, version, origin, usage };
        self.workspace.dependencies.push(dependency);
    }

    fn disk(&self) -> CrateDisk<'_> {
        CrateDisk {
            registry_dirs: Rc::default(),
            known: Rc::default(),
            workspace: &self.workspace,
            cargo_home: Some(self.dir.path().join("cargo")),
            vendor: vec![self.dir.path().join("vendor")],
            registries: Registries::default(),
            dirs: &self.dirs,
        }
    }

    fn locate(&self, name: &str) -> Result<Located, NotOnDisk> {
        self.disk().locate(&CrateRequest::any(name))
    }

    fn found(&self, name: &str) -> (How, String) {
        let located = self.locate(name).expect("is on disk");
        assert!(located.dir.join("Cargo.toml").is_file());
        (located.how, located.version.to_string())
    }
}

fn crates_io(checksum: Option<String>) -> DependencyOrigin {
    DependencyOrigin::Registry { index: None, checksum }
}
