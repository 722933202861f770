//! Changes of lists and resources.

use bowline::client::Change;
use bowline::layer::{self, Next};
use bowline::proto::request::Request;
use bowline::types::method::Method;
use bowline::{Resource, Server, Tool};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{ALL, L, M, cells};

fn server() -> Server {
    Server::new("far", "1.0.0")
        .tool(Tool::new("old", || async { "old" }))
        .resource(Resource::new("far://board", || async { "nothing" }))
}

#[tokio::test(start_paused = true)]
async fn changes_reach_the_caller_that_asked_for_them() {
    for cell in cells(&ALL) {
        let far = server();
        let client = cell.through(&far, |builder| builder).await;
        let subscribe = client.subscribe().tools().resource("far://board");
        let mut changes = subscribe.open().await.unwrap();
        assert!(changes.missing().is_empty(), "{cell:?}: {:?}", changes.missing());
        far.notify().resource_updated("far://board");
        let change = changes.next().await.unwrap().unwrap();
        assert_eq!(change, Change::Resource("far://board".to_owned()), "{cell:?}");
        far.registry().insert(Tool::new("new", || async { "new" })).unwrap();
        assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools, "{cell:?}");
        assert_eq!(client.tools().all().await.unwrap().len(), 2, "{cell:?}");
    }
}

/// Reports when it is dropped.
struct Dropped(UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // At the end of the test the receiver may be gone.
        _ = self.0.send("the subscription ended");
    }
}

/// A caller with a session unsubscribes: the bridge does not follow the resource any more.
#[tokio::test(start_paused = true)]
async fn a_session_that_unsubscribes_ends_the_subscription_to_the_server_behind() {
    for cell in cells(&[(L, L), (L, M)]) {
        let (sender, mut heard) = unbounded_channel();
        let note = move |request: Request, next: Next| {
            let sender = sender.clone();
            async move {
                if request.parts.method == Method::ResourcesUnsubscribe {
                    sender.send("resources/unsubscribe").unwrap();
                }
                let names =
                    request.params.value("notifications").is_some_and(|it| it.contains("far:"));
                let _ended = names.then(|| Dropped(sender));
                next.run(request).await
            }
        };
        let far = server().layer(layer::from_fn(note));
        let client = cell.through(&far, |builder| builder).await;
        let changes = client.subscribe().resource("far://board").open().await.unwrap();
        assert!(heard.try_recv().is_err(), "{cell:?}");
        drop(changes);
        let expected =
            if cell.upstream == L { "resources/unsubscribe" } else { "the subscription ended" };
        assert_eq!(heard.recv().await, Some(expected), "{cell:?}");
    }
}
