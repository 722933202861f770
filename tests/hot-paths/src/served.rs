//! Cases with a server: the built service, a stream of lines, an HTTP endpoint.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bowline::auth::{JwkSet, Jwt};
use bowline::{Server, Service, Tool, tool, tools};
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_proto::request::{Request, Response};
use bowline_transport::lines::Lines;
use bowline_transport::transport::PeerIdentity;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, Full};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::runtime::Runtime;
use tower_service::Service as _;

use crate::machine::{Connection, without_pace};
use crate::messages::{self, INITIALIZE, INITIALIZED, LIST, MESSAGE};
use crate::{Run, always};

/// Give a message back
#[tool(read_only)]
async fn echo(message: String) -> String {
    message
}

fn server() -> Server {
    Server::new("hot-paths", "1.0.0").tools(tools![echo]).limits(without_pace())
}

pub(crate) fn router() -> Run {
    let server = server();
    let request = Connection::legacy(server.config()).request(&messages::legacy_call(MESSAGE));
    let mut service = built(&server);
    always(MESSAGE, move || {
        let success = serve(&mut service, black_box(&request).clone()).expect("echo answers");
        Bytes::copy_from_slice(success.body().as_str().as_bytes())
    })
}

pub(crate) fn list() -> Run {
    let named = |number| Tool::new(format!("echo_{number}"), async || MESSAGE).describe(MESSAGE);
    let server = server().tools((1..100).map(named));
    let mut connection = Connection::legacy(server.config());
    let mut service = built(&server);
    always("echo_99", move || {
        connection.answer(&LIST.into(), |request| serve(&mut service, request))
    })
}

fn built(server: &Server) -> Service {
    server.build().expect("the server can be built")
}

/// Polls a call that waits for nothing, and returns its answer.
fn serve(service: &mut Service, request: Request) -> Response {
    let answer = pin!(service.call(request));
    match answer.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => response,
        Poll::Pending => panic!("the call waits for something"),
    }
}

pub(crate) fn stdio_legacy() -> Run {
    let mut channel = Channel::to(&server());
    channel.write(&line(INITIALIZE.as_bytes()));
    channel.read();
    channel.write(&line(INITIALIZED.as_bytes()));
    lines(channel, &messages::legacy_call(MESSAGE))
}

pub(crate) fn stdio_modern() -> Run {
    lines(Channel::to(&server()), &messages::modern_call(MESSAGE))
}

fn lines(mut channel: Channel, call: &Bytes) -> Run {
    let call = line(call);
    always(MESSAGE, move || {
        channel.write(black_box(&call));
        channel.read()
    })
}

fn line(message: &[u8]) -> Vec<u8> {
    [message, b"\n"].concat()
}

/// A server on the other side of an in-memory pipe.
struct Channel {
    runtime: Runtime,
    stream: DuplexStream,
    buffer: Vec<u8>,
}

impl Channel {
    fn to(server: &Server) -> Self {
        const PIPE: usize = 64 * 1024;
        let runtime = runtime();
        let (stream, theirs) = tokio::io::duplex(PIPE);
        let (source, sink) = tokio::io::split(theirs);
        let channel = Lines::new(source, sink).with_peer_identity(PeerIdentity::local_user());
        runtime.spawn(server.serve(channel));
        Self { runtime, stream, buffer: vec![0; PIPE] }
    }

    fn write(&mut self, line: &[u8]) {
        self.runtime.block_on(self.stream.write_all(line)).expect("the server reads");
    }

    /// Reads the next line. The server writes it in one piece, because it fits into the pipe.
    fn read(&mut self) -> Bytes {
        let read = self.runtime.block_on(self.stream.read(&mut self.buffer));
        let line = &self.buffer[..read.expect("the server writes")];
        assert!(line.ends_with(b"\n"), "the server writes a piece of a line");
        Bytes::copy_from_slice(line)
    }
}

pub(crate) fn http_legacy() -> Run {
    let site = Site::of(&server());
    let (session, _) = site.ask(post(INITIALIZE, &[]));
    let session = session.expect("there is a session");
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    site.ask(post(INITIALIZED, &headers));
    posts(site, post(messages::legacy_call(MESSAGE), &headers))
}

/// The headers of a call of 2026-07-28.
const MODERN: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")];

pub(crate) fn http_modern() -> Run {
    posts(Site::of(&server()), post(messages::modern_call(MESSAGE), &MODERN))
}

pub(crate) fn http_modern_jwt() -> Run {
    let (auth, token) = access_token();
    let http = server().http().public_url(RESOURCE).auth(auth);
    let site = Site { runtime: runtime(), http };
    let mut call = post(messages::modern_call(MESSAGE), &MODERN);
    let header = format!("Bearer {token}").parse().expect("a token fits into a header");
    call.headers_mut().insert(http::header::AUTHORIZATION, header);
    // The first call verifies the signature. The token is known to those that are counted.
    posts(site, call)
}

const RESOURCE: &str = "http://localhost/mcp";

/// A verifier, and a token that it accepts until the year 2100.
fn access_token() -> (Jwt, String) {
    const ISSUER: &str = "https://auth.example.com";
    let (key, _) = SigningKey::generate().expect("there is randomness");
    let claims = BTreeMap::from([
        ("iss", ISSUER),
        ("sub", "248289761001"),
        ("aud", RESOURCE),
        ("client_id", "https://app.example.com/client.json"),
        ("scope", "mcp files:read"),
    ]);
    let claims = Claims { claims, exp: 4_102_444_800 };
    let token = key.sign("at+jwt", EmbeddedKey::Absent, &claims).expect("it can be signed");
    let keys = JwkSet::parse(&format!("{{\"keys\":[{}]}}", key.public().to_json()));
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE).require_scope("mcp");
    (jwt.keys(keys.expect("it has a key")), token.expose().clone())
}

/// The claims of a token.
#[derive(serde::Serialize)]
struct Claims {
    #[serde(flatten)]
    claims: BTreeMap<&'static str, &'static str>,
    exp: u64,
}

fn posts(site: Site, call: Post) -> Run {
    always(MESSAGE, move || site.ask(black_box(&call).clone()).1)
}

type Post = http::Request<Full<Bytes>>;

fn post(body: impl Into<Bytes>, headers: &[(&str, &str)]) -> Post {
    let request = http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let named = |request: http::request::Builder, (name, value): &(&str, &str)| {
        request.header(*name, *value)
    };
    let request = headers.iter().fold(request, named);
    request.body(Full::new(body.into())).expect("the headers are well-formed")
}

/// A server's HTTP endpoint without a network.
struct Site {
    runtime: Runtime,
    http: bowline::http::Http,
}

impl Site {
    fn of(server: &Server) -> Self {
        Self { runtime: runtime(), http: server.http() }
    }

    /// The session id and the body of a response.
    fn ask(&self, request: Post) -> (Option<String>, Bytes) {
        self.runtime.block_on(async {
            let Ok(answer) = self.http.clone().call(request).await;
            let (head, body) = answer.into_parts();
            let is_taken = matches!(head.status, StatusCode::OK | StatusCode::ACCEPTED);
            assert!(is_taken, "the server answers {}", head.status);
            let session = head.headers.get("mcp-session-id");
            let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
            let Ok(body) = body.collect().await;
            (session, body.to_bytes())
        })
    }
}

/// A runtime with one thread, so that everything happens in the same order each time.
fn runtime() -> Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("there is a runtime")
}
