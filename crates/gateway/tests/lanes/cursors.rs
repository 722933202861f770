//! Cursors belong to the connection that gave them.

use std::future::IntoFuture as _;

use bowline_gateway::{GatewayLimits, Lanes, bridge};
use bowline_server::{Server, Tool};
use bowline_types::error::code;
use bowline_types::revision::Revision;

use crate::support::{BOTH, Fake, Heard, agreeing, connect, gateway, ways};

fn server() -> Server {
    let tool = |name: &'static str| Tool::new(name, move || async move { name });
    Server::new("far", "1.0.0").tool(tool("a")).tool(tool("b")).tool(tool("c")).page_size(1)
}

fn bridged(lanes: &Lanes) -> Server {
    bridge(lanes.clone(), None)
}

#[tokio::test(start_paused = true)]
async fn pages_of_one_connection_follow_each_other() {
    for upstream in BOTH {
        for way in ways() {
            let lanes = Fake::speaking(upstream, server()).lanes(GatewayLimits::default());
            for server in [bridged(&lanes), Server::new("gateway", "1.0.0").mount("far", lanes)] {
                let caller = connect(&server, way, |builder| builder).await;
                assert_eq!(caller.tools().all().await.unwrap().len(), 3, "{way:?} {upstream}");
            }
        }
    }
}

// spec: PAGE-7
#[tokio::test(start_paused = true)]
async fn a_cursor_of_a_process_that_ended_is_refused() {
    for upstream in BOTH {
        for way in ways() {
            let fake = Fake::speaking(upstream, server());
            let caller =
                connect(&bridged(&fake.lanes(GatewayLimits::default())), way, |builder| builder)
                    .await;
            let mut tools = caller.tools();
            assert_eq!(tools.next().await.unwrap().unwrap().name, "a");
            fake.kill().await;
            let error = tools.next().await.unwrap().unwrap_err();
            assert_eq!(error.rpc().unwrap().code, code::INVALID_PARAMS, "{way:?} {upstream}");
            assert_eq!(caller.tools().all().await.unwrap().len(), 3, "{way:?} {upstream}");
        }
    }
}

// spec: PAGE-7
#[tokio::test(start_paused = true)]
async fn a_cursor_counts_as_long_as_its_process_runs_whichever_the_caller_used_meanwhile() {
    const ASKS: &str = r#"{ "mcpServers": { "far": { "command": "x", "asks": true } } }"#;
    for way in ways() {
        let hang = Tool::new("hang", std::future::pending::<&str>);
        let fake = Fake::speaking(Revision::LATEST_LEGACY, server().tool(hang));
        let gateway = bridge(gateway(ASKS, [("far", fake.clone())]), None);
        let asked = || connect(&gateway, way, |it| agreeing(it, &Heard::default()));
        let (caller, other) = (asked().await, asked().await);
        let mut tools = caller.tools();
        assert_eq!(tools.next().await.unwrap().unwrap().name, "far__a", "{way:?}");
        // It holds the process that gave the cursor.
        let hanging = tokio::spawn(other.call("far__hang", ()).into_future());
        while fake.running().await == 0 {}
        caller.call("far__a", ()).await.unwrap();
        assert_eq!(fake.starts(), 2, "{way:?}");
        hanging.abort();
        let mut rest = Vec::new();
        while let Some(tool) = tools.next().await {
            rest.push(tool.unwrap().name);
        }
        assert_eq!(rest, ["far__b", "far__c", "far__hang"], "{way:?}");
    }
}
