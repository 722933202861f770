//! The pool against servers that are part of the test, in virtual time and without sockets.

mod over_http2;
mod reuse;

use std::io;
use std::task::{Context, Poll};

use bowline_proto::limits::long::LongMessages;
use futures_core::future::BoxFuture;
use hyper_util::client::legacy::connect::Connected;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::super::super::events;
use super::super::super::limits::HttpClientLimits;
use super::super::stream::DescribedStream;
use super::*;

const EMPTY: &str = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

/// Bytes that a connection buffers in one direction.
const WIRE: usize = 1024;

/// How long an HTTP/1.1 connection is kept.
const KEPT: Duration = Duration::from_secs(4);

/// The kind of a connection.
#[derive(Clone, Copy, Default)]
struct Kind {
    is_http2: bool,
    is_forwarded: bool,
    is_stuck: bool,
}

/// Connects to a server that is part of the test.
#[derive(Clone)]
struct Connector {
    kind: Kind,
    accepted: mpsc::UnboundedSender<DuplexStream>,
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Stream, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        assert_eq!(server.host(), Some("server.example"));
        let Self { kind, accepted } = self.clone();
        Box::pin(async move {
            if kind.is_stuck {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            let (ours, theirs) = tokio::io::duplex(WIRE);
            accepted.send(theirs).map_err(|_| "refused")?;
            let describe: fn() -> Connected = match kind {
                Kind { is_http2: true, .. } => || Connected::new().negotiated_h2(),
                Kind { is_forwarded: true, .. } => || Connected::new().proxy(true),
                _ => Connected::new,
            };
            Ok(Stream::new(TokioIo::new(ours), describe))
        })
    }
}

type Stream = DescribedStream<TokioIo<DuplexStream>>;

type Accepted = mpsc::UnboundedReceiver<DuplexStream>;

fn pool(kind: Kind) -> (Arc<Pool<Connector>>, Accepted) {
    let (accepted, connections) = mpsc::unbounded_channel();
    let pool = Pool {
        connector: Connector { kind, accepted },
        server: Uri::from_static("http://server.example:8080/mcp"),
        host: Some(HeaderValue::from_static("server.example:8080")),
        patience: Duration::from_secs(10),
        http1: http1::Builder::new(),
        http2: http2::Builder::new(TokioExecutor::new()),
        idle: Arc::new(Idle::new(&HttpClientLimits::default())),
    };
    (Arc::new(pool), connections)
}

fn request(body: &'static str) -> Request<RequestBody> {
    let uri = "http://server.example:8080/mcp?key=1";
    Request::post(uri).body(RequestBody::new(Bytes::from_static(body.as_bytes()))).unwrap()
}

/// Reads a body of at most 1 KiB.
async fn whole(body: &mut Incoming) -> Bytes {
    let room = LongMessages::new(1024);
    events::whole(body, 1024, Duration::from_secs(1), &room).await.unwrap()
}

/// Sends a request and reads its response, with a timeout.
async fn fetch(pool: &Arc<Pool<Connector>>, body: &'static str) -> Bytes {
    let fetched = async {
        let mut response = pool.clone().fetch(request(body)).await.unwrap();
        whole(response.body_mut()).await
    };
    timeout(Duration::from_secs(3), fetched).await.expect("a request hangs")
}

/// The other end of a connection.
struct Served<R = Vec<String>>(JoinHandle<R>);

impl<R> Served<R> {
    /// Everything that came until it was closed.
    async fn end(self) -> R {
        self.0.await.unwrap()
    }

    async fn hang_up(self) {
        self.0.abort();
        assert!(self.0.await.is_err_and(|error| error.is_cancelled()));
    }
}

/// Answers every request of a connection with the same response.
fn serve(mut wire: DuplexStream, answer: &'static str) -> Served {
    Served(tokio::spawn(async move {
        let mut requests = Vec::new();
        while let Some(request) = read_request(&mut wire).await {
            requests.push(request);
            if wire.write_all(answer.as_bytes()).await.is_err() {
                break;
            }
        }
        requests
    }))
}

/// Sends a request and reads its response, which comes on a new connection.
async fn fetch_anew(
    pool: &Arc<Pool<Connector>>,
    accepted: &mut Accepted,
    answer: &'static str,
) -> (Served, Bytes) {
    tokio::join!(async { serve(accepted.recv().await.unwrap(), answer) }, fetch(pool, "new!"))
}

/// The next request, which ends in `!`.
async fn read_request(wire: &mut DuplexStream) -> Option<String> {
    let mut request = String::new();
    while !request.ends_with('!') {
        let byte = wire.read_u8().await.ok()?;
        request.push(char::from(byte));
    }
    Some(request)
}

/// Lets all other tasks run until they wait.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn one_request_after_the_other_takes_the_same_connection() {
    for answer in [EMPTY, HELLO] {
        let (pool, mut accepted) = pool(Kind::default());
        let (served, _) = fetch_anew(&pool, &mut accepted, answer).await;
        fetch(&pool, "two!").await;
        fetch(&pool, "three!").await;
        drop(pool);
        assert_eq!(served.end().await.len(), 3);
        assert!(accepted.try_recv().is_err(), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_have_connections_of_their_own_which_serve_the_next_ones_too() {
    let (pool, mut accepted) = pool(Kind::default());
    let both = async { tokio::join!(fetch(&pool, "one!"), fetch(&pool, "two!")) };
    let connections = async {
        let (one, two) = (accepted.recv().await.unwrap(), accepted.recv().await.unwrap());
        (serve(one, HELLO), serve(two, HELLO))
    };
    let (_, (one, two)) = tokio::join!(both, connections);
    tokio::join!(fetch(&pool, "three!"), fetch(&pool, "four!"));
    drop(pool);
    assert_eq!((one.end().await.len(), two.end().await.len()), (2, 2));
    assert!(accepted.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_free_again_when_its_answer_has_been_read() {
    let (pool, mut accepted) = pool(Kind::default());
    let slow = tokio::spawn(pool.clone().fetch(request("slow!")));
    let mut wire = accepted.recv().await.unwrap();
    read_request(&mut wire).await.unwrap();
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    wire.write_all(head).await.unwrap();
    let mut response = slow.await.unwrap().unwrap();
    assert_eq!(response.body_mut().next().await.unwrap().unwrap(), "hello");

    let (quick, _) = fetch_anew(&pool, &mut accepted, HELLO).await;
    wire.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(response.body_mut().next().await.is_none());
    let slow = serve(wire, HELLO);
    fetch(&pool, "next!").await;
    drop((pool, response));
    assert_eq!((slow.end().await.len(), quick.end().await.len()), (1, 1));
    assert!(accepted.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_read_closes_its_connection() {
    let (pool, mut accepted) = pool(Kind::default());
    let asked = tokio::spawn(pool.clone().fetch(request("one!")));
    let mut wire = accepted.recv().await.unwrap();
    read_request(&mut wire).await.unwrap();
    wire.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello").await.unwrap();
    drop(asked.await.unwrap().unwrap());
    assert_eq!(wire.read_u8().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_closes_its_connection() {
    let (pool, mut accepted) = pool(Kind::default());
    let asked = tokio::spawn(pool.clone().fetch(request("one!")));
    let mut wire = accepted.recv().await.unwrap();
    read_request(&mut wire).await.unwrap();
    asked.abort();
    assert_eq!(wire.read_u8().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

/// Both if the close is known before the next request, and if that request detects it.
#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    for is_known in [true, false] {
        let (pool, mut accepted) = pool(Kind::default());
        let first = async {
            let mut wire = accepted.recv().await.unwrap();
            read_request(&mut wire).await.unwrap();
            wire.write_all(HELLO.as_bytes()).await.unwrap();
            wire
        };
        let (wire, _) = tokio::join!(first, fetch(&pool, "one!"));
        drop(wire);
        if is_known {
            settle().await;
        }
        let (served, hello) = fetch_anew(&pool, &mut accepted, HELLO).await;
        assert_eq!(hello, "hello");
        drop(pool);
        assert_eq!(served.end().await.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_may_have_arrived_is_not_sent_again() {
    let (pool, mut accepted) = pool(Kind::default());
    let (served, _) = fetch_anew(&pool, &mut accepted, HELLO).await;
    let asked = tokio::spawn(pool.clone().fetch(request("two, which is never finished")));
    settle().await;
    served.hang_up().await;
    assert!(asked.await.unwrap().is_err());
    assert!(accepted.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_used_for_a_while_is_closed() {
    let (pool, mut accepted) = pool(Kind::default());
    let (served, _) = fetch_anew(&pool, &mut accepted, HELLO).await;
    for _ in 0..3 {
        tokio::time::sleep(KEPT / 2).await;
        fetch(&pool, "again!").await;
    }
    tokio::time::sleep(KEPT - Duration::from_millis(10)).await;
    assert!(!served.0.is_finished());
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(served.0.is_finished());
    assert_eq!(served.end().await.len(), 4);

    // The time begins anew with each request.
    let (served, _) = fetch_anew(&pool, &mut accepted, HELLO).await;
    tokio::time::sleep(KEPT + Duration::from_millis(10)).await;
    assert!(served.0.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_request_names_the_server_as_its_receiver_expects() {
    for (is_forwarded, target) in
        [(false, "/mcp?key=1"), (true, "http://server.example:8080/mcp?key=1")]
    {
        let (pool, mut accepted) = pool(Kind { is_forwarded, ..Kind::default() });
        let (served, _) = fetch_anew(&pool, &mut accepted, HELLO).await;
        let mut named = request("two!");
        named.headers_mut().insert(HOST, HeaderValue::from_static("other.example"));
        pool.clone().fetch(named).await.unwrap();
        drop(pool);
        let requests = served.end().await;
        assert!(requests[0].starts_with(&format!("POST {target} HTTP/1.1\r\n")), "{requests:?}");
        assert!(requests[0].contains("host: server.example:8080\r\n"), "{requests:?}");
        assert!(requests[1].contains("host: other.example\r\n"), "{requests:?}");
        assert!(!requests[1].contains("host: server"), "{requests:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn connecting_has_a_timeout() {
    let (pool, _accepted) = pool(Kind { is_stuck: true, ..Kind::default() });
    let started = tokio::time::Instant::now();
    let error = pool.clone().fetch(request("one!")).await.err().unwrap();
    assert_eq!(started.elapsed(), pool.patience);
    let unreachable = error.downcast_ref::<Unreachable>().unwrap();
    assert_eq!(unreachable.0.to_string(), "it takes longer than 10s");
}

// 1,032 bytes is the largest size that glibc serves from its thread cache, and every call has one.
#[tokio::test]
async fn the_future_of_a_request_is_small() {
    let (pool, _accepted) = pool(Kind::default());
    let size = size_of_val(&*pool.fetch(Request::new(RequestBody::default())));
    assert!(size <= 1032, "{size} bytes");
}
