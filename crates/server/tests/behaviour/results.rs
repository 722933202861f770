//! Results of tools: how each type is sent.

use bowline_server::{Args, Error, Json, Result, Server, Tool};
use bowline_types::content::Content;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
    wind: Option<f64>,
}

async fn result_of(tool: Tool, revision: Revision) -> Value {
    let server = Server::new("results", "1").tool(tool);
    let name = "it";
    Peer::new(&server, revision).call(name, json!({})).await.unwrap()
}

// spec: TOOL-32
#[tokio::test]
async fn plain_results_are_text() {
    let tools = [
        (Tool::new("it", || async { "text" }), "text"),
        (Tool::new("it", || async { String::from("text") }), "text"),
        (Tool::new("it", || async { 7_u8 }), "7"),
        (Tool::new("it", || async { -1.5 }), "-1.5"),
        (Tool::new("it", || async { true }), "true"),
        (Tool::new("it", || async { Content::text("block") }), "block"),
        (Tool::new("it", || async { CallToolResult::from_text("whole") }), "whole"),
        (Tool::new("it", || async { Ok::<_, std::io::Error>("fine") }), "fine"),
    ];
    for (tool, text) in tools {
        let result = result_of(tool, Revision::LATEST).await;
        assert_eq!(result, json!({ "content": [{ "type": "text", "text": text }] }));
    }
}

// spec: TOOL-32
#[tokio::test]
async fn nothing_is_an_empty_list() {
    for revision in EVERY {
        let result = result_of(Tool::new("it", || async {}), revision).await;
        assert_eq!(result, json!({ "content": [] }));
    }
}

// spec: TOOL-39
#[tokio::test]
async fn several_blocks_stay_several() {
    let blocks = || async { vec![Content::text("a"), Content::resource_link("b://c", "c")] };
    let result = result_of(Tool::new("it", blocks), Revision::LATEST).await;
    assert_eq!(result["content"][1]["type"], "resource_link");
}

// spec: TOOL-29, TOOL-31
#[tokio::test]
async fn structured_results_are_sent_as_structure_and_as_text() {
    let weather = || async { Json(Weather { celsius: 21.5, wind: None }) };
    let server = Server::new("weather", "1").tool(Tool::new("it", weather));
    let peer = Peer::new(&server, Revision::LATEST);
    let result = peer.call("it", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "celsius": 21.5, "wind": null }));
    assert_eq!(result["content"][0]["text"], r#"{"celsius":21.5,"wind":null}"#);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list["tools"][0]["outputSchema"]["properties"]["celsius"]["type"], "number");
    assert_eq!(list["tools"][0]["outputSchema"]["required"], json!(["celsius", "wind"]));
}

// spec: TOOL-16, TOOL-17
#[tokio::test]
async fn a_structured_list_is_wrapped_where_only_objects_are_known() {
    let tool = || Tool::new("it", || async { Json(vec![1, 2]) });
    let modern = result_of(tool(), Revision::LATEST).await;
    assert_eq!(modern["structuredContent"], json!([1, 2]));
    let legacy = result_of(tool(), Revision::V2025_06_18).await;
    assert_eq!(legacy["structuredContent"], json!({ "result": [1, 2] }));
    let old = result_of(tool(), Revision::V2024_11_05).await;
    assert_eq!(old, json!({ "content": [{ "type": "text", "text": "[1,2]" }] }));
    let server = Server::new("lists", "1").tool(tool());
    let peer = Peer::new(&server, Revision::V2025_06_18);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list["tools"][0]["outputSchema"]["type"], "object");
}

// spec: TOOL-35
#[tokio::test]
async fn a_failure_is_reported_to_the_model() {
    let fails = || async {
        let number: i64 = "x".parse()?;
        Ok::<_, Error>(number)
    };
    for revision in EVERY {
        let result = result_of(Tool::new("it", fails), revision).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "invalid digit found in string");
    }
}

// spec: TOOL-35
#[tokio::test]
async fn any_error_type_will_do() {
    let tools = [
        Tool::new("it", || async { Err::<(), _>("no") }),
        Tool::new("it", || async { Err::<(), _>(String::from("no")) }),
        Tool::new("it", || async { Err::<(), Error>("no".into()) }),
        Tool::new("it", || async { Err::<(), _>(std::io::Error::other("no")) }),
    ];
    for tool in tools {
        let result = result_of(tool, Revision::LATEST).await;
        assert_eq!(result["content"][0]["text"], "no");
    }
}

// spec: TOOL-34
#[tokio::test]
async fn an_error_of_the_protocol_is_said_so() {
    let fails = || async { Result::<()>::Err(Error::rpc(-32000, "closed on Sundays")) };
    let server = Server::new("shop", "1").tool(Tool::new("it", fails));
    for revision in BOTH {
        let error = Peer::new(&server, revision).call("it", json!({})).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32000, "closed on Sundays"));
    }
}

// spec: TOOL-29
#[tokio::test]
async fn a_result_that_breaks_its_own_schema_is_not_sent() {
    let schema = json!({ "type": "object", "properties": { "n": { "maximum": 3 } } });
    let tool = |n: i64| {
        let give = move || async move { CallToolResult::structured(&json!({ "n": n })) };
        Tool::new("it", give).output_schema(&schema)
    };
    let server = |n| Server::new("strict", "1").tool(tool(n));
    let good = Peer::new(&server(3), Revision::LATEST).call("it", json!({})).await.unwrap();
    assert_eq!(good["structuredContent"]["n"], 3);
    let error = Peer::new(&server(4), Revision::LATEST).call("it", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("`structuredContent.n`: expected at most 3"), "{error}");
}

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    numbers: Vec<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Mean {
    mean: f64,
}

#[derive(Serialize, JsonSchema)]
struct Means {
    of: Option<u32>,
    best: Option<f32>,
    means: Vec<Mean>,
}

fn mean(Args(Numbers { numbers }): Args<Numbers>) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

// spec: TOOL-29
#[tokio::test]
async fn a_number_that_json_has_no_words_for_is_not_sent_as_null() {
    let one = async |numbers| Json(Mean { mean: mean(numbers) });
    let many = async |numbers| {
        let means = vec![Mean { mean: 1.0 }, Mean { mean: mean(numbers) }];
        Json(Means { of: None, best: Some(f32::NAN), means })
    };
    let server =
        Server::new("means", "1").tool(Tool::new("one", one)).tool(Tool::new("many", many));
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        let some = json!({ "numbers": [1, 2] });
        assert_eq!(peer.text("one", some.clone()).await, r#"{"mean":1.5}"#);
        // What may be null may be null for any reason.
        let text = r#"{"of":null,"best":null,"means":[{"mean":1.0},{"mean":1.5}]}"#;
        assert_eq!(peer.text("many", some).await, text);
        for (tool, path) in [("one", "mean"), ("many", "means[1].mean")] {
            let error = peer.call(tool, json!({ "numbers": [] })).await.unwrap_err();
            let expected = format!(
                "the tool `{tool}` failed: `structuredContent.{path}`: expected a number, found null \
                 (NaN and infinite numbers are written as null, because JSON has none)"
            );
            assert_eq!((error.code, error.message), (-32603, expected));
        }
    }
}

// spec: TOOL-29
#[tokio::test]
async fn a_type_that_is_not_written_as_its_schema_says_is_not_sent() {
    #[derive(Serialize, JsonSchema)]
    struct Count {
        #[schemars(with = "u32")]
        count: &'static str,
    }
    let server =
        Server::new("counts", "1").tool(Tool::new("it", async || Json(Count { count: "3" })));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for _ in 0..2 {
            let error = peer.call("it", json!({})).await.unwrap_err();
            assert_eq!(error.code, -32603);
            assert!(error.message.contains("`structuredContent.count`: expected"), "{error}");
        }
    }
}

// spec: TOOL-29
#[tokio::test]
async fn a_result_without_the_structure_that_was_promised_is_not_sent() {
    let tool = Tool::new("it", || async { "text" }).output_schema(json!({ "type": "object" }));
    let peer = Peer::new(&Server::new("strict", "1").tool(tool), Revision::LATEST);
    assert_eq!(peer.call("it", json!({})).await.unwrap_err().code, -32603);
}

// spec: TOOL-29, TOOL-35
#[tokio::test]
async fn a_failure_needs_no_structure() {
    let fails = || async { Result::<Json<Weather>>::Err("no weather today".into()) };
    let tools = [
        Tool::new("it", fails),
        Tool::new("it", || async { CallToolResult::error("no weather today") })
            .output_schema(json!({ "type": "object" })),
    ];
    for tool in tools {
        let result = result_of(tool, Revision::LATEST).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
    }
}
