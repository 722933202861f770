//! Callers that really run at once, whatever runtime the test has.

use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bowline_store::backend::BoxStream;
use bytes::Bytes;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// An expiry that does not pass while these tests run.
pub(super) const LONG: Duration = Duration::from_secs(3600);

/// How long these tests wait for what has to happen soon.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the work on threads with a runtime each, and waits without blocking. The caller's runtime
/// goes on, since a backend may have tasks on it. A panic of a thread goes on in the caller.
pub(super) async fn on_threads<T, F, W>(count: usize, work: W) -> Vec<T>
where
    W: Fn(usize) -> F + Send + Sync + 'static,
    F: Future<Output = T>,
    T: Send + 'static,
{
    let work = Arc::new(work);
    let threads: Vec<_> = (0..count).map(|number| start(number, work.clone())).collect();
    let mut results = Vec::with_capacity(count);
    for (thread, result) in threads {
        match result.await {
            Ok(result) => results.push(result),
            Err(_) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a thread that does not panic sends its result"),
            },
        }
    }
    results
}

fn start<T, F, W>(number: usize, work: Arc<W>) -> (thread::JoinHandle<()>, oneshot::Receiver<T>)
where
    W: Fn(usize) -> F + Send + Sync + 'static,
    F: Future<Output = T>,
    T: Send + 'static,
{
    let (done, result) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        // The test may have failed meanwhile, and does not wait for this result then.
        let _ = done.send(runtime.block_on(work(number)));
    });
    (thread, result)
}

/// The next message of a topic, which arrives soon.
pub(super) async fn next_message(stream: &mut BoxStream<'static, Bytes>) -> Bytes {
    let next = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx));
    let next = tokio::time::timeout(PATIENCE, next).await;
    next.expect("a message reaches its listener").expect("a topic does not end")
}
