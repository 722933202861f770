//! A strict peer accepts expected messages, and fails on all others.

use bowline_testing::StrictPeer;

fn pair() -> (StrictPeer, StrictPeer) {
    let (near, far) = tokio::io::duplex(64);
    (StrictPeer::new(near), StrictPeer::new(far))
}

/// The message of a panic in a task; empty if there is none.
async fn panic_message(work: impl Future<Output = ()> + Send + 'static) -> String {
    match tokio::spawn(work).await {
        Ok(()) => String::new(),
        Err(error) => match error.into_panic().downcast::<String>() {
            Ok(text) => *text,
            Err(_) => "a panic without a text".to_owned(),
        },
    }
}

#[tokio::test(start_paused = true)]
async fn expected_messages_are_accepted() {
    let (mut client, mut server) = pair();
    server.send(r#"{"id":1,"state":"x"}"#).await;
    server.send(r#"{"id":2,"state":"x"}"#).await;
    client.expect(r#"{"id":@any,"state":@state}"#).await;
    client.expect(r#"{"id":2,"state":@state}"#).await;
    client.expect_silence().await;
    server.close().await;
    client.expect_end().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_differs_fails() {
    let (mut client, mut server) = pair();
    server.send(r#"{"id":1}"#).await;
    let message = panic_message(async move { client.expect(r#"{"id":2}"#).await }).await;
    assert!(
        message.contains(r#"expected {"id":2}"#) && message.contains(r#"got {"id":1}"#),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_never_comes_fails_after_30_virtual_seconds() {
    let (mut client, _server) = pair();
    let message = panic_message(async move { client.expect("{}").await }).await;
    assert!(message.contains("nothing for 30s"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_the_stream_fails() {
    let (mut client, server) = pair();
    drop(server);
    let message = panic_message(async move { client.expect("{}").await }).await;
    assert!(message.contains("closed the stream"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_unexpected_message_fails() {
    let (mut client, mut server) = pair();
    server.send("{}").await;
    let message = panic_message(async move { client.expect_silence().await }).await;
    assert!(message.contains("unexpected message: {}"), "{message}");

    let (client, mut server) = pair();
    server.send("{}").await;
    let message = panic_message(async move { client.expect_end().await }).await;
    assert!(message.contains("unexpected message: {}"), "{message}");
}
