//! Many callers are asked at the same time: each sees its own questions only.

use bowline::Client;
use bowline::types::revision::Revision;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{BOTH, Gateway, Mark, Start};

const CALLERS: usize = 64;

/// The server asks each caller where to fly, and then whether to book the flight to that place. The
/// place is the nonce of the caller.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_64_callers_is_asked_its_own_questions_and_no_other() {
    let gateway = Gateway::start(&Mark::new(), &[Start::Plain]);
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let client = asked(&gateway, BOTH[number % 2], format!("place-{number:02}")).await;
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
