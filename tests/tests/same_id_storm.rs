//! Many clients that use the same id for every request, at the same time: each answer reaches its
//! call.
//!
//! Some clients really do this. A server that finds calls by their ids would mix up their answers.
//! The calls wait in virtual time.

use std::collections::BTreeSet;
use std::time::Duration;

use bowline::{Server, tool, tools};
use bowline_testing::StrictPeer;
use bowline_transport::lines::Lines;
use serde_json::{Value, json};

const CLIENTS: u64 = 64;
const CALLS: u64 = 64;
const SEEDS: u64 = 3;

/// Say the nonce again, after a while
#[tool]
async fn echo(nonce: String, delay: u64) -> String {
    tokio::time::sleep(Duration::from_millis(delay)).await;
    nonce
}

/// A client that uses only the id 1; returns the nonces that it sent and those that it got.
async fn client(
    server: Server,
    name: u64,
    mut random: Random,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (near, far) = tokio::io::duplex(4096);
    let (source, sink) = tokio::io::split(far);
    let serving = tokio::spawn(server.serve(Lines::new(source, sink)));
    let mut client = StrictPeer::new(near);
    let mut sent = BTreeSet::new();
    for call in 0..CALLS {
        let nonce = format!("{name}-{call}-{}", random.next());
        // The first two calls run longer than all others, so that the id always names several
        // calls.
        let delay = if call < 2 { 1000 } else { random.next() % 100 };
        client.send(&request(&nonce, delay)).await;
        // Several calls have this id, so the server cancels none.
        if call > 2 && random.next().is_multiple_of(4) {
            client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
        }
        sent.insert(nonce);
    }
    let mut received = BTreeSet::new();
    for _ in 0..CALLS {
        received.insert(nonce_in(&client.next().await.unwrap()));
    }
    client.expect_end().await;
    serving.await.unwrap().unwrap();
    (sent, received)
}

fn request(nonce: &str, delay: u64) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "nonce": nonce, "delay": delay });
    let params = json!({ "name": "echo", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

fn nonce_in(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["id"], 1, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Pseudo-random numbers that are the same in every run.
#[derive(Clone, Copy)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

// spec: RPC-6, CANC-8, ST-2
#[tokio::test(start_paused = true)]
async fn every_answer_reaches_its_call() {
    let server = Server::new("storm", "1.0.0").tools(tools![echo]);
    for seed in 1..=SEEDS {
        let random = |name| Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (name + 1));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|name| tokio::spawn(client(server.clone(), name, random(name))))
            .collect();
        for client in clients {
            let (sent, received) = client.await.unwrap();
            assert_eq!(sent, received, "seed {seed}");
            assert_eq!(sent.len() as u64, CALLS);
        }
    }
}
