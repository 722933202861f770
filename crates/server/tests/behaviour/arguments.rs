//! Arguments of calls: how they are decoded, and how wrong ones are refused.

use std::collections::BTreeMap;

use bowline_server::{Args, Server, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

#[derive(Deserialize, JsonSchema)]
struct Order {
    items: Vec<Item>,
    #[schemars(length(min = 2))]
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    price: f64,
    #[schemars(range(max = 10))]
    count: Option<u8>,
}

async fn order(Args(order): Args<Order>) -> f64 {
    let total = |item: &Item| item.price * f64::from(item.count.unwrap_or(1));
    order.note.map_or(0.0, |note| note.len() as f64) + order.items.iter().map(total).sum::<f64>()
}

fn server() -> Server {
    Server::new("shop", "1").tool(Tool::new("order", order)).tool(Tool::new("ping", || async {}))
}

// spec: TOOL-36, TOOL-42
#[tokio::test]
async fn arguments_of_the_wrong_type_are_reported_to_the_model_with_their_place() {
    for revision in EVERY {
        let peer = Peer::new(&server(), revision);
        let items = json!([{ "price": 1 }, { "price": 2 }, { "price": "x" }]);
        let text = peer.failure("order", json!({ "items": items })).await;
        assert_eq!(text, r#"`arguments.items[2].price`: expected a number, found the string "x""#);
    }
}

// spec: TOOL-36
#[tokio::test]
async fn all_errors_in_arguments_are_reported_at_once() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let arguments = json!({ "items": [{ "count": 11, "price": 1 }, {}], "note": "x" });
    let text = peer.failure("order", arguments).await;
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("`arguments.items[0].count`: expected at most 10, found 11"), "{text}");
    assert!(text.contains("`arguments.items[1].price`: missing, but required"), "{text}");
    assert!(text.contains("`arguments.note`"), "{text}");
}

// spec: TOOL-36
#[tokio::test]
async fn missing_arguments_are_none() {
    for revision in BOTH {
        let peer = Peer::new(&server(), revision);
        for params in [json!({ "name": "ping" }), json!({ "name": "ping", "arguments": null })] {
            let result = peer.ask(Method::ToolsCall, params).await.unwrap();
            assert_eq!(result, json!({ "content": [] }));
        }
        let result = peer.ask(Method::ToolsCall, json!({ "name": "order" })).await.unwrap();
        assert_eq!(result["content"][0]["text"], "`arguments.items`: missing, but required");
    }
}

// spec: TOOL-34
#[tokio::test]
async fn arguments_that_are_no_object_are_an_error_of_the_request() {
    let peer = Peer::new(&server(), Revision::LATEST);
    for arguments in [json!([1]), json!("x"), json!(7)] {
        let error = peer.call("order", arguments).await.unwrap_err();
        assert_eq!(error.code, -32602);
        assert_eq!(error.message, "`arguments`: expected an object");
    }
}

// spec: TOOL-15, TOOL-36
#[tokio::test]
async fn a_tool_without_parameters_takes_no_arguments() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let text = peer.failure("ping", json!({ "x": 1 })).await;
    assert!(text.contains("`arguments.x`"), "{text}");
}

#[tokio::test]
async fn null_stands_for_an_optional_argument() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let arguments = json!({ "items": [{ "price": 1.5, "count": null }], "note": null });
    assert_eq!(peer.text("order", arguments).await, "1.5");
}

// spec: TOOL-17, TOOL-36
#[tokio::test]
async fn a_schema_by_hand_is_enforced() {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "multipleOf": 5 } },
        "required": ["n"],
    });
    let tool = Tool::new("five", |Args(arguments): Args<BTreeMap<String, Value>>| async move {
        arguments["n"].to_string()
    });
    let server = Server::new("five", "1").tool(tool.input_schema(&schema));
    let peer = Peer::new(&server, Revision::LATEST);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list["tools"][0]["inputSchema"], schema);
    assert_eq!(peer.text("five", json!({ "n": 10 })).await, "10");
    let text = peer.failure("five", json!({ "n": 7 })).await;
    assert!(text.contains("`arguments.n`"), "{text}");
}

// spec: TOOL-36
#[tokio::test]
async fn an_argument_that_only_the_type_refuses_gets_the_error_of_the_type() {
    #[derive(Deserialize, JsonSchema)]
    struct Host {
        #[schemars(with = "String")]
        address: std::net::IpAddr,
    }
    let tool =
        Tool::new("lookup", |Args(host): Args<Host>| async move { host.address.to_string() });
    let peer = Peer::new(&Server::new("dns", "1").tool(tool), Revision::LATEST);
    assert_eq!(peer.text("lookup", json!({ "address": "::1" })).await, "::1");
    let text = peer.failure("lookup", json!({ "address": "x" })).await;
    assert_eq!(text, "`arguments.address`: invalid IP address syntax");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only printed")]
struct Numbers {
    small: Option<u8>,
    all: Vec<i64>,
    huge: Option<u128>,
    low: Option<i128>,
    inner: Option<Inner>,
    real: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only printed")]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Inner {
    Count { count: u32 },
}

fn numbers() -> Server {
    let show = async |Args(numbers): Args<Numbers>| format!("{numbers:?}");
    Server::new("numbers", "1").tool(Tool::new("show", show))
}

// spec: TOOL-42
#[tokio::test]
async fn a_whole_number_may_be_written_with_a_fraction_or_an_exponent() {
    let arguments = concat!(
        r#"{"small":2.5e2,"all":[1.0,1e3,-0.0,-0,1200e-2,9007199254740993.0,-9.223372036854775808E18],"#,
        r#""huge":1e38,"low":-1.0e30,"inner":{"kind":"count","count":7.00},"real":0.5}"#
    );
    let expected = concat!(
        "Numbers { small: Some(250), all: [1, 1000, 0, 0, 12, 9007199254740993, -9223372036854775808], ",
        "huge: Some(100000000000000000000000000000000000000), ",
        "low: Some(-1000000000000000000000000000000), ",
        "inner: Some(Count { count: 7 }), real: Some(0.5) }"
    );
    for revision in BOTH {
        let peer = Peer::new(&numbers(), revision);
        let result = peer.call_text("show", arguments).await.unwrap();
        assert_eq!(result["content"][0]["text"], expected, "{result}");
    }
}

// spec: TOOL-36, TOOL-42
#[tokio::test]
async fn a_number_that_is_not_whole_or_does_not_fit_is_refused_where_a_whole_one_is_wanted() {
    let cases = [
        (r#"{"all":[1.5]}"#, "`arguments.all[0]`: expected an integer, found the number 1.5"),
        (
            r#"{"all":[1.0,1.0000000000000000001]}"#,
            "`arguments.all[1]`: expected a whole number from -9223372036854775808 to \
             9223372036854775807, found the number 1.0",
        ),
        (
            r#"{"all":[9.223372036854775808e18]}"#,
            "`arguments.all[0]`: expected a whole number from -9223372036854775808 to \
             9223372036854775807, found the number 9223372036854775808",
        ),
        (r#"{"all":[1e400]}"#, "`arguments.all[0]`: number out of range"),
        (r#"{"all":[1e9999999999999999999]}"#, "`arguments.all[0]`: number out of range"),
        (r#"{"all":[],"small":256.0}"#, "`arguments.small`: expected at most 255, found 256"),
        (
            r#"{"all":[1.0],"small":"x"}"#,
            r#"`arguments.small`: expected an integer or null, found the string "x""#,
        ),
    ];
    for revision in BOTH {
        let peer = Peer::new(&numbers(), revision);
        let mut told = Vec::new();
        for (arguments, _) in cases {
            let result = peer.call_text("show", arguments).await.unwrap();
            assert_eq!(result["isError"], true, "{arguments}");
            told.push(result["content"][0]["text"].as_str().unwrap().to_owned());
        }
        assert_eq!(told, cases.map(|(_, expected)| expected));
    }
}

// spec: TOOL-42
#[tokio::test]
async fn a_bound_holds_for_the_number_as_it_is_written() {
    #[derive(Deserialize, JsonSchema)]
    struct Bounded {
        #[schemars(range(max = 9_007_199_254_740_992_i64))]
        most: i64,
    }
    let show = async |Args(Bounded { most }): Args<Bounded>| most.to_string();
    let server = Server::new("numbers", "1").tool(Tool::new("show", show));
    let peer = Peer::new(&server, Revision::LATEST);
    let result = peer.call_text("show", r#"{"most":9007199254740992.0}"#).await.unwrap();
    assert_eq!(result["content"][0]["text"], "9007199254740992");
    let result = peer.call_text("show", r#"{"most":9007199254740993.0}"#).await.unwrap();
    assert_eq!(result["isError"], true, "{result}");
}
