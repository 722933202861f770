//! Many connections that use the same id for every request, at the same time.

use bowline_types::revision::Revision;
use serde_json::json;

use crate::test_server::{Random, TestServer, call, text_of, within};
use crate::wire::Wire;

const CONNECTIONS: u64 = 64;
const CALLS: u64 = 64;

// spec: RPC-6, ST-2, HTTP-3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_reaches_its_call() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_06_18).await;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|client| {
            let (address, session) = (server.address, session.clone());
            let mut random = Random(client.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
            tokio::spawn(async move {
                let mut wire = Wire::open(address).await;
                for number in 0..CALLS {
                    let nonce = format!("{client}-{number}-{}", random.next());
                    let arguments = json!({ "text": nonce, "turns": random.below(20) });
                    let request = match client % 2 {
                        0 => session.call("echo", arguments),
                        _ => call("echo", arguments),
                    };
                    wire.write(&request.bytes()).await;
                    let answer = within(wire.answer()).await.json();
                    assert_eq!((&answer["id"], text_of(&answer)), (&json!(1), nonce.as_str()));
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}
