//! Events of `tracing` as log messages.

#[path = "behaviour/peer.rs"]
#[allow(dead_code, reason = "the tests of behaviour use more of it")]
mod peer;

use bowline_server::{Server, Tool};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tracing::subscriber::DefaultGuard;
use tracing::{debug, error, info, trace, warn};
use tracing_subscriber::layer::SubscriberExt;

use crate::peer::{BOTH, Peer};

/// Says something on every level, and something with fields.
fn chatty() -> Tool {
    Tool::new("chat", || async {
        trace!("a");
        debug!("b");
        info!(target: "shop", step = 1, ratio = 0.5, done = false, who = "ann", "packing");
        tokio::task::yield_now().await;
        warn!(password = "hunter2", api_key = ?["k-1"], "careful");
        error!(code = -7);
    })
}

fn server() -> Server {
    Server::new("chatty", "1").tool(chatty())
}

/// Sends the events of some servers to their clients, on this thread.
fn install(servers: &[&Server]) -> DefaultGuard {
    let layers: Vec<_> = servers.iter().map(|server| server.trace_layer()).collect();
    tracing::subscriber::set_default(tracing_subscriber::registry().with(layers))
}

fn heard(peer: &Peer) -> Vec<(LoggingLevel, Option<String>, Value)> {
    let logs = peer.inbox.logs().into_iter();
    logs.map(|log| (log.level, log.logger, log.data.parse().unwrap())).collect()
}

// spec: LOG-8, LOG-9, LOG-10, LOG-12
#[tokio::test]
async fn events_of_a_handler_are_log_messages_of_its_call() {
    let server = server();
    let _installed = install(&[&server]);
    for revision in BOTH {
        let mut peer = Peer::new(&server, revision);
        peer.log_level = Some(LoggingLevel::Debug);
        peer.call("chat", json!({})).await.unwrap();
        let here = Some(module_path!().to_owned());
        let packing =
            json!({ "message": "packing", "step": 1, "ratio": 0.5, "done": false, "who": "ann" });
        let careful =
            json!({ "message": "careful", "password": "[redacted]", "api_key": "[redacted]" });
        let expected = [
            (LoggingLevel::Debug, here.clone(), json!("a")),
            (LoggingLevel::Debug, here.clone(), json!("b")),
            (LoggingLevel::Info, Some("shop".to_owned()), packing),
            (LoggingLevel::Warning, here.clone(), careful),
            (LoggingLevel::Error, here, json!({ "code": -7 })),
        ];
        assert_eq!(heard(&peer), expected);
    }
}

// spec: LOG-18, LOG-19
#[tokio::test]
async fn events_are_sent_to_those_who_want_to_hear_them() {
    let server = server();
    let _installed = install(&[&server]);
    let mut peer = Peer::new(&server, Revision::LATEST);
    peer.call("chat", json!({})).await.unwrap();
    assert!(heard(&peer).is_empty());
    peer.log_level = Some(LoggingLevel::Warning);
    peer.call("chat", json!({})).await.unwrap();
    let levels: Vec<_> = heard(&peer).into_iter().map(|(level, ..)| level).collect();
    assert_eq!(levels, [LoggingLevel::Warning, LoggingLevel::Error]);
}

#[tokio::test]
async fn calls_at_the_same_time_hear_their_own_events() {
    let server = Server::new("echo", "1").tool(Tool::new(
        "echo",
        |context: bowline_server::Context| async move {
            for _ in 0..3 {
                info!(caller = context.meta::<u64>("example.com/caller"));
                tokio::task::yield_now().await;
            }
        },
    ));
    let _installed = install(&[&server]);
    let peer = |number: u64| {
        let mut peer = Peer::new(&server, Revision::LATEST);
        peer.log_level = Some(LoggingLevel::Info);
        peer.meta = json!({ "example.com/caller": number });
        peer
    };
    let (one, other) = (peer(1), peer(2));
    let both = tokio::join!(one.call("echo", json!({})), other.call("echo", json!({})));
    assert!(both.0.is_ok() && both.1.is_ok());
    for (number, peer) in [(1, one), (2, other)] {
        let callers: Vec<_> = heard(&peer).into_iter().map(|(.., data)| data).collect();
        assert_eq!(callers, vec![json!({ "caller": number }); 3]);
    }
}

// spec: LOG-1
#[tokio::test]
async fn a_server_whose_events_are_sent_declares_that_it_logs() {
    let (sending, other) = (server(), server());
    let layer = sending.trace_layer();
    let subscriber = tracing_subscriber::registry().with(layer);
    let _installed = tracing::subscriber::set_default(subscriber);
    for (server, logs) in [(sending, true), (other, false)] {
        let mut peer = Peer::new(&server, Revision::LATEST);
        peer.log_level = Some(LoggingLevel::Debug);
        let method = bowline_types::method::Method::ServerDiscover;
        let discovered = peer.ask(method, json!({})).await.unwrap();
        assert_eq!(discovered["capabilities"]["logging"].is_object(), logs);
        peer.call("chat", json!({})).await.unwrap();
        assert_eq!(!heard(&peer).is_empty(), logs);
    }
}

#[tokio::test]
async fn an_event_is_sent_once_however_many_servers_there_are() {
    let (one, other) = (server(), server());
    let _installed = install(&[&one, &other]);
    let mut peer = Peer::new(&one, Revision::LATEST);
    peer.log_level = Some(LoggingLevel::Error);
    peer.call("chat", json!({})).await.unwrap();
    assert_eq!(heard(&peer).len(), 1);
}

#[tokio::test]
async fn events_outside_of_calls_go_nowhere() {
    let server = server();
    let _installed = install(&[&server]);
    let mut peer = Peer::new(&server, Revision::LATEST);
    peer.log_level = Some(LoggingLevel::Debug);
    peer.ask(bowline_types::method::Method::ToolsList, json!({})).await.unwrap();
    error!("outside of any call");
    assert!(heard(&peer).is_empty());
}
