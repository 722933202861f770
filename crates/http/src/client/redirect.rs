//! Receives the answer of an authorization server on this machine.
//!
//! The user's browser is sent to `http://127.0.0.1:PORT/callback` with the answer in the query. This
//! listens there for the time of one login. Any program or web page of this machine can send requests
//! to it. So it answers only GET requests for that path whose `Host` is that address, always with the
//! same page, and leaves it to the login to recognize its answer.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bowline_auth::client::open::BrowserUrl;
use bowline_auth::client::visit::{PageOpener, PageVisit, Visitor};
use bowline_auth::error::Error;
use bowline_auth::secret::Secret;
use bowline_auth::url::Url;
use futures_core::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The most bytes of the head of a request.
const MOST_HEAD: usize = 32 * 1024;
/// How long a browser may take to send the head, and to read the page.
const LONGEST_REQUEST: Duration = Duration::from_secs(10);
/// The most connections at once.
const MOST_CONNECTIONS: usize = 16;
/// The answers that wait to be read.
const MOST_ANSWERS: usize = 4;
/// The pause after a connection could not be accepted: for want of file descriptors, for example,
/// the next attempt would fail at once too.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const PATH: &str = "/callback";

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Login</title>\
                    <p>The program has the answer. You can close this page.</p>\n";

/// Opens pages in a browser of this machine, and listens for the answer on this machine.
pub struct LoopbackVisitor {
    opener: PageOpener,
}

impl LoopbackVisitor {
    /// Opens pages in this way.
    pub fn new(opener: PageOpener) -> Self {
        Self { opener }
    }
}

impl Visitor for LoopbackVisitor {
    fn prepare(&self, port: Option<u16>) -> BoxFuture<'_, Result<Box<dyn PageVisit>, Error>> {
        Box::pin(async move {
            let listener = listen(port).await?;
            let failed = |error| Error::visit("the listener has no address").with_source(error);
            let port = listener.local_addr().map_err(failed)?.port();
            let redirect = Url::parse(&format!("http://127.0.0.1:{port}{PATH}"))?;
            let opener = self.opener.clone();
            let (sender, answers) = mpsc::channel(MOST_ANSWERS);
            let tasks = JoinSet::new();
            let waiting = Some((listener, sender));
            Ok(Box::new(LoopbackVisit { opener, redirect, waiting, answers, tasks })
                as Box<dyn PageVisit>)
        })
    }
}

impl fmt::Debug for LoopbackVisitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoopbackVisitor")
    }
}

/// Listens on this machine only, at this port if it is free.
async fn listen(port: Option<u16>) -> Result<TcpListener, Error> {
    let failed = |error| Error::visit("no port of this machine can be used").with_source(error);
    if let Some(port) = port
        && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
    {
        return Ok(listener);
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)
}

/// One visit. Dropping it ends the listener.
struct LoopbackVisit {
    opener: PageOpener,
    redirect: Url,
    /// Until the page is shown, connections wait.
    waiting: Option<(TcpListener, mpsc::Sender<Secret<String>>)>,
    answers: mpsc::Receiver<Secret<String>>,
    tasks: JoinSet<()>,
}

impl PageVisit for LoopbackVisit {
    fn redirect(&self) -> &Url {
        &self.redirect
    }

    fn show<'a>(
        &'a mut self,
        page: &'a BrowserUrl,
        redirect: &'a Url,
    ) -> BoxFuture<'a, Result<(), Error>> {
        if let Some((listener, answers)) = self.waiting.take() {
            let receiver = Arc::new(Receiver { hosts: hosts(redirect), answers });
            self.tasks.spawn(serve(async move || Ok(listener.accept().await?.0), receiver));
        }
        self.opener.open(page.clone())
    }

    fn answer(&mut self) -> BoxFuture<'_, Result<Option<Secret<String>>, Error>> {
        Box::pin(async move { Ok(self.answers.recv().await) })
    }
}

/// What the `Host` header of a request to a URL may be. Browsers leave out the port 80.
fn hosts(url: &Url) -> Vec<String> {
    let (host, port) = (url.host(), url.port());
    let with_port = format!("{host}:{port}");
    if port == 80 { vec![with_port, host.to_owned()] } else { vec![with_port] }
}

/// Accepts connections until it is dropped.
async fn serve(accept: impl AsyncFn() -> io::Result<TcpStream>, receiver: Arc<Receiver>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // Fails only if the semaphore is closed, which never happens.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok(stream) = accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let receiver = receiver.clone();
        connections.spawn(async move {
            let _ = timeout(LONGEST_REQUEST, receiver.answer(stream)).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

struct Receiver {
    /// What the `Host` header may be.
    hosts: Vec<String>,
    answers: mpsc::Sender<Secret<String>>,
}

impl Receiver {
    /// Reads one request, answers it, and passes its query on.
    async fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let head = read_head(&mut stream).await?;
        let query = head.as_ref().map_err(|status| *status).and_then(|head| self.query(head));
        let (status, page) = match &query {
            Ok(_) => ("200 OK", PAGE),
            Err(status) => (*status, ""),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
             Content-Length: {}\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n\
             Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
             Connection: close\r\n\r\n",
            page.len()
        );
        // The login must not fail because a browser does not read the page.
        let written = stream.write_all(format!("{head}{page}").as_bytes()).await;
        if let Ok(query) = query {
            let _ = self.answers.send(Secret::from(query)).await;
        }
        written?;
        stream.shutdown().await
    }

    /// The query of a request that may be the answer, or the status of the refusal.
    fn query<'a>(&self, head: &'a Secret<String>) -> Result<&'a str, &'static str> {
        let mut lines = head.expose().split("\r\n");
        let line: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, "HTTP/1.1" | "HTTP/1.0"] = line[..] else {
            return Err("400 Bad Request");
        };
        let mut hosts = lines
            .filter_map(|line| line.split_once(':'))
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map(|(_, value)| value.trim_matches([' ', '\t']));
        // Another host is a web page whose name was made to point to this machine.
        match (hosts.next(), hosts.next()) {
            (Some(host), None) if self.hosts.iter().any(|own| own == host) => {}
            _ => return Err("403 Forbidden"),
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match (method, path) {
            ("GET", PATH) => Ok(query),
            (_, PATH) => Err("405 Method Not Allowed"),
            _ => Err("404 Not Found"),
        }
    }
}

/// Reads the head of a request, up to its empty line.
async fn read_head(stream: &mut TcpStream) -> io::Result<Result<Secret<String>, &'static str>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            bytes.truncate(end);
            let head = String::from_utf8(bytes).map(Secret::new);
            return Ok(head.map_err(|_| "400 Bad Request"));
        }
        if bytes.len() > MOST_HEAD {
            return Ok(Err("431 Request Header Fields Too Large"));
        }
        match stream.read(&mut piece).await? {
            0 => return Ok(Err("400 Bad Request")),
            length => bytes.extend_from_slice(&piece[..length]),
        }
    }
}

#[cfg(test)]
mod tests;
