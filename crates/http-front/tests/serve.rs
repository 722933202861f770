//! A server with a service that is no part of this crate, seen by a client that speaks TCP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bowline_http_front::{ArrivingBody, FrontConfig, FrontLimits, FrontListener};
use http::{Request, Response};
use http_body_util::{BodyExt, Collected, Full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

type Answer = Result<Response<Full<bytes::Bytes>>, Infallible>;

/// Answers with the path; `/echo` with the body, `/wait` when it is notified.
async fn answer(request: Request<ArrivingBody>, go_on: Arc<Notify>) -> Answer {
    let (parts, body) = request.into_parts();
    let text = match parts.uri.path() {
        "/echo" => body.collect().await.map(Collected::to_bytes).unwrap_or_default(),
        "/wait" => {
            go_on.notified().await;
            "waited".into()
        }
        path => path.to_owned().into(),
    };
    Ok(Response::new(Full::new(text)))
}

/// A server that runs in a task until it gets the signal to stop, and then drains for a minute.
struct Running {
    address: SocketAddr,
    /// Lets a request for `/wait` go on.
    go_on: Arc<Notify>,
    stop: oneshot::Sender<()>,
    /// Whether all connections ended in time.
    ended: JoinHandle<bool>,
}

async fn run(limits: FrontLimits, is_leaving: bool) -> Running {
    let listener = FrontListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.address().unwrap();
    let go_on = Arc::new(Notify::new());
    let waiting = go_on.clone();
    let service = tower::service_fn(move |request| answer(request, waiting.clone()));
    let mut server = listener.server(FrontConfig::new(limits), move |_| service.clone());
    if is_leaving {
        server.leave();
    }
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(async move {
        server.run_until(async { _ = stopped.await }).await;
        let closed = server.close();
        closed.end_connections();
        closed.ended_within(Duration::from_secs(60)).await
    });
    Running { address, go_on, stop, ended }
}

async fn connect(server: &Running) -> TcpStream {
    TcpStream::connect(server.address).await.unwrap()
}

/// Sends a request and reads until the answer ends with this text.
async fn ask(stream: &mut TcpStream, request: &str, end: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    read_until(stream, end).await
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        assert_ne!(count, 0, "the connection ended after {text:?}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    text
}

/// Whether the server closes the connection.
async fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0; 1]).await, Ok(0) | Err(_))
}

const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn any_service_answers_the_requests_of_a_connection_in_turn() {
    let server = run(FrontLimits::default(), false).await;
    let mut stream = connect(&server).await;
    for _ in 0..2 {
        assert!(ask(&mut stream, HELLO, "/hello").await.starts_with("HTTP/1.1 200 OK\r\n"));
    }
    let echo = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    let answer = ask(&mut stream, echo, "abc").await;
    assert!(!answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn the_answer_to_a_request_whose_body_is_left_closes_the_connection() {
    let server = run(FrontLimits::default(), false).await;
    let mut stream = connect(&server).await;
    let request = "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\nabc";
    let answer = ask(&mut stream, request, "/hello").await;
    assert!(answer.contains("connection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn a_server_that_leaves_closes_each_connection_with_its_answer() {
    let server = run(FrontLimits::default(), true).await;
    let mut stream = connect(&server).await;
    let answer = ask(&mut stream, HELLO, "/hello").await;
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    assert!(is_closed(&mut stream).await);
}

#[tokio::test]
async fn an_address_with_too_many_connections_gets_no_further_one() {
    let mut limits = FrontLimits::default();
    limits.connections_per_address = 1;
    let server = run(limits, false).await;
    let mut first = connect(&server).await;
    ask(&mut first, HELLO, "/hello").await;
    assert!(is_closed(&mut connect(&server).await).await);
    ask(&mut first, HELLO, "/hello").await;
}

#[tokio::test]
async fn a_request_under_way_is_answered_after_the_socket_was_closed() {
    let server = run(FrontLimits::default(), false).await;
    let (mut idle, mut busy) = (connect(&server).await, connect(&server).await);
    ask(&mut idle, HELLO, "/hello").await;
    busy.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    // The request has come when its connection answers nothing, while the idle one still answers.
    ask(&mut idle, HELLO, "/hello").await;
    server.stop.send(()).unwrap();
    assert!(is_closed(&mut idle).await);
    server.go_on.notify_one();
    assert!(read_until(&mut busy, "waited").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(server.ended.await.unwrap());
}
