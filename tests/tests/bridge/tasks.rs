//! Calls that the upstream server continues as tasks. The bridge waits for them, and its callers get
//! the results inline. All in virtual time.

use bowline::client::ClientBuilder;
use bowline::{Ask, Server, TaskSupport, Tool};

use crate::support::{ALL, Heard, cells};

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
