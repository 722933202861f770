//! A server in a child process of the client, in every revision.
//!
//! Servers of the other modules run in the process of their test, which shares state with them and
//! advances virtual time for both sides. Neither works across processes, so this is not a case of
//! the harness, and time is real.

use bowline::{Client, Command};
use bowline_types::revision::Revision;
use serde_json::json;

async fn start(revision: Revision) -> Client {
    let client = Client::builder("matrix", "1.0.0")
        .revisions([revision])
        .on_ask(|question| async move { question.accept("Ada") });
    client.connect(Command::new(env!("CARGO_BIN_EXE_echo")).arg("stdio")).await.unwrap()
}

#[tokio::test]
async fn a_child_process_exits_with_its_client() {
    for revision in Revision::ALL {
        let client = start(revision).await;
        assert_eq!(client.revision(), revision);
        let echoed = client.call("echo", json!({ "message": "hello" })).await.unwrap();
        assert_eq!(echoed.text(), "hello");
        client.close().await;
        assert!(client.is_closed());
    }
}

#[tokio::test]
async fn a_child_process_asks_the_user() {
    for revision in Revision::ALL {
        let client = start(revision).await;
        let greeted = client.call("greet", ()).await.unwrap();
        assert_eq!(greeted.is_error(), !revision.has_elicitation());
        if revision.has_elicitation() {
            assert_eq!(greeted.text(), "Hello, Ada!");
        }
        client.close().await;
    }
}
