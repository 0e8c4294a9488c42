//! A crate registry on this machine: cargo's sparse protocol over HTTP on a loopback port.
//!
//! The protocol is that of the Cargo book, "Registry index": `config.json`, a file of JSON lines a
//! crate, and the `.crate` files.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A running registry; it stops when dropped.
#[derive(Debug)]
pub struct LocalRegistry {
    port: u16,
    files: Files,
    lines: BTreeMap<String, Vec<String>>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// A version to publish.
#[derive(Debug, Clone, Copy)]
pub struct Publication<'a> {
    /// The crate, of at least four letters.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Whether it is withdrawn.
    pub yanked: bool,
    /// Its `rust-version`.
    pub rust_version: Option<&'a str>,
    /// Its files beside `Cargo.toml` and `Cargo.lock`, with what its manifest has after
    /// `[package]`.
    pub manifest: &'a str,
    /// Path and text.
    pub files: &'a [(&'a str, String)],
}

impl LocalRegistry {
    /// An empty registry.
    ///
    /// # Panics
    /// When there is no port to be had.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let files = Files::default();
        let stop = Arc::new(AtomicBool::new(false));
        let (served, stopped) = (Arc::clone(&files), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let files = Arc::clone(&served);
                std::thread::spawn(move || {
                    let _ = serve(&stream, &files);
                });
            }
        });
        let registry = Self { port, files, lines: BTreeMap::new(), stop, thread: Some(thread) };
        let config = format!("{{\"dl\":\"{}dl/{{crate}}-{{version}}.crate\"}}", registry.url());
        registry.put("/config.json", config.into_bytes());
        registry
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// A configuration of cargo's in which it takes the place of crates.io.
    pub fn instead_of_crates_io(&self) -> String {
        format!(
            "[source.crates-io]\nreplace-with = \"local\"\n\n[source.local]\nregistry = \
             \"sparse+{}\"\n",
            self.url()
        )
    }

    /// Publishes a version.
    ///
    /// # Panics
    /// When the name is too short for the simple layout.
    pub fn publish(&mut self, publication: &Publication<'_>) {
        let Publication { name, version, yanked, rust_version, manifest, files } = *publication;
        assert!(name.len() >= 4, "shorter names have another place in an index");
        let needs =
            rust_version.map_or(String::new(), |rust| format!("rust-version = \"{rust}\"\n"));
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\nlicense = \
             \"MIT\"\ndescription = \"A test's crate\"\n{needs}{manifest}"
        );
        let lock =
            format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        let own = [("Cargo.toml", manifest), ("Cargo.lock", lock)];
        let archive = pack(&format!("{name}-{version}"), own.iter().chain(files));
        let checksum: String =
            Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
        self.put(&format!("/dl/{name}-{version}.crate"), archive);
        let mut line = serde_json::json!({
            "name": name, "vers": version, "deps": [], "cksum": checksum, "features": {},
            "yanked": yanked,
        });
        if let Some(rust) = rust_version {
            line["rust_version"] = rust.into();
        }
        let lines = self.lines.entry(name.to_owned()).or_default();
        lines.push(line.to_string());
        let text = lines.join("\n") + "\n";
        let path = format!("/{}/{}/{name}", &name[..2], &name[2..4]);
        self.put(&path, text.into_bytes());
    }

    fn put(&self, path: &str, bytes: Vec<u8>) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes);
    }
}

impl Drop for LocalRegistry {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A `.crate` file: everything in one folder, packed and compressed.
fn pack<'a>(folder: &str, files: impl Iterator<Item = &'a (&'a str, String)>) -> Vec<u8> {
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packer);
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        let path = format!("{folder}/{path}");
        archive.append_data(&mut header, path, text.as_bytes()).expect("packs");
    }
    archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("packs")
}

/// Answers one request, and closes.
fn serve(stream: &TcpStream, files: &Files) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let body = files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}
