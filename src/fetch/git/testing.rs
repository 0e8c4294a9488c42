//! Real repositories and a real server for tests.
#![allow(clippy::disallowed_methods, reason = "tests run git as a user does")]

use crate::process::{self, Child};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Limits, Policy};
use crate::config::Environment;
use crate::symposium::UpdateLevel;

/// An environment with `home`, no system-wide configuration of git, and our `PATH`.
pub(crate) fn environment(home: &Path, vars: &[(&str, &str)]) -> Environment {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = home.to_string_lossy();
    // Windows opens no socket without it.
    let system = std::env::var("SYSTEMROOT").unwrap_or_default();
    let fixed = [
        ("HOME", &*home),
        ("PATH", path.as_str()),
        ("SYSTEMROOT", system.as_str()),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ];
    Environment::with(&*home, fixed.into_iter().chain(vars.iter().copied()))
}

/// A policy that fetches what is not there and asks at every turn.
pub(crate) fn policy(level: UpdateLevel) -> Policy {
    Policy {
        level,
        first_fetch: true,
        force: true,
        offline: false,
        limit: Duration::from_secs(30),
        patience: Duration::from_secs(30),
        limits: Limits::default(),
    }
}

/// A repository with a work tree, on the branch `main`.
pub(crate) struct Repo {
    pub(crate) dir: PathBuf,
}

impl Repo {
    pub(crate) fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        std::fs::create_dir_all(&dir).expect("creates");
        let repo = Self { dir };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// Runs git in it, without anybody's configuration.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let child = Child::new("git")
            .cwd(&self.dir)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
            .args(args.iter().copied())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = process::run(&child).expect("git runs");
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    }

    /// Writes the files and commits everything; returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.dir.join(path);
            std::fs::create_dir_all(path.parent().expect("inside")).expect("creates");
            std::fs::write(path, text).expect("writes");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn url(&self) -> String {
        let path = self.dir.display().to_string().replace('\\', "/");
        format!("file:///{}", path.trim_start_matches('/'))
    }
}

/// What the server does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// What `git http-backend` says.
    Serve,
    /// Files as they are: the "dumb" protocol.
    Files,
    /// Takes connections and never answers.
    Stall,
    /// Ends a pack in the middle.
    DieInTransfer,
}

/// An HTTP server on the loopback for the repositories below a folder.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Serves until the test process ends.
    pub(crate) fn start(root: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(AtomicUsize::new(0));
        let (root, count) = (root.to_path_buf(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let root = root.clone();
                std::thread::spawn(move || answer(stream, &root, manner));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// How many requests have come.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

fn answer(mut stream: TcpStream, root: &Path, manner: Manner) {
    let Some(request) = read_request(&stream) else { return };
    if manner == Manner::Stall {
        std::thread::sleep(Duration::from_secs(600));
        return;
    }
    let _ = match manner {
        Manner::Files => stream.write_all(&file(root, &request.path)),
        _ => {
            let answer = backend(root, &request);
            let is_pack = request.path.ends_with("git-upload-pack") && answer.len() > 2000;
            let end = match manner {
                Manner::DieInTransfer if is_pack => answer.len() / 2,
                _ => answer.len(),
            };
            stream.write_all(&answer[..end])
        }
    };
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request = Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => request.headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    if let Some(length) = request.header("content-length").and_then(|text| text.parse().ok()) {
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
    }
    Some(request)
}

/// Runs `git http-backend` as CGI and turns its answer into HTTP.
fn backend(root: &Path, request: &Request) -> Vec<u8> {
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
        .env("HTTP_CONTENT_ENCODING", request.header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", request.header("git-protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let body = request.body.clone();
    std::thread::spawn(move || stdin.write_all(&body));
    let cgi = child.wait_with_output().expect("ends").stdout;
    let split = cgi.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(cgi.len());
    let head = String::from_utf8_lossy(&cgi[..split]).into_owned();
    let body = cgi.get(split + 4..).unwrap_or_default();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let length = body.len();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn file(root: &Path, path: &str) -> Vec<u8> {
    match std::fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(bytes) => {
            let length = bytes.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n");
            [head.as_bytes(), b"Connection: close\r\n\r\n", &bytes].concat()
        }
        Err(_) => {
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
        }
    }
}
