//! Extensions that a program registers on both sides.

use std::sync::{Arc, Mutex};

use bowline::client::{ClientBuilder, ServerExtension};
use bowline::{
    Client, ClientExtension, Command, Context, Extension, Json, Params, Result, Server, State,
};
use bowline_testing::Harness;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};

const SEARCH: &str = "com.example/search";
const FOUND: &str = "notifications/search/found";

#[derive(Serialize, Deserialize)]
struct Query {
    text: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Hits {
    titles: Vec<String>,
}

async fn run(Params(query): Params<Query>, context: Context) -> Result<Json<Hits>> {
    context.notify(SEARCH, FOUND, &json!({ "title": query.text })).await?;
    context.notify("com.example/other", "notifications/other", &["no object"]).await.unwrap_err();
    context.notify("com.example/other", "notifications/other", &()).await?;
    Ok(Json(Hits { titles: vec![query.text] }))
}

fn library() -> Server {
    let settings = json!({ "languages": ["en"] });
    let search = Extension::new(SEARCH).settings(&settings).method("search/run", run);
    Server::new("library", "1.0.0").extension(search)
}

/// What the client was notified of.
type Found = Arc<Mutex<Vec<String>>>;

fn declaring(found: &Found) -> impl FnOnce(ClientBuilder) -> ClientBuilder + use<> {
    let found = found.clone();
    let search = ClientExtension::new(SEARCH).on_notification(FOUND, move |params: Value| {
        found.lock().unwrap().push(params["title"].as_str().unwrap_or("?").to_owned());
    });
    |client| client.extension(search)
}

async fn search(search: &ServerExtension) -> bowline::client::Result<Hits> {
    search.request("search/run", &Query { text: "knots".to_owned() }).await
}

// spec: EXT-6, EXT-7
#[bowline::test(every_revision)]
async fn both_sides_declare_an_extension_and_use_its_methods(t: Harness) {
    let found = Found::default();
    let client = t.connect(library()).client(declaring(&found)).await;
    let extension = client.extension(SEARCH);
    assert!(extension.is_supported());
    assert_eq!(extension.settings(), Some(json!({ "languages": ["en"] })));
    assert_eq!(search(&extension).await.unwrap(), Hits { titles: vec!["knots".to_owned()] });
    assert_eq!(*found.lock().unwrap(), ["knots"]);
    let refused: bowline::client::Result<Hits> = extension.request("search/run", &()).await;
    assert!(refused.unwrap_err().to_string().contains("text"));
}

// spec: EXT-4, EXT-7, XN-2
#[bowline::test(every_revision)]
async fn a_client_calls_nothing_of_an_extension_that_one_side_lacks(t: Harness) {
    let bare = t.connect(library()).await;
    let error = search(&bare.extension(SEARCH)).await.unwrap_err().to_string();
    let expected = "it was not sent: this client does not declare `com.example/search`; \
                    add it with `ClientBuilder::extension`";
    assert!(error.ends_with(expected), "{error}");
    assert!(!bare.extension(SEARCH).is_supported());
    let without = Server::new("library", "1.0.0");
    let client = t.connect(without).client(declaring(&Found::default())).await;
    let error = search(&client.extension(SEARCH)).await.unwrap_err();
    assert!(error.is_not_offered(), "{error}");
    let text = error.to_string();
    assert!(text.ends_with("does not offer the extension `com.example/search`"), "{text}");
}

#[bowline::test(every_revision)]
async fn a_client_declares_its_experimental_capabilities(t: Harness) {
    async fn declared(context: Context) -> Result<String> {
        let experimental = &context.capabilities().experimental;
        let settings = experimental.get("diff").ok_or("the client declares no `diff`")?;
        Ok(settings.as_str().to_owned())
    }
    let server = Server::new("a", "1").tool(bowline::Tool::new("declared", declared));
    let declare = |client: ClientBuilder| client.experimental("diff", &json!({ "context": 3 }));
    let client = t.connect(server).client(declare).await;
    let text = client.call("declared", ()).await.unwrap().text();
    assert_eq!(text, r#"{"context":3}"#);
}

#[bowline::test(every_revision)]
async fn a_notification_of_a_client_runs_its_handler(t: Harness) {
    async fn hear(Params(query): Params<Query>, State(heard): State<UnboundedSender<String>>) {
        heard.send(query.text).unwrap();
    }
    let (sender, mut heard) = mpsc::unbounded_channel::<String>();
    let extension = Extension::new(SEARCH).notification("notifications/search/typed", hear);
    let server = Server::new("library", "1.0.0").extension(extension).state(sender);
    let client = t.connect(server).client(declaring(&Found::default())).await;
    let extension = client.extension(SEARCH);
    extension.notify("notifications/search/typed", &json!({ "text": 1 })).unwrap();
    extension.notify("notifications/search/typed", &json!({ "text": "rope" })).unwrap();
    assert_eq!(heard.recv().await.as_deref(), Some("rope"));
    let error = extension.notify("notifications/search/typed", &[1]).unwrap_err().to_string();
    assert!(error.contains("the params are no JSON object, but `[1]`"), "{error}");
}

/// Notifies the caller, and passes on what became of it.
async fn notify_back(context: Context, State(outcomes): State<UnboundedSender<String>>) {
    let found = json!({ "title": "rope", "_meta": { "com.example/shelf": 3 } });
    let sent = context.notify(SEARCH, FOUND, &found).await;
    outcomes.send(sent.err().map_or_else(|| "sent".to_owned(), |error| error.to_string())).unwrap();
}

/// A client that has `SEARCH`, and what it is notified of.
fn hearing() -> (impl FnOnce(ClientBuilder) -> ClientBuilder, mpsc::UnboundedReceiver<Value>) {
    let (sender, heard) = mpsc::unbounded_channel();
    let search = ClientExtension::new(SEARCH)
        .on_notification(FOUND, move |params: Value| sender.send(params).unwrap());
    (|client: ClientBuilder| client.extension(search), heard)
}

#[bowline::test(every_revision)]
async fn a_handler_of_notifications_notifies_the_session_of_its_client(t: Harness) {
    let (sender, mut outcomes) = mpsc::unbounded_channel::<String>();
    let typed = "notifications/search/asked";
    let extension = Extension::new(SEARCH).notification(typed, notify_back);
    let server = Server::new("library", "1.0.0").extension(extension).state(sender);
    let (hearing, mut heard) = hearing();
    let client = t.connect(server).client(hearing).await;
    client.extension(SEARCH).notify(typed, &()).unwrap();
    let outcome = outcomes.recv().await.unwrap();
    if t.revision().has_sessions() {
        assert_eq!(outcome, "sent");
        assert_eq!(heard.recv().await.unwrap()["title"], "rope");
    } else {
        assert!(outcome.contains("handle a request instead (`Extension::method`)"), "{outcome}");
    }
}

// spec: TASK-40
#[bowline::test(every_revision)]
async fn a_task_notifies_the_session_of_its_client(t: Harness) {
    let (sender, mut outcomes) = mpsc::unbounded_channel::<String>();
    let tool = bowline::Tool::new("search", notify_back).task(bowline::TaskSupport::Optional);
    let search = Extension::new(SEARCH);
    let server = Server::new("library", "1.0.0").extension(search).tool(tool).state(sender);
    let (hearing, mut heard) = hearing();
    let client = t.connect(server).client(hearing).await;
    client.tools().all().await.unwrap();
    let task = client.call("search", ()).task().await.unwrap();
    let outcome = outcomes.recv().await.unwrap();
    if t.revision().has_sessions() {
        assert_eq!(outcome, "sent");
        let mut expected = json!({ "title": "rope", "_meta": { "com.example/shelf": 3 } });
        if let Some(id) = task.id() {
            expected["_meta"]["io.modelcontextprotocol/related-task"] = json!({ "taskId": id });
        }
        assert_eq!(heard.recv().await.unwrap(), expected);
    } else {
        assert!(outcome.contains("put it into the result, or report it as progress"), "{outcome}");
    }
}

#[tokio::test]
async fn mistakes_of_a_client_are_found_when_it_connects() {
    let new = || ClientExtension::new(SEARCH);
    let nothing = |_: Value| {};
    let twice = |name: &str| ClientExtension::new(name).on_notification(FOUND, nothing);
    let mistakes = [
        (vec![ClientExtension::new("search")], "it has no prefix"),
        (vec![new().settings(&[1])], "its settings are no JSON object"),
        (vec![new().on_notification("notifications/progress", nothing)], "the specification has"),
        (vec![new(), new()], "the extension was added twice"),
        (vec![twice(SEARCH), twice("com.example/x")], "another extension takes `notifications/se"),
    ];
    for (extensions, expected) in mistakes {
        let builder = Client::builder("a", "1");
        let builder = extensions.into_iter().fold(builder, ClientBuilder::extension);
        let error = builder.connect(Command::new("never-started")).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

// spec: EXT-5
#[test]
fn the_manual_lists_the_extensions_that_come_with_the_library() {
    let chapter = include_str!("../../../crates/bowline/src/manual/_27_extensions.md");
    for name in ["tasks", "skills", "oauth-client-credentials", "enterprise-managed-authorization"]
    {
        let identifier = format!("`io.modelcontextprotocol/{name}`");
        assert!(chapter.contains(&identifier), "{identifier}");
    }
}
