//! Our client calls servers of other SDKs over stdio and over HTTP, in every revision that they
//! speak.
//!
//! The servers of `tests/peers` offer the same tools, resources and prompts, whatever their SDK and
//! language, so that one scenario fits all. `LACKS` in `peer.rs` lists what an SDK cannot do.

mod asking;
mod changes;
mod connected_client;
mod everything;
mod logging;
mod peer;
mod prompts;
mod resources;
mod tools;

use bowline_types::revision::Revision;

use crate::connected_client::ConnectedClient;
use crate::peer::{Over, Peer};

// spec: LIFE-2, LIFE-4, LIFE-13
#[tokio::test]
async fn typescript_v1_serves_everything_in_every_handshake_revision() {
    visit(Peer::TypescriptV1, Over::Stdio).await;
}

// spec: ERA-3, ERA-4, LIFE-2, LIFE-4, LIFE-13
#[tokio::test]
async fn typescript_v2_serves_everything_in_every_revision() {
    visit(Peer::TypescriptV2, Over::Stdio).await;
}

// spec: ERA-3, ERA-4, LIFE-2, LIFE-4, LIFE-13
#[tokio::test]
async fn python_serves_everything_in_every_revision() {
    visit(Peer::Python, Over::Stdio).await;
}

// spec: ERA-3, ERA-4, LIFE-2, LIFE-4, LIFE-13
#[tokio::test]
async fn fastmcp_serves_everything_in_every_revision() {
    visit(Peer::Fastmcp, Over::Stdio).await;
}

// spec: HTTP-3, HTTP-4, HTTP-14, HTTP-15, HTTP-28
#[tokio::test]
async fn typescript_v1_serves_everything_over_http_in_every_handshake_revision() {
    visit(Peer::TypescriptV1, Over::Http).await;
}

// spec: HTTP-3, HTTP-4, HTTP-14, HTTP-15
#[tokio::test]
async fn typescript_v2_serves_everything_over_http_in_every_revision() {
    visit(Peer::TypescriptV2, Over::Http).await;
}

#[tokio::test]
async fn python_serves_everything_over_http_in_every_revision() {
    visit(Peer::Python, Over::Http).await;
}

#[tokio::test]
async fn fastmcp_serves_everything_over_http_in_every_revision() {
    visit(Peer::Fastmcp, Over::Http).await;
}

/// Plays the whole scenario, one connection per revision.
async fn visit(peer: Peer, over: Over) {
    for revision in peer.revisions() {
        // Shown only if the test fails, to show where it stopped.
        eprintln!("{peer:?} in {revision} over {over:?}");
        let connected = ConnectedClient::open(peer, *revision, over).await;
        introduction(&connected).await;
        tools::check(&connected).await;
        logging::check(&connected).await;
        resources::check(&connected).await;
        prompts::check(&connected).await;
        asking::check(&connected).await;
        changes::check(&connected).await;
        connected.close().await;
    }
}

/// Checks the description of the server, and a ping.
async fn introduction(connected: &ConnectedClient) {
    let client = &connected.client;
    assert_eq!(client.revision(), connected.revision);
    let info = client.server_info().expect("a server says who it is");
    assert_eq!((info.name.as_str(), info.version.as_str()), (connected.peer.name(), "1.0.0"));
    assert_eq!(client.instructions(), Some("A peer for interoperability tests."));
    let offers = client.capabilities();
    assert!(offers.supports_tools() && offers.supports_resources() && offers.supports_prompts());
    client.ping().await.unwrap();
}

// spec: ERA-3, ERA-4, ERA-5, ERA-6
#[tokio::test]
async fn the_client_finds_the_newest_revision_that_both_sides_speak() {
    for peer in Peer::ALL {
        for over in [Over::Stdio, Over::Http] {
            let (client, _server) =
                connected_client::connect(connected_client::builder(Revision::ALL), peer, over)
                    .await;
            assert_eq!(Some(&client.revision()), peer.revisions().last(), "{peer:?}");
            client.close().await;
        }
    }
}
