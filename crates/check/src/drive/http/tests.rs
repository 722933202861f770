//! Servers that send too much, or name places that are none of the check's business.

use bowline_types::revision::Revision;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::past::Carrier;

/// Sends one POST to a server that answers with this head and body, and then says no more.
async fn sent_to(head: &'static str, body: Vec<u8>) -> Posts {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(head.as_bytes()).await;
            // The client may have gone by now.
            let _ = stream.write_all(&body).await;
        }
    });
    let mut posts = Posts::new(&url, &[]).unwrap();
    let mut watch = Watch::new(Carrier::Http, Revision::LATEST);
    let outgoing = Outgoing { verb: Verb::POST, body: "{}".to_owned(), headers: Vec::new() };
    let end = Instant::now() + Duration::from_secs(20);
    posts.send(&mut watch, outgoing, end, |_| false).await;
    serving.abort();
    posts
}

#[tokio::test]
async fn a_document_at_a_foreign_origin_is_reported_and_not_fetched() {
    let head = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\
        WWW-Authenticate: Bearer resource_metadata=\"http://192.0.2.1/doc\"\r\n\r\n";
    let posts = sent_to(head, Vec::new()).await;
    assert!(posts.demands_login());
    assert_eq!(posts.unfetched.iter().collect::<Vec<_>>(), ["http://192.0.2.1/doc"]);
}

#[tokio::test]
async fn a_stream_that_is_too_long_ends_the_session() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let mut body = b": ".to_vec();
    body.resize(LONGEST / 2, b'x');
    body.extend_from_slice(b"\n\n");
    let fits = sent_to(head, body.clone()).await;
    assert!(fits.gone.is_none(), "{:?}", fits.gone);
    let long = sent_to(head, body.repeat(3)).await;
    let reason = long.gone.map(|gone| gone.reason);
    assert_eq!(reason.as_deref(), Some("a stream has more than 16777216 bytes"));
}

#[test]
fn only_the_origin_of_the_server_is_near() {
    let server = Address::parse("https://mcp.example/mcp").unwrap();
    for near in ["https://mcp.example/x?y#z", "HTTPS://MCP.example:443/x"] {
        assert!(is_near(near, &server), "{near}");
    }
    for far in [
        "http://mcp.example/x",
        "https://mcp.example:444/x",
        "https://mcp.example.evil/x",
        "https://mcp.example@evil/x",
        "http://169.254.169.254/latest",
        "http://127.0.0.1/x",
        "http://localhost/x",
        "file:///etc/passwd",
        "/x",
    ] {
        assert!(!is_near(far, &server), "{far}");
    }
}

#[test]
fn a_server_of_this_machine_may_name_others_of_this_machine() {
    let server = Address::parse("http://127.0.0.1:1/mcp").unwrap();
    for near in ["http://127.0.0.1:2/x", "http://[::1]:2/x", "http://localhost/x"] {
        assert!(is_near(near, &server), "{near}");
    }
    assert!(!is_near("http://10.0.0.1/x", &server));
}
