//! Servers and gateways that are killed.

use std::time::Instant;

use bowline::Client;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{BOTH, Gateway, Mark, PATIENCE, Process, Start, eventually};

/// Servers, each of which is killed several times in the middle of a call.
const SERVERS: usize = 20;
const KILLS: usize = 4;
/// Gateways that are killed, each with servers behind it.
const GATEWAYS: usize = 20;

/// 80 servers are killed: each call that runs then fails once and is not repeated, and the next
/// call starts the server again. Nothing that the killed server started is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_fails_its_calls_and_is_started_again_without_leaving_a_process() {
    let mark = Mark::new();
    let gateway = Gateway::start(&mark, &[Start::Tree; SERVERS]);
    let mut servers = JoinSet::new();
    for number in 0..SERVERS {
        let client = gateway.client(BOTH[number % 2]).await;
        servers.spawn(kill_often(client, mark.of(number), number));
    }
    while let Some(ended) = servers.join_next().await {
        ended.unwrap();
    }
    // One server and what it started.
    let is_settled = || mark.processes().len() == 2 * SERVERS;
    eventually("nothing is left of the killed servers", is_settled);
    gateway.stop();
    mark.wait_for_none();
}

async fn kill_often(client: Client, mark: Mark, number: usize) {
    let tool = |name: &str| format!("s{number}__{name}");
    for round in 0..KILLS {
        say(&client, &tool("echo"), &format!("{number}, {round}")).await;
        let sleeping =
            tokio::spawn(client.call(tool("sleep"), json!({ "seconds": 600 })).into_future());
        // The call before was answered by the same server, so this one reaches it.
        say(&client, &tool("echo"), "running").await;
        let servers: Vec<_> = mark.processes().into_iter().filter(Process::is_server).collect();
        assert_eq!(servers.len(), 1, "{servers:?}");
        servers[0].kill();
        let outcome = tokio::time::timeout(PATIENCE, sleeping).await;
        let error = outcome.expect("the call ends").unwrap().expect_err("the server was killed");
        assert!(error.to_string().contains("ended"), "{error}");
    }
    say(&client, &tool("echo"), "the last").await;
}

/// Calls until the server was started again: in the pause after a failure calls are refused.
async fn say(client: &Client, tool: &str, message: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match client.call(tool, json!({ "message": message })).await {
            Ok(said) => return assert_eq!(said.text(), message),
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    }
}

/// 20 gateways are killed, with three servers each: none of their processes is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_gateway_leaves_no_process() {
    let starts = [Start::Plain, Start::Tree, Start::StubbornTree];
    let mark = Mark::new();
    for number in 0..GATEWAYS {
        let own = mark.of(number);
        let gateway = Gateway::start(&own, &starts);
        let client = gateway.client(Revision::LATEST).await;
        for server in 0..starts.len() {
            say(&client, &format!("s{server}__echo"), "hello").await;
        }
        assert_eq!(own.processes().len(), 5);
        gateway.process().kill();
    }
    mark.wait_for_none();
}
