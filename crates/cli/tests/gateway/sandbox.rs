//! A gateway to a server in a sandbox.

use std::fs;

use serde_json::json;

use crate::kernel;
use crate::support::{BOTH, BOWLINE, Gateway};

// spec: LOCAL-8
#[tokio::test]
async fn a_gateway_starts_a_server_that_reads_only_what_its_entry_grants() {
    if !kernel::has_landlock() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [secret, shared] = ["secret", "shared"].map(|name| folder.path().join(name));
    fs::write(&secret, "dear diary").unwrap();
    fs::write(&shared, "hello").unwrap();
    // It ends before it serves if it cannot read the one file, or can read the other.
    let script = format!(
        "cat {} >&2 || exit 1; cat {} >&2 && exit 1; exec {BOWLINE} demo --stdio",
        shared.display(),
        secret.display()
    );
    let open = ["sh", "-c", &script];
    let grant = ["--read", BOWLINE, "--read", shared.to_str().unwrap(), "--"];
    let closed = [&["sandbox"], kernel::as_root(), &grant, &open].concat();
    let config = json!({ "mcpServers": {
        "closed": { "command": BOWLINE, "args": closed },
        "open": { "command": open[0], "args": open[1..] },
    } });
    let gateway = Gateway::of(&config);
    for revision in BOTH {
        let client = gateway.client(revision).await;
        let echoed = client.call("closed__echo", json!({ "message": "hello" })).await.unwrap();
        assert_eq!(echoed.text(), "hello");
        assert!(client.call("open__echo", json!({ "message": "hello" })).await.is_err());
        client.close().await;
    }
}
