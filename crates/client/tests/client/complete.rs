//! Completion of arguments, also with incomplete answers.

use bowline_client::types::completion::{Completion, Reference};
use bowline_client::types::revision::Revision;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::{both, both_with, builder, legacy_with, modern_with};

fn completions() -> Value {
    json!({ "completions": {}, "prompts": {} })
}

// spec: COMP-3, COMP-4
#[tokio::test(start_paused = true)]
async fn an_argument_is_completed_with_what_is_known_already() {
    for (client, mut peer) in both_with(builder(), &completions()).await {
        let calls = [
            (
                client
                    .complete(Reference::prompt("review"))
                    .argument("framework", "fla")
                    .context("language", "python")
                    .context("style", "brief"),
                json!({
                    "ref": { "type": "ref/prompt", "name": "review" },
                    "argument": { "name": "framework", "value": "fla" },
                    "context": { "arguments": { "language": "python", "style": "brief" } },
                }),
            ),
            (
                client.complete(Reference::resource("a:/{user}")).argument("user", ""),
                json!({
                    "ref": { "type": "ref/resource", "uri": "a:/{user}" },
                    "argument": { "name": "user", "value": "" },
                }),
            ),
        ];
        for (call, expected) in calls {
            let serve = async {
                let mut request = peer.request("completion/complete").await;
                request.params.as_object_mut().unwrap().remove("_meta");
                assert_eq!(request.params, expected);
                let completion = r#"{"values":["flask","flake"],"total":9,"hasMore":true}"#;
                peer.answer(&request, &format!(r#"{{"completion":{completion}}}"#)).await;
            };
            let (outcome, ()) = tokio::join!(call.into_future(), serve);
            let completion = outcome.unwrap();
            assert_eq!(completion.values(), ["flask", "flake"]);
            assert_eq!(completion.total(), Some(9));
            assert!(completion.has_more());
        }
    }
}

// spec: COMP-4
#[tokio::test(start_paused = true)]
async fn an_older_server_gets_no_completion_context() {
    for (revision, is_sent) in [(Revision::V2025_06_18, true), (Revision::V2025_03_26, false)] {
        let (client, mut peer) = legacy_with(builder(), revision, &completions()).await;
        let serve = async {
            let request = peer.request("completion/complete").await;
            assert_eq!(request.params.get("context").is_some(), is_sent, "{revision}");
            peer.answer(&request, r#"{"completion":{"values":[]}}"#).await;
        };
        let call = client.complete(Reference::prompt("p")).argument("a", "").context("b", "c");
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        outcome.unwrap();
    }
}

// spec: COMP-13
#[tokio::test(start_paused = true)]
async fn a_completion_without_values_is_empty() {
    for (client, mut peer) in both_with(builder(), &completions()).await {
        let few = Completion::new(["a"]);
        for (result, expected) in [
            (json!({}), Completion::default()),
            (json!({ "completion": null }), Completion::default()),
            (json!({ "completion": {} }), Completion::default()),
            (json!({ "completion": { "values": null, "total": 3 } }), Completion::default()),
            (json!({ "completion": { "values": ["a"], "total": null, "hasMore": null } }), few),
        ] {
            let serve = async {
                let request = peer.request("completion/complete").await;
                peer.answer(&request, &result.to_string()).await;
            };
            let call = client.complete(Reference::prompt("p")).argument("a", "");
            let (outcome, ()) = tokio::join!(call.into_future(), serve);
            assert_eq!(outcome.unwrap(), expected, "{result}");
        }
    }
}

// spec: COMP-13
#[tokio::test(start_paused = true)]
async fn too_many_values_are_cut_and_an_invalid_completion_is_an_error() {
    let (client, mut peer) = modern_with(builder(), &completions()).await;
    let serve = async {
        let request = peer.request("completion/complete").await;
        let result = json!({ "completion": { "values": vec!["x"; 150] } });
        peer.answer(&request, &result.to_string()).await;
        let request = peer.request("completion/complete").await;
        peer.answer(&request, r#"{"completion":{"values":[1]}}"#).await;
    };
    let calls = async {
        let call = client.complete(Reference::prompt("p")).argument("a", "");
        let completion = call.await.unwrap();
        assert_eq!(completion.values().len(), 100);
        assert!(completion.has_more());
        let error = client.complete(Reference::prompt("p")).argument("a", "").await.unwrap_err();
        assert!(error.is_invalid_answer(), "{error}");
    };
    tokio::join!(calls, serve);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_completion_cancels_it() {
    for (client, mut peer) in both_with(builder(), &completions()).await {
        let mut call = client.complete(Reference::prompt("p")).argument("a", "x").into_future();
        assert!(poll!(&mut call).is_pending());
        let request = peer.request("completion/complete").await;
        drop(call);
        let params = peer.notification("notifications/cancelled").await;
        assert_eq!(params["requestId"], request.id);
    }
}

// spec: CAP-2
#[tokio::test(start_paused = true)]
async fn a_server_that_completes_nothing_is_not_asked() {
    for (client, mut peer) in both(builder()).await {
        let error = client.complete(Reference::prompt("p")).argument("a", "").await.unwrap_err();
        assert!(error.is_not_offered());
        let expected = "calling `completion/complete`: `completion/complete` was not sent: \
                        the server does not offer the capability `completions`";
        assert_eq!(error.to_string(), expected);
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_revision_completes_without_declaring_it() {
    let (client, mut peer) =
        legacy_with(builder(), Revision::V2024_11_05, &json!({ "prompts": {} })).await;
    let serve = async {
        let request = peer.request("completion/complete").await;
        peer.answer(&request, r#"{"completion":{"values":["a"]}}"#).await;
    };
    let call = client.complete(Reference::prompt("p")).argument("a", "");
    let (outcome, ()) = tokio::join!(call.into_future(), serve);
    assert_eq!(outcome.unwrap().values(), ["a"]);
}
