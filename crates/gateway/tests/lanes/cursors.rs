//! Cursors belong to the connection that gave them.

use bowline_gateway::{GatewayLimits, Lanes, bridge};
use bowline_server::{Server, Tool};
use bowline_types::error::code;

use crate::support::{BOTH, Fake, connect, ways};

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
