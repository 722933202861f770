//! trial
use bowline_client::types::revision::Revision;
use bowline_client::Client;
use serde_json::{Value, json};
#[tokio::test]
async fn trial() {
    let url = std::env::var("TRIAL_URL").unwrap();
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let revision = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    eprintln!("{scenario} {revision} {url}");
    let mut b = Client::http(&*url).on_odd(|w| eprintln!("odd: {w}")).on_ask(|q| async move {
        let v = json!({"confirmed": true});
        eprintln!("asked {}", q.message());
        q.accept(v)
    });
    if let Ok(r) = revision.parse::<Revision>() { if !r.is_modern() { b = b.revisions([r]); } }
    let client = match b.connect().await { Ok(c) => c, Err(e) => { eprintln!("ERR {e}"); return; } };
    let tools = client.tools().all().await;
    let show = |n: &str, r: Result<bowline_client::ToolOutcome, bowline_client::Error>| match r { Ok(o) => eprintln!("{n}: {}", o.text()), Err(e) => eprintln!("{n} ERR {e}") };
    match scenario.as_str() {
        "tools_call" => show("add", client.call("add_numbers", json!({"a":1,"b":2})).await),
        "sse-retry" => show("re", client.call("test_reconnection", ()).await),
        "http-custom-headers" => {
            let ctx: Value = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap()).unwrap();
            for c in ctx["toolCalls"].as_array().unwrap() { show("c", client.call(c["name"].as_str().unwrap(), c["arguments"].clone()).await); }
        }
        "http-standard-headers" => {
            show("t", client.call("test_headers", ()).await); show("t", client.call("my-hyphenated-tool", ()).await);
            for r in client.resources().all().await.unwrap() { let _ = client.read(&r.uri).await; }
            for p in client.prompts().all().await.unwrap() { let _ = client.prompt(&p.name).await; }
        }
        "http-invalid-tool-headers" => { for t in tools.as_ref().unwrap() { show(&t.name, client.call(&*t.name, json!({"region":"eu"})).await); } }
        "sep-2322-client-request-state" => { for t in tools.as_ref().unwrap() { show(&t.name, client.call(&*t.name, ()).await); } }
        _ => { if let Ok(tools) = &tools { for t in tools { show(&t.name, client.call(&*t.name, ()).await); } } }
    }
    client.close().await;
}
