//! `_meta` of calls and results, and the trace context in it.

use bowline::client::ToolOutcome;
use bowline::{Context, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::tool::CallToolResult;
use serde_json::{Value, json};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Say what came along
#[tool]
fn show(context: Context) -> CallToolResult {
    let along = json!({
        "tenant": context.meta::<u64>("com.example/tenant"),
        "traceparent": context.traceparent(),
        "tracestate": context.tracestate(),
        "baggage": context.baggage(),
    });
    let mut result = CallToolResult::from_text(along.to_string());
    result.meta.set("com.example/cost", &3).unwrap();
    result
}

fn shown(outcome: &ToolOutcome) -> Value {
    serde_json::from_str(&outcome.text()).unwrap()
}

#[bowline::test(every_revision, stateless)]
async fn meta_of_a_call_reaches_the_handler_and_meta_of_the_result_the_client(t: Harness) {
    let client = t.connect(Server::new("mirror", "1.0.0").tools(tools![show])).await;
    let outcome = client.call("show", ()).meta("com.example/tenant", 7).await.unwrap();
    assert_eq!(shown(&outcome)["tenant"], 7);
    assert_eq!(outcome.meta().parse::<u64>("com.example/cost"), Some(3));
}

// spec: META-11
#[bowline::test(every_revision, stateless)]
async fn the_trace_context_reaches_the_handler(t: Harness) {
    let client = t.connect(Server::new("mirror", "1.0.0").tools(tools![show])).await;
    let call = client.call("show", ()).meta("traceparent", TRACE).meta("tracestate", "a=1");
    let shown = shown(&call.meta("baggage", "user=ada").await.unwrap());
    assert_eq!(shown["traceparent"], TRACE);
    assert_eq!((&shown["tracestate"], &shown["baggage"]), (&json!("a=1"), &json!("user=ada")));
}

#[bowline::test(every_revision, stateless)]
async fn the_list_has_the_meta_of_a_tool_in_revisions_that_have_it(t: Harness) {
    let tool = Tool::new("order", || async {}).meta("com.example/team", "shop");
    let client = t.connect(Server::new("shop", "1.0.0").tool(tool)).await;
    let listed = client.tools().all().await.unwrap().remove(0);
    let team = listed.meta.parse::<String>("com.example/team");
    assert_eq!(team.as_deref(), t.revision().has_meta_on_items().then_some("shop"));
}
