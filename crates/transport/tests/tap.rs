//! The messages that a tap shows.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_transport::duplex::duplex;
use bowline_transport::tap::{Tap, TapDirection};
use bowline_transport::transport::{Reader, ServerTransport, Transport, Writer};

use self::support::{echo, next, queue};

type Seen = Arc<Mutex<Vec<(TapDirection, String)>>>;

fn tapped<T: ServerTransport>(inner: T) -> (impl ServerTransport, Seen) {
    let seen = Seen::default();
    let notes = Arc::clone(&seen);
    let tap = Tap::new(inner, move |direction, text: &[u8]| {
        notes.lock().unwrap().push((direction, String::from_utf8(text.to_vec()).unwrap()));
    });
    (tap, seen)
}

#[tokio::test]
async fn a_tap_sees_every_message() {
    let (client, server) = duplex();
    tokio::spawn(echo(server));
    let (client, seen) = tapped(client);
    let (mut reader, mut writer) = client.split(&Limits::default());
    for n in 0..3 {
        writer.write(&mut queue([format!("{{\"n\":{n}}}")])).await.unwrap();
        assert_eq!(next(&mut reader).await, format!("{{\"n\":{n}}}"));
    }
    writer.close().await;
    assert_eq!(reader.read().await.unwrap(), None);
    let expected: Vec<_> = (0..3)
        .flat_map(|n| {
            [TapDirection::Sent, TapDirection::Received].map(|d| (d, format!("{{\"n\":{n}}}")))
        })
        .collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_dropped_write_shows_its_messages_once() {
    let (client, server) = duplex();
    let (client, seen) = tapped(client);
    let (_, mut writer) = client.split(&Limits::default());
    let large = "x".repeat(100_000);
    let mut frames = queue([large.clone(), large]);
    let write = tokio::time::timeout(Duration::ZERO, writer.write(&mut frames)).await;
    assert!(write.is_err(), "the pipe holds less");
    let (mut reader, _server) = server.split(&Limits::default());
    let (written, first) = tokio::join!(writer.write(&mut frames), async {
        let first = next(&mut reader).await;
        next(&mut reader).await;
        first
    });
    written.unwrap();
    assert_eq!(first.len(), 100_000);
    assert_eq!(seen.lock().unwrap().len(), 2);
}
