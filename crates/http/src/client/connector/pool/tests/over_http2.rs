//! HTTP/2, where all requests share a connection.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Empty};
use hyper::service::service_fn;

use super::*;

/// Serves HTTP/2, and counts the requests.
fn serve_http2(wire: DuplexStream) -> Served<usize> {
    Served(tokio::spawn(async move {
        let (count, mut counted) = mpsc::unbounded_channel();
        let service = service_fn(move |request: Request<Received>| {
            let _ = count.send(request.uri().clone());
            async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new().boxed())) }
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = server.serve_connection(TokioIo::new(wire), service).await;
        let mut requests = 0;
        while let Ok(uri) = counted.try_recv() {
            assert_eq!(uri, "http://server.example:8080/mcp?key=1");
            requests += 1;
        }
        requests
    }))
}

/// How long an HTTP/2 connection is kept.
const KEPT: Duration = Duration::from_secs(30);

/// Sends a request, which makes a new connection.
async fn fetch_over_new(pool: &Arc<Pool<Connector>>, accepted: &mut Accepted) -> Served<usize> {
    let server = async { serve_http2(accepted.recv().await.unwrap()) };
    let (served, _) = tokio::join!(server, fetch(pool, "one!"));
    served
}

/// Both if the close is known before the next request, and if that request detects it.
#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    for is_known in [true, false] {
        let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
        let served = fetch_over_new(&pool, &mut accepted).await;
        served.hang_up().await;
        if is_known {
            settle().await;
        }
        let served = fetch_over_new(&pool, &mut accepted).await;
        fetch(&pool, "two!").await;
        drop(pool);
        assert_eq!(served.end().await, 2);
        assert!(accepted.try_recv().is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_while_it_is_used_and_closed_a_while_after() {
    let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
    let served = fetch_over_new(&pool, &mut accepted).await;
    for _ in 0..5 {
        tokio::time::sleep(KEPT - Duration::from_secs(1)).await;
        fetch(&pool, "again!").await;
    }
    assert!(accepted.try_recv().is_err(), "a connection that is used is not replaced");
    tokio::time::sleep(KEPT - Duration::from_millis(10)).await;
    assert!(!served.0.is_finished());
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(served.0.is_finished());
    assert_eq!(served.end().await, 6);

    // The time begins anew with each request.
    let served = fetch_over_new(&pool, &mut accepted).await;
    tokio::time::sleep(KEPT + Duration::from_millis(10)).await;
    assert!(served.0.is_finished());
}

#[tokio::test(start_paused = true)]
async fn over_http2_all_requests_share_one_connection() {
    let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
    // The protocol is known only after connecting, so there are two connections for a moment.
    let both = async { tokio::join!(fetch(&pool, "one!"), fetch(&pool, "two!")) };
    let connections = async {
        let (one, two) = (accepted.recv().await.unwrap(), accepted.recv().await.unwrap());
        (serve_http2(one), serve_http2(two))
    };
    let (_, (one, two)) = tokio::join!(both, connections);
    tokio::join!(fetch(&pool, "three!"), fetch(&pool, "four!"));
    drop(pool);
    let mut requests = [one.end().await, two.end().await];
    requests.sort_unstable();
    assert_eq!(requests, [0, 4]);
    assert!(accepted.try_recv().is_err());
}

/// Serves HTTP/2 with one stream at a time, and answers no request.
fn serve_one_stream(wire: DuplexStream, began: mpsc::UnboundedSender<()>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let service = service_fn(move |_: Request<Received>| {
            let _ = began.send(());
            std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>()
        });
        let mut server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let server = server.max_concurrent_streams(1);
        let _ = server.serve_connection(TokioIo::new(wire), service).await;
    })
}

/// A subscription takes a stream for as long as it is open.
#[tokio::test(start_paused = true)]
async fn a_request_beyond_the_streams_of_a_connection_is_sent_over_another_one() {
    let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
    let (sender, mut began) = mpsc::unbounded_channel();
    let mut servers = Vec::new();
    let mut requests = Vec::new();
    for _ in 0..3 {
        let pool = pool.clone();
        requests.push(tokio::spawn(async move { pool.fetch(request("wait")).await.map(drop) }));
        let wire = timeout(Duration::from_secs(60), accepted.recv()).await;
        let wire = wire.expect("the request waits for a stream").unwrap();
        servers.push(serve_one_stream(wire, sender.clone()));
        began.recv().await.unwrap();
        // The client has read the limit of the server by then.
        settle().await;
    }
    assert!(requests.iter().all(|request| !request.is_finished()));
    // A connection without requests is used again.
    requests.pop().unwrap().abort();
    settle().await;
    let again = pool.clone();
    let again = tokio::spawn(async move { again.fetch(request("more")).await.map(drop) });
    timeout(Duration::from_secs(60), began.recv()).await.expect("it is sent").unwrap();
    assert!(accepted.try_recv().is_err());
    again.abort();
    servers.into_iter().for_each(|server| server.abort());
}

/// One frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Reads frames up to the end of a request, and returns its stream.
async fn read_stream(wire: &mut DuplexStream) -> u32 {
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        wire.read_exact(&mut vec![0; length]).await.unwrap();
        let (is_body, is_end) = (head[3] == 0, head[4] & 1 == 1);
        if is_body && is_end {
            return u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        }
    }
}

/// Answers the first request, and the second one with only these frames.
async fn answer_then(mut wire: DuplexStream, last: Vec<u8>) {
    const PREFACE: usize = 24;
    wire.read_exact(&mut [0; PREFACE]).await.unwrap();
    let settings = [frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat();
    wire.write_all(&settings).await.unwrap();
    assert_eq!(read_stream(&mut wire).await, 1);
    let status_200 = [0x88];
    wire.write_all(&frame(1, 5, 1, &status_200)).await.unwrap();
    assert_eq!(read_stream(&mut wire).await, 3);
    wire.write_all(&last).await.unwrap();
}

/// A server may take no further requests for a while. A new connection would be no better.
#[tokio::test(start_paused = true)]
async fn a_request_waits_for_a_server_that_allows_no_streams_for_now() {
    const PREFACE: usize = 24;
    const MOST_STREAMS: u8 = 3;
    let allow = |streams| frame(4, 0, 0, &[0, MOST_STREAMS, 0, 0, 0, streams]);
    let status_200 = [0x88];
    let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
    let first = tokio::spawn(pool.clone().fetch(request("one!")));
    let mut wire = accepted.recv().await.unwrap();
    wire.read_exact(&mut [0; PREFACE]).await.unwrap();
    wire.write_all(&[frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat()).await.unwrap();
    assert_eq!(read_stream(&mut wire).await, 1);
    wire.write_all(&[frame(1, 5, 1, &status_200), allow(0)].concat()).await.unwrap();
    first.await.unwrap().unwrap();
    settle().await;

    let second = tokio::spawn(pool.clone().fetch(request("two!")));
    settle().await;
    assert!(accepted.try_recv().is_err(), "it opens another connection");
    assert!(timeout(Duration::from_secs(1), read_stream(&mut wire)).await.is_err());
    wire.write_all(&allow(1)).await.unwrap();
    assert_eq!(read_stream(&mut wire).await, 3);
    wire.write_all(&frame(1, 5, 3, &status_200)).await.unwrap();
    assert_eq!(second.await.unwrap().unwrap().status(), 200);
}

// RFC 9113, 8.7: a server that refuses a stream, or names an earlier one as its last, has not
// processed the request.
#[tokio::test(start_paused = true)]
async fn a_request_that_the_server_has_not_seen_is_known() {
    const REFUSED: u8 = 7;
    const CANCEL: u8 = 8;
    let reset = |reason| frame(3, 0, 3, &[0, 0, 0, reason]);
    let go_away = |last, reason| frame(7, 0, 0, &[0, 0, 0, last, 0, 0, 0, reason]);
    for (last, is_unseen) in [
        (reset(REFUSED), true),
        (go_away(1, 0), true),
        (go_away(1, 11), true),
        (reset(CANCEL), false),
        (go_away(3, 0), false),
        (Vec::new(), false),
    ] {
        let (pool, mut accepted) = pool(Kind { is_http2: true, ..Kind::default() });
        let said = last.clone();
        let server = async { answer_then(accepted.recv().await.unwrap(), last).await };
        let client = async {
            fetch(&pool, "one!").await;
            pool.clone().fetch(request("two!")).await.err().unwrap()
        };
        let ((), error) = tokio::join!(server, client);
        let cut_off = error.downcast_ref::<CutOff>().unwrap();
        assert_eq!(cut_off.is_unseen, is_unseen, "{said:?}: {:?}", cut_off.cause);
    }
}
