//! Files by URL, bounded in time and size.
//!
//! Only https, but for loopback addresses, which tests and local mirrors use; a redirect never
//! leads from https to anything less. The client is made when it is needed: a process that needs
//! no network does not pay for it.

use std::io::{self, Read as _, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};
use url::{ParseError, Url};

use crate::text::{self, SecretUrl};

/// How many redirects are followed.
const REDIRECTS: usize = 10;

/// How much one download may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub bytes: u64,
    /// Time for everything, redirects included.
    pub time: Duration,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("can't fetch {url}: {problem}")]
    Refused {
        /// The URL, or what stands for one.
        url: String,
        problem: String,
    },
    #[error("can't fetch {url}: the server answered {status}")]
    Status {
        url: String,
        /// The answer, such as `404 Not Found`.
        status: String,
    },
    #[error("can't fetch {url}: it is larger than {limit} bytes")]
    TooLarge { url: String, limit: u64 },
    /// The network, or the writer, failed.
    #[error("can't fetch {url}: {source}")]
    Io { url: String, source: io::Error },
}

/// Writes the file at `url` to `into` and says how many bytes it has.
///
/// The body is taken as it is: nothing is decompressed, so that a checksum means the file.
/// Proxies are taken from the usual variables (`HTTPS_PROXY` and its kin).
///
/// After an error what was written by then is of no use.
pub(crate) fn download(
    url: &str,
    into: &mut impl Write,
    limits: &Limits,
) -> Result<u64, HttpError> {
    let start = Instant::now();
    let (url, mut response) = get(parse(url)?, limits, start)?;
    let shown = shown(&url);
    let too_large = || HttpError::TooLarge { url: shown.clone(), limit: limits.bytes };
    let failed = |source| HttpError::Io { url: shown.clone(), source };
    if response.body().content_length().is_some_and(|length| length > limits.bytes) {
        return Err(too_large());
    }
    let mut body = response.body_mut().as_reader();
    let mut chunk = vec![0; 64 * 1024];
    let mut total: u64 = 0;
    loop {
        let count = body.read(&mut chunk).map_err(failed)?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        total = total.saturating_add(count as u64);
        if total > limits.bytes {
            return Err(too_large());
        }
        into.write_all(bytes).map_err(failed)?;
    }
    into.flush().map_err(failed)?;
    Ok(total)
}

fn get(mut url: Url, limits: &Limits, start: Instant) -> Result<(Url, Response<Body>), HttpError> {
    let agent = agent();
    for _ in 0..=REDIRECTS {
        let left = limits.time.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
        let request = agent.get(url.as_str()).config().timeout_global(Some(left)).build();
        let response = request
            .call()
            .map_err(|error| HttpError::Io { url: shown(&url), source: error.into_io() })?;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok((url, response));
        }
        if !status.is_redirection() {
            return Err(HttpError::Status { url: shown(&url), status: status.to_string() });
        }
        let location = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
        let next = location.and_then(|to| url.join(to).ok()).ok_or_else(|| HttpError::Refused {
            url: shown(&url),
            problem: format!("the server answered {status} without saying where to"),
        })?;
        check(&next, url.scheme() == "https")?;
        url = next;
    }
    Err(HttpError::Refused { url: shown(&url), problem: "it redirects without end".to_owned() })
}

fn agent() -> Agent {
    use ureq::tls::{RootCerts, TlsConfig};
    // Companies put certificates of their own into the system's store.
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .max_redirects(0)
        .http_status_as_error(false)
        // A server may close one that it left open a moment ago, and there are few hops.
        .max_idle_connections(0)
        .max_idle_connections_per_host(0)
        .user_agent(concat!("cargo-agents/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::new_with_config(config)
}

fn parse(text: &str) -> Result<Url, HttpError> {
    let url = Url::parse(text).map_err(|error| HttpError::Refused {
        url: SecretUrl::from(text).to_string(),
        problem: match error {
            ParseError::IdnaError if !text.is_ascii() => {
                "its host has letters beyond ASCII; write it as DNS does (`xn--…`)".to_owned()
            }
            _ => format!("it is no URL ({error})"),
        },
    })?;
    check(&url, false)?;
    Ok(url)
}

/// Whether `url` may be fetched at all, and whether it may be fetched after a secure one.
fn check(url: &Url, after_https: bool) -> Result<(), HttpError> {
    let problem = match url.scheme() {
        "https" => return Ok(()),
        "http" if after_https => "it redirects from https to http",
        "http" if is_loopback(url) => return Ok(()),
        "http" => "only https is fetched",
        _ => "only https is fetched, not this kind of URL",
    };
    Err(HttpError::Refused { url: shown(url), problem: problem.to_owned() })
}

/// Whether a URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let bare = |host: &str| text::url::is_loopback(host.trim_matches(['[', ']']));
    url.host_str().is_some_and(bare)
}

/// A URL as it may be shown and logged: without credentials and query, which may be secret.
fn shown(url: &Url) -> String {
    SecretUrl::from(url.as_str()).to_string()
}

#[cfg(test)]
pub(crate) mod testing {
    //! A loopback server for tests.

    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A server that ends with the test's process.
    #[derive(Debug)]
    pub(crate) struct Server {
        pub(crate) url: String,
        pub(crate) requests: Arc<AtomicUsize>,
    }

    /// Answers each request, one after the other, with the bytes that `answer` makes of its path.
    pub(crate) fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Server {
        serve_and(|_, stream| drop(stream), answer)
    }

    /// As [`serve`]; `finish` closes what was answered, or keeps it open among the others.
    pub(crate) fn serve_and(
        finish: fn(&mut Vec<TcpStream>, TcpStream),
        answer: impl Fn(&str) -> Vec<u8> + Send + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("is bound");
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(&stream).lines();
                let first = lines.next().and_then(Result::ok).unwrap_or_default();
                while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
                count.fetch_add(1, Ordering::SeqCst);
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let _ = stream.write_all(&answer(&path));
                finish(&mut open, stream);
            }
        });
        Server { url: format!("http://{address}"), requests }
    }

    pub(crate) fn ok(body: &[u8]) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{ok, serve, serve_and};
    use super::*;

    const LIMITS: Limits = Limits { bytes: 1000, time: Duration::from_secs(10) };

    fn fetch(url: &str, limits: &Limits) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let count = download(url, &mut bytes, limits).map_err(|error| error.to_string())?;
        assert_eq!(count, bytes.len() as u64);
        Ok(bytes)
    }

    #[test]
    fn a_file_comes_as_it_is_through_redirects() {
        let server = serve(|path| {
            match path {
            "/file" => ok(b"\x1f\x8b raw"),
            _ => b"HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                .to_vec(),
        }
        });
        assert_eq!(fetch(&format!("{}/start", server.url), &LIMITS), Ok(b"\x1f\x8b raw".to_vec()));
    }

    #[test]
    fn a_connection_is_not_used_twice() {
        // The server leaves them open, and answers once on each.
        let server = serve_and(Vec::push, |path| match path {
            "/file" => ok(b"raw"),
            _ => b"HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n".to_vec(),
        });
        assert_eq!(fetch(&format!("{}/start", server.url), &LIMITS), Ok(b"raw".to_vec()));
        assert_eq!(server.requests.load(std::sync::atomic::Ordering::SeqCst), 2);
    }

    #[test]
    fn decision_11_only_https_and_loopback() {
        for url in [
            "http://example.com/x",
            "ftp://127.0.0.1/x",
            "file:///etc/passwd",
            "http://127.0.0.1.example.com/x",
            "not a url",
        ] {
            assert!(fetch(url, &LIMITS).is_err_and(|error| !error.contains("server")), "{url}");
        }
        let server = serve(|_| {
            b"HTTP/1.1 301 Moved\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n"
                .to_vec()
        });
        let error = fetch(&server.url, &LIMITS).expect_err("is refused");
        assert_eq!(error, "can't fetch http://example.com/: only https is fetched");
    }

    #[test]
    fn a_host_is_ascii() {
        let error = fetch("https://b\u{fc}cher.example/x", &LIMITS).expect_err("is refused");
        let problem = "its host has letters beyond ASCII; write it as DNS does (`xn--…`)";
        assert_eq!(error, format!("can't fetch https://b\u{fc}cher.example/x: {problem}"));
        assert!(parse("https://xn--bcher-kva.example/x").is_ok());
        let error = fetch("https://b%C3%BCcher.example/x", &LIMITS).expect_err("is refused");
        assert!(error.contains("it is no URL (invalid international domain name)"), "{error}");
    }

    #[test]
    fn https_is_never_left_by_a_redirect() {
        let there = Url::parse("http://127.0.0.1/x").expect("a URL");
        assert!(check(&there, false).is_ok());
        assert!(check(&there, true).is_err());
    }

    #[test]
    fn size_time_status_and_loops_have_their_limits() {
        let server = serve(|path| match path {
            "/large?token" => ok(&[b'x'; 1001]),
            "/endless" => {
                let body = [b'x'; 5000];
                [&b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"[..], &body].concat()
            }
            "/missing" => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc".to_vec(),
            "/lost" => b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            "/slow" => {
                std::thread::sleep(Duration::from_millis(800));
                ok(b"late")
            }
            _ => b"HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n".to_vec(),
        });
        let say = |path: &str| {
            fetch(&format!("{}{path}", server.url), &LIMITS)
                .expect_err("fails")
                .replace(&server.url, "SERVER")
        };
        let larger = |path: &str| format!("can't fetch SERVER{path}: it is larger than 1000 bytes");
        assert_eq!(say("/large?token"), larger("/large"));
        assert_eq!(say("/endless"), larger("/endless"));
        assert_eq!(
            say("/missing"),
            "can't fetch SERVER/missing: the server answered 404 Not Found"
        );
        assert!(say("/short").starts_with("can't fetch SERVER/short: "));
        assert!(say("/lost").contains("without saying where to"));
        assert!(say("/loop").ends_with("it redirects without end"));
        let limits = Limits { time: Duration::from_millis(150), ..LIMITS };
        let start = Instant::now();
        assert!(fetch(&format!("{}/slow", server.url), &limits).is_err());
        assert!(start.elapsed() < Duration::from_millis(700));
    }
}
