//! Features that are hidden from some callers: not listed for them, and unknown when called.

use bowline_proto::request::{Owner, Parts};
use bowline_server::{Definition, Prompt, Resource, Server, Tool, Typed};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::prompt::PromptArgument;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};

fn is_known(caller: &Parts) -> bool {
    caller.owner.identity().is_some()
}

fn suggest(_: Typed) -> std::future::Ready<[&'static str; 1]> {
    std::future::ready(["secret"])
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, || async { "done" }).argument(PromptArgument::new("x")).complete("x", suggest)
}

fn family(template: &str) -> Resource {
    Resource::template(template, |x: String| async move { x }).complete("x", suggest)
}

/// A server that offers one of each to all callers, and one of each to callers that are known.
fn server() -> Server {
    let tool = |name: &str| Tool::new(name, || async { "done" });
    let resource = |uri: &str| Resource::new(uri, || async { "done" });
    Server::new("secretive", "1")
        .tools([tool("open"), tool("hidden").visible(is_known)])
        .resources([resource("a://open"), resource("a://hidden").visible(is_known)])
        .resources([family("open://{x}"), family("hidden://{x}").visible(is_known)])
        .prompts([prompt("open"), prompt("hidden").visible(is_known)])
}

fn known(server: &Server, revision: Revision) -> Peer {
    let mut peer = Peer::new(server, revision);
    peer.owner = Owner::known("issuer", "ada");
    peer
}

/// The keys of what a list holds.
async fn keys(peer: &Peer, method: Method, items: &str, key: &str) -> Vec<String> {
    let list = peer.ask(method, json!({})).await.unwrap();
    let items = list[items].as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// What one caller is shown of everything.
async fn shown(peer: &Peer) -> Vec<Vec<String>> {
    vec![
        keys(peer, Method::ToolsList, "tools", "name").await,
        keys(peer, Method::ResourcesList, "resources", "uri").await,
        keys(peer, Method::ResourcesTemplatesList, "resourceTemplates", "uriTemplate").await,
        keys(peer, Method::PromptsList, "prompts", "name").await,
    ]
}

// spec: TOOL-8, TOOL-11, RSRC-2, RSRC-5, PRMT-2, PRMT-5, CACHE-24
#[tokio::test]
async fn a_list_shows_what_the_caller_may_call() {
    let server = server();
    for revision in BOTH {
        let stranger = shown(&Peer::new(&server, revision)).await;
        assert_eq!(stranger, [["open"], ["a://open"], ["open://{x}"], ["open"]]);
        let friend = shown(&known(&server, revision)).await;
        let expected = [
            ["open", "hidden"],
            ["a://open", "a://hidden"],
            ["open://{x}", "hidden://{x}"],
            ["open", "hidden"],
        ];
        assert_eq!(friend, expected);
    }
}

/// The ways to call something by its key: tools, resources, families, prompts, completions.
fn calls(word: &str) -> Vec<(Method, Value)> {
    let argument = json!({ "name": "x", "value": "" });
    let complete = |reference| json!({ "ref": reference, "argument": argument });
    vec![
        (Method::ToolsCall, json!({ "name": word })),
        (Method::ResourcesRead, json!({ "uri": format!("a://{word}") })),
        (Method::ResourcesRead, json!({ "uri": format!("{word}://1") })),
        (Method::PromptsGet, json!({ "name": word })),
        (Method::CompletionComplete, complete(json!({ "type": "ref/prompt", "name": word }))),
        (
            Method::CompletionComplete,
            complete(json!({ "type": "ref/resource", "uri": format!("{word}://{{x}}") })),
        ),
        (
            Method::CompletionComplete,
            complete(json!({ "type": "ref/resource", "uri": format!("{word}://1") })),
        ),
        (Method::ResourcesSubscribe, json!({ "uri": format!("a://{word}") })),
    ]
}

async fn refusals(peer: &Peer, word: &str) -> Vec<ErrorObject> {
    let mut refusals = Vec::new();
    for (method, params) in calls(word) {
        refusals.push(peer.ask(method, params).await.unwrap_err());
    }
    refusals
}

// spec: TOOL-43, RSRC-24, RSRC-26, PRMT-19, COMP-16, COMP-17, CACHE-24, CACHE-25
#[tokio::test]
async fn what_a_caller_does_not_see_is_answered_like_what_is_not_there() {
    let server = server();
    for revision in BOTH {
        let stranger = Peer::new(&server, revision);
        let hidden = refusals(&stranger, "hidden").await;
        let absent = refusals(&stranger, "absent").await;
        for (hidden, absent) in hidden.iter().zip(&absent) {
            let hidden = serde_json::to_string(hidden).unwrap().replace("hidden", "absent");
            assert_eq!(hidden, serde_json::to_string(absent).unwrap());
        }
        let friend = known(&server, revision);
        for (method, params) in calls("hidden") {
            assert!(friend.ask(method, params.clone()).await.is_ok(), "{method} {params}");
        }
    }
}

// spec: TOOL-11, CACHE-24
#[tokio::test]
async fn a_server_may_judge_all_features_at_once() {
    let judge = |caller: &Parts, feature: Definition<'_>| {
        is_known(caller) || !feature.key().contains("hidden")
    };
    let tool = |name: &str| Tool::new(name, || async { "done" });
    let server = Server::new("judging", "1")
        .tools([tool("open"), tool("hidden")])
        .resource(Resource::new("a://hidden", || async { "done" }))
        .resource(family("hidden://{x}"))
        .prompt(prompt("hidden"))
        .visible(judge);
    let nothing = Vec::<String>::new();
    for revision in BOTH {
        let stranger = Peer::new(&server, revision);
        let open = vec!["open".to_owned()];
        assert_eq!(
            shown(&stranger).await,
            [open, nothing.clone(), nothing.clone(), nothing.clone()]
        );
        assert_eq!(refusals(&stranger, "hidden").await.len(), calls("hidden").len());
        let friend = known(&server, revision);
        for (method, params) in calls("hidden") {
            assert!(friend.ask(method, params.clone()).await.is_ok(), "{method} {params}");
        }
    }
}

#[tokio::test]
async fn all_tests_have_to_pass() {
    let tool = Tool::new("both", || async { "done" })
        .visible(is_known)
        .visible(|caller| caller.revision.has_input_requests());
    let server = Server::new("strict", "1").tool(tool);
    assert!(known(&server, Revision::LATEST).call("both", json!({})).await.is_ok());
    assert!(known(&server, Revision::LATEST_LEGACY).call("both", json!({})).await.is_err());
    assert!(Peer::new(&server, Revision::LATEST).call("both", json!({})).await.is_err());
}

#[tokio::test]
async fn a_test_that_panics_has_not_passed() {
    let tool = Tool::new("odd", || async { "done" }).visible(|_| panic!("secret"));
    let server = Server::new("odd", "1").tool(tool);
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.ask(Method::ToolsList, json!({})).await.unwrap(), json!({ "tools": [] }));
    let error = peer.call("odd", json!({})).await.unwrap_err();
    assert_eq!(error.message, "no tool is named `odd`");
}

#[tokio::test]
async fn a_family_that_is_hidden_leaves_its_uris_to_the_next() {
    let say = |text: &'static str| move || async move { text };
    let server = Server::new("families", "1")
        .resource(Resource::template("a://{x}", say("hidden")).visible(is_known))
        .resource(Resource::template("a://{y}", say("open")));
    assert_eq!(Peer::new(&server, Revision::LATEST).read_text("a://1").await, "open");
    assert_eq!(known(&server, Revision::LATEST).read_text("a://1").await, "hidden");
}
