//! What is left of a server when it is closed.

use std::sync::atomic::AtomicUsize;

use futures_core::future::BoxFuture;

use super::*;
use crate::dial::DialError;

/// Starts that never end, counted.
struct Hanging(Arc<AtomicUsize>);

struct CountedStart(Arc<AtomicUsize>);

impl Drop for CountedStart {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Dial for Hanging {
    fn dial(
        &self,
        _: ClientCapabilities,
        _: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let start = CountedStart(self.0.clone());
        Box::pin(async move {
            let _start = start;
            pending().await
        })
    }

    fn is_process(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_closed_while_it_starts_is_gone_when_that_is_over() {
    let starts = Arc::new(AtomicUsize::new(0));
    let dial = Arc::new(Hanging(starts.clone()));
    let declared = (ClientCapabilities::new(), Audience::Many);
    let told = (Arc::default(), watch::Sender::new(()), Endings::default());
    let supervised = Supervised::new(dial, declared, told, GatewayLimits::default());
    let starting = supervised.clone();
    let starting = tokio::spawn(async move { starting.lease().await.map(drop) });
    while starts.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    supervised.close().await;
    assert_eq!(starts.load(Ordering::Relaxed), 0);
    starting.await.unwrap().unwrap_err();
}
