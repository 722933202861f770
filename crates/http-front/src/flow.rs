//! The streams of HTTP/2, each reset when its client keeps the window shut.
//!
//! An HTTP/2 client grants each stream a window of bytes. Bytes beyond it wait in the connection,
//! where the socket does not show them. So each piece of an answer counts how much of it is written,
//! an answer does not end before all of it is, and the task of a stream watches both.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};

use crate::read_pace::{MinimumPace, ReadPace};
use crate::sync::lock;

tokio::task_local! {
    /// The flow of the stream that the task serves.
    static FLOW: Arc<Flow>;
}

/// Runs the streams of a connection, each in a task that watches it.
///
/// hyper spawns a future for each stream and needs an executor for that; this one wraps each future
/// into [`watch`] and gives it a [`Flow`].
#[derive(Clone, Debug)]
pub(crate) struct Streams(pub(crate) MinimumPace);

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future + Send + 'static,
{
    fn execute(&self, stream: F) {
        let flow = Arc::new(Flow::default());
        tokio::spawn(FLOW.scope(flow.clone(), watch(stream, flow, self.0)));
    }
}

/// Serves a stream to its end, or until the client has read too little of the answer. Other streams
/// of the connection go on.
async fn watch(stream: impl Future, flow: Arc<Flow>, minimum: MinimumPace) {
    let mut stream = pin!(stream);
    let mut pace = ReadPace::new(minimum);
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        pace.take(flow.progress());
        if !flow.is_waiting() {
            pace.rest();
            return Poll::Pending;
        }
        ready!(pace.poll_stalled(cx));
        // The answer fails at the next poll, and that resets the stream. If hyper does not poll it,
        // because the window is shut, dropping the stream resets it.
        flow.cut();
        let _ = stream.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

/// How many bytes of an answer wait for the client of one stream. Shared by the task of the stream,
/// its [`Answer`](crate::answer::Answer) and the pieces that hyper holds.
#[derive(Debug, Default)]
pub(crate) struct Flow(Mutex<State>);

/// Locked for a moment by each piece that is given to hyper or written.
#[derive(Debug, Default)]
struct State {
    /// Bytes that wait.
    waiting: usize,
    /// Bytes that the client has taken since the last [`progress`](Flow::progress).
    taken: usize,
    is_cut: bool,
    /// The task of the stream, while its answer waits for the client.
    task: Option<Waker>,
}

impl Flow {
    /// The flow of the stream that this task serves. `None` over HTTP/1.1, whose requests are not
    /// served in a task of their own.
    pub(crate) fn current() -> Option<Arc<Self>> {
        FLOW.try_with(Arc::clone).ok()
    }

    /// Counts bytes that are handed to HTTP.
    pub(crate) fn give(self: &Arc<Self>, bytes: &[u8]) -> WaitingBytes {
        self.lock().waiting += bytes.len();
        WaitingBytes { flow: self.clone(), left: bytes.len() }
    }

    /// Ready when the client has taken all bytes.
    ///
    /// # Errors
    ///
    /// If the client took too little for too long.
    pub(crate) fn poll_taken(&self, cx: &Context<'_>) -> Poll<Result<(), Stalled>> {
        let mut state = self.lock();
        if state.is_cut {
            return Poll::Ready(Err(Stalled));
        }
        if state.waiting == 0 {
            return Poll::Ready(Ok(()));
        }
        state.task = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Whether HTTP holds bytes that are not written yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.lock().waiting > 0
    }

    /// Bytes that the client has taken since the last call of this method.
    fn progress(&self) -> usize {
        std::mem::take(&mut self.lock().taken)
    }

    /// From now on [`poll_taken`](Self::poll_taken) fails.
    fn cut(&self) {
        self.lock().is_cut = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

/// Bytes that HTTP has and the client has not taken. Dropping it counts them as taken. Part of each
/// piece, so it is dropped when hyper discards the piece, and the count stays true.
pub(crate) struct WaitingBytes {
    flow: Arc<Flow>,
    left: usize,
}

impl WaitingBytes {
    /// Notes that the client has taken so many of them.
    pub(crate) fn take(&mut self, count: usize) {
        self.left -= count;
        let mut state = self.flow.lock();
        state.waiting -= count;
        state.taken += count;
        if state.waiting == 0
            && let Some(task) = state.task.take()
        {
            drop(state);
            task.wake();
        }
    }
}

impl Drop for WaitingBytes {
    fn drop(&mut self) {
        if self.left > 0 {
            self.take(self.left);
        }
    }
}

/// The client took too little of an answer for too long.
#[derive(Debug)]
pub(crate) struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client takes too little of the answer")
    }
}

impl std::error::Error for Stalled {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_answer_that_waits_goes_on_when_the_client_has_taken_the_last_byte() {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let cx = Context::from_waker(&waker);
        let flow = Arc::new(Flow::default());
        assert!(flow.poll_taken(&cx).is_ready());
        let mut given = flow.give(b"abc");
        assert!(flow.poll_taken(&cx).is_pending());
        given.take(2);
        assert_eq!((wakes.0.load(Ordering::Relaxed), flow.progress()), (0, 2));
        drop(given);
        assert_eq!((wakes.0.load(Ordering::Relaxed), flow.progress()), (1, 1));
        assert!(flow.poll_taken(&cx).is_ready() && !flow.is_waiting());
    }
}
