//! A server on the loopback: git repositories as real servers offer them, and plain files.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a server does with requests. Can be changed while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// What `git http-backend` says of the repositories below its folder.
    Git,
    /// Files as they are.
    Files,
    /// Takes connections and never answers.
    Stall,
    /// Ends the transfer of a pack in the middle.
    DieInTransfer,
    /// Closes each connection at once.
    Refuse,
}

/// An HTTP server for a folder, until the test's process ends.
#[derive(Debug)]
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    manner: Mutex<Manner>,
    requests: Mutex<Vec<String>>,
}

impl Server {
    /// Serves what is below `root`.
    ///
    /// # Panics
    /// When there is no free port.
    pub fn start(root: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            root: root.to_path_buf(),
            manner: Mutex::new(manner),
            requests: Mutex::default(),
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&served);
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { port, shared }
    }

    /// The address of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Answers otherwise from now on.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn set(&self, manner: Manner) {
        *self.shared.manner.lock().expect("no panic") = manner;
    }

    /// The requests so far: `GET /path`. A connection that was not answered counts as `-`.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().expect("no panic").clone()
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

fn answer(mut stream: TcpStream, shared: &Shared) {
    let manner = *shared.manner.lock().expect("no panic");
    let note = |text: String| shared.requests.lock().expect("no panic").push(text);
    match manner {
        Manner::Stall => {
            note("-".to_owned());
            std::thread::sleep(Duration::from_secs(600));
            return;
        }
        Manner::Refuse => return note("-".to_owned()),
        Manner::Git | Manner::Files | Manner::DieInTransfer => {}
    }
    let Some(request) = read_request(&stream) else { return };
    note(format!("{} {}", request.method, request.path));
    let answer = if manner == Manner::Files {
        file(&shared.root, &request.path)
    } else {
        backend(&shared.root, &request)
    };
    let is_pack = request.path.ends_with("git-upload-pack") && answer.len() > 2000;
    let end =
        if manner == Manner::DieInTransfer && is_pack { answer.len() / 2 } else { answer.len() };
    let _ = stream.write_all(&answer[..end]);
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut request = Request { method, path, query, headers: Vec::new(), body: Vec::new() };
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
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    http(status, &head, cgi.get(split + 4..).unwrap_or_default())
}

fn file(root: &Path, path: &str) -> Vec<u8> {
    match std::fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(bytes) => http("200 OK", "", &bytes),
        Err(_) => http("404 Not Found", "", b""),
    }
}

fn http(status: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = if head.is_empty() { String::new() } else { format!("{head}\r\n") };
    let mut answer =
        format!("HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n")
            .into_bytes();
    answer.extend_from_slice(body);
    answer
}
