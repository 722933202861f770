//! Finds the programs of other SDKs that `tests/peers/install.sh` installs.

use std::path::{Path, PathBuf};

/// Returns the interpreter and the script of a peer, given as `["node", script]` or `["python",
/// script]`.
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
        ["python", script] => (directory.join(".venv/bin/python"), directory.join(script)),
        other => panic!("no such kind of peer: {other:?}"),
    }
}

/// The directory `tests/peers`.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
