//! A strict client takes what it expects, and fails on everything else.

use bowline_testing::Strict;

fn pair() -> (Strict, Strict) {
    let (near, far) = tokio::io::duplex(64);
    (Strict::new(near), Strict::new(far))
}

/// What a panic in a task says; nothing if there is none.
async fn complaint(work: impl Future<Output = ()> + Send + 'static) -> String {
    match tokio::spawn(work).await {
        Ok(()) => String::new(),
        Err(error) => match error.into_panic().downcast::<String>() {
            Ok(text) => *text,
            Err(_) => "something else".to_owned(),
        },
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_expected_is_taken() {
    let (mut client, mut server) = pair();
    server.send(r#"{"id":1,"state":"x"}"#).await;
    server.send(r#"{"id":2,"state":"x"}"#).await;
    client.expect(r#"{"id":@any,"state":@state}"#).await;
    client.expect(r#"{"id":2,"state":@state}"#).await;
    client.expect_silence().await;
    server.end().await;
    client.expect_end().await;
}

#[tokio::test(start_paused = true)]
async fn another_message_fails() {
    let (mut client, mut server) = pair();
    server.send(r#"{"id":1}"#).await;
    let said = complaint(async move { client.expect(r#"{"id":2}"#).await }).await;
    assert!(said.contains(r#"expected {"id":2}"#) && said.contains(r#"got {"id":1}"#), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_never_comes_fails_in_no_time() {
    let (mut client, _server) = pair();
    let said = complaint(async move { client.expect("{}").await }).await;
    assert!(said.contains("nothing for 30s"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_gone_fails() {
    let (mut client, server) = pair();
    drop(server);
    let said = complaint(async move { client.expect("{}").await }).await;
    assert!(said.contains("nothing more"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_message_too_many_fails() {
    let (mut client, mut server) = pair();
    server.send("{}").await;
    let said = complaint(async move { client.expect_silence().await }).await;
    assert!(said.contains("nobody expected: {}"), "{said}");

    let (client, mut server) = pair();
    server.send("{}").await;
    let said = complaint(async move { client.expect_end().await }).await;
    assert!(said.contains("nobody expected: {}"), "{said}");
}
