//! Changes of lists and resources. All in virtual time.

use std::sync::Arc;
use std::time::Duration;

use bowline::client::{Change, Relay};
use bowline::layer::{self, Next};
use bowline::{Resource, Server, Tool};
use bowline_proto::request::Request;
use bowline_proto::server::ServerConfig;
use bowline_testing::StrictPeer;
use bowline_transport::lines::Lines;
use bowline_transport::serve::serve;
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
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

/// How many resources a session may follow.
const MOST: usize = 1024;

#[tokio::test(start_paused = true)]
async fn subscriptions_that_a_session_cancels_leave_room_for_others() {
    for cell in cells(&[(L, M)]).filter(|cell| !cell.http.0) {
        let far = server().layer(layer::from_fn(|request: Request, next: Next| async move {
            if request.params.value("notifications").is_some_and(|it| it.contains("far://slow")) {
                std::future::pending::<()>().await;
            }
            next.run(request).await
        }));
        let mut session = raw_session(cell.relay(&far).await).await;
        let subscribe = |id: usize, uri: &str| {
            let params = format!(r#"{{"uri":"{uri}"}}"#);
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/subscribe","params":{params}}}"#
            )
        };
        for id in 1..=MOST {
            session.send(&subscribe(id, "far://slow")).await;
            settle().await;
            let method = r#""method":"notifications/cancelled""#;
            let cancelled =
                format!(r#"{{"jsonrpc":"2.0",{method},"params":{{"requestId":{id}}}}}"#);
            session.send(&cancelled).await;
        }
        session.send(&subscribe(5000, "far://board")).await;
        session.expect(r#"{"jsonrpc":"2.0","id":5000,"result":{}}"#).await;
    }
}

/// A session of 2025-11-25 with an upstream, which sends what the test says.
async fn raw_session(upstream: Relay) -> StrictPeer {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (source, sink) = tokio::io::split(far);
    let config = Arc::new(ServerConfig::new(Implementation::new("bridge", "1.0.0")));
    tokio::spawn(serve(Lines::new(source, sink), upstream, config, std::future::pending()));
    let mut session = StrictPeer::new(near);
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#;
    let initialize =
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
    session.send(&initialize).await;
    session.expect(r#"{"jsonrpc":"2.0","id":0,"result":@any}"#).await;
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    settle().await;
    session
}

/// Lets the session, the relay and the server handle what has arrived.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}
