//! Channels that a client floods, and channels that break.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline::{Server, Tool};
use bowline_transport::lines::Lines;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// What the client sends after its call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// This many notifications without a pause, and the end.
    Flood(usize),
    /// A failure of the channel.
    Break,
}

/// The input of the server.
struct Input {
    call: Option<String>,
    then: Then,
    /// How many notifications were read.
    read: Arc<AtomicUsize>,
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        const NOTIFICATION: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/noise\"}\n";
        if let Some(call) = self.call.take() {
            buffer.put_slice(call.as_bytes());
            return Poll::Ready(Ok(()));
        }
        match self.then {
            Then::Break => Poll::Ready(Err(io::Error::other("cable pulled"))),
            Then::Flood(0) => Poll::Ready(Ok(())),
            Then::Flood(left) => {
                self.then = Then::Flood(left - 1);
                self.read.fetch_add(1, Ordering::Relaxed);
                buffer.put_slice(NOTIFICATION);
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// The output of the server, which cannot be closed.
struct Output {
    read: Arc<AtomicUsize>,
    /// How many notifications were read before the first answer.
    answered_after: Option<oneshot::Sender<usize>>,
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let read = self.read.load(Ordering::Relaxed);
        if let Some(answered) = self.answered_after.take() {
            let _ = answered.send(read);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

/// A channel on which a client calls the only tool of a server.
fn channel(then: Then) -> (Lines<Input, Output>, oneshot::Receiver<usize>) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "work", "arguments": {}, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let read = Arc::new(AtomicUsize::new(0));
    let (sender, answered) = oneshot::channel();
    let input = Input { call: Some(format!("{call}\n")), then, read: read.clone() };
    (Lines::new(input, Output { read, answered_after: Some(sender) }), answered)
}

#[tokio::test]
async fn a_flood_of_notifications_does_not_delay_the_answers_of_its_client() {
    const FLOOD: usize = 20_000;
    let work = Tool::new("work", || async {
        tokio::task::yield_now().await;
        "done"
    });
    let (channel, answered) = channel(Then::Flood(FLOOD));
    let _ = Server::new("flooded", "1.0.0").tool(work).serve(channel).await;
    let after = answered.await.unwrap();
    assert!(after < FLOOD / 10, "the answer came after {after} of {FLOOD} notifications");
}

/// Tells when it is dropped.
struct Guard(Option<oneshot::Sender<Instant>>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.take().unwrap().send(Instant::now());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_once_when_its_channel_breaks() {
    let (sender, dropped) = oneshot::channel();
    let guard = Arc::new(std::sync::Mutex::new(Some(Guard(Some(sender)))));
    let work = Tool::new("work", move || {
        let guard = guard.lock().unwrap().take();
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
            "done"
        }
    });
    let (channel, _) = channel(Then::Break);
    let start = Instant::now();
    let outcome = Server::new("broken", "1.0.0").tool(work).serve(channel).await;
    assert!(outcome.is_err());
    assert!(start.elapsed() >= Duration::from_secs(1), "closing takes its time");
    assert_eq!(dropped.await.unwrap(), start, "the call did not wait for it");
}
