//! MCP Apps: tools with views, and the views as resources.

use bowline_server::{Context, Json, Resource, ResourceUi, Server, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::code;
use bowline_types::ext::apps::{IDENTIFIER, UiSettings};
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::resource::ResourceContents;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

const VIEW: &str = "ui://weather/view";
/// The revisions in which tools can name their views.
const WITH_LINKS: [Revision; 3] =
    [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];
const HTML: &str = "<!DOCTYPE html><title>Weather</title><p id=weather>";

async fn forecast(context: Context) -> String {
    match context.shows_views() {
        true => "Rain. The view has details".to_owned(),
        false => "Rain, 4 mm, wind from the west".to_owned(),
    }
}

fn server() -> Server {
    let needs = ResourceUi::new().with_connect_domain("https://api.example.com").with_border(true);
    Server::new("weather", "1")
        .tool(Tool::new("forecast", forecast).ui(VIEW))
        .tool(Tool::new("refresh", || async { "Sun" }).ui(VIEW).app_only())
        .tool(Tool::new("delete", || async { "gone" }).model_only())
        .resource(Resource::ui(VIEW, HTML).describe("The weather").ui_settings(&needs))
}

/// A client that shows views.
fn host(server: &Server, revision: Revision) -> Peer {
    let settings = Object::new(RawJson::from_value(&UiSettings::new()).unwrap()).unwrap();
    let can = ClientCapabilities::new().with_extension(IDENTIFIER, settings).unwrap();
    Peer::able(server, revision, can)
}

async fn tools(peer: &Peer) -> Vec<(String, Value)> {
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let tools = list["tools"].as_array().unwrap().clone();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(|tool| (name(tool), tool["_meta"]["ui"].clone())).collect()
}

fn build_error(server: &Server) -> String {
    server.build().unwrap_err().to_string()
}

#[tokio::test]
async fn a_server_with_views_declares_the_extension() {
    let declared = async |server: &Server, revision| {
        let result = Peer::new(server, revision).ask(Method::ServerDiscover, json!({})).await;
        result.unwrap()["capabilities"]["extensions"].clone()
    };
    let bare = Server::new("bare", "1").tool(Tool::new("a", || async { "a" }));
    for revision in EVERY {
        assert_eq!(declared(&server(), revision).await, json!({ IDENTIFIER: {} }), "{revision}");
        assert_eq!(declared(&bare, revision).await, Value::Null);
    }
}

#[tokio::test]
async fn a_tool_names_its_view_and_who_may_call_it() {
    for revision in WITH_LINKS {
        let expected = [
            ("forecast".to_owned(), json!({ "resourceUri": VIEW })),
            ("refresh".to_owned(), json!({ "resourceUri": VIEW, "visibility": ["app"] })),
            ("delete".to_owned(), json!({ "visibility": ["model"] })),
        ];
        assert_eq!(tools(&host(&server(), revision)).await, expected, "{revision}");
    }
}

// spec: APP-1, APP-2, APP-3
#[tokio::test]
async fn a_view_is_read_as_html_with_what_it_needs() {
    for revision in WITH_LINKS {
        let peer = host(&server(), revision);
        let ui = json!({
            "csp": { "connectDomains": ["https://api.example.com"] }, "prefersBorder": true
        });
        let mime = "text/html;profile=mcp-app";
        let contents = peer.read(VIEW).await.unwrap();
        let expected =
            json!([{ "uri": VIEW, "mimeType": mime, "text": HTML, "_meta": { "ui": ui } }]);
        assert_eq!(contents, expected, "{revision}");
        let list = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
        assert_eq!(list["resources"][0]["mimeType"], mime);
        assert_eq!(list["resources"][0]["_meta"]["ui"], ui);
    }
}

#[tokio::test]
async fn views_can_be_made_when_they_are_read() {
    let server = Server::new("weather", "1")
        .tool(Tool::new("forecast", || async { "rain" }).ui("ui://city/oslo"))
        .resource(Resource::new("ui://now", || async { HTML }))
        .resource(Resource::template("ui://city/{name}", |name: String| async move {
            format!("<!doctype html><title>{name}</title>")
        }))
        .resource(Resource::new("ui://bytes", || async { HTML.as_bytes() }));
    for revision in BOTH {
        let peer = host(&server, revision);
        for uri in ["ui://now", "ui://city/oslo", "ui://bytes"] {
            let contents = peer.read(uri).await.unwrap();
            assert_eq!(contents[0]["mimeType"], "text/html;profile=mcp-app", "{uri}");
        }
    }
}

// spec: APP-2, APP-3
#[tokio::test]
async fn a_view_that_is_no_html_document_is_not_sent() {
    let server = Server::new("weather", "1")
        .resource(Resource::new("ui://text", || async { "rain" }))
        .resource(Resource::new("ui://json", || async { Json(1) }))
        .resource(Resource::new("ui://bytes", || async { vec![0xff] }))
        .resource(Resource::new("ui://mime", || async {
            ResourceContents::text("ui://mime", HTML).with_mime_type("text/html")
        }));
    let peer = host(&server, Revision::LATEST);
    for uri in ["ui://text", "ui://json", "ui://bytes", "ui://mime"] {
        let error = peer.read(uri).await.unwrap_err();
        assert_eq!(error.code, code::INTERNAL_ERROR, "{uri}");
        assert!(error.message.contains(uri) && error.message.contains("html"), "{error}");
    }
}

// spec: APP-7, APP-8, XN-2
#[tokio::test]
async fn clients_without_views_get_text_and_no_tools_that_only_views_call() {
    for revision in EVERY {
        let server = server();
        let other = json!({ "mimeTypes": ["text/uri-list"] });
        let other = Object::new(RawJson::from_value(&other).unwrap()).unwrap();
        let other = ClientCapabilities::new().with_extension(IDENTIFIER, other).unwrap();
        for peer in [Peer::new(&server, revision), Peer::able(&server, revision, other)] {
            let names: Vec<_> = tools(&peer).await.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["forecast", "delete"]);
            assert_eq!(peer.text("forecast", json!({})).await, "Rain, 4 mm, wind from the west");
            let error = peer.call("refresh", json!({})).await.unwrap_err();
            assert_eq!(error.message, "no tool is named `refresh`");
        }
    }
    for revision in WITH_LINKS {
        let peer = host(&server(), revision);
        assert_eq!(peer.text("forecast", json!({})).await, "Rain. The view has details");
        assert_eq!(peer.text("refresh", json!({})).await, "Sun");
    }
    // Definitions had no `_meta` then, so the client cannot know that a tool is not for its model.
    let old = host(&server(), Revision::V2025_03_26);
    assert_eq!(tools(&old).await.len(), 2);
    assert_eq!(old.text("forecast", json!({})).await, "Rain, 4 mm, wind from the west");
}

// spec: APP-8
#[tokio::test]
async fn a_tool_with_a_view_has_content_for_other_clients() {
    let server = Server::new("weather", "1")
        .tool(Tool::new("empty", || async {}).ui(VIEW))
        .tool(Tool::new("data", || async { Json(json!({ "mm": 4 })) }).ui(VIEW))
        .tool(Tool::new("plain", || async {}))
        .resource(Resource::ui(VIEW, HTML));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let error = peer.call("empty", json!({})).await.unwrap_err();
        assert_eq!(error.code, code::INTERNAL_ERROR);
        assert!(
            error.message.contains("tool `empty` failed: its result has no content"),
            "{error}"
        );
        assert!(peer.text("data", json!({})).await.contains("\"mm\""));
        peer.call("plain", json!({})).await.unwrap();
    }
}

// spec: APP-4
#[test]
fn a_tool_cannot_name_a_view_that_does_not_exist() {
    let tool = || Tool::new("forecast", forecast).ui(VIEW);
    let error = build_error(&Server::new("weather", "1").tool(tool()));
    let expected = "tool `forecast` has the view `ui://weather/view`, but no resource has this \
                    URI; add `.resource(Resource::ui(\"ui://weather/view\", html))`";
    assert_eq!(error, expected);
    let server = Server::new("weather", "1").tools([]);
    let registry = server.registry();
    server.build().unwrap();
    assert_eq!(registry.insert(tool()).unwrap_err().to_string(), expected);
    registry.insert(Resource::ui(VIEW, HTML)).unwrap();
    registry.insert(tool()).unwrap();
}

// spec: APP-1, APP-2, APP-3
#[test]
fn what_is_wrong_with_a_view_is_found_when_the_server_is_built() {
    let with = |resource: Resource| build_error(&Server::new("weather", "1").resource(resource));
    let tool = Tool::new("forecast", forecast).ui("https://example.com");
    let cases = [
        (
            build_error(&Server::new("weather", "1").tool(tool)),
            "tool `forecast` has the view `https://example.com`, but URIs of views begin with `ui://`",
        ),
        (
            with(Resource::ui("view://a", HTML)),
            "resource `view://a` is a view, but its URI does not begin with `ui://`",
        ),
        (
            with(Resource::ui("ui://a", "<p>Weather")),
            "resource `ui://a` has HTML that does not begin with `<!DOCTYPE html>`",
        ),
        (
            with(Resource::ui("ui://a", HTML).mime("text/html")),
            "resource `ui://a` has the media type `text/html`, but a view has \
             `text/html;profile=mcp-app`",
        ),
        (
            with(Resource::new("a://b", || async { "a" }).ui_settings(&ResourceUi::new())),
            "resource `a://b` has settings of a view, but its URI does not begin with `ui://`",
        ),
        (
            with(
                Resource::ui("ui://a", HTML).ui_settings(&ResourceUi::new().with_frame_domain("*")),
            ),
            "resource `ui://a` asks for `*`, which is not an origin such as \
             `https://api.example.com`",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn views_of_a_mounted_server_are_offered_by_the_one_that_mounts_it() {
    let hub = Server::new("hub", "1").mount("weather", server());
    for revision in BOTH {
        let peer = host(&hub, revision);
        let declared = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
        assert_eq!(declared["capabilities"]["extensions"], json!({ IDENTIFIER: {} }));
        let offered = tools(&peer).await;
        assert_eq!(offered[0], ("weather__forecast".to_owned(), json!({ "resourceUri": VIEW })));
        assert_eq!(peer.read_text(VIEW).await, HTML);
        assert_eq!(peer.text("weather__refresh", json!({})).await, "Sun");
        assert_eq!(tools(&Peer::new(&hub, revision)).await.len(), 2);
    }
}
