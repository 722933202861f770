//! A tool that never ends, for tests of cancellation.

use bowline::{Server, Tool};
use bowline_testing::Harness;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Reports when it is dropped.
pub(crate) struct Dropped(pub(crate) UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // At the end of the test the receiver may be gone.
        _ = self.0.send("dropped");
    }
}

/// A server with one tool, `hang`, which never ends, and reports its start and its drop. `option`
/// changes the tool.
pub(crate) fn endless(
    option: impl FnOnce(Tool) -> Tool,
) -> (Server, UnboundedReceiver<&'static str>) {
    let (sender, events) = unbounded_channel();
    let hang = move || {
        let dropped = Dropped(sender.clone());
        async move {
            dropped.0.send("begun").unwrap();
            std::future::pending::<()>().await;
        }
    };
    (Server::new("endless", "1.0.0").tool(option(Tool::new("hang", hang))), events)
}

/// Calls the tool, drops the call, and expects that the handler is dropped.
pub(crate) async fn drop_a_call(
    t: Harness,
    (server, mut events): (Server, UnboundedReceiver<&'static str>),
) {
    let client = t.connect(server).await;
    tokio::select! {
        outcome = client.call("hang", ()).into_future() => panic!("it ended: {outcome:?}"),
        event = events.recv() => assert_eq!(event, Some("begun")),
    }
    assert_eq!(events.recv().await, Some("dropped"));
    client.ping().await.unwrap();
}
