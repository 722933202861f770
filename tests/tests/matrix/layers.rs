//! Layers that limit the work of a server, in virtual time; a refusal is a tool error.

use std::time::Duration;

use bowline::layer::{ConcurrencyLimit, RateLimit, ResultSizeLimit, Timeout};
use bowline::{Server, Tool};
use bowline_testing::Harness;
use tokio::time::{Instant, sleep};

fn studio(render: Tool) -> Server {
    Server::new("studio", "1.0.0").tool(render)
}

/// A tool that takes a while.
fn render() -> Tool {
    Tool::new("render", || async {
        sleep(Duration::from_secs(10)).await;
        "rendered"
    })
}

// spec: TOOL-44
#[bowline::test(every_revision, stateless)]
async fn a_rate_limit_refuses_calls_for_a_while(t: Harness) {
    let roll = Tool::new("roll", || async { "4" }).layer(RateLimit::per_minute(2));
    let client = t.connect(studio(roll)).await;
    for _ in 0..2 {
        assert_eq!(client.call("roll", ()).await.unwrap().text(), "4");
    }
    let refused = client.call("roll", ()).await.unwrap();
    assert!(refused.is_error() && refused.text().contains("try again in"), "{}", refused.text());
    sleep(Duration::from_secs(60)).await;
    assert_eq!(client.call("roll", ()).await.unwrap().text(), "4");
}

#[bowline::test(every_revision, stateless)]
async fn a_concurrency_limit_queues_calls_and_refuses_them_if_too_many_wait(t: Harness) {
    let limit = ConcurrencyLimit::new(1).waiting(1);
    let client = t.connect(studio(render().layer(limit))).await;
    let begin = Instant::now();
    let call = || client.call("render", ()).into_future();
    let (first, second, third) = tokio::join!(call(), call(), call());
    assert_eq!(first.unwrap().text(), "rendered");
    assert_eq!(second.unwrap().text(), "rendered");
    assert_eq!(begin.elapsed().as_secs(), 20);
    let third = third.unwrap();
    assert!(third.is_error() && third.text().contains("busy"), "{}", third.text());
}

#[bowline::test(every_revision, stateless)]
async fn a_timeout_ends_calls_that_take_too_long(t: Harness) {
    let client = t.connect(studio(render().layer(Timeout::new(Duration::from_secs(3))))).await;
    let begin = Instant::now();
    let ended = client.call("render", ()).await.unwrap();
    assert!(ended.is_error() && ended.text().contains("took longer than 3s"), "{}", ended.text());
    assert_eq!(begin.elapsed().as_secs(), 3);
}

#[bowline::test(every_revision, stateless)]
async fn a_size_limit_replaces_results_that_are_too_long(t: Harness) {
    let talk = Tool::new("talk", || async { "word ".repeat(1000) });
    let server = studio(talk).layer(ResultSizeLimit::new(1024));
    let refused = t.connect(server).await.call("talk", ()).await.unwrap();
    assert!(refused.is_error() && refused.text().contains("1024"), "{}", refused.text());
}
