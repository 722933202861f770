//! Log messages: each caller gets those of its calls, at the level that it asked for. All in
//! virtual time.

use bowline::client::ClientBuilder;
use bowline::{Log, Server, tool, tools};
use bowline_types::deprecated::logging::LoggingLevel;

use crate::support::{ALL, Heard, L, M, cells, parked};

/// Deploy the site
#[tool]
fn deploy(log: Log) -> &'static str {
    log.debug("looking");
    log.info("building");
    log.error("one link is dead");
    "deployed"
}

fn server() -> Server {
    Server::new("deployer", "1.0.0").tools(tools![deploy])
}

fn hearing(builder: ClientBuilder, level: LoggingLevel, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.on_log(level, move |message| {
        heard.note(message.data.parse::<String>().unwrap());
    })
}

// spec: LOG-19
#[tokio::test(start_paused = true)]
async fn a_caller_gets_the_log_messages_of_its_call_at_its_level() {
    for cell in cells(&ALL) {
        for (level, expected) in [
            (LoggingLevel::Debug, &["looking", "building", "one link is dead"][..]),
            (LoggingLevel::Error, &["one link is dead"]),
        ] {
            let heard = Heard::default();
            let client = cell.through(&server(), |builder| hearing(builder, level, &heard)).await;
            // The level of a session reaches the server behind by a message of its own.
            settle().await;
            client.call("deploy", ()).await.unwrap();
            settle().await;
            assert_eq!(heard.all(), expected, "{cell:?} {level}");
        }
    }
}

// spec: LOG-20
#[tokio::test(start_paused = true)]
async fn a_caller_without_a_session_gets_no_log_messages_of_others() {
    for cell in cells(&[(M, L), (M, M)]) {
        let relay = parked(cell.relay(&server()).await);
        let (own, others) = (Heard::default(), Heard::default());
        let level = LoggingLevel::Debug;
        let first = cell.caller(relay.clone(), |builder| hearing(builder, level, &own)).await;
        let second = cell.caller(relay, |builder| hearing(builder, level, &others)).await;
        first.call("deploy", ()).await.unwrap();
        second.tools().all().await.unwrap();
        settle().await;
        assert_eq!(own.all().len(), 3, "{cell:?}");
        assert!(others.all().is_empty(), "{cell:?}: {:?}", others.all());
    }
}

/// On a channel that names no call, all sessions of the relay get the messages of their level.
#[tokio::test(start_paused = true)]
async fn sessions_share_the_log_messages_that_name_no_call() {
    for cell in cells(&[(L, L)]).filter(|cell| !cell.http.1) {
        let relay = parked(cell.relay(&server()).await);
        let (verbose, quiet) = (Heard::default(), Heard::default());
        let first =
            cell.caller(relay.clone(), |it| hearing(it, LoggingLevel::Debug, &verbose)).await;
        let second = cell.caller(relay, |it| hearing(it, LoggingLevel::Error, &quiet)).await;
        settle().await;
        second.call("deploy", ()).await.unwrap();
        settle().await;
        assert_eq!(verbose.all().len(), 3, "{cell:?}");
        assert_eq!(quiet.all(), ["one link is dead"], "{cell:?}");
        drop(first);
    }
}

/// A server that mounts a relay passes on what belongs to no call.
#[tokio::test(start_paused = true)]
async fn a_session_gets_the_log_messages_of_a_mounted_relay() {
    for cell in cells(&[(L, L)]).filter(|cell| !cell.http.1) {
        let heard = Heard::default();
        let hub = Server::new("hub", "1.0.0").mount("far", cell.relay(&server()).await);
        let hub = hub.build().unwrap();
        let client = cell.caller(hub, |it| hearing(it, LoggingLevel::Debug, &heard)).await;
        settle().await;
        client.call("far__deploy", ()).await.unwrap();
        settle().await;
        assert_eq!(heard.all(), ["looking", "building", "one link is dead"], "{cell:?}");
    }
}

/// Lets messages arrive that belong to no call.
async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
}
