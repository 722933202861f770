//! Resources: by URI or by template, text or bytes, or not found.

use bowline::{Json, Resource, Server, resource, resources};
use bowline_testing::Harness;
use bowline_types::error::code;
use serde_json::{Value, json};

/// How the application is configured
#[resource("config://app", title = "Configuration")]
fn config() -> &'static str {
    "log_level=info"
}

/// A picture of one dot
#[resource("pictures://dot", mime = "image/png")]
fn dot() -> Vec<u8> {
    vec![0, 159, 146, 150]
}

/// What is known of a user
#[resource("users://{id}/profile")]
fn profile(id: u64) -> Option<Json<Value>> {
    (id == 42).then(|| Json(json!({ "name": "Ada" })))
}

fn library() -> Server {
    Server::new("library", "1.0.0").resources(resources![config, dot, profile])
}

// spec: RSRC-11, RSRC-25
#[bowline::test(every_revision, stateless)]
async fn a_client_reads_text_and_bytes_unchanged(t: Harness) {
    let client = t.connect(library()).await;
    assert_eq!(client.read("config://app").await.unwrap().text(), "log_level=info");
    let picture = client.read("pictures://dot").await.unwrap();
    assert_eq!(picture.to_bytes().unwrap(), dot());
    let contents = picture.iter().next().unwrap();
    assert_eq!(contents.uri, "pictures://dot");
    assert_eq!(contents.mime_type.as_deref(), Some("image/png"));
}

#[bowline::test(every_revision, stateless)]
async fn one_function_reads_every_uri_that_matches_its_template(t: Harness) {
    let client = t.connect(library()).await;
    assert_eq!(client.read("users://42/profile").await.unwrap().text(), r#"{"name":"Ada"}"#);
}

// spec: RSRC-18, RSRC-19, RSRC-20, RSRC-21
#[bowline::test(every_revision, stateless)]
async fn an_unknown_resource_has_the_error_code_of_the_revision(t: Harness) {
    let client = t.connect(library()).await;
    for uri in ["users://7/profile", "users://ada/profile", "config://other"] {
        let error = client.read(uri).await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
        let expected = match t.revision().has_resource_not_found_code() {
            true => code::RESOURCE_NOT_FOUND,
            false => code::INVALID_PARAMS,
        };
        assert_eq!(error.rpc().unwrap().code, expected);
    }
}

// spec: RSRC-2, RSRC-10
#[bowline::test(every_revision, stateless)]
async fn resources_and_templates_have_separate_lists(t: Harness) {
    let client = t.connect(library()).await;
    let listed = client.resources().all().await.unwrap();
    let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["config://app", "pictures://dot"]);
    assert_eq!(listed[0].title.is_some(), t.revision().has_titles());
    let templates = client.resource_templates().all().await.unwrap();
    assert_eq!(templates[0].uri_template, "users://{id}/profile");
}

// spec: RSRC-22
#[bowline::test(every_revision, stateless)]
async fn a_failed_read_is_an_error_of_the_call(t: Harness) {
    let torn = || async { Err::<String, _>(bowline::Error::from("the page is torn")) };
    let client =
        t.connect(Server::new("library", "1.0.0").resource(Resource::new("page://1", torn)));
    let error = client.await.read("page://1").await.unwrap_err();
    assert!(!error.is_not_found());
    assert!(error.rpc().unwrap().message.contains("the page is torn"), "{error}");
}

#[bowline::test(every_revision, stateless)]
async fn the_client_does_not_ask_a_server_without_resources(t: Harness) {
    let client = t.connect(Server::new("empty", "1.0.0")).await;
    assert!(client.read("config://app").await.unwrap_err().is_not_offered());
}
