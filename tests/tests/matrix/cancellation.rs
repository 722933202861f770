//! Cancellation, in virtual time: dropping a call drops its handler, or notifies it.

use std::time::Duration;

use bowline::{Cancel, Server, Tool};
use bowline_testing::Harness;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::sleep;

use crate::endless::{Dropped, drop_a_call, endless};

// spec: CANC-5, CANC-6
#[bowline::test(every_revision)]
async fn dropping_a_call_drops_its_handler(t: Harness) {
    drop_a_call(t, endless(|tool| tool)).await;
}

// spec: TIME-2, TIME-3
#[bowline::test(every_revision)]
async fn a_call_that_times_out_drops_its_handler(t: Harness) {
    let (server, mut events) = endless(|tool| tool);
    let client = t.connect(server).await;
    let error = client.call("hang", ()).timeout(Duration::from_secs(3)).await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(events.recv().await, Some("begun"));
    assert_eq!(events.recv().await, Some("dropped"));
}

#[bowline::test(every_revision)]
async fn closing_the_client_drops_its_handlers(t: Harness) {
    let (server, mut events) = endless(|tool| tool);
    let client = t.connect(server).await;
    let call = tokio::spawn(client.call("hang", ()).into_future());
    assert_eq!(events.recv().await, Some("begun"));
    client.close().await;
    assert!(call.await.unwrap().unwrap_err().is_closed());
    assert_eq!(events.recv().await, Some("dropped"));
}

/// A tool that cleans up for a while after its cancellation.
fn careful(grace: Duration) -> (Server, UnboundedReceiver<&'static str>) {
    let (sender, events) = unbounded_channel();
    let export = move |cancel: Cancel| {
        let dropped = Dropped(sender.clone());
        async move {
            dropped.0.send("begun").unwrap();
            cancel.cancelled().await;
            sleep(Duration::from_secs(2)).await;
            dropped.0.send("cleaned up").unwrap();
        }
    };
    let export = Tool::new("export", export).grace(grace);
    (Server::new("careful", "1.0.0").tool(export), events)
}

/// Drops a call of a tool that needs two seconds to clean up; returns what becomes of its handler.
async fn cancelled(t: Harness, grace: Duration) -> Option<&'static str> {
    let (server, mut events) = careful(grace);
    let client = t.connect(server).await;
    tokio::select! {
        outcome = client.call("export", ()).into_future() => panic!("it ended: {outcome:?}"),
        event = events.recv() => assert_eq!(event, Some("begun")),
    }
    events.recv().await
}

#[bowline::test(every_revision)]
async fn a_handler_can_clean_up_after_its_cancellation(t: Harness) {
    assert_eq!(cancelled(t, Duration::from_secs(3)).await, Some("cleaned up"));
}

#[bowline::test(every_revision)]
async fn a_clean_up_ends_after_the_grace_period(t: Harness) {
    assert_eq!(cancelled(t, Duration::from_secs(1)).await, Some("dropped"));
}
