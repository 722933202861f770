//! One request to a server, over a real connection.

use bowline::Server;
use bowline_transport::lines::Lines;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// What a server answers to one request.
pub(crate) async fn answer(server: Server, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (source, sink) = tokio::io::split(theirs);
    let client = async {
        let (source, mut sink) = tokio::io::split(ours);
        sink.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        BufReader::new(source).read_line(&mut answer).await.unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    tokio::select! {
        ended = server.serve(Lines::new(source, sink)) => panic!("the connection ended early: {ended:?}"),
        answer = client => answer,
    }
}

/// What a server answers to the call of a tool.
pub(crate) async fn call(server: Server, name: &str, arguments: Value) -> Value {
    answer(server, "tools/call", json!({ "name": name, "arguments": arguments })).await
}
