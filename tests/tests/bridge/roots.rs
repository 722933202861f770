//! Roots of the caller.

use bowline::types::deprecated::roots::Root;
use bowline::{Ask, Server, Tool, tool, tools};
use tokio::sync::mpsc::unbounded_channel;

use crate::support::{ALL, L, cells};

/// List where we may work
#[tool]
async fn whereabouts(ask: Ask) -> bowline::Result<String> {
    let roots = ask.roots().await?;
    Ok(roots.paths().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" "))
}

fn server() -> Server {
    Server::new("indexer", "1.0.0").tools(tools![whereabouts])
}

#[tokio::test(start_paused = true)]
async fn a_server_gets_the_roots_of_the_caller() {
    for cell in cells(&ALL) {
        let roots = [Root::new("file:///tmp").unwrap()];
        let client = cell.through(&server(), |builder| builder.roots(roots)).await;
        let found = client.call("whereabouts", ()).await.unwrap();
        assert_eq!(found.text(), "/tmp", "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_of_one_session_hears_when_its_roots_change() {
    for cell in cells(&[(L, L)]) {
        let (sender, mut heard) = unbounded_channel();
        let far = server()
            .on_roots_changed(move |_: Ask| {
                let sender = sender.clone();
                async move { _ = sender.send(()) }
            })
            .tool(Tool::new("other", || async {}));
        let relay = cell.relay(&far).await.for_one_session();
        let roots = [Root::new("file:///tmp").unwrap()];
        let client = cell.caller(relay, |builder| builder.roots(roots)).await;
        client.set_roots([Root::new("file:///usr").unwrap()]).unwrap();
        assert!(heard.recv().await.is_some(), "{cell:?}");
    }
}
