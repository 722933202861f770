//! Tasks of a gateway, for callers of 2025-11-25. In virtual time.

use std::time::Duration;

use bowline_gateway::bridge;
use bowline_server::{Ask, Server, TaskSupport, Tool};
use bowline_types::revision::Revision;
use tokio::time::sleep;

use crate::support::{BOTH, Fake, Heard, agreeing, connect, gateway, ways};

fn server() -> Server {
    let build = |ask: Ask| async move {
        sleep(Duration::from_secs(90)).await;
        let is_wanted = ask.confirm("Publish?").await?;
        Ok::<_, bowline_server::Error>(format!("published: {is_wanted}"))
    };
    Server::new("builder", "1.0.0").tool(Tool::new("build", build).task(TaskSupport::Required))
}

const FILE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;

#[tokio::test(start_paused = true)]
async fn a_caller_that_asks_for_a_task_gets_one_and_answers_its_questions() {
    for upstream in BOTH {
        for way in ways().filter(|way| way.revision == Revision::LATEST_LEGACY) {
            let gateway = gateway(FILE, [("far", Fake::speaking(upstream, server()))]);
            let server = bridge(gateway, None);
            let heard = Heard::default();
            let caller = connect(&server, way, |builder| agreeing(builder, &heard).tasks()).await;
            let tools = caller.tools().all().await.unwrap();
            assert_ne!(tools[0].task_support(), TaskSupport::Forbidden, "{way:?} {upstream}");
            let task = caller.call("far__build", ()).task().await.unwrap();
            assert!(task.id().is_some(), "{way:?} {upstream}");
            let built = task.wait().await.unwrap();
            assert_eq!(built.text(), "published: true", "{way:?} {upstream}");
            assert_eq!(heard.take(), ["far: Publish?"], "{way:?} {upstream}");
        }
    }
}
