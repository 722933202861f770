//! `#[resource]` and `resources!`: what clients see of a function, and what reaches it.

use std::time::Duration;

use bowline::{
    Claims, Context, Json, Server, State, Typed, Uri, resource, resources, starting_with,
};
use bowline_proto::upstream::Upstream as _;
use serde_json::{Value, json};

use crate::support::answer;

/// How the application
/// is configured
#[resource("config://app", title = "Settings", mime = "text/x-ini", size = 14, private)]
async fn config() -> &'static str {
    "log_level=info"
}

/// What is known of a user
#[resource("users://{user_id}/profile{?lang}", name = "user", ttl = Duration::from_secs(60))]
async fn profile(
    State(greeting): State<&'static str>,
    #[arg(rename = "user_id", range = ..100, complete = ids)] id: u64,
    #[arg(default = "en")] lang: String,
) -> Option<Json<Value>> {
    (id != 41).then(|| Json(json!({ "name": "Ada", "greeting": greeting, "lang": lang })))
}

async fn ids(typed: Typed) -> Vec<String> {
    starting_with(typed, ["1", "2", "42"])
}

#[resource("wiki://{+page}")]
fn page(uri: Uri, context: Context) -> String {
    format!("{uri} is {}", context.name())
}

fn server() -> Server {
    Server::new("test", "1").state("hi").resources(resources![config, profile, page])
}

async fn ask(method: &str, params: Value) -> Value {
    let mut answer = answer(server(), method, params).await;
    let result = answer["result"].take();
    if result.is_null() { answer } else { result }
}

async fn read(uri: &str) -> Value {
    ask("resources/read", json!({ "uri": uri })).await
}

#[tokio::test]
async fn the_function_stays_a_function() {
    assert_eq!(config().await, "log_level=info");
}

#[tokio::test]
async fn a_resource_is_described_by_its_function() {
    let listed = ask("resources/list", json!({})).await["resources"].take();
    let expected = json!([{
        "uri": "config://app",
        "name": "config",
        "title": "Settings",
        "description": "How the application is configured",
        "mimeType": "text/x-ini",
        "size": 14,
    }]);
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_uri_with_variables_is_a_template() {
    let listed = ask("resources/templates/list", json!({})).await["resourceTemplates"].take();
    let expected = json!([
        {
            "uriTemplate": "users://{user_id}/profile{?lang}",
            "name": "user",
            "description": "What is known of a user",
            "mimeType": "application/json",
        },
        { "uriTemplate": "wiki://{+page}", "name": "page", "mimeType": "text/plain" },
    ]);
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn contents_come_from_the_function() {
    let result = read("config://app").await;
    let expected = json!([
        { "uri": "config://app", "mimeType": "text/x-ini", "text": "log_level=info" },
    ]);
    assert_eq!(result["contents"], expected);
    assert_eq!(result["cacheScope"], "private");
}

#[tokio::test]
async fn variables_are_read_as_their_types() {
    let result = read("users://42/profile").await;
    let text = result["contents"][0]["text"].as_str().unwrap();
    let profile: Value = serde_json::from_str(text).unwrap();
    assert_eq!(profile, json!({ "name": "Ada", "greeting": "hi", "lang": "en" }));
    assert_eq!(result["ttlMs"], 60_000);
    let result = read("users://42/profile?lang=de").await;
    assert!(result["contents"][0]["text"].as_str().unwrap().contains(r#""lang":"de""#));
}

#[tokio::test]
async fn what_does_not_fit_does_not_exist() {
    for uri in ["users://41/profile", "users://ada/profile", "users://100/profile"] {
        let answer = read(uri).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn the_uri_is_there_to_be_taken() {
    let result = read("wiki://rivers/rhine").await;
    let text = &result["contents"][0]["text"];
    assert_eq!(text, "wiki://rivers/rhine is wiki://rivers/rhine");
}

#[tokio::test]
async fn variables_are_completed() {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "users://{user_id}/profile{?lang}" },
        "argument": { "name": "user_id", "value": "4" },
    });
    let result = ask("completion/complete", params).await;
    assert_eq!(result["completion"]["values"], json!(["42"]));
}

#[test]
fn there_may_be_none() {
    assert_eq!(resources![].len(), 0);
}

#[resource("plans://{day}", step_up_scope = "plan")]
async fn plan(_caller: Option<Claims>, day: String) -> String {
    day
}

#[test]
fn scopes_of_a_resource() {
    let server = Server::new("test", "1").resources(resources![plan]);
    let needs = server.build().unwrap().needs_authorization();
    assert_eq!(needs.unwrap(), "resource template `plans://{day}` needs scopes");
}
