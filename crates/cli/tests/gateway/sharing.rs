//! Clients share the processes of the servers.

use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{BOTH, Gateway, Mark, Process, Start};

#[tokio::test(flavor = "multi_thread")]
async fn five_clients_of_six_servers_need_six_processes() {
    let mark = Mark::new();
    let gateway = Gateway::start(&mark, &[Start::Plain; 6]);
    let mut clients = Vec::new();
    for number in 0..5 {
        clients.push(gateway.client(BOTH[number % 2]).await);
    }
    assert!(mark.processes().is_empty(), "servers are started when they are needed");
    let mut calls = JoinSet::new();
    for (number, client) in clients.iter().enumerate() {
        for server in 0..6 {
            let (client, message) = (client.clone(), format!("{number} to {server}"));
            calls.spawn(async move {
                let tool = format!("s{server}__echo");
                let said = client.call(&tool, json!({ "message": message })).await.unwrap();
                assert_eq!(said.text(), message);
            });
        }
    }
    while let Some(ended) = calls.join_next().await {
        ended.unwrap();
    }
    let listed: Vec<_> = mark.processes().iter().map(Process::command).collect();
    assert_eq!(listed.len(), 6, "{listed:?}");
    for client in &clients {
        let tools = client.tools().all().await.unwrap();
        assert!((0..6).all(|n| tools.iter().any(|tool| tool.name == format!("s{n}__echo"))));
    }
    assert_eq!(mark.processes().len(), 6);
    gateway.stop();
    mark.wait_for_none();
}
