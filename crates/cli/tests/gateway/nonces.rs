//! Many callers are asked at the same time: each sees its own questions only.

use bowline::{Ask, Client, Server, tool, tools};
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{BOTH, Gateway, Mark, Start};

const CALLERS: usize = 64;

/// The server asks each caller where to fly, and then whether to book the flight to that place. The
/// place is the nonce of the caller.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_64_callers_is_asked_its_own_questions_and_no_other() {
    let gateway = Gateway::start(&Mark::new(), &[Start::Plain]);
    all_book(&gateway).await;
}

/// A server over stdio with a handshake names no call when it asks.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_64_callers_is_asked_only_its_own_questions_by_a_process_with_a_handshake() {
    let mark = Mark::new();
    let gateway = Gateway::start(&mark, &[Start::Legacy]);
    all_book(&gateway).await;
    // One for each asker at a time, up to the limit.
    let servers = mark.processes().iter().filter(|process| process.is_server()).count();
    assert!((2..=8).contains(&servers), "{servers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_64_callers_is_asked_only_its_own_questions_by_a_server_with_sessions() {
    let server = Server::new("agency", "1.0.0").tools(tools![book]).revisions([BOTH[0]]);
    let bound = server.http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));
    let entry = json!({ "url": url, "asks": true });
    let gateway = Gateway::of(&json!({ "mcpServers": { "s0": entry } }));
    all_book(&gateway).await;
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    city: String,
    days: usize,
}

/// Book a flight
#[tool]
async fn book(ask: Ask) -> bowline::Result<String> {
    let Trip { city, days } = ask.form("Where do you want to fly?").await?;
    match ask.confirm(format!("Fly to {city} in {days} days?")).await? {
        true => Ok(format!("Booked: {city} in {days} days")),
        false => Ok("Not booked".to_owned()),
    }
}

/// Lets callers of both eras book at the same time.
async fn all_book(gateway: &Gateway) {
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let client = asked(gateway, BOTH[number % 2], format!("place-{number:02}")).await;
        callers.spawn(async move {
            let booked = client.call("s0__book", json!({})).await.unwrap();
            let expected = format!("Booked: place-{number:02} in {} days", number + 1);
            assert!(booked.text().starts_with(&expected), "{number}: {}", booked.text());
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }
}

/// A client that answers for its place, and fails if it is asked about another one.
async fn asked(gateway: &Gateway, revision: Revision, place: String) -> Client {
    let builder = Client::builder("caller", "1.0.0").revisions([revision]);
    let builder = builder.on_ask(move |question| {
        let days: usize = place.trim_start_matches("place-").parse().unwrap();
        let message = question.message();
        let answer = match message.contains("place-") {
            false => {
                question.accept(json!({ "city": place, "days": days + 1, "class": "economy" }))
            }
            true => question.accept(message.contains(&place)),
        };
        async move { answer }
    });
    builder.http(&gateway.url).connect().await.unwrap()
}
