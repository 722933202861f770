//! Resources: listed, read, and missing in every revision.

use bowline_client::types::resource::ResourceBody;
use bowline_client::types::revision::Revision;
use bowline_client::{Client, Error};
use serde_json::{Value, json};

use crate::peer::{Peer, both, both_with, builder, legacy_with, modern_with};

fn resources() -> Value {
    json!({ "resources": {} })
}

/// Reads a resource; the server answers with this.
async fn read(client: &Client, peer: &mut Peer, contents: Value) -> bowline_client::Contents {
    let serve = async {
        let request = peer.request("resources/read").await;
        assert_eq!(request.params["uri"], "a:/1");
        let result = json!({ "resultType": "complete", "contents": contents, "_meta": { "k": 1 } });
        peer.answer(&request, &result.to_string()).await;
    };
    let (outcome, ()) = tokio::join!(client.read("a:/1").into_future(), serve);
    outcome.unwrap()
}

/// Reads a resource; the server answers with this error.
async fn refused(client: &Client, peer: &mut Peer, error: &Value) -> Error {
    let serve = async {
        let id = peer.request("resources/read").await.id;
        peer.send_json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
    };
    let (outcome, ()) = tokio::join!(client.read("a:/1").into_future(), serve);
    outcome.unwrap_err()
}

// spec: PAGE-5
#[tokio::test(start_paused = true)]
async fn resources_and_templates_are_lists() {
    for (client, mut peer) in both_with(builder(), &resources()).await {
        let serve = async {
            let request = peer.request("resources/list").await;
            let page = r#"{"resources":[{"uri":"a:/1","name":"one","size":3}],"nextCursor":"2"}"#;
            peer.answer(&request, page).await;
            let request = peer.request("resources/list").await;
            assert_eq!(request.params["cursor"], "2");
            let page = r#"{"resources":[{"uri":"a:/2","name":"two","mimeType":"text/plain"}]}"#;
            peer.answer(&request, page).await;
            let request = peer.request("resources/templates/list").await;
            let page = r#"{"resourceTemplates":[{"uriTemplate":"a:/{n}","name":"any"}]}"#;
            peer.answer(&request, page).await;
        };
        let lists = async {
            let resources = client.resources().all().await.unwrap();
            (resources, client.resource_templates().all().await.unwrap())
        };
        let ((resources, templates), ()) = tokio::join!(lists, serve);
        let uris: Vec<_> = resources.iter().map(|it| (it.uri.as_str(), it.size)).collect();
        assert_eq!(uris, [("a:/1", Some(3)), ("a:/2", None)]);
        assert_eq!(templates[0].template().unwrap().as_str(), "a:/{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn contents_are_text_or_bytes_or_several_of_either() {
    for (client, mut peer) in both_with(builder(), &resources()).await {
        let text = json!([{ "uri": "a:/1", "mimeType": "text/plain", "text": "hello" }]);
        let contents = read(&client, &mut peer, text).await;
        assert_eq!(contents.text(), "hello");
        assert_eq!(contents.to_bytes().unwrap(), b"hello");
        assert_eq!(contents.iter().next().unwrap().mime_type.as_deref(), Some("text/plain"));
        assert_eq!(contents.meta().parse::<u8>("k"), Some(1));

        let blob = json!([{ "uri": "a:/1", "blob": "AAEC" }]);
        let contents = read(&client, &mut peer, blob).await;
        assert_eq!(contents.text(), "");
        assert_eq!(contents.to_bytes().unwrap(), [0, 1, 2]);

        let several = json!([
            { "uri": "a:/1/x", "text": "x" },
            { "uri": "a:/1/y", "blob": "eQ==" },
            { "uri": "a:/1/z", "text": "z" },
        ]);
        let contents = read(&client, &mut peer, several).await;
        assert_eq!(contents.text(), "x\nz");
        let uris: Vec<_> = contents.iter().map(|it| it.uri.as_str()).collect();
        assert_eq!(uris, ["a:/1/x", "a:/1/y", "a:/1/z"]);
        let bodies = contents.into_iter().filter(|it| matches!(it.body, ResourceBody::Text(_)));
        assert_eq!(bodies.count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_base64_is_an_error() {
    let (client, mut peer) = modern_with(builder(), &resources()).await;
    let blob = json!([{ "uri": "a:/1", "blob": "?!" }]);
    let contents = read(&client, &mut peer, blob).await;
    assert!(contents.to_bytes().unwrap_err().to_string().starts_with("not base64: "));
}

#[tokio::test(start_paused = true)]
async fn contents_that_are_neither_text_nor_bytes_are_an_invalid_answer() {
    for (client, mut peer) in both_with(builder(), &resources()).await {
        let serve = async {
            let request = peer.request("resources/read").await;
            peer.answer(&request, r#"{"contents":[{"uri":"a:/1"}]}"#).await;
        };
        let (outcome, ()) = tokio::join!(client.read("a:/1").into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_invalid_answer());
        let expected = "calling `a:/1`: the server's answer is invalid: `result.contents[0]`: contents of \
                        `a:/1` hold neither `text` nor `blob`";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

// spec: RSRC-20
#[tokio::test(start_paused = true)]
async fn a_missing_resource_is_recognized_in_every_revision() {
    let uri = json!({ "uri": "a:/1" });
    for (client, mut peer) in both_with(builder(), &resources()).await {
        for (error, not_found) in [
            (json!({ "code": -32002, "message": "Resource not found", "data": uri }), true),
            (json!({ "code": -32002, "message": "Resource not found" }), true),
            (json!({ "code": -32602, "message": "no such resource", "data": uri }), true),
            (json!({ "code": -32602, "message": "`uri`: no URI" }), false),
            (json!({ "code": -32602, "message": "?", "data": { "uri": 1 } }), false),
            (json!({ "code": -32603, "message": "disk", "data": uri }), false),
        ] {
            let told = refused(&client, &mut peer, &error).await;
            assert_eq!(told.is_not_found(), not_found, "{error}");
            assert!(told.is_refused());
        }
    }
}

// spec: MRTR-26
#[tokio::test(start_paused = true)]
async fn reading_may_ask_the_user_first() {
    let builder = builder().on_ask(|question| async move { question.accept(true) });
    let (client, mut peer) = modern_with(builder, &resources()).await;
    let question = json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": "Sure?", "requestedSchema": {
            "type": "object", "properties": { "sure": { "type": "boolean" } },
        } },
    });
    let serve = async {
        let request = peer.request("resources/read").await;
        let required =
            json!({ "resultType": "input_required", "inputRequests": { "q": question } });
        peer.answer(&request, &required.to_string()).await;
        let request = peer.request("resources/read").await;
        assert_eq!(request.params["uri"], "a:/1");
        assert_eq!(request.params["inputResponses"]["q"]["action"], "accept");
        let result = r#"{"resultType":"complete","contents":[{"uri":"a:/1","text":"secret"}]}"#;
        peer.answer(&request, result).await;
    };
    let (outcome, ()) = tokio::join!(client.read("a:/1").into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "secret");
}

// spec: CAP-2
#[tokio::test(start_paused = true)]
async fn a_server_without_resources_is_not_asked_for_any() {
    for (client, mut peer) in both(builder()).await {
        let error = client.read("a:/1").await.unwrap_err();
        assert!(error.is_not_offered());
        let expected = "calling `a:/1`: `resources/read` was not sent: \
                        the server does not offer the capability `resources`";
        assert_eq!(error.to_string(), expected);
        assert!(client.resources().all().await.unwrap_err().is_not_offered());
        assert!(client.resource_templates().all().await.unwrap_err().is_not_offered());
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_revision_reads_resources() {
    for revision in Revision::ALL.iter().filter(|it| !it.is_modern()) {
        let (client, mut peer) = legacy_with(builder(), *revision, &resources()).await;
        let contents = json!([{ "uri": "a:/1", "text": revision.as_str() }]);
        assert_eq!(read(&client, &mut peer, contents).await.text(), revision.as_str());
    }
}
