//! A server with a mounted server and a mounted client, as clients of both eras see it.

use bowline::client::Change;
use bowline::{
    Ask, Client, Progress, Resource, Server, TaskSupport, Tool, prompt, prompts, starting_with,
    tool, tools,
};
use bowline_testing::Harness;
use bowline_transport::duplex::duplex;
use bowline_types::completion::Reference;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Deploy the thing
#[tool]
async fn deploy(ask: Ask, env: String) -> bowline::Result<String> {
    if !ask.confirm(format!("Deploy to {env}?")).await? {
        return Ok("Not deployed".into());
    }
    Ok(format!("Deployed to {env}"))
}

/// Count to a number
#[tool]
async fn count(progress: Progress, to: usize) -> String {
    let mut bar = progress.total(to);
    for step in 0..to {
        bar.inc(step.to_string());
    }
    format!("counted to {to}")
}

/// Never end
#[tool]
async fn hang() -> String {
    std::future::pending().await
}

/// Review code
#[prompt]
async fn review(language: String) -> String {
    format!("Review this {language} code.")
}

/// The server behind the mounted client.
fn far() -> Server {
    let family = Resource::template("far://{name}", |name: String| async move { name })
        .complete("name", |typed| async move { starting_with(typed, ["a", "b"]) });
    Server::new("far", "1.0.0")
        .instructions("Count first.")
        .tools(tools![count, hang])
        .prompts(prompts![review])
        .resource(family)
        .resource(Resource::new("far://board", || async { "nothing" }))
}

/// A client of a server in this process.
async fn client_of(server: &Server, revision: Revision) -> Client {
    let (near, served) = duplex();
    tokio::spawn(server.clone().serve(served));
    Client::builder("hub", "1.0.0").tasks().revisions([revision]).connect(near).await.unwrap()
}

/// A server with one mounted server and one mounted client.
async fn hub(far: &Server, revision: Revision) -> Server {
    let near = Server::new("near", "1.0.0").tools(tools![deploy]);
    let far = client_of(far, revision).await;
    Server::new("hub", "1.0.0").mount("near", near).mount("far", far)
}

const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

#[bowline::test]
async fn a_tool_of_a_mounted_server_can_ask_the_user(t: Harness) {
    let hub = hub(&far(), Revision::LATEST).await;
    let client = t.connect(hub).answering(|question| question.accept(true)).await;
    let deployed = client.call("near__deploy", json!({ "env": "prod" })).await.unwrap();
    assert_eq!(deployed.text(), "Deployed to prod");
    assert_eq!(t.questions(), ["Deploy to prod?"]);
}

#[bowline::test]
async fn a_mounted_client_offers_the_features_of_its_server(t: Harness) {
    for revision in BOTH {
        let client = t.connect(hub(&far(), revision).await).await;
        let tools = client.tools().all().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["near__deploy", "far__count", "far__hang"]);
        let mut steps = Vec::new();
        let call = client.call("far__count", json!({ "to": 2 }));
        let counted = call.progress(|step| steps.push(step.progress)).await.unwrap();
        assert_eq!(counted.text(), "counted to 2");
        assert_eq!(steps.last(), Some(&2.0));
        let wrong = client.call("far__count", json!({ "to": "two" })).await.unwrap();
        assert!(wrong.is_error());
        assert_eq!(client.read("far://a").await.unwrap().text(), "a");
        assert!(client.read("near://a").await.unwrap_err().is_not_found());
        let review = client.prompt("far__review").argument("language", "Rust").await.unwrap();
        assert_eq!(review.messages[0].content.as_text(), Some("Review this Rust code."));
        let family = Reference::resource("far://{name}");
        let completion = client.complete(family).argument("name", "b").await.unwrap();
        assert_eq!(completion.values(), ["b"]);
        assert!(client.instructions().unwrap().contains("`far__`:\nCount first."));
    }
}

#[bowline::test]
async fn a_client_gets_changes_of_the_server_behind_a_mounted_client(t: Harness) {
    for revision in BOTH {
        let far = far();
        let client = t.connect(hub(&far, revision).await).await;
        let subscribe = client.subscribe().tools().resource("far://board");
        let mut changes = subscribe.open().await.unwrap();
        assert!(changes.missing().is_empty(), "{:?}", changes.missing());
        far.notify().resource_updated("far://board");
        let told = changes.next().await.unwrap().unwrap();
        assert_eq!(told, Change::Resource("far://board".to_owned()));
        far.registry().insert(Tool::new("new", || async { "new" })).unwrap();
        assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
        assert_eq!(client.call("far__new", ()).await.unwrap().text(), "new");
    }
}

#[bowline::test]
async fn dropping_a_call_cancels_it_behind_a_mounted_client(t: Harness) {
    for revision in BOTH {
        let (sender, dropped) = tokio::sync::oneshot::channel::<()>();
        let (begin, begun) = tokio::sync::oneshot::channel::<()>();
        let held = std::sync::Arc::new(std::sync::Mutex::new(Some((sender, begin))));
        let hold = move || {
            let (held, begin) = held.lock().unwrap().take().unzip();
            async move {
                begin.map(|begin| begin.send(()));
                std::future::pending::<()>().await;
                drop(held);
            }
        };
        let far = Server::new("far", "1.0.0").tool(Tool::new("hold", hold));
        let client = t.connect(hub(&far, revision).await).await;
        tokio::select! {
            outcome = client.call("far__hold", ()).into_future() => panic!("{outcome:?}"),
            _ = begun => {}
        }
        assert!(dropped.await.is_err(), "the tool was dropped");
    }
}

/// A server whose tools run only as tasks, and the news of the one that never ends.
fn far_with_tasks() -> (Server, UnboundedReceiver<&'static str>) {
    struct Dropped(UnboundedSender<&'static str>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            // At the end of the test the receiver may be gone.
            _ = self.0.send("dropped");
        }
    }

    let (sender, events) = unbounded_channel();
    let wait = move || {
        let dropped = Dropped(sender.clone());
        async move {
            dropped.0.send("begun").unwrap();
            std::future::pending::<()>().await;
        }
    };
    let wait = Tool::new("wait", wait).task(TaskSupport::Required);
    let work = Tool::new("work", || async { "done" }).task(TaskSupport::Required);
    (Server::new("far", "1.0.0").tool(work).tool(wait), events)
}

#[bowline::test(every_revision)]
async fn a_task_behind_a_mounted_client_is_awaited_and_cancelled_there(t: Harness) {
    for revision in BOTH {
        let (far, mut events) = far_with_tasks();
        let client = t.connect(hub(&far, revision).await).await;
        assert_eq!(client.call("far__work", ()).await.unwrap().text(), "done");
        tokio::select! {
            outcome = client.call("far__wait", ()).into_future() => panic!("{outcome:?}"),
            event = events.recv() => assert_eq!(event, Some("begun")),
        }
        assert_eq!(events.recv().await, Some("dropped"));
    }
}

#[bowline::test]
async fn a_server_works_without_a_mounted_client_that_is_gone(t: Harness) {
    let far = client_of(&far(), Revision::LATEST).await;
    let near = Server::new("near", "1.0.0").tools(tools![deploy]);
    let hub = Server::new("hub", "1.0.0").mount("far", far.clone()).mount("near", near);
    let client = t.connect(hub).await;
    far.close().await;
    let tools = client.tools().all().await.unwrap();
    assert_eq!(tools.len(), 1);
    let error = client.call("far__count", json!({ "to": 1 })).await.unwrap_err();
    assert!(error.to_string().contains("the server behind this one is gone"), "{error}");
}
