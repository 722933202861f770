//! Request smuggling: a request whose end a proxy and this server could see in different places never
//! lets a second one through.
//!
//! Each attack writes one request of its own and hides another one behind it or inside its body. A
//! lenient reader would serve the hidden one. This server refuses the first one with 400 and closes the
//! connection, so that whatever follows is no request either.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline::{Server, Tool};
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::test_server::{Handlers, TestServer, call, within};
use crate::wire::{Request, Wire};

/// Where the hidden request stands in what follows the head.
enum Hidden {
    /// Behind an empty chunked body.
    BehindLastChunk,
    /// Behind a chunked body whose only chunk is written like this, up to its data.
    BehindChunk(&'static str),
    /// Inside a chunk. `Content-Length` ends in the line of its size.
    InChunk,
    /// Behind five bytes.
    BehindFive,
    /// Right behind the head.
    BehindHead,
}
use Hidden::{BehindChunk, BehindFive, BehindHead, BehindLastChunk, InChunk};

/// The line of the request, its header lines beside the usual ones, and where the hidden request
/// stands.
type Attack = (&'static str, &'static str, Hidden);

const POST: &str = "POST /mcp HTTP/1.1";

/// `LENGTH` stands for the length of all that follows the head.
const ATTACKS: &[Attack] = &[
    // Two lengths at once (RFC 9112, 6.3).
    (POST, "Content-Length: LENGTH\r\nTransfer-Encoding: chunked", BehindLastChunk),
    (POST, "Transfer-Encoding: chunked\r\nContent-Length: LENGTH", BehindLastChunk),
    (POST, "Content-Length: 5\r\nTransfer-Encoding: chunked", InChunk),
    (POST, "Transfer-Encoding: chunked\r\nContent-Length: 5", InChunk),
    (POST, "Content-Length: 5\r\nContent-Length: LENGTH", BehindFive),
    (POST, "Content-Length: LENGTH\r\nContent-Length: 5", BehindFive),
    (POST, "Content-Length: 5, LENGTH", BehindFive),
    // Lengths that are no numbers.
    (POST, "Content-Length: +5", BehindFive),
    (POST, "Content-Length: -5", BehindFive),
    (POST, "Content-Length: 0x5", BehindFive),
    (POST, "Content-Length: 5 5", BehindFive),
    (POST, "Content-Length: ", BehindFive),
    (POST, "Content-Length: 18446744073709551621", BehindFive),
    // Codings that a proxy may not know, or may take for `chunked`.
    (POST, "Transfer-Encoding: xchunked", BehindLastChunk),
    (POST, "Transfer-Encoding: chunked, identity", BehindLastChunk),
    (POST, "Transfer-Encoding: \"chunked\"", BehindLastChunk),
    (POST, "Transfer-Encoding: chunked;a=b", BehindLastChunk),
    (POST, "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", BehindLastChunk),
    (POST, "Transfer-Encoding:\u{b}chunked", BehindLastChunk),
    ("POST /mcp HTTP/1.0", "Transfer-Encoding: chunked", BehindLastChunk),
    // Header lines that some readers take for another header, or for none.
    (POST, "Content-Length : 5", BehindFive),
    (POST, "Transfer-Encoding : chunked", BehindLastChunk),
    (POST, "X: y\r\n Transfer-Encoding: chunked", BehindLastChunk),
    (POST, "X: y\rTransfer-Encoding: chunked", BehindLastChunk),
    (POST, "X: y\0\r\nContent-Length: 5", BehindFive),
    // Chunks whose size or end is not written as it must be (RFC 9112, 7.1).
    (POST, "Transfer-Encoding: chunked", BehindChunk("0x5\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("+5\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("-5\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("5\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("10000000000000005\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("5;a=b\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("4\r\n")),
    (POST, "Transfer-Encoding: chunked", BehindChunk("6\r\n")),
    // No length at all: there is no body, so the hidden request would be the next one.
    ("POST /mcp", "", BehindHead),
    ("POST  /mcp HTTP/1.1", "", BehindHead),
    ("POST /mcp HTTP/1.1 HTTP/1.1", "", BehindHead),
    ("POST /mcp HTTP/9.9", "", BehindHead),
];

/// All that an attack writes.
fn bytes((line, headers, place): &Attack, hidden: &[u8]) -> Vec<u8> {
    let after = match place {
        BehindLastChunk => [b"0\r\n\r\n", hidden].concat(),
        BehindChunk(size) => [size.as_bytes(), b"12345\r\n0\r\n\r\n", hidden].concat(),
        InChunk => {
            let size = format!("{:03x}\r\n", hidden.len());
            [size.as_bytes(), hidden, b"\r\n0\r\n\r\n"].concat()
        }
        BehindFive => [b"12345", hidden].concat(),
        BehindHead => hidden.to_vec(),
    };
    let headers = headers.replace("LENGTH", &after.len().to_string());
    let usual = "Host: localhost\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream";
    let head =
        format!("{line}\r\n{usual}\r\n{headers}\r\n\r\n").replace("\r\n\r\n\r\n", "\r\n\r\n");
    [head.into_bytes(), after].concat()
}

/// A server with a tool that counts its calls.
async fn counting() -> (TestServer, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        async { "served" }
    };
    let server = Server::new("counting", "1").tool(Tool::new("count", count));
    (TestServer::of((server, Handlers::new()), |http| http).await, calls)
}

/// The statuses of all answers, up to the end of the connection.
async fn statuses(wire: &mut Wire) -> Vec<u16> {
    let mut text = Vec::new();
    // A reset after the answer is an end, too.
    let _ = within(wire.stream.read_to_end(&mut text)).await;
    let text = String::from_utf8_lossy(&text).into_owned();
    let answers = text.split("HTTP/1.1 ").skip(1);
    answers.map(|answer| answer[..3].parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_smuggled_behind_an_ambiguous_one() {
    let (server, calls) = counting().await;
    let hidden = call("count", json!({})).bytes();
    let mut failures = Vec::new();
    for attack in ATTACKS {
        let mut wire = Wire::open(server.address).await;
        wire.write(&bytes(attack, &hidden)).await;
        let found = statuses(&mut wire).await;
        let served = calls.swap(0, Ordering::Relaxed);
        if (found.as_slice(), served) != (&[400], 0) {
            let (line, headers, ..) = attack;
            failures.push(format!("{line} {headers:?}: {found:?}, {served} served"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

// What the attacks hide is a request that would be served: this is what they try to achieve.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_behind_one_with_a_clear_end_is_served() {
    let (server, calls) = counting().await;
    let hidden = call("count", json!({})).bytes();
    let first = Request::post("12345").bytes();
    let mut wire = Wire::open(server.address).await;
    wire.write(&[first, hidden].concat()).await;
    assert_eq!(within(wire.answer()).await.status(), 400);
    assert_eq!(within(wire.answer()).await.status(), 200);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}
