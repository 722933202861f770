//! Messages over byte streams, which may cut them anywhere.

mod support;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::limits::long::{LongMessages, Oversize};
use bowline_transport::duplex::duplex;
use bowline_transport::lines::{LinesReader, LinesWriter};
use bowline_transport::transport::{Reader, Transport, Writer};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use self::support::{echo, next, queue, text};

fn limits() -> Limits {
    Limits::default()
}

// spec: STDIO-2
#[tokio::test]
async fn a_message_may_come_in_a_thousand_writes() {
    let (mut raw, near) = tokio::io::duplex(64);
    let message = format!(r#"{{"text":"{}"}}"#, "ä".repeat(500));
    let bytes = format!("{message}\n").into_bytes();
    let mut reader = LinesReader::new(near, &limits());
    let send = async {
        for byte in bytes {
            raw.write_all(&[byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let ((), received) = tokio::join!(send, next(&mut reader));
    assert_eq!(received, message);
}

// spec: STDIO-2
#[tokio::test]
async fn a_thousand_messages_may_come_in_one_write() {
    let (mut raw, near) = tokio::io::duplex(1 << 20);
    let all: String = (0..1000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    raw.write_all(all.as_bytes()).await.unwrap();
    drop(raw);
    let mut reader = LinesReader::new(near, &limits());
    for n in 0..1000 {
        assert_eq!(next(&mut reader).await, format!("{{\"n\":{n}}}"));
    }
    assert_eq!(reader.read().await.unwrap(), None);
}

#[tokio::test]
async fn a_read_that_is_dropped_in_the_middle_loses_nothing() {
    let (mut raw, near) = tokio::io::duplex(64);
    let mut reader = LinesReader::new(near, &limits());
    for byte in "{\"a\":1}\n".bytes() {
        let read = tokio::time::timeout(Duration::ZERO, reader.read()).await;
        assert!(read.is_err(), "it is not whole yet");
        raw.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(next(&mut reader).await, "{\"a\":1}");
}

#[tokio::test]
async fn a_write_that_is_dropped_in_the_middle_loses_nothing() {
    let (mut raw, near) = tokio::io::duplex(10);
    let mut writer = LinesWriter::new(near);
    let frames: Vec<String> = (0..100).map(|n| format!("{{\"message\":{n}}}")).collect();
    let expected: String = frames.iter().map(|frame| format!("{frame}\n")).collect();
    let mut queue = queue(frames);
    let mut received = Vec::new();
    while received.len() < expected.len() {
        let _ = tokio::time::timeout(Duration::ZERO, writer.write(&mut queue)).await;
        raw.read_buf(&mut received).await.unwrap();
    }
    assert_eq!(String::from_utf8(received).unwrap(), expected);
}

#[tokio::test]
async fn a_peer_that_closes_in_the_middle_of_a_message_leaves_what_it_sent() {
    let (mut raw, near) = tokio::io::duplex(64);
    raw.write_all(b"{}\n{\"half\":").await.unwrap();
    drop(raw);
    let mut reader = LinesReader::new(near, &limits());
    assert_eq!(reader.read().await.unwrap(), text("{}"));
    assert_eq!(reader.read().await.unwrap(), text("{\"half\":"));
    assert_eq!(reader.read().await.unwrap(), None);
    assert_eq!(reader.read().await.unwrap(), None);
}

#[tokio::test]
async fn a_message_over_the_limit_is_reported_and_the_next_one_is_read() {
    let mut limits = limits();
    limits.frame = 100_000;
    let (mut raw, near) = tokio::io::duplex(64 * 1024);
    let mut reader = LinesReader::new(near, &limits);
    let send = async {
        raw.write_all(&vec![b'x'; 1_000_000]).await.unwrap();
        raw.write_all(b"\n{}\n").await.unwrap();
    };
    let receive = async {
        assert!(matches!(reader.read().await.unwrap(), Some(Received::TooLong(..))));
        assert_eq!(next(&mut reader).await, "{}");
    };
    tokio::join!(send, receive);
}

#[tokio::test(start_paused = true)]
async fn long_messages_of_all_connections_together_stay_within_their_room() {
    const ROOM: usize = 6 << 20;
    let mut limits = limits();
    limits.frame = ROOM;
    limits.long_messages = LongMessages::new(ROOM);
    let long = vec![b'x'; 3 << 20];
    let mut readers = Vec::new();
    for number in 0..8 {
        let (mut raw, near) = tokio::io::duplex(ROOM);
        let mut reader = LinesReader::new(near, &limits.clone());
        // The line has no end yet.
        raw.write_all(&long).await.unwrap();
        match tokio::time::timeout(Duration::from_secs(1), reader.read()).await {
            Err(_) if number == 0 => {}
            // There is room for one. The others are reported at their end.
            Err(_) => {
                raw.write_all(b"\n").await.unwrap();
                let received = reader.read().await.unwrap();
                let Some(Received::TooLong(skipped)) = received else { panic!("{received:?}") };
                assert_eq!(skipped.why, Oversize::Crowded(ROOM));
            }
            Ok(other) => panic!("{other:?}"),
        }
        assert!(limits.long_messages.held() <= ROOM);
        readers.push((raw, reader));
    }
    let (mut raw, mut reader) = readers.swap_remove(0);
    raw.write_all(b"\n").await.unwrap();
    let whole = reader.read().await.unwrap();
    assert!(matches!(&whole, Some(Received::Message(text)) if text.len() == long.len()));
    drop(whole);
    assert_eq!(limits.long_messages.held(), 0);
}

/// A stream that counts writes, each of which would be a system call.
struct Counted {
    calls: Arc<AtomicUsize>,
}

impl AsyncWrite for Counted {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_thousand_small_messages_go_out_in_one_write() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut writer = LinesWriter::new(Counted { calls: Arc::clone(&calls) });
    let mut queue = queue(vec![r#"{"jsonrpc":"2.0","id":1,"result":{}}"#; 1000]);
    writer.write(&mut queue).await.unwrap();
    assert!(queue.is_empty());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_one_end_writes_the_other_reads() {
    let (client, server) = duplex();
    let echoing = tokio::spawn(echo(server));
    let (mut reader, mut writer) = client.split(&limits());
    writer.write(&mut queue(["{\"a\":1}", "{\"b\":2}"])).await.unwrap();
    assert_eq!(next(&mut reader).await, "{\"a\":1}");
    assert_eq!(next(&mut reader).await, "{\"b\":2}");
    writer.close().await;
    assert_eq!(reader.read().await.unwrap(), None);
    echoing.await.unwrap();
}

#[tokio::test]
async fn writing_to_a_peer_that_is_gone_reports_a_closed_channel() {
    let (client, server) = duplex();
    drop(server);
    let (_, mut writer) = client.split(&limits());
    assert!(writer.write(&mut queue(["{}"])).await.unwrap_err().is_closed());
    assert!(writer.write(&mut queue(["{}"])).await.unwrap_err().is_closed());
}

#[tokio::test]
async fn closing_twice_is_closing_once() {
    let (client, _server) = duplex();
    let (_, mut writer) = client.split(&limits());
    writer.close().await;
    writer.close().await;
    assert!(writer.write(&mut queue(["{}"])).await.unwrap_err().is_closed());
}

/// A stream whose shutdown never completes.
struct BlackHole;

impl AsyncWrite for BlackHole {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn closing_takes_no_longer_than_two_seconds_whatever_the_peer_does() {
    let start = tokio::time::Instant::now();
    LinesWriter::new(BlackHole).close().await;
    assert!(start.elapsed() < Duration::from_millis(2100));
}
