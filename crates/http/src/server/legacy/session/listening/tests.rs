//! How the listener of a session learns of the session's own subscription.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use bowline_proto::frame::Frame;
use bowline_proto::request::{Owner, Response};
use bowline_proto::server::{Attached, ServerConfig};
use bowline_transport::BoxFuture;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::super::super::super::HttpConfig;
use super::super::super::super::core::Core;
use super::super::{HttpSession, SessionKind};
use super::Listener;

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn session() -> Arc<HttpSession> {
    let server = Arc::new(ServerConfig::new(Implementation::new("test", "1")));
    let endless = Box::new(|_| -> BoxFuture<Response> { Box::pin(pending()) });
    let core = Arc::new(Core::new(endless, server, HttpConfig::new()));
    let kind = SessionKind::Sse2024;
    let session = HttpSession::new("session".to_owned(), Owner::anonymous(), kind, &core);
    session.open_without_handshake(Revision::V2024_11_05);
    session
}

/// The client sends `notifications/initialized`, which begins the subscription.
fn initialize(session: &Arc<HttpSession>) {
    let text = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let frame = Frame::parse(&text, session.core.server.limits()).unwrap();
    assert!(session.receive(frame.into(), Attached::default(), None).is_ok());
}

// Otherwise nothing polls the subscription with the waker of the stream, and changes reach the client
// only with the next message.
#[tokio::test]
async fn a_listener_that_found_no_subscription_is_woken_when_one_begins() {
    let session = session();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    session.poll_subscription(Listener::Sse2024, &mut Context::from_waker(&waker));
    initialize(&session);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
}
