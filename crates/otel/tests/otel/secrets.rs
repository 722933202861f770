//! Nothing that is secret is exported.

use std::sync::{Arc, Mutex};

use bowline::layer::{self, Next};
use bowline::{Ask, Client, Error, Json, Prompt, Resource, Server, Tool, Uri, tool, tools};
use bowline_proto::request::Request;
use bowline_testing::Harness;
use opentelemetry::trace::SpanKind;
use serde_json::json;

use crate::recorder::Recorder;
use crate::spans::list;

/// The secret that is looked for, in every place that could hold one.
const CANARY: &str = "canary4711";

/// Keep a secret
#[tool]
async fn keep(secret: String) -> Json<String> {
    Json(format!("kept {secret}"))
}

/// Fail with a secret
#[tool]
async fn fail(secret: String) -> Result<String, Error> {
    Err(format!("cannot keep {secret}").into())
}

/// Refuse with a secret
#[tool]
async fn refuse(secret: String) -> Result<String, Error> {
    Err(Error::rpc(-32_000, format!("cannot keep {secret}")))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wish {
    text: String,
}

/// Ask for a wish
#[tool]
async fn ask(ask: Ask) -> bowline::Result<String> {
    let Wish { text } = ask.form("Your wish?").await?;
    Ok(format!("got {text}"))
}

fn server() -> Server {
    let prompt = Prompt::new("greet", || async { format!("say {CANARY}") });
    let note = Resource::template("notes://{+rest}", |Uri(uri): Uri| async move { uri });
    let slow = Tool::new("slow", std::future::pending::<String>);
    let server = Server::new("keeper", "1.0.0").tools(tools![keep, fail, refuse, ask]);
    server.tool(slow).prompt(prompt).resource(note)
}

/// Calls everything with a secret in it.
async fn use_all(client: &Client) {
    list(client).await;
    let secret = json!({ "secret": CANARY });
    client.call("keep", &secret).meta("com.example/secret", CANARY).await.unwrap();
    client.call("fail", &secret).await.unwrap();
    client.call("refuse", &secret).await.unwrap_err();
    client.call(CANARY, &secret).await.unwrap_err();
    client.call("keep", json!({ "secret": [CANARY] })).await.ok();
    client.prompt("greet").await.unwrap();
    client.prompt(CANARY).argument("secret", CANARY).await.unwrap_err();
    client.read(format!("notes://{CANARY}:{CANARY}@a/b?c={CANARY}#{CANARY}")).await.unwrap();
    let slow = client.call("slow", ()).meta("com.example/secret", CANARY).into_future();
    assert!(tokio::time::timeout(std::time::Duration::from_secs(1), slow).await.is_err());
}

#[bowline::test(every_revision, stateless)]
async fn no_secret_is_exported(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(server())).client(|it| recorder.client(it)).await;
    use_all(&client).await;
    client.close().await;
    let exported = recorder.everything();
    assert!(exported.contains("tools/call keep"), "nothing was exported: {exported}");
    assert!(!exported.contains(CANARY), "{exported}");
}

#[bowline::test(every_revision)]
async fn no_answer_and_no_sealed_state_is_exported(t: Harness) {
    if !t.can_ask_user() {
        return;
    }
    let states = Arc::new(Mutex::new(Vec::new()));
    let record = states.clone();
    let watch = layer::from_fn(move |request: Request, next: Next| {
        let state = request.parts.input.as_ref().and_then(|input| input.state.clone());
        record.lock().unwrap().extend(state);
        next.run(request)
    });
    let recorder = Recorder::new();
    let server = recorder.server(server().layer(watch));
    let connect = t.connect(server).client(|it| recorder.client(it));
    let client = connect.answering(|question| question.accept(CANARY)).await;
    list(&client).await;
    let text = client.call("ask", ()).await.unwrap().text().to_string();
    assert!(text.contains(CANARY), "{text}");
    client.close().await;
    let exported = recorder.everything();
    assert!(exported.contains("tools/call ask") && !exported.contains(CANARY), "{exported}");
    let states = states.lock().unwrap();
    assert_eq!(states.is_empty(), !t.revision().has_input_requests());
    for state in states.iter() {
        assert!(!exported.contains(state.get(..16).unwrap()), "{exported}");
    }
}

#[bowline::test(every_revision)]
async fn no_credential_is_exported(t: Harness) {
    let recorder = Recorder::new();
    let endpoint = recorder.server(server()).http().sse2024().build().unwrap();
    let secret = http::HeaderValue::try_from(format!("Bearer {CANARY}")).unwrap();
    let near = bowline_testing::harness::connect_in_memory(endpoint, t.revision())
        .with_header(http::header::AUTHORIZATION, secret.clone())
        .with_header(http::HeaderName::from_static("x-api-key"), secret);
    let builder = recorder.client(Client::builder("test", "1.0.0"));
    let client = builder.revisions([t.revision()]).connect(near).await.unwrap();
    list(&client).await;
    client.call("keep", json!({ "secret": "none" })).await.unwrap();
    client.close().await;
    recorder.span(&SpanKind::Server, "tools/call keep");
    let exported = recorder.everything();
    assert!(!exported.contains(CANARY), "{exported}");
}
