//! Right after a handshake: calls wait until the client knows whether the server has a stream.

use std::time::Duration;

use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::raw::{Raw, WATCHED};
use crate::support::{done, opening, tool};

// spec: HTTP-38, HTTP-40
#[tokio::test(start_paused = true)]
async fn no_call_is_sent_before_the_server_has_answered_the_get() {
    for status in [405, 200, 500, 409, 401] {
        let (link, mut fake, _, get) = opening().await;
        let call = link.call(tool("echo"), None);
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(fake.is_idle(), "a call overtook the GET, which is answered {status}");
        let answered = Instant::now();
        let _stream = match status {
            200 => Some(get.events()),
            _ => {
                get.status(status);
                None
            }
        };
        fake.expect("tools/call").await.result(&done());
        call.await.unwrap();
        assert_eq!(answered.elapsed(), Duration::ZERO, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_drops_the_connection_of_the_get_is_called_all_the_same() {
    let (link, mut fake, _, get) = opening().await;
    let call = link.call(tool("echo"), None);
    let gone = Instant::now();
    drop(get);
    fake.expect("tools/call").await.result(&done());
    call.await.unwrap();
    assert_eq!(gone.elapsed(), Duration::ZERO);
    // The client asks for the stream again.
    fake.expect_get().await.status(405);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_holds_back_the_head_of_its_stream_delays_calls_for_three_seconds() {
    let (link, mut fake, user, get) = opening().await;
    let begun = Instant::now();
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.result(&done());
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    call.await.unwrap();
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.result(&done());
    call.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(3), "only the first calls are delayed");
    // The client still takes the stream.
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let events = get.events();
    events.message(&change);
    user.changed.notified().await;
}

// spec: HTTP-38, HTTP-41
#[tokio::test]
async fn a_question_right_after_connecting_finds_the_stream_of_the_server() {
    let raw = Raw::new().await;
    let (link, mut get) = raw.meet(Revision::V2025_11_25, raw.shake_hands()).await;
    let call = link.call(tool("ask"), None);
    // A server may throw away a question while there is no stream for it.
    assert!(timeout(WATCHED, raw.accept()).await.is_err(), "a call overtook the GET");
    get.begin_events().await;
    let mut post = raw.accept().await;
    let asked = post.request("tools/call").await;
    get.piece("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}\n\n").await;
    let mut other = raw.accept().await;
    let answer = other.next().await.json();
    assert_eq!((&answer["id"], &answer["result"]), (&json!("q"), &json!({})));
    other.write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
    post.answer(&asked, "", &done()).await;
    call.await.unwrap();
}
