//! Resource templates: which URI matches which template, and what their handlers get.

use bowline_server::{Args, Json, Resource, Result, Server, State, Uri};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer, Raw};

fn one(resource: Resource) -> Server {
    Server::new("library", "1").resource(resource)
}

fn problem(resource: Resource) -> String {
    one(resource).build().unwrap_err().to_string()
}

async fn profile(user_id: u64) -> Json<Value> {
    Json(json!({ "id": user_id }))
}

fn profiles() -> Resource {
    Resource::template("users://{user_id}/profile", profile)
}

// spec: RSRC-10, RSRC-11
#[tokio::test]
async fn a_handler_takes_the_variables_by_their_place() {
    for revision in EVERY {
        let peer = Peer::new(&one(profiles()), revision);
        let contents = peer.read("users://42/profile").await.unwrap();
        let expected = json!([{
            "uri": "users://42/profile", "mimeType": "application/json", "text": r#"{"id":42}"#,
        }]);
        assert_eq!(contents, expected);
    }
}

#[tokio::test]
async fn variables_and_extractors_may_come_in_any_order() {
    async fn page(
        State(site): State<&'static str>,
        path: String,
        Uri(uri): Uri,
        version: Option<u8>,
    ) -> String {
        format!("{site} {path} {version:?} {uri}")
    }
    let server = one(Resource::template("wiki://{+path}{?version}", page)).state("docs");
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.read_text("wiki://a/b").await, "docs a/b None wiki://a/b");
    let with_version = peer.read_text("wiki://a%20b?version=3").await;
    assert_eq!(with_version, "docs a b Some(3) wiki://a%20b?version=3");
}

#[tokio::test]
async fn a_handler_takes_the_variables_by_their_names() {
    #[derive(Deserialize, JsonSchema)]
    struct Search {
        words: Vec<String>,
        limit: Option<u8>,
    }
    let search = |Args(Search { words, limit }): Args<Search>, Raw(arguments): Raw| async move {
        format!("{words:?} {limit:?} {arguments}")
    };
    let server = one(Resource::template("search://{?limit,words*}", search));
    let peer = Peer::new(&server, Revision::LATEST);
    let text = peer.read_text("search://?words=a&words=b&limit=7").await;
    assert_eq!(text, r#"["a", "b"] Some(7) {"limit":"7","words":["a","b"]}"#);
}

// spec: RSRC-18, RSRC-19, RSRC-23
#[tokio::test]
async fn a_uri_whose_values_do_not_fit_does_not_exist() {
    let server = one(profiles());
    for (revision, code) in [(Revision::LATEST_LEGACY, -32002), (Revision::LATEST, -32602)] {
        let peer = Peer::new(&server, revision);
        let error = peer.read("users://ada/profile").await.unwrap_err();
        assert_eq!(error.code, code);
        let expected = "no resource has the URI `users://ada/profile`: `variables.user_id`: \
                        expected a whole number from 0 to 18446744073709551615, found \"ada\"";
        assert_eq!(error.message, expected);
        assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"users://ada/profile"}"#);
        for unmatched in ["users://42", "users://4/2/profile", "users:///profile"] {
            assert_eq!(peer.read(unmatched).await.unwrap_err().code, code, "{unmatched}");
        }
    }
}

// spec: RSRC-23
#[tokio::test]
async fn values_are_checked_beyond_their_types() {
    #[derive(Deserialize, JsonSchema)]
    struct Day {
        #[schemars(range(max = 7))]
        day: u8,
    }
    let read = |Args(Day { day }): Args<Day>| async move { day.to_string() };
    let peer = Peer::new(&one(Resource::template("days://{day}", read)), Revision::LATEST);
    assert_eq!(peer.read_text("days://7").await, "7");
    let error = peer.read("days://8").await.unwrap_err();
    let expected = "no resource has the URI `days://8`: \
                    `variables.day`: expected at most 7, found 8";
    assert_eq!((error.code, error.message.as_str()), (-32602, expected));
}

#[tokio::test]
async fn a_uri_of_its_own_goes_before_templates_and_these_go_in_their_order() {
    let say = |text: &'static str| move || async move { text };
    let server = one(Resource::template("a://{x}", say("first")))
        .resource(Resource::template("a://{y}", say("second")))
        .resource(Resource::template("a://{+path}", say("third")))
        .resource(Resource::new("a://own", say("own")));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        assert_eq!(peer.read_text("a://own").await, "own");
        assert_eq!(peer.read_text("a://other").await, "first");
        assert_eq!(peer.read_text("a://other/part").await, "third");
    }
}

// spec: RSRC-27
#[tokio::test]
async fn no_value_leads_out_of_its_directory() {
    let read = |path: String| async move { path };
    let server =
        one(Resource::template("file:///docs/{+path}", read)).resource(Resource::template(
            "notes://{name}{?folder}",
            |name: String, _: Option<String>| async move { name },
        ));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        assert_eq!(peer.read_text("file:///docs/a/b..c").await, "a/b..c");
        for uri in [
            "file:///docs/../etc/passwd",
            "file:///docs/a/../../etc/passwd",
            "file:///docs/a/%2e%2e/%2E%2E/etc/passwd",
            "file:///docs/..%2f..%2fetc/passwd",
            "file:///docs/..\\etc",
            "file:///docs/..%5Cetc",
            "notes://..",
            "notes://%2e%2e",
            "notes://..%2Fsecret",
            "notes://a?folder=../..",
            "notes://a%00b",
        ] {
            let error = peer.read(uri).await.unwrap_err();
            assert!(error.message.starts_with("no resource has the URI"), "{uri}: {error}");
        }
    }
}

// spec: RSRC-10, RSRC-13
#[tokio::test]
async fn clients_see_the_definition_of_a_template() {
    let family = profiles().name("profile").title("Profile").describe("Who a user is");
    let server = one(family);
    for (revision, title) in [(Revision::V2024_11_05, false), (Revision::LATEST, true)] {
        let peer = Peer::new(&server, revision);
        let mut expected = json!({
            "uriTemplate": "users://{user_id}/profile", "name": "profile",
            "description": "Who a user is", "mimeType": "application/json",
        });
        if title {
            expected["title"] = json!("Profile");
        }
        let list = peer.ask(Method::ResourcesTemplatesList, json!({})).await.unwrap();
        assert_eq!(list, json!({ "resourceTemplates": [expected] }));
        let list = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
        assert_eq!(list, json!({ "resources": [] }));
    }
}

// spec: RSRC-10
#[test]
fn what_is_wrong_with_a_family_is_found_before_it_is_served() {
    async fn text() -> Result<String> {
        Ok("a".to_owned())
    }
    async fn two(a: String, b: String) -> String {
        a + &b
    }
    #[derive(Deserialize, JsonSchema)]
    struct Named {
        #[allow(dead_code, reason = "only its name is looked at")]
        user: String,
    }
    let named = |Args(Named { .. }): Args<Named>| text();
    for (resource, expected) in [
        (Resource::template("a://{b", text), "`{` is never closed"),
        (Resource::template("users/{id}", text), "it does not begin with a scheme"),
        (Resource::template("a://{b}", two), "has 1 variables, but its handler takes 2"),
        (Resource::template("a://{id}", named), "has no variable `user`, which its handler takes"),
        (Resource::template("a://{b}", text).size(1), "has a size, but its resources may differ"),
        (
            Resource::template("a://{b}", text).complete("c", |_| async { [""] }),
            "completes `c`, but takes only `b`",
        ),
    ] {
        let error = problem(resource);
        assert!(error.starts_with("resource template `"), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let error = one(profiles()).resource(profiles()).build().unwrap_err();
    assert!(error.is_duplicate());
    let expected = "two resources have the template `users://{user_id}/profile`";
    assert_eq!(error.to_string(), expected);
}
