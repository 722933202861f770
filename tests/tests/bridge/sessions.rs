//! Sessions with the server behind that are lost: it restarts behind its address.

use std::net::SocketAddr;
use std::time::Duration;

use bowline::client::{Change, ClientBuilder};
use bowline::layer::{self, Next};
use bowline::{Client, Log, Resource, Server, Tool};
use bowline_proto::request::{Handshake, Request};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::method::Method;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{Cell, Heard, L, M, everything, parked};

/// A server that notes what it is asked, and that logs.
fn server(heard: &Heard) -> Server {
    let heard = heard.clone();
    let note = move |request: Request, next: Next| {
        match request.parts.method {
            Method::ServerDiscover if request.parts.extensions.get::<Handshake>().is_some() => {
                heard.note("handshake");
            }
            Method::ResourcesSubscribe => heard.note("subscribe"),
            Method::ToolsCall => heard.note("call"),
            _ => {}
        }
        next.run(request)
    };
    let speak = |log: Log| async move { log.debug("spoken") };
    Server::new("far", "1.0.0")
        .tool(Tool::new("speak", speak))
        .resource(Resource::new("far://board", || async { "nothing" }))
        .layer(layer::from_fn(note))
}

/// Serves until the sender is dropped.
async fn serve(
    server: &Server,
    at: SocketAddr,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let bound = server.http().listen(at.to_string()).await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let at = bound.address().unwrap();
    let serving = bound.serve_until(async move { _ = stopped.await });
    (at, stop, tokio::spawn(async move { _ = serving.await }))
}

fn listening(builder: ClientBuilder, logs: &Heard) -> ClientBuilder {
    let logs = logs.clone();
    builder.on_log(LoggingLevel::Debug, move |message| {
        logs.note(message.data.parse::<String>().unwrap_or_default());
    })
}

#[tokio::test]
async fn a_lost_session_is_opened_again_with_its_level_and_subscriptions() {
    for caller in [L, M] {
        let cell = Cell { caller, upstream: L, http: (false, true) };
        let (heard, logs) = (Heard::default(), Heard::default());
        let (at, stop, serving) = serve(&server(&heard), "127.0.0.1:0".parse().unwrap()).await;
        let bridge = Client::builder("bridge", "1.0.0").tasks().passing_on(everything());
        let bridge = bridge.revisions([L]).http(format!("http://{at}/mcp")).connect().await;
        let relay = parked(bridge.unwrap().relay());
        let client = cell.caller(relay, |builder| listening(builder, &logs)).await;
        let mut changes = client.subscribe().resource("far://board").open().await.unwrap();
        client.call("speak", ()).await.unwrap();
        assert_eq!(heard.all(), ["handshake", "subscribe", "call"], "{caller}");
        drop(stop);
        serving.await.unwrap();
        let heard = Heard::default();
        let again = server(&heard);
        let (_, _stop, _serving) = serve(&again, at).await;
        client.call("speak", ()).await.unwrap();
        // Each message is an HTTP request of its own, and two may overtake each other.
        let mut asked = heard.all();
        asked.sort();
        assert_eq!(asked, ["call", "handshake", "subscribe"], "{caller}");
        assert_eq!(logs.all(), ["spoken", "spoken"], "{caller}");
        // The stream of the new session may open a little later.
        let mut change = None;
        for _ in 0..100 {
            again.notify().resource_updated("far://board");
            let next = tokio::time::timeout(Duration::from_millis(100), changes.next());
            change = next.await.ok().flatten();
            if change.is_some() {
                break;
            }
        }
        let change = change.unwrap().unwrap();
        assert_eq!(change, Change::Resource("far://board".to_owned()), "{caller}");
    }
}
