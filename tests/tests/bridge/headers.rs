//! Headers that repeat arguments of a tool (2026-07-28).

use bowline::layer::{self, Next};
use bowline::{Args, Server, Tool};
use bowline_gateway::bridge;
use bowline_proto::request::Request;
use bowline_types::error::code;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{ALL, Heard, L, M, cells, parked};

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

fn server() -> Server {
    let place = |Args(Place { region }): Args<Place>| async move { region };
    Server::new("far", "1.0.0").tool(Tool::new("place", place))
}

/// The server behind refuses a call over HTTP without the header.
#[tokio::test(start_paused = true)]
async fn a_marked_argument_is_repeated_on_each_way_that_has_headers() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let tools = client.tools().all().await.unwrap();
        assert!(tools[0].input_schema.as_json().as_str().contains("x-mcp-header"), "{cell:?}");
        let placed = client.call("place", json!({ "region": "west" })).await.unwrap();
        assert_eq!(placed.text(), "west", "{cell:?}");
    }
}

// spec: XMH-21, XMH-22
#[tokio::test(start_paused = true)]
async fn a_header_that_differs_from_its_argument_is_refused() {
    for cell in cells(&[(M, L), (M, M)]) {
        let lie = |mut request: Request, next: Next| {
            if request.parts.method == Method::ToolsCall {
                request.parts.headers = Some([("region", Some("east"))].into_iter().collect());
            }
            next.run(request)
        };
        let bridge = bridge(parked(cell.relay(&server()).await), None);
        let bridge = bridge.layer(layer::from_fn(lie));
        let client = cell.client(&bridge, |builder| builder).await;
        client.tools().all().await.unwrap();
        let refused = client.call("place", json!({ "region": "west" })).await.unwrap_err();
        assert_eq!(refused.rpc().unwrap().code, code::HEADER_MISMATCH, "{cell:?}");
    }
}

/// Such a call is the first of a connection: nothing has listed the tools.
// spec: XMH-21, XMH-22
#[tokio::test(start_paused = true)]
async fn a_header_that_differs_from_its_argument_is_refused_before_the_first_list() {
    for cell in cells(&[(M, L), (M, M)]) {
        let lie = |mut request: Request, next: Next| {
            if request.parts.method == Method::ToolsCall {
                request.parts.headers = Some([("region", Some("east"))].into_iter().collect());
            }
            next.run(request)
        };
        let bridge = bridge(parked(cell.relay(&server()).await), None);
        let bridge = bridge.layer(layer::from_fn(lie));
        let client = cell.client(&bridge, |builder| builder).await;
        let refused = client.call("place", json!({ "region": "west" })).await.unwrap_err();
        assert_eq!(refused.rpc().unwrap().code, code::HEADER_MISMATCH, "{cell:?}");
    }
}

/// The bridge would compare one value with the header, and the server behind might use the other.
#[tokio::test(start_paused = true)]
async fn a_key_that_occurs_twice_in_the_arguments_is_refused_by_the_bridge() {
    for arguments in [
        r#"{"region":"east","region":"west"}"#,
        r#"{"region":"east","at":{"x":1,"x":2}}"#,
        r#"{"region":"east","at":[{"x":1,"\u0078":2}]}"#,
    ] {
        for cell in cells(&ALL) {
            let double = move |mut request: Request, next: Next| {
                if request.parts.method == Method::ToolsCall {
                    let arguments = RawJson::from_checked(arguments);
                    request.params = request.params.with("arguments", &arguments);
                }
                next.run(request)
            };
            let bridge = bridge(parked(cell.relay(&server()).await), None);
            let bridge = bridge.layer(layer::from_fn(double));
            let client = cell.client(&bridge, |builder| builder).await;
            let refused = client.call("place", json!({ "region": "west" })).await.unwrap_err();
            let refused = refused.rpc().unwrap();
            assert_eq!(refused.code, code::INVALID_PARAMS, "{cell:?}: {refused}");
            assert!(refused.message.contains("occurs twice"), "{cell:?}: {refused}");
        }
    }
}

// spec: XMH-25
#[tokio::test(start_paused = true)]
async fn a_header_that_no_argument_asks_for_is_passed_on() {
    for cell in cells(&[(M, M), (M, L)]).filter(|cell| cell.http.1) {
        let heard = Heard::default();
        let noted = heard.clone();
        let note = move |request: Request, next: Next| {
            if request.parts.method == Method::ToolsCall {
                noted.note(format!("{:?}", request.parts.headers));
            }
            next.run(request)
        };
        let add = |mut request: Request, next: Next| {
            if request.parts.method == Method::ToolsCall {
                let headers = [("region", Some("west")), ("shard", Some("=?base64?w6Q=?="))];
                request.parts.headers = Some(headers.into_iter().collect());
            }
            next.run(request)
        };
        let relay = cell.relay(&server().layer(layer::from_fn(note))).await;
        let bridge = bridge(parked(relay), None).layer(layer::from_fn(add));
        let client = cell.client(&bridge, |builder| builder).await;
        client.tools().all().await.unwrap();
        client.call("place", json!({ "region": "west" })).await.unwrap();
        let heard = heard.all().join(" ");
        assert_eq!(heard.contains("shard"), cell.upstream != L, "{cell:?}: {heard}");
    }
}
