//! Roots: the directories in which the client lets a server work.

use bowline::{Ask, AskError, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::deprecated::roots::Root;
use tokio::sync::mpsc::unbounded_channel;

/// List where we may work
#[tool]
async fn whereabouts(ask: Ask) -> bowline::Result<String> {
    Ok(match ask.roots().await {
        Ok(roots) => list(roots.paths()),
        Err(AskError::Unsupported(_)) => "the client does not say".into(),
        Err(error) => return Err(error.into()),
    })
}

fn list(paths: impl Iterator<Item = std::path::PathBuf>) -> String {
    paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
}

fn root(uri: &str) -> Root {
    Root::new(uri).unwrap()
}

fn indexer() -> Server {
    Server::new("indexer", "1.0.0").tools(tools![whereabouts])
}

#[bowline::test(every_revision)]
async fn a_server_gets_the_roots_of_its_client(t: Harness) {
    let roots = [root("file:///tmp"), root("file:///usr")];
    let client = t.connect(indexer()).client(|client| client.roots(roots)).await;
    assert_eq!(client.call("whereabouts", ()).await.unwrap().text(), "/tmp /usr");
}

#[bowline::test(every_revision)]
async fn the_client_does_not_send_a_root_that_is_not_permitted(t: Harness) {
    let roots = [root("file:///tmp"), root("file:///usr")];
    let permit = |root: Root| async move { root.uri == "file:///usr" };
    let described =
        |client: bowline::client::ClientBuilder| client.roots(roots).permit_roots(permit);
    let client = t.connect(indexer()).client(described).await;
    assert_eq!(client.call("whereabouts", ()).await.unwrap().text(), "/usr");
}

#[bowline::test(every_revision, stateless)]
async fn a_server_does_not_ask_a_client_without_roots(t: Harness) {
    let client = t.connect(indexer()).await;
    let outcome = client.call("whereabouts", ()).await.unwrap();
    assert_eq!(outcome.text(), "the client does not say");
}

#[bowline::test(every_revision)]
async fn a_server_gets_changed_roots(t: Harness) {
    let (sender, mut changed) = unbounded_channel();
    let server = indexer().on_roots_changed(move |ask: Ask| {
        let sender = sender.clone();
        async move {
            sender.send(list(ask.roots().await?.paths())).unwrap();
            Ok::<_, bowline::Error>(())
        }
    });
    let client = t.connect(server).client(|client| client.roots([])).await;
    assert_eq!(client.call("whereabouts", ()).await.unwrap().text(), "");
    client.set_roots([root("file:///tmp")]).unwrap();
    if t.revision().has_roots_changes() {
        assert_eq!(changed.recv().await.as_deref(), Some("/tmp"));
    }
    assert_eq!(client.call("whereabouts", ()).await.unwrap().text(), "/tmp");
    assert!(changed.is_empty());
}

#[bowline::test(every_revision)]
async fn a_tool_checks_a_path_against_the_roots(t: Harness) {
    let check = |ask: Ask| async move {
        let roots = ask.roots().await?;
        let inside = ["/tmp/a", "/tmp/../etc", "/tmpa"].map(|path| roots.contain(path));
        Ok::<_, bowline::Error>(format!("{inside:?}"))
    };
    let server = Server::new("checker", "1.0.0").tool(Tool::new("check", check));
    let client = t.connect(server).client(|client| client.roots([root("file:///tmp")])).await;
    assert_eq!(client.call("check", ()).await.unwrap().text(), "[true, false, false]");
}
