//! A small HTTP/1.1 server on loopback, enough for the clients that the tests drive.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Largest body that is read, in bytes.
const LARGEST_BODY: usize = 64 * 1024 * 1024;
/// How long a connection may say nothing.
const SILENCE: Duration = Duration::from_secs(120);

/// What a client asked.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// Names in lower case, with their values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What it is answered.
#[derive(Debug, Clone)]
pub enum HttpResponse {
    /// One JSON value, with a status.
    Json(u16, serde_json::Value),
    /// No body.
    Empty(u16),
    /// Server-sent events, each sent by itself: the text of each, without the blank line.
    Events(Vec<String>),
}

/// A server that answers with a function until it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl HttpServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When there is no port to be had.
    pub fn start(answer: impl Fn(HttpRequest) -> HttpResponse + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let answer = Arc::clone(&answer);
                // A client that ends in the middle of an answer is no reason to fail.
                std::thread::spawn(move || {
                    let _ = serve(&stream, &*answer);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, over }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address to put before a path: `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // The listener sees it when it accepts the next one.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

fn serve(stream: &TcpStream, answer: &dyn Fn(HttpRequest) -> HttpResponse) -> std::io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader, stream)? {
        let last = request
            .headers
            .iter()
            .any(|(name, value)| name == "connection" && value.eq_ignore_ascii_case("close"));
        write(stream, answer(request))?;
        if last {
            break;
        }
    }
    Ok(())
}

fn read(
    reader: &mut BufReader<&TcpStream>,
    mut stream: &TcpStream,
) -> std::io::Result<Option<HttpRequest>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let method = method.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |name: &str| {
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_ascii_lowercase())
    };
    if header("expect").is_some_and(|value| value == "100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        read_chunks(reader)?
    } else {
        let length = header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; usize::min(length, LARGEST_BODY)];
        reader.read_exact(&mut body)?;
        body
    };
    Ok(Some(HttpRequest { method, path, headers, body }))
}

fn read_chunks(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if body.len() + size > LARGEST_BODY {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let mut chunk = vec![0; size];
        reader.read_exact(&mut chunk)?;
        body.append(&mut chunk);
        let mut end = String::new();
        reader.read_line(&mut end)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn write(mut stream: &TcpStream, response: HttpResponse) -> std::io::Result<()> {
    match response {
        HttpResponse::Json(status, value) => {
            let body = value.to_string();
            let head = format!(
                "HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        HttpResponse::Empty(status) => {
            stream.write_all(format!("HTTP/1.1 {status} \r\ncontent-length: 0\r\n\r\n").as_bytes())
        }
        HttpResponse::Events(events) => {
            stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                  transfer-encoding: chunked\r\n\r\n",
            )?;
            for event in events {
                let size = event.len() + 2;
                stream.write_all(format!("{size:x}\r\n{event}\n\n\r\n").as_bytes())?;
                stream.flush()?;
            }
            stream.write_all(b"0\r\n\r\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(port: u16, text: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("connects");
        stream.write_all(text.as_bytes()).expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("is answered");
        answer
    }

    #[test]
    fn bodies_come_by_length_and_in_chunks_and_connections_are_kept() {
        let server = HttpServer::start(|request| {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            HttpResponse::Json(200, serde_json::json!([request.method, request.path, body]))
        });
        let answer = ask(
            server.port(),
            "POST /a?key=1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi\
             POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
             2\r\nho\r\n1\r\n!\r\n0\r\n\r\n",
        );
        assert!(answer.contains(r#"["POST","/a","hi"]"#), "{answer}");
        assert!(answer.ends_with(r#"["POST","/b","ho!"]"#), "{answer}");
    }

    #[test]
    fn events_are_chunks() {
        let server = HttpServer::start(|_| HttpResponse::Events(vec!["data: 1".to_owned()]));
        let answer = ask(server.port(), "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert!(answer.ends_with("\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"), "{answer:?}");
    }
}
