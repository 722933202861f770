//! Servers that go away while they are checked.

use bowline_check::drive::{CheckOptions, CheckedServer, Spoken, check};
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Reads a request, and answers it as a server of 2024-11-05 over HTTP that offers nothing.
async fn answer(stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).await.unwrap() > 2 {
        let header = line.to_ascii_lowercase();
        length = header
            .strip_prefix("content-length:")
            .map_or(length, |value| value.trim().parse().unwrap());
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let body = match (message.get("id"), message["method"].as_str()) {
        (Some(id), Some("initialize")) => {
            let result = json!({
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "serverInfo": {"name": "mayfly", "version": "1"},
            });
            json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
        }
        (Some(id), _) => json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string(),
        (None, _) => String::new(),
    };
    let status = if body.is_empty() { "202 Accepted" } else { "200 OK" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
}

/// The address of a server that answers this many requests, and then listens no more.
async fn mortal(requests: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for _ in 0..requests {
            answer(listener.accept().await.unwrap().0).await;
        }
    });
    url
}

#[tokio::test]
async fn a_revision_after_the_end_of_a_server_counts_as_not_checked_and_not_as_not_spoken() {
    // The handshake and a ping; then no step, session or revision finds the server.
    let server = CheckedServer::Url { url: mortal(3).await, headers: Vec::new() };
    let mut options = CheckOptions::default();
    options.revisions = vec![Revision::V2024_11_05, Revision::V2025_11_25];
    let report = check(&server, &options, |_| {}).await.unwrap();
    assert_eq!(report.revisions, [(Revision::V2024_11_05, Spoken::Yes)]);
    let ends = report.early_ends.iter().map(|end| (end.revision, end.step.as_str()));
    let expected = [
        (Revision::V2024_11_05, "asks for lists that are not declared"),
        (Revision::V2024_11_05, "opens a session for what servers refuse"),
        (Revision::V2025_11_25, "opens a session"),
    ];
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends, expected, "{:?}", report.early_ends);
}
