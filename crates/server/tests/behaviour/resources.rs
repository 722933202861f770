//! Resources at fixed URIs: their contents, their definitions, and unknown ones.

use bowline_server::layer::{self, Next};
use bowline_server::{Ask, Error, Json, Resource, Result, Server, Uri};
use bowline_types::content::{Annotations, Role};
use bowline_types::implementation::Icon;
use bowline_types::method::Method;
use bowline_types::resource::ResourceContents;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer, accept};

fn one(resource: Resource) -> Server {
    Server::new("library", "1").resource(resource)
}

/// The contents of a resource that a handler reads.
async fn contents(resource: Resource) -> Value {
    Peer::new(&one(resource), Revision::LATEST).read("a://b").await.unwrap()
}

// spec: RSRC-11, RSRC-25
#[tokio::test]
async fn what_a_handler_returns_is_text_or_bytes_with_a_media_type() {
    let text = |text: &str, mime: &str| json!([{ "uri": "a://b", "mimeType": mime, "text": text }]);
    let bytes = json!([{ "uri": "a://b", "mimeType": "application/octet-stream", "blob": "AP8=" }]);
    let resource = Resource::new("a://b", || async { "plain" });
    assert_eq!(contents(resource).await, text("plain", "text/plain"));
    let resource = Resource::new("a://b", || async { String::from("# title") });
    assert_eq!(contents(resource.mime("text/markdown")).await, text("# title", "text/markdown"));
    let resource = Resource::new("a://b", || async { Json(json!({ "a": 1 })) });
    assert_eq!(contents(resource).await, text(r#"{"a":1}"#, "application/json"));
    assert_eq!(contents(Resource::new("a://b", || async { vec![0, 255_u8] })).await, bytes);
    let shared = || async { Bytes::from_static(&[0, 255]) };
    assert_eq!(contents(Resource::new("a://b", shared)).await, bytes);
    let picture = Resource::new("a://b", || async { b"\0\xff".as_slice() }).mime("image/png");
    assert_eq!(contents(picture).await[0]["mimeType"], "image/png");
}

// spec: RSRC-12
#[tokio::test]
async fn a_collection_is_read_as_several_items() {
    let directory = |Uri(uri): Uri| async move {
        vec![
            ResourceContents::text(format!("{uri}/one"), "1").with_mime_type("text/markdown"),
            ResourceContents::blob(format!("{uri}/two"), &[2]),
        ]
    };
    let expected = json!([
        { "uri": "a://b/one", "mimeType": "text/markdown", "text": "1" },
        { "uri": "a://b/two", "blob": "Ag==" },
    ]);
    assert_eq!(contents(Resource::new("a://b", directory)).await, expected);
}

// spec: RSRC-18, RSRC-19, RSRC-21, ERR-11
#[tokio::test]
async fn what_is_not_there_has_the_code_of_the_revision() {
    let server = one(Resource::new("a://none", || async { None::<String> }))
        .resource(Resource::new("a://gone", || async { Err::<String, _>(Error::not_found()) }))
        .resource(Resource::new("a://void", || async { Vec::<ResourceContents>::new() }));
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        let code = if revision.has_resource_not_found_code() { -32002 } else { -32602 };
        for uri in ["a://none", "a://gone", "a://void", "a://unknown"] {
            let error = peer.read(uri).await.unwrap_err();
            assert_eq!(error.code, code);
            assert_eq!(error.message, format!("no resource has the URI `{uri}`"));
            assert_eq!(error.data.unwrap().as_str(), format!(r#"{{"uri":"{uri}"}}"#));
        }
    }
}

// spec: RSRC-22, ERR-5
#[tokio::test]
async fn a_resource_that_cannot_be_read_is_an_internal_error() {
    let fail = || async { std::fs::read_to_string("/no/such/file").map(Some) };
    let panic = || async { panic!("secret") as String };
    let refuse = || async { Err::<String, _>(Error::rpc(-32000, "closed today")) };
    let server = one(Resource::new("a://fails", fail))
        .resource(Resource::new("a://panics", panic))
        .resource(Resource::new("a://refuses", refuse));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let error = peer.read("a://fails").await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(error.message.starts_with("No such file"), "{error}");
        let error = peer.read("a://panics").await.unwrap_err();
        let expected = "the resource `a://panics` panicked";
        assert_eq!((error.code, error.message.as_str()), (-32603, expected));
        let error = peer.read("a://refuses").await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32000, "closed today"));
    }
}

// spec: RSRC-23, ERR-4
#[tokio::test]
async fn a_uri_that_is_none_is_an_error_of_the_request() {
    let server = one(Resource::new("a://b", || async { "b" }));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (params, expected) in [
            (json!({}), "`params.uri`: missing"),
            (json!({ "uri": null }), "`params.uri`: missing"),
            (json!({ "uri": 1 }), "`params.uri`: expected a string, found the number 1"),
            (json!({ "uri": "b" }), "`params.uri`: it does not begin with a scheme"),
            (json!({ "uri": "a://b\u{7}" }), "`params.uri`: it holds a control character"),
            (json!({ "uri": "a://%b" }), "`params.uri`: `%` is not followed"),
            (
                json!({ "uri": format!("a://{}", "b".repeat(9000)) }),
                "`params.uri`: it is longer than",
            ),
        ] {
            let error = peer.ask(Method::ResourcesRead, params).await.unwrap_err();
            assert_eq!(error.code, -32602);
            assert!(error.message.starts_with(expected), "{error}");
        }
    }
}

fn adorned() -> Resource {
    Resource::new("a://b", || async { "b" })
        .name("b")
        .title("B")
        .describe("The second letter")
        .size(1)
        .annotate(Annotations::new().with_audience(Role::User).with_priority(0.5))
        .icon(Icon::new("https://example.com/b.png"))
        .meta("com.example/shelf", &7)
}

// spec: RSRC-10, RSRC-13
#[tokio::test]
async fn clients_see_the_definition_of_a_resource() {
    let list = |revision| {
        let peer = Peer::new(&one(adorned()), revision);
        async move { peer.ask(Method::ResourcesList, json!({})).await.unwrap() }
    };
    let mut expected = json!({
        "uri": "a://b", "name": "b", "title": "B", "description": "The second letter",
        "mimeType": "text/plain", "size": 1,
        "annotations": { "audience": ["user"], "priority": 0.5 },
        "icons": [{ "src": "https://example.com/b.png" }], "_meta": { "com.example/shelf": 7 },
    });
    assert_eq!(list(Revision::LATEST).await, json!({ "resources": [expected] }));
    for newer in ["title", "icons", "_meta"] {
        expected.as_object_mut().unwrap().remove(newer);
    }
    assert_eq!(list(Revision::V2024_11_05).await, json!({ "resources": [expected] }));
}

// spec: RSRC-10
#[tokio::test]
async fn a_resource_without_a_name_is_named_after_its_uri() {
    let peer = Peer::new(&one(Resource::new("a://b", || async { "b" })), Revision::LATEST);
    let list = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
    assert_eq!(list["resources"][0]["name"], "a://b");
}

fn guarded() -> Server {
    let read = |Uri(uri): Uri, ask: Ask| async move {
        let sure = ask.confirm(format!("Show {uri}?")).await?;
        Ok::<_, Error>(sure.then_some("the secret"))
    };
    one(Resource::new("a://one", read)).resource(Resource::new("a://two", read))
}

#[tokio::test]
async fn reading_may_ask_the_user_in_a_session() {
    let peer = Peer::with_forms(&guarded(), Revision::LATEST_LEGACY);
    peer.inbox.answer(Ok(accept(&json!({ "confirm": true }))));
    assert_eq!(peer.read_text("a://one").await, "the secret");
    peer.inbox.answer(Ok(json!({ "action": "decline" })));
    assert_eq!(peer.read("a://one").await.unwrap_err().code, -32002);
    peer.inbox.answer(Ok(json!({ "action": "cancel" })));
    let error = peer.read("a://one").await.unwrap_err();
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("closed the question"), "{error}");
}

// spec: RSRC-28, MRTR-2, MRTR-15
#[tokio::test]
async fn reading_may_ask_the_user_in_rounds_of_the_same_uri() {
    let peer = Peer::with_forms(&guarded(), Revision::LATEST);
    let read = async |uri: &str, responses, state: Option<&str>| {
        peer.round_of(Method::ResourcesRead, &json!({ "uri": uri }), responses, state).await
    };
    let (questions, state) = read("a://one", json!({}), None).await.asks();
    assert_eq!(questions, [("q1".to_owned(), "Show a://one?".to_owned())]);
    let yes = json!({ "q1": accept(&json!({ "confirm": true })) });
    let error = read("a://two", yes.clone(), Some(&state)).await.error();
    assert_eq!(error.code, -32602);
    assert!(error.message.starts_with("`requestState` is not one"), "{error}");
    let done = read("a://one", yes, Some(&state)).await.done();
    assert_eq!(done["contents"][0]["text"], "the secret");
}

// spec: ERR-3, RSRC-1
#[tokio::test]
async fn a_server_without_resources_knows_no_methods_for_them() {
    let server = Server::new("empty", "1");
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for method in [
            Method::ResourcesList,
            Method::ResourcesTemplatesList,
            Method::ResourcesRead,
            Method::ResourcesSubscribe,
        ] {
            let error = peer.ask(method, json!({ "uri": "a://b" })).await.unwrap_err();
            assert_eq!(error.code, -32601, "{method}");
        }
    }
}

// spec: RSRC-2, RSRC-3, TOOL-41
#[tokio::test]
async fn a_server_may_have_no_resources_yet() {
    let server = Server::new("empty", "1").resources([]);
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let list = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
        assert_eq!(list, json!({ "resources": [] }));
        let list = peer.ask(Method::ResourcesTemplatesList, json!({})).await.unwrap();
        assert_eq!(list, json!({ "resourceTemplates": [] }));
        let discovered = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
        assert!(discovered["capabilities"]["resources"].is_object(), "{discovered}");
    }
}

#[tokio::test]
async fn a_layer_is_put_around_one_resource() {
    let close = |_, _: Next| async { Err(bowline_types::error::ErrorObject::internal("closed")) };
    let pass = |request, next: Next| next.run(request);
    let server = one(Resource::new("a://closed", || async { "a" }).layer(layer::from_fn(close)))
        .resource(Resource::new("a://open", || async { "open" }).layer(layer::from_fn(pass)));
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.read("a://closed").await.unwrap_err().message, "closed");
    assert_eq!(peer.read_text("a://open").await, "open");
}

// spec: RSRC-17
#[test]
fn what_is_wrong_with_a_resource_is_found_before_it_is_served() {
    async fn text() -> Result<String> {
        Ok("a".to_owned())
    }
    let problem = |resource: Resource| one(resource).build().unwrap_err().to_string();
    let error = problem(Resource::new("config", text));
    assert!(error.starts_with("resource `config` cannot be offered: it does not begin"), "{error}");
    let error = problem(Resource::new("a://b c", text));
    assert!(error.contains("' ' cannot stand in a URI"), "{error}");
    let twin = || Resource::new("a://b", text);
    let error = one(twin()).resource(twin()).build().unwrap_err();
    assert!(error.is_duplicate());
    assert_eq!(error.to_string(), "two resources have the URI `a://b`");
    let needs = |bowline_server::State(number): bowline_server::State<u8>| async move {
        number.to_string()
    };
    let error = one(Resource::new("a://b", needs)).build().unwrap_err();
    assert!(error.is_missing_state());
    assert!(error.to_string().starts_with("resource `a://b` needs `State<u8>`"), "{error}");
    let error = problem(twin().complete("b", |_| async { [""] }));
    assert_eq!(error, "resource `a://b` completes `b`, but takes nothing");
}

#[test]
fn what_only_resources_have_is_refused_elsewhere() {
    let tool = bowline_server::Tool::new("a", |Uri(uri): Uri| async move { uri });
    let error = Server::new("odd", "1").tool(tool).build().unwrap_err().to_string();
    assert_eq!(error, "tool `a` takes `Uri`, which only a resource has");
}

#[test]
fn a_uri_with_braces_is_refused_with_the_name_of_the_right_constructor() {
    let resource = Resource::new("users://{id}", || async { "a" });
    let error = Server::new("users", "1").resource(resource).build().unwrap_err().to_string();
    assert!(error.contains("use `Resource::template(..)`"), "{error}");
}
