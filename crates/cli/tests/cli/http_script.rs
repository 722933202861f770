//! A small HTTP server whose answers a test writes, for servers that do what no library does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A request, as far as the answers depend on it.
#[derive(Default)]
pub(crate) struct HttpRequest {
    /// Empty if the client sent something else than HTTP, such as the first bytes of TLS.
    pub(crate) verb: String,
    /// A line for each, in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

/// A server at a free port of this machine. It ends with the tests.
pub(crate) struct HttpScript {
    pub(crate) url: String,
}

impl HttpScript {
    /// Answers each request with the status, the media type and the body that the function gives.
    pub(crate) fn start(
        answer: impl Fn(&HttpRequest) -> (&'static str, &'static str, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let answer = answer.clone();
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let (status, media_type, body) = answer(&request);
                    // The client may have gone by now.
                    let _ = stream.write_all(response(status, media_type, &body).as_bytes());
                });
            }
        });
        Self { url }
    }

    /// Answers every request in the same way.
    pub(crate) fn always(status: &'static str, media_type: &'static str, body: &str) -> Self {
        let body = body.to_owned();
        Self::start(move |_| (status, media_type, body.clone()))
    }
}

fn response(status: &str, media_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Reads a request; `None` if the client closed the connection without one.
fn read(stream: &TcpStream) -> Option<HttpRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let Ok(read) = reader.read_line(&mut line) else { return Some(HttpRequest::default()) };
    if read == 0 {
        return None;
    }
    let verb = line.split(' ').next()?.to_owned();
    let (mut length, mut headers) = (0, Vec::new());
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        headers.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(HttpRequest { verb, headers, body: String::from_utf8(body).ok()? })
}
