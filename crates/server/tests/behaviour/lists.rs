//! Lists of every kind: page by page, in one order, with cursors that keep their place.

use bowline_proto::request::{Owner, Request};
use bowline_server::layer::{self, Next};
use bowline_server::{Prompt, Resource, Server, Tool};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

/// A list: its method, the member that holds the items, and what tells them apart.
type List = (Method, &'static str, &'static str);

const LISTS: [List; 4] = [
    (Method::ToolsList, "tools", "name"),
    (Method::PromptsList, "prompts", "name"),
    (Method::ResourcesList, "resources", "name"),
    (Method::ResourcesTemplatesList, "resourceTemplates", "name"),
];

/// A server with as many features of each kind, named by their number.
fn server(count: usize) -> Server {
    let numbers = || (0..count).map(|number| number.to_string());
    Server::new("lists", "1")
        .page_size(2)
        .tools(numbers().map(|name| Tool::new(name, || async {})))
        .prompts(numbers().map(|name| Prompt::new(name, || async { "a" })))
        .resources(
            numbers()
                .map(|name| Resource::new(format!("one://{name}"), || async { "a" }).name(name)),
        )
        .resources(numbers().map(|name| {
            let template = format!("many-{name}://{{x}}");
            Resource::template(template, |x: String| async { x }).name(name)
        }))
}

async fn page(peer: &Peer, list: List, cursor: Option<&Value>) -> (Vec<String>, Option<Value>) {
    let (method, items, key) = list;
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    let page = peer.ask(method, params).await.unwrap();
    let names = page[items].as_array().unwrap().iter();
    let names = names.map(|item| item[key].as_str().unwrap().to_owned()).collect();
    (names, page.get("nextCursor").cloned())
}

async fn pages(peer: &Peer, list: List) -> Vec<Vec<String>> {
    let (first, mut cursor) = page(peer, list, None).await;
    let mut pages = vec![first];
    while let Some(next) = cursor {
        let (names, after) = page(peer, list, Some(&next)).await;
        pages.push(names);
        cursor = after;
    }
    pages
}

// spec: TOOL-12, PAGE-2, PAGE-10
#[tokio::test]
async fn every_list_comes_page_by_page_in_the_order_of_registration() {
    let server = server(5);
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        for list in LISTS {
            assert_eq!(pages(&peer, list).await, [vec!["0", "1"], vec!["2", "3"], vec!["4"]]);
        }
    }
}

#[tokio::test]
async fn a_list_that_fits_on_a_page_has_no_cursor() {
    let peer = Peer::new(&server(2), Revision::LATEST);
    for list in LISTS {
        assert_eq!(page(&peer, list, None).await, (vec!["0".to_owned(), "1".to_owned()], None));
    }
}

// spec: PAGE-3, PAGE-9, ERR-4
#[tokio::test]
async fn a_cursor_that_this_list_never_gave_is_refused() {
    let server = server(3);
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let mut foreign = json!("");
        for list @ (method, ..) in LISTS {
            for cursor in [json!(""), json!("x"), json!("%"), foreign.clone(), json!(1)] {
                let error = peer.ask(method, json!({ "cursor": cursor })).await.unwrap_err();
                assert_eq!(error.code, -32602);
                assert!(error.message.contains("cursor`"), "{error}");
            }
            foreign = page(&peer, list, None).await.1.unwrap();
        }
    }
}

#[tokio::test]
async fn no_cursor_and_null_ask_for_the_first_page() {
    let peer = Peer::new(&server(3), Revision::LATEST);
    for list in LISTS {
        let first = page(&peer, list, None).await;
        assert_eq!(page(&peer, list, Some(&Value::Null)).await, first);
    }
}

// spec: PAGE-2
#[tokio::test]
async fn a_cursor_keeps_its_place_while_features_come_and_go() {
    let server = server(4);
    let registry = server.registry();
    let peer = Peer::new(&server, Revision::LATEST);
    let mut cursors = Vec::new();
    for list in LISTS {
        cursors.push(page(&peer, list, None).await.1);
    }
    assert!(registry.remove_tool("0") && registry.remove_prompt("1"));
    assert!(registry.remove_resource("one://1") && registry.remove_resource("many-0://{x}"));
    registry.insert(Tool::new("new", || async {})).unwrap();
    registry.insert(Prompt::new("new", || async { "a" })).unwrap();
    for (list, cursor) in LISTS.into_iter().zip(&cursors) {
        assert_eq!(page(&peer, list, cursor.as_ref()).await.0, ["2", "3"]);
    }
}

// spec: TOOL-10, RSRC-4, PRMT-4
#[tokio::test]
async fn a_list_does_not_depend_on_what_was_asked_before() {
    let server = server(3);
    for revision in BOTH {
        let one = Peer::new(&server, revision);
        let mut other = Peer::new(&server, revision);
        other.owner = Owner::known("issuer", "ada");
        for list @ (method, ..) in LISTS {
            let before = one.ask(method, json!({})).await.unwrap();
            one.call("0", json!({})).await.unwrap();
            one.read("one://1").await.unwrap();
            one.prompt("0", json!({})).await.unwrap();
            assert_eq!(one.ask(method, json!({})).await.unwrap(), before);
            assert_eq!(pages(&other, list).await, pages(&one, list).await);
        }
    }
}

/// A server whose list of tools fails.
fn broken() -> Server {
    let fail = layer::from_fn(|request: Request, next: Next| {
        let is_list = request.parts.method == Method::ToolsList;
        let rest = next.run(request);
        async move { if is_list { Err(ErrorObject::internal("out of order")) } else { rest.await } }
    });
    Server::new("broken", "1").tool(Tool::new("saw", async || "")).layer(fail)
}

#[tokio::test]
async fn a_list_that_leaves_a_server_out_names_it_in_its_metadata_in_both_eras() {
    let inner = Server::new("inner", "1").tool(Tool::new("file", async || ""));
    let inner = inner.mount("deep", broken());
    let server = Server::new("hub", "1").mount("inner", inner).mount("far", broken());
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let page = peer.send(peer.request(Method::ToolsList, &json!({}))).await.unwrap();
        let expected = json!([
            { "server": "inner__deep", "cause": "out of order" },
            { "server": "far", "cause": "out of order" },
        ]);
        let left_out: Value = page.meta().parse("io.github.bowline-mcp/leftOut").unwrap();
        assert_eq!(left_out, expected, "{revision}");
    }
}
