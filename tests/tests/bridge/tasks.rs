//! Calls that the upstream server continues as tasks. The bridge waits for them, and its callers get
//! the results inline, or a task of the bridge if they ask for one. All in virtual time.

use bowline::client::ClientBuilder;
use bowline::layer::{self, Next};
use bowline::{Ask, Client, Server, TaskSupport, Tool};
use bowline_gateway::bridge;
use bowline_proto::request::{Owner, Request};
use bowline_types::ext::tasks::TaskStatus;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{ALL, Cell, Heard, L, M, cells, parked};

fn server() -> Server {
    let build = |ask: Ask| async move {
        tokio::time::sleep(std::time::Duration::from_secs(90)).await;
        let is_wanted = ask.confirm("Publish?").await?;
        tokio::time::sleep(std::time::Duration::from_secs(90)).await;
        Ok::<_, bowline::Error>(format!("published: {is_wanted}"))
    };
    Server::new("builder", "1.0.0").tool(Tool::new("build", build).task(TaskSupport::Required))
}

fn agreeing(builder: ClientBuilder, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.on_ask(move |question| {
        heard.note(question.message());
        let answer = question.accept(true);
        async move { answer }
    })
}

#[tokio::test(start_paused = true)]
async fn a_caller_gets_the_result_of_a_task_and_answers_its_questions() {
    for cell in cells(&ALL) {
        let heard = Heard::default();
        let client = cell.through(&server(), |builder| agreeing(builder, &heard)).await;
        let call = client.call("build", ()).timeout(std::time::Duration::from_secs(600));
        let built = call.await.unwrap();
        assert_eq!(built.text(), "published: true", "{cell:?}");
        assert_eq!(heard.all(), ["Publish?"], "{cell:?}");
    }
}

/// A bridge to a server.
async fn bridged(cell: Cell, server: &Server) -> Server {
    bridge(parked(cell.relay(server).await), None)
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_asks_for_a_task_gets_one_and_answers_its_questions() {
    for cell in cells(&[(L, L), (L, M)]) {
        let heard = Heard::default();
        let server = bridged(cell, &server()).await;
        let client = cell.client(&server, |builder| agreeing(builder, &heard).tasks()).await;
        client.tools().all().await.unwrap();
        let task = client.call("build", ()).task().await.unwrap();
        assert!(task.id().is_some(), "{cell:?}");
        assert_eq!(*task.state().await.unwrap().status(), TaskStatus::Working, "{cell:?}");
        assert_eq!(task.wait().await.unwrap().text(), "published: true", "{cell:?}");
        assert_eq!(heard.all(), ["Publish?"], "{cell:?}");
        assert_eq!(*task.state().await.unwrap().status(), TaskStatus::Completed, "{cell:?}");
    }
}

/// A tool that runs only as a task is one for modern callers too, once it was listed.
#[tokio::test(start_paused = true)]
async fn a_modern_caller_that_knows_tasks_gets_one_where_the_tool_requires_it() {
    for cell in cells(&[(M, L), (M, M)]) {
        let heard = Heard::default();
        let far = server().tool(Tool::new("add", || async { "3" }).task(TaskSupport::Optional));
        let server = bridged(cell, &far).await;
        let client = cell.client(&server, |builder| agreeing(builder, &heard).tasks()).await;
        client.tools().all().await.unwrap();
        let task = client.call("build", ()).timeout(std::time::Duration::from_secs(600));
        let task = task.task().await.unwrap();
        assert_eq!(task.id().is_some(), cell.upstream == L, "{cell:?}");
        assert_eq!(task.wait().await.unwrap().text(), "published: true", "{cell:?}");
        assert_eq!(heard.all(), ["Publish?"], "{cell:?}");
        let added = client.call("add", ()).task().await.unwrap();
        assert_eq!(added.id(), None, "{cell:?}");
        assert_eq!(added.wait().await.unwrap().text(), "3", "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_answered_at_once_becomes_a_finished_task() {
    for cell in cells(&[(L, L), (L, M)]) {
        let add = Tool::new("add", || async { "3" }).task(TaskSupport::Optional);
        let server = bridged(cell, &Server::new("far", "1.0.0").tool(add)).await;
        let client = cell.client(&server, ClientBuilder::tasks).await;
        client.tools().all().await.unwrap();
        let task = client.call("add", ()).task().await.unwrap();
        assert!(task.id().is_some(), "{cell:?}");
        assert_eq!(task.wait().await.unwrap().text(), "3", "{cell:?}");
    }
}

/// Reports when it is dropped.
struct Dropped(UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // At the end of the test the receiver may be gone.
        _ = self.0.send("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_task_cancels_the_call_at_the_server_behind() {
    for cell in cells(&[(L, L), (L, M)]) {
        let (sender, mut events) = unbounded_channel();
        let hang = move || {
            let dropped = Dropped(sender.clone());
            async move {
                dropped.0.send("begun").unwrap();
                std::future::pending::<()>().await;
            }
        };
        let hang = Tool::new("hang", hang).task(TaskSupport::Optional);
        let server = bridged(cell, &Server::new("far", "1.0.0").tool(hang)).await;
        let client = cell.client(&server, ClientBuilder::tasks).await;
        client.tools().all().await.unwrap();
        let task = client.call("hang", ()).task().await.unwrap();
        assert_eq!(events.recv().await, Some("begun"), "{cell:?}");
        task.cancel().await.unwrap();
        assert_eq!(events.recv().await, Some("dropped"), "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_another_owner_is_unknown() {
    for cell in cells(&[(L, L), (L, M)]) {
        // The owner has the name of the client.
        let owned = |mut request: Request, next: Next| {
            let name = request.parts.client.info.as_ref().map_or("", |info| &info.name);
            request.parts.owner = Owner::known("https://auth.example.com", name);
            next.run(request)
        };
        let server = bridged(cell, &server()).await.layer(layer::from_fn(owned));
        let ann = cell.client(&server, |_| Client::builder("ann", "1.0.0").tasks()).await;
        let bob = cell.client(&server, |_| Client::builder("bob", "1.0.0").tasks()).await;
        ann.tools().all().await.unwrap();
        let task = ann.call("build", ()).task().await.unwrap();
        let id = task.id().unwrap().to_owned();
        assert!(ann.task(&id).state().await.is_ok(), "{cell:?}");
        let unknown = id.chars().rev().collect::<String>();
        let told = async |id: &str| bob.task(id).state().await.unwrap_err().rpc().cloned();
        let (foreign, unknown) = (told(&id).await.unwrap(), told(&unknown).await.unwrap());
        assert_eq!(foreign.code, unknown.code, "{cell:?}");
        assert_eq!(
            foreign.message.replace(&id, ""),
            unknown.message.replace(&id.chars().rev().collect::<String>(), ""),
            "{cell:?}"
        );
        assert!(bob.task(&id).cancel().await.is_err(), "{cell:?}");
    }
}
