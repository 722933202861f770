//! Tools under new names.

use std::sync::Arc;

use bowline_gateway::config::{ConfigFile, ConfigVariables, Dialect};
use bowline_gateway::{Gateway, GatewayOptions, bridge};
use bowline_proto::request::Request;
use bowline_server::layer::{self, Next};
use bowline_server::{Server, Tool};

use crate::support::{Fake, Heard, connect, file, ways};

fn renaming(rules: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "far": {{ "command": "x", "tools": {{ {rules} }} }} }} }}"#)
}

fn server() -> Server {
    let tool = |name: &'static str| Tool::new(name, move || async move { name });
    let server = Server::new("far", "1.0.0").tool(tool("a")).tool(tool("b")).tool(tool("c"));
    server.layer(layer::from_fn(|mut request: Request, next: Next| {
        if let Ok(Some(name)) = request.params.string("name") {
            request.params = request.params.with("name", &name.to_lowercase());
        }
        next.run(request)
    }))
}

fn gateway(rules: &str, heard: &Heard) -> Server {
    let (fake, heard) = (Fake::new(server()), heard.clone());
    let options = GatewayOptions::new(ConfigVariables::none())
        .dialled_by(move |_, _| Arc::new(fake.clone()))
        .reporting(move |note| heard.note(note.to_string()));
    bridge(Gateway::with_options(&file(&renaming(rules)), options).unwrap(), None)
}

#[tokio::test(start_paused = true)]
async fn a_tool_whose_name_another_one_got_is_left_out_and_reported_once() {
    for way in ways() {
        let heard = Heard::default();
        let server = gateway(r#""rename": { "a": "b" }"#, &heard);
        let caller = connect(&server, way, |builder| builder).await;
        for _ in 0..2 {
            let tools = caller.tools().all().await.unwrap();
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["far__b", "far__c"], "{way:?}");
        }
        assert_eq!(caller.call("far__b", ()).await.unwrap().text(), "a", "{way:?}");
        let note = "c.json: $.mcpServers.far: the tool `b` is not offered, because `a` has its \
                    name; rename `b` too";
        assert_eq!(heard.take(), [note], "{way:?}");
    }
}

/// The server reads names without their case, as some do.
#[tokio::test(start_paused = true)]
async fn a_tool_whose_name_another_one_got_cannot_be_called_by_another_spelling() {
    for way in ways() {
        let heard = Heard::default();
        let server = gateway(r#""rename": { "a": "b" }"#, &heard);
        let caller = connect(&server, way, |builder| builder).await;
        assert_eq!(caller.call("far__C", ()).await.unwrap_err().rpc().unwrap().code, -32602);
        let error = caller.call("far__B", ()).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().message, "no tool is named `far__B`", "{way:?}");
        assert_eq!(caller.call("far__c", ()).await.unwrap().text(), "c", "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_can_exchange_their_names() {
    for way in ways() {
        let heard = Heard::default();
        let server = gateway(r#""rename": { "a": "b", "b": "a" }"#, &heard);
        let caller = connect(&server, way, |builder| builder).await;
        assert_eq!(caller.tools().all().await.unwrap().len(), 3, "{way:?}");
        assert_eq!(caller.call("far__a", ()).await.unwrap().text(), "b", "{way:?}");
        assert_eq!(caller.call("far__b", ()).await.unwrap().text(), "a", "{way:?}");
        assert_eq!(heard.take(), [""; 0], "{way:?}");
    }
}

#[test]
fn a_tool_that_is_shown_and_whose_name_another_one_gets_is_a_fault() {
    let text = renaming(r#""show": ["a", "b"], "rename": { "a": "b" }"#);
    let file = ConfigFile::parse(&text, "c.json", Dialect::Bowline).unwrap();
    let fault = file.faults.first().expect("a fault").to_string();
    let expected = "c.json: $.mcpServers.far.tools: the tool `b` is shown, and another has its \
                    name; rename it too, or do not show it";
    assert_eq!(fault, expected);
}
