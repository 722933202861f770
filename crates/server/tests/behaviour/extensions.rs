//! Extensions that a program registers: declared, gated, served like tools.

use bowline_proto::request::{Access, Owner, Request, Response};
use bowline_server::layer::{self, Next, Timeout};
use bowline_server::{
    Args, Ask, Context, Error, Extension, Json, Params, Result, Server, State, Tool,
};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::{ErrorObject, code};
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

const SEARCH: &str = "com.example/search";

#[derive(Deserialize, schemars::JsonSchema)]
struct Query {
    text: String,
}

#[derive(Serialize)]
struct Hits {
    titles: Vec<String>,
}

async fn run(Params(query): Params<Query>) -> Json<Hits> {
    Json(Hits { titles: vec![query.text] })
}

fn search() -> Extension {
    Extension::new(SEARCH).method("search/run", run)
}

fn server() -> Server {
    Server::new("library", "1").extension(search())
}

/// A client that declares these extensions.
fn with(server: &Server, revision: Revision, identifiers: &[&str]) -> Peer {
    let mut can = ClientCapabilities::new();
    for identifier in identifiers {
        can.extensions.insert(identifier, Object::default()).unwrap();
    }
    Peer::able(server, revision, can)
}

fn method(name: &str) -> Method {
    Method::named(name).unwrap()
}

async fn call(peer: &Peer, name: &str, params: Value) -> std::result::Result<Value, ErrorObject> {
    let success = peer.send(peer.request(method(name), &params)).await?;
    Ok(serde_json::from_str(success.body().as_str()).unwrap())
}

async fn declared(server: &Server, revision: Revision) -> Value {
    let peer = with(server, revision, &[]);
    call(&peer, "server/discover", json!({})).await.unwrap()["capabilities"].clone()
}

fn build_error(server: &Server) -> String {
    server.build().unwrap_err().to_string()
}

// spec: EXT-4, EXT-6
#[tokio::test]
async fn a_server_declares_the_extensions_that_its_program_turned_on() {
    let bare = Server::new("library", "1").tool(Tool::new("a", || async {}));
    assert_eq!(declared(&bare, Revision::LATEST).await.get("extensions"), None);
    let settings = json!({ "languages": ["en"] });
    let server = server().extension(Extension::new("org.example/x").settings(&settings));
    let expected = json!({ SEARCH: {}, "org.example/x": settings });
    for revision in EVERY {
        assert_eq!(declared(&server, revision).await["extensions"], expected, "{revision}");
    }
}

#[tokio::test]
async fn a_server_declares_its_experimental_capabilities() {
    let server = Server::new("files", "1").experimental("diff", &json!({ "context": 3 }));
    let expected = json!({ "experimental": { "diff": { "context": 3 } } });
    for revision in EVERY {
        assert_eq!(declared(&server, revision).await, expected);
    }
    let wrong = Server::new("files", "1").experimental("diff", &3);
    assert!(build_error(&wrong).contains("`diff` has settings that are no JSON object, but `3`"));
}

#[tokio::test]
async fn a_method_gets_typed_params_and_gives_a_typed_result() {
    for revision in EVERY {
        let peer = with(&server(), revision, &[SEARCH]);
        let hits = call(&peer, "search/run", json!({ "text": "knots" })).await.unwrap();
        assert_eq!(hits, json!({ "titles": ["knots"] }));
        let error = call(&peer, "search/run", json!({ "text": 1 })).await.unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(error.message.contains("text"), "{error}");
    }
}

// spec: EXT-7, XN-2
#[tokio::test]
async fn a_client_that_did_not_declare_the_extension_is_refused() {
    let server = server();
    for declared in [&[][..], &["com.example/other"]] {
        let modern = with(&server, Revision::LATEST, declared);
        let error = call(&modern, "search/run", json!({ "text": "a" })).await.unwrap_err();
        assert_eq!(error.code, code::MISSING_CLIENT_CAPABILITY);
        assert!(error.message.contains(SEARCH), "{error}");
        let data: Value = serde_json::from_str(error.data.unwrap().as_str()).unwrap();
        assert_eq!(data, json!({ "requiredCapabilities": { "extensions": { SEARCH: {} } } }));
        let legacy = with(&server, Revision::LATEST_LEGACY, declared);
        let error = call(&legacy, "search/run", json!({ "text": "a" })).await.unwrap_err();
        assert_eq!(error.code, code::METHOD_NOT_FOUND);
        assert!(error.message.contains(SEARCH), "{error}");
    }
}

// spec: XN-2
#[tokio::test]
async fn a_server_without_the_extension_does_not_have_its_methods() {
    drop(search());
    let others = Extension::new("com.example/other").method("other/run", || async {});
    for server in [Server::new("a", "1"), Server::new("a", "1").extension(others)] {
        for revision in BOTH {
            let peer = with(&server, revision, &[SEARCH]);
            let error = call(&peer, "search/run", json!({})).await.unwrap_err();
            assert_eq!(error.code, code::METHOD_NOT_FOUND);
        }
    }
}

#[tokio::test]
async fn methods_take_what_tools_take() {
    async fn who(State(greeting): State<&'static str>, context: Context) -> Result<Json<Value>> {
        let (_, subject) = context.owner().identity().ok_or("no owner")?;
        Ok(Json(json!({ "text": format!("{greeting} {subject}"), "name": context.name() })))
    }
    let extension = Extension::new("com.example/who").method("who/am-i", who);
    let server = Server::new("a", "1").extension(extension);
    assert!(build_error(&server).contains("method `who/am-i` needs `State<&str>`"));
    let server = server.state("hello");
    for revision in BOTH {
        let mut peer = with(&server, revision, &["com.example/who"]);
        peer.owner = Owner::known("issuer", "ann");
        let answer = call(&peer, "who/am-i", json!({})).await.unwrap();
        assert_eq!(answer, json!({ "text": "hello ann", "name": "who/am-i" }));
        peer.owner = Owner::anonymous();
        let error = call(&peer, "who/am-i", json!({})).await.unwrap_err();
        assert_eq!((error.code, &*error.message), (code::INTERNAL_ERROR, "no owner"));
    }
}

#[tokio::test]
async fn scopes_layers_and_limits_hold_for_methods() {
    async fn refuse(request: Request, next: Next) -> Response {
        match request.params.value("text") {
            Some("\"secret\"") => Err(ErrorObject::invalid_params("refused by a layer")),
            _ => next.run(request).await,
        }
    }
    let extension = search()
        .require_scope("search")
        .method("search/wait", std::future::pending::<()>)
        .layer(layer::from_fn(refuse))
        .layer(Timeout::new(std::time::Duration::from_secs(1)));
    let server = Server::new("a", "1").extension(extension);
    tokio::time::pause();
    for revision in BOTH {
        let mut peer = with(&server, revision, &[SEARCH]);
        let error = call(&peer, "search/run", json!({ "text": "secret" })).await.unwrap_err();
        assert_eq!(error.message, "refused by a layer");
        assert!(call(&peer, "search/run", json!({ "text": "a" })).await.is_ok());
        let error = call(&peer, "search/wait", json!({})).await.unwrap_err();
        let expected = "`search/wait` took longer than 1s and was ended";
        assert_eq!((error.code, &*error.message), (code::INTERNAL_ERROR, expected));
        peer.access = Access::none();
        let error = call(&peer, "search/run", json!({ "text": "secret" })).await.unwrap_err();
        assert!(error.message.contains("method `search/run` needs the scope `search`"), "{error}");
    }
}

#[tokio::test]
async fn a_panic_in_a_method_is_an_error_of_that_call_only() {
    async fn panics() -> Json<u8> {
        panic!("secret")
    }
    let extension =
        search().method("search/panic", panics).method("search/one", || async { Json(1) });
    let peer = with(&Server::new("a", "1").extension(extension), Revision::LATEST, &[SEARCH]);
    let error = call(&peer, "search/panic", json!({})).await.unwrap_err();
    assert_eq!(error.message, "the method `search/panic` panicked");
    let error = call(&peer, "search/one", json!({})).await.unwrap_err();
    assert_eq!(error.message, "the method `search/one` gave a result that is no JSON object");
    assert!(call(&peer, "search/run", json!({ "text": "a" })).await.is_ok());
}

#[tokio::test]
async fn a_handler_refuses_with_an_error_of_its_own() {
    async fn full() -> Result<Json<Hits>> {
        Err(Error::rpc(-32001, "the index is full").with_data(&json!({ "size": 3 })))
    }
    let server = Server::new("a", "1").extension(search().method("search/add", full));
    let peer = with(&server, Revision::LATEST, &[SEARCH]);
    let error = call(&peer, "search/add", json!({})).await.unwrap_err();
    assert_eq!((error.code, &*error.message), (-32001, "the index is full"));
}

#[tokio::test]
async fn the_extension_of_a_mounted_server_is_declared_and_served() {
    let settings = json!({ "languages": ["en"] });
    let library = Server::new("library", "1").extension(search().settings(&settings));
    let other = Extension::new("org.example/x").method("x/run", || async { Json(json!({})) });
    let other = Server::new("other", "1").extension(other);
    let hub = Server::new("hub", "1").mount("other", other).mount("library", library);
    let hub = Server::new("outer", "1").mount("hub", hub).tool(Tool::new("a", || async {}));
    for revision in EVERY {
        let expected = json!({ SEARCH: settings, "org.example/x": {} });
        assert_eq!(declared(&hub, revision).await["extensions"], expected, "{revision}");
        let peer = with(&hub, revision, &[SEARCH]);
        let hits = call(&peer, "search/run", json!({ "text": "knots" })).await.unwrap();
        assert_eq!(hits, json!({ "titles": ["knots"] }));
    }
}

// spec: EXT-7
#[tokio::test]
async fn a_mounted_server_refuses_clients_that_did_not_declare_its_extension() {
    let hub = Server::new("hub", "1").mount("library", server());
    let modern = with(&hub, Revision::LATEST, &[]);
    let error = call(&modern, "search/run", json!({ "text": "a" })).await.unwrap_err();
    assert_eq!(error.code, code::MISSING_CLIENT_CAPABILITY);
    let legacy = with(&hub, Revision::LATEST_LEGACY, &[]);
    let error = call(&legacy, "search/run", json!({ "text": "a" })).await.unwrap_err();
    assert_eq!(error.code, code::METHOD_NOT_FOUND);
    assert!(error.message.contains(SEARCH), "{error}");
}

#[tokio::test]
async fn layers_of_a_mounted_server_wrap_its_extension() {
    let refuse = layer::from_fn(|_: Request, _: Next| async {
        Err::<_, ErrorObject>(ErrorObject::new(-32001, "closed"))
    });
    let hub = Server::new("hub", "1").mount("library", server().layer(refuse));
    let peer = with(&hub, Revision::LATEST, &[SEARCH]);
    let error = call(&peer, "search/run", json!({ "text": "a" })).await.unwrap_err();
    assert_eq!(error.message, "closed");
}

#[test]
fn two_servers_behind_one_cannot_have_the_same_extension() {
    let hub = Server::new("hub", "1").mount("a", server()).mount("b", server());
    let expected = "the server mounted as `a` and the server mounted as `b` both have the extension \
                    `com.example/search`; a client could not say whose method it calls";
    assert_eq!(build_error(&hub), expected);
    let hub = server().mount("b", server());
    assert!(build_error(&hub).starts_with("this server and the server mounted as `b` both have"));
}

// spec: EXT-1
#[test]
fn what_is_wrong_with_an_extension_is_found_when_the_server_is_built() {
    async fn asks(_: Ask) {}
    async fn args(_: Args<Query>) {}
    let new = || Extension::new("com.example/x");
    let nothing = || async {};
    let mistakes = [
        (Extension::new("search"), "extension `search`: it has no prefix"),
        (Extension::new("com.example/"), "extension `com.example/`: "),
        (Extension::new("io.modelcontextprotocol/tasks"), "as soon as a tool has `.task(..)`"),
        (new().settings(&[1]), "extension `com.example/x` has settings that are no JSON object"),
        (new().method("tools/call", nothing), "the specification has a method of this name"),
        (new().notification("notifications/progress", nothing), "the specification has a method"),
        (new().method("", nothing), "cannot have the method ``: it is empty"),
        (new().method("a b", nothing), "it has a character that is not visible ASCII, or a blank"),
        (new().method("x/a", nothing).method("x/a", nothing), "`com.example/x` has `x/a` twice"),
        (new().method("x/b", nothing).notification("x/b", nothing), "as a request and as a notif"),
        (new().method("x/c", asks), "takes `Ask` or `Elicited`, but only tools, prompts and"),
        (new().method("x/d", args), "takes `Args`; take `Params`, which needs no schema"),
        (new().require_scope("a\"b"), "names a scope with characters"),
    ];
    for (extension, expected) in mistakes {
        let error = build_error(&Server::new("a", "1").extension(extension));
        assert!(error.contains(expected), "{error}");
    }
    let params = Server::new("a", "1").tool(Tool::new("a", |_: Params<Query>| async {}));
    assert!(build_error(&params).contains("takes `Params`, which only a method or notification"));
}

#[test]
fn two_extensions_have_neither_one_identifier_nor_one_method() {
    let twice = server().extension(Extension::new(SEARCH)).build().unwrap_err();
    assert_eq!(twice.to_string(), "the extension `com.example/search` was added twice");
    assert!(twice.is_duplicate());
    let other = Extension::new("com.example/other").method("search/run", run);
    let error = server().extension(other).build().unwrap_err();
    let expected =
        "the extensions `com.example/search` and `com.example/other` both have `search/run`";
    assert_eq!(error.to_string(), expected);
    assert!(error.is_duplicate());
}
