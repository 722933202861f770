//! Many tasks of many programs renew one token, and the refresh token is never used twice.

use std::sync::Arc;

use super::network::Network;
use super::{authorizer, send};
use crate::client::plan::Browser;
use crate::client::store::FileStore;

/// Programs and tasks of each. Each program is a thread with a runtime, a store and a client of its
/// own; a lock on a file holds between them as it does between processes.
const PROGRAMS: usize = 8;
const TASKS: usize = 32;
/// The messages of each task, one after the other.
const MESSAGES: usize = 6;

#[test]
fn a_herd_of_programs_never_uses_a_refresh_token_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth");
    let network = Network::new();
    // Every token is due at once, so every request wants to renew it.
    network.state().life = 0;
    run(network.clone(), path.clone(), 1);
    let programs: Vec<_> = (0..PROGRAMS)
        .map(|_| {
            let (network, path) = (network.clone(), path.clone());
            std::thread::spawn(move || run(network, path, TASKS))
        })
        .collect();
    for program in programs {
        program.join().unwrap();
    }
    assert_eq!((network.state().reuses, network.visits()), (0, 1));
    assert!(network.count("refresh_token") > MESSAGES, "{}", network.count("refresh_token"));
}

fn run(network: Arc<Network>, path: std::path::PathBuf, tasks: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async move {
        let store = FileStore::open(path).unwrap();
        let client = authorizer(Browser::new("app").store(store), &network);
        let calls: Vec<_> = (0..tasks)
            .map(|_| {
                let (client, network) = (client.clone(), network.clone());
                tokio::spawn(async move {
                    for _ in 0..MESSAGES {
                        assert!(send(&client, &network, "x").await.is_success());
                    }
                })
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
    });
}
