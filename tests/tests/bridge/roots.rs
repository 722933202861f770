//! Roots of the caller.

use bowline::{Ask, Server, Tool, tool, tools};
use bowline_types::deprecated::roots::Root;
use tokio::sync::mpsc::unbounded_channel;

use crate::support::{ALL, Heard, L, cells};

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

/// A connection that callers share has no roots of its own, and a server without sessions asks each
/// time.
#[tokio::test(start_paused = true)]
async fn other_servers_hear_of_no_change_and_get_the_new_roots_when_they_ask() {
    for cell in cells(&ALL) {
        let heard = Heard::default();
        let noted = heard.clone();
        let far = server().on_roots_changed(move |_: Ask| {
            noted.note("changed");
            std::future::ready(())
        });
        let roots = [Root::new("file:///tmp").unwrap()];
        let client = cell.through(&far, |builder| builder.roots(roots)).await;
        client.set_roots([Root::new("file:///usr").unwrap()]).unwrap();
        let found = client.call("whereabouts", ()).await.unwrap();
        assert_eq!(found.text(), "/usr", "{cell:?}");
        assert!(heard.all().is_empty(), "{cell:?}");
    }
}
