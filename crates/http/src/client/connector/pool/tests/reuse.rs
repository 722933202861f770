//! HTTP/1.1 connections that a server closes, or has not read to the end, before their reuse.

use tokio::time::timeout;

use super::*;

/// More bytes than a connection of these tests buffers.
const LONG: &str = match std::str::from_utf8(&[b'x'; 10 * WIRE]) {
    Ok(text) => text,
    Err(_) => "",
};

/// Sends a long request, which the server answers before it has read more than a byte.
async fn answered_early(pool: &Arc<Pool<Connector>>, accepted: &mut Accepted) -> DuplexStream {
    let server = async {
        let mut wire = accepted.recv().await.unwrap();
        assert_eq!(wire.read_u8().await.unwrap(), b'P');
        wire.write_all(HELLO.as_bytes()).await.unwrap();
        wire
    };
    let (wire, hello) = tokio::join!(server, fetch(pool, LONG));
    assert_eq!(hello, "hello");
    wire
}

/// Whether a connection is closed, and no more bytes came than its buffer holds.
async fn wrote_no_more(wire: &mut DuplexStream) -> bool {
    let mut read = Vec::new();
    let end = timeout(Duration::from_secs(1), wire.read_to_end(&mut read)).await;
    end.is_ok_and(|end| end.is_ok()) && read.len() <= WIRE
}

#[tokio::test(start_paused = true)]
async fn no_request_waits_for_a_connection_whose_last_request_is_not_written() {
    let (pool, mut accepted) = pool(Kind::default());
    let mut wire = answered_early(&pool, &mut accepted).await;

    let next = timeout(Duration::from_secs(3), fetch_anew(&pool, &mut accepted, HELLO)).await;
    let (served, hello) = next.expect("a request waits for a connection that cannot be written to");
    assert_eq!(hello, "hello");

    assert!(wrote_no_more(&mut wire).await);
    fetch(&pool, "two!").await;
    drop(pool);
    assert_eq!(served.end().await.len(), 2);
    assert!(accepted.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_connection_whose_server_does_not_read_is_closed_when_its_time_is_over() {
    let (pool, mut accepted) = pool(Kind::default());
    let mut wire = answered_early(&pool, &mut accepted).await;
    tokio::time::sleep(KEPT + Duration::from_millis(10)).await;
    assert!(wrote_no_more(&mut wire).await);
}

/// A server that reads a request on an idle connection that it is about to close.
#[tokio::test(start_paused = true)]
async fn no_request_crosses_the_end_of_an_idle_connection() {
    const SERVER_KEEPS: Duration = Duration::from_secs(5);
    let (pool, mut accepted) = pool(Kind::default());
    tokio::spawn(async move {
        while let Some(mut wire) = accepted.recv().await {
            tokio::spawn(async move {
                let mut since = tokio::time::Instant::now();
                while read_request(&mut wire).await.is_some() && since.elapsed() < SERVER_KEEPS {
                    wire.write_all(HELLO.as_bytes()).await.unwrap();
                    since = tokio::time::Instant::now();
                }
            });
        }
    });
    for pause in [0, 1, 3, 4, 5, 6, 10, 12, 15, 29, 60] {
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let response = pool.clone().fetch(request("next!")).await;
        let mut response = response.unwrap_or_else(|error| panic!("after {pause} s: {error}"));
        let body = whole(response.body_mut()).await;
        assert_eq!(body, "hello");
    }
}
