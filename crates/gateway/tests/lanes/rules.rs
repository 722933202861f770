//! Which tools are offered, and what is reported of rules that are mistyped.

use std::sync::Arc;

use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{Gateway, GatewayOptions, bridge};
use bowline_proto::request::{Request, Response};
use bowline_server::layer::{self, Next};
use bowline_server::{Resource, Server, Tool};
use bowline_types::method::Method;
use futures_core::future::BoxFuture;

use crate::support::{Fake, Heard, connect, file, ways};

fn with(rules: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "git": {{ "command": "x", "tools": {{ {rules} }} }} }} }}"#)
}

/// A gateway to servers in this process, which notes its reports.
fn gateway<const N: usize>(
    text: &str,
    servers: [(&'static str, Fake); N],
    heard: &Heard,
) -> Server {
    let heard = heard.clone();
    let options = GatewayOptions::new(ConfigVariables::none())
        .dialled_by(move |entry, _| {
            let server = servers.iter().find(|(name, _)| *name == entry.name);
            Arc::new(server.unwrap().1.clone())
        })
        .reporting(move |note| heard.note(note.to_string()));
    bridge(Gateway::with_options(&file(text), options).unwrap(), None)
}

/// A server that reads the name of a called tool without its case and spaces, as some do.
fn lenient() -> Server {
    let tool = |name: &'static str| Tool::new(name, move || async move { name });
    let server = Server::new("git", "1.0.0").tool(tool("git_reset")).tool(tool("git_log"));
    server.layer(layer::from_fn(
        |mut request: Request, next: Next| -> BoxFuture<'static, Response> {
            if request.parts.method == Method::ToolsCall
                && let Ok(Some(name)) = request.params.string("name")
            {
                let plain = name.trim().to_lowercase();
                request.params = request.params.with("name", &plain);
            }
            Box::pin(next.run(request))
        },
    ))
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_cannot_be_called_by_another_spelling_of_its_name() {
    for way in ways() {
        for lists_first in [false, true] {
            let server = Fake::new(lenient());
            let server =
                gateway(&with(r#""hide": ["git_reset"]"#), [("git", server)], &Heard::default());
            let caller = connect(&server, way, |builder| builder).await;
            if lists_first {
                caller.tools().all().await.unwrap();
            }
            assert_eq!(caller.call("git__git_log", ()).await.unwrap().text(), "git_log");
            for name in ["git_reset", "GIT_RESET", "git_reset ", "Git_Reset\t"] {
                let name = format!("git__{name}");
                let error = caller.call(&name, ()).await.unwrap_err();
                let error = error.rpc().unwrap_or_else(|| panic!("{error}"));
                assert_eq!(error.code, -32602, "{way:?} {name:?}");
                // The error names the tool as the caller did.
                let shown = name.replace('\t', "\\t");
                assert_eq!(error.message, format!("no tool is named `{shown}`"), "{way:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn rules_for_tools_that_the_server_does_not_list_are_reported_once() {
    let rules = r#""hide": ["git_rest"], "rename": { "git_lag": "log", "draw": "paint" }"#;
    for way in ways() {
        let heard = Heard::default();
        let server = gateway(&with(rules), [("git", Fake::new(lenient()))], &heard);
        let caller = connect(&server, way, |builder| builder).await;
        assert_eq!(heard.take(), [""; 0]);
        for _ in 0..2 {
            caller.tools().all().await.unwrap();
        }
        let note = |rule, name, effect, advice| {
            format!(
                "c.json: $.mcpServers.git: `tools.{rule}` names `{name}`, which the server does not \
                 list, so it {effect} nothing; {advice}"
            )
        };
        let expected = [
            note("hide", "git_rest", "hides", "did you mean `git_reset`?"),
            note("rename", "draw", "renames", "correct the name, or remove it"),
            note("rename", "git_lag", "renames", "did you mean `git_log`?"),
        ];
        assert_eq!(heard.take(), expected, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_two_servers_list_is_reported_once_and_read_from_the_first() {
    const TWO: &str =
        r#"{ "mcpServers": { "one": { "command": "x" }, "two": { "command": "y" } } }"#;
    let notes = |name: &'static str| {
        let own = Resource::new(format!("notes://{name}"), move || async move { name });
        let shared = Resource::new("notes://shared", move || async move { name });
        Fake::new(Server::new(name, "1.0.0").resource(own).resource(shared))
    };
    for way in ways() {
        let heard = Heard::default();
        let server = gateway(TWO, [("one", notes("one")), ("two", notes("two"))], &heard);
        let caller = connect(&server, way, |builder| builder).await;
        for _ in 0..2 {
            assert_eq!(caller.resources().all().await.unwrap().len(), 4);
        }
        let note = "c.json: $.mcpServers.two: the server `one` also lists the resource \
                    `notes://shared`; reads of it reach the first of them only";
        assert_eq!(heard.take(), [note], "{way:?}");
    }
}

#[test]
fn a_bridge_to_a_server_that_needs_authorization_is_not_offered_without_it() {
    let whoami = |caller: bowline_server::Claims| async move { caller.subject };
    let server = Server::new("far", "1.0.0").tool(Tool::new("whoami", whoami));
    let refused = bridge(server.build().unwrap(), None).http().build().unwrap_err().to_string();
    assert!(refused.contains("tool `whoami` takes `Claims`"), "{refused}");
}
