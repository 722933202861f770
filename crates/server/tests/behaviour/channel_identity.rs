//! What a transport says about the client of its channel, and what that client may do.

use bowline_proto::request::{Access, Owner, Peer};
use bowline_server::{Context, Server, Tool};
use bowline_transport::lines::Lines;
use bowline_transport::transport::PeerIdentity;
use bowline_types::error::code;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};

use crate::wire::modern;

/// Two byte streams, as a program makes them of a connection of its own.
type Streams = Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// What a client gets that calls a tool which needs the scope `admin`.
async fn purge(channel: impl FnOnce(Streams) -> Streams) -> Value {
    let tool = Tool::new("purge", || async { "gone" }).require_scope("admin");
    call_over(&Server::new("scoped", "1").tool(tool), channel).await
}

/// What a client gets that calls the tool `purge` of a server over such a channel.
async fn call_over(server: &Server, channel: impl FnOnce(Streams) -> Streams) -> Value {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (source, sink) = tokio::io::split(theirs);
    tokio::spawn(server.serve(channel(Lines::new(source, sink))));
    let (source, mut sink) = tokio::io::split(ours);
    let call = modern(1, "tools/call", json!({ "name": "purge" }));
    sink.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    BufReader::new(source).read_line(&mut answer).await.unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[tokio::test]
async fn a_client_of_a_transport_that_proves_nothing_cannot_call_what_needs_a_scope() {
    let answer = purge(|channel| channel).await;
    assert_eq!(answer["error"]["code"], code::INSUFFICIENT_SCOPE, "{answer}");
}

#[tokio::test]
async fn a_transport_says_which_scopes_its_client_has() {
    for (scope, is_granted) in [("admin", true), ("mcp", false)] {
        let mut client = PeerIdentity::anonymous();
        client.access = Access::to([scope]);
        let answer = purge(|channel| channel.with_peer_identity(client)).await;
        assert_eq!(answer["result"]["content"][0]["text"] == "gone", is_granted, "{answer}");
    }
}

#[tokio::test]
async fn handlers_see_who_a_transport_says_that_its_client_is() {
    let describe = |context: Context| async move {
        let peer = context.extension::<Peer>().map(|Peer(address)| address.to_string());
        format!("{:?} {peer:?}", context.owner().identity())
    };
    let mut client = PeerIdentity::anonymous();
    client.owner = Owner::known("https://ca.example", "robot");
    client.peer = Some(Peer([192, 0, 2, 1].into()));
    let server = Server::new("scoped", "1").tool(Tool::new("purge", describe));
    let answer = call_over(&server, |channel| channel.with_peer_identity(client)).await;
    let expected = r#"Some(("https://ca.example", "robot")) Some("192.0.2.1")"#;
    assert_eq!(answer["result"]["content"][0]["text"], expected, "{answer}");
}
