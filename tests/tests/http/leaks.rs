//! Clients that connect and disconnect in many ways, thousands of times: the server keeps nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_http::store::MemoryBackend;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::faulty_store::bytes_beside_leases;
use crate::test_server::{Random, TestServer, call, initialize, limits, listen, request, within};
use crate::wire::{Request, Wire};

const CYCLES: u64 = 5000;
const CLIENTS: u64 = 8;
/// The number of ways to disconnect.
const WAYS: u64 = 12;

/// Connects, and disconnects in one of many ways.
async fn come_and_go(server: &TestServer, way: u64, random: &mut Random) {
    let address = server.address;
    let whole = call("echo", json!({ "text": "a" })).bytes();
    let some = random.below(whole.len() as u64) as usize;
    let session = || server.session(Revision::V2025_11_25);
    match way {
        0 => drop(Wire::open(address).await),
        1 => {
            let mut wire = Wire::open(address).await;
            wire.write(&whole[..some]).await;
            wire.reset();
        }
        2 => {
            let mut wire = Wire::open(address).await;
            wire.write(&whole[..some]).await;
        }
        3 => drop(Wire::send(address, &Request::post(initialize(Revision::V2025_11_25))).await),
        4 => drop(server.ask(&Request::post(initialize(Revision::V2025_11_25))).await),
        5 => drop(server.ask(&Request::post(request(0, "initialize", json!({})))).await),
        6 => {
            let session = session().await;
            assert_eq!(
                server.ask(&session.call("echo", json!({ "text": "a" }))).await.status(),
                200
            );
            assert_eq!(server.ask(&session.delete()).await.status(), 204);
        }
        7 => server.stream(&session().await.get()).await.reset(),
        8 => {
            let session = session().await;
            let mut wire = server.stream(&session.call("tell", json!({ "count": 3 }))).await;
            within(wire.message()).await.unwrap();
        }
        9 => server.stream(&listen(json!({ "toolsListChanged": true }))).await.reset(),
        10 => drop(Wire::send(address, &call("forever", json!({}))).await),
        _ => {
            let mut wire = server.stream(&Request::get()).await;
            let target = within(wire.event()).await.unwrap().data.unwrap();
            let forever = request(1, "tools/call", json!({ "name": "forever", "arguments": {} }));
            for body in [initialize(Revision::V2024_11_05), forever] {
                let posted = Request::post(body).target(&target);
                assert_eq!(server.ask(&posted).await.status(), 202);
            }
        }
    }
}

/// What a server holds for its clients: sessions, tasks, file descriptors, bytes in its store.
type Held = (usize, usize, usize, usize);

async fn held(server: &TestServer, store: &MemoryBackend) -> Held {
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    (server.endpoint.sessions(), tasks, descriptors, bytes_beside_leases(store).await)
}

/// Waits until the server holds no more than it should; returns what it holds if that takes too long.
async fn settled(
    server: &TestServer,
    store: &MemoryBackend,
    is_settled: impl Fn(Held) -> bool,
) -> Result<Held, Held> {
    let begun = Instant::now();
    loop {
        let held = held(server, store).await;
        if is_settled(held) {
            return Ok(held);
        }
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(held);
        }
        tokio::task::yield_now().await;
    }
}

/// File descriptors that other tests of this process may hold. A leak in any one of the ways to
/// disconnect is many times more.
const OF_OTHERS: usize = 64;

/// Whether the server holds no more than before.
fn is_back(held: Held, before: Held) -> bool {
    let (sessions, tasks, descriptors, bytes) = held;
    let is_empty = sessions == 0 && bytes == 0;
    is_empty && tasks <= before.1 && descriptors <= before.2 + OF_OTHERS
}

// spec: SESS-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_keeps_nothing_of_clients_that_are_gone() {
    let store = Arc::new(MemoryBackend::default());
    let kept = store.clone();
    let limits = limits(|it| {
        it.session_idle = Duration::from_millis(500);
        it.session_opening = Duration::from_millis(500);
        it.resumption = Duration::from_millis(500);
    });
    let server = TestServer::with(|http| http.store(store).limits(limits).sse2024()).await;
    server.handlers.step(CYCLES as usize * 4);
    // The first clients start what stays: the sweep task and the sockets of the runtime.
    for way in 0..WAYS {
        come_and_go(&server, way, &mut Random(1)).await;
    }
    let is_settled = |(sessions, _, _, bytes): Held| sessions == 0 && bytes == 0;
    let before = settled(&server, &kept, is_settled).await.unwrap();
    let server = Arc::new(server);
    let clients = (0..CLIENTS).map(|client| {
        let server = server.clone();
        async move {
            let mut random = Random(client + 1);
            for cycle in 0..CYCLES / CLIENTS {
                come_and_go(&server, (client + cycle) % WAYS, &mut random).await;
            }
        }
    });
    for client in clients.map(tokio::spawn).collect::<Vec<_>>() {
        client.await.unwrap();
    }
    let after = settled(&server, &kept, |held| is_back(held, before)).await;
    assert!(after.is_ok(), "{before:?} became {after:?}: sessions, tasks, descriptors, bytes");
    server.handlers.running(0).await;
}
