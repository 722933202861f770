//! How long an answer may take: as long as the caller allows.

use std::time::Duration;

use bowline_proto::client::{CallError, CallRequest};
use tokio::time::Instant;

use crate::support::{done, modern, session, tool};

const HOUR: Duration = Duration::from_secs(3600);

/// A timeout that is longer than every default limit.
fn two_hours() -> CallRequest {
    let mut call = tool("slow");
    call.timeout = Some(2 * HOUR);
    call
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_as_long_as_its_own_timeout_allows() {
    for is_modern in [true, false] {
        let (link, mut fake, _) = if is_modern { modern().await } else { session().await };
        for is_stream in [true, false] {
            let begun = Instant::now();
            let call = link.call(two_hours(), None);
            let received = fake.expect("tools/call").await;
            let id = received.id();
            if is_stream {
                let events = received.events();
                tokio::time::sleep(2 * HOUR - Duration::from_secs(1)).await;
                events.result(&id, &done());
            } else {
                tokio::time::sleep(2 * HOUR - Duration::from_secs(1)).await;
                received.result(&done());
            }
            call.await.unwrap();
            assert_eq!(begun.elapsed().as_secs(), 7199);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_longer_has_timed_out_and_is_not_lost() {
    for is_modern in [true, false] {
        let (link, mut fake, _) = if is_modern { modern().await } else { session().await };
        let begun = Instant::now();
        let call = link.call(two_hours(), None);
        let received = fake.expect("tools/call").await;
        assert_eq!(call.await.unwrap_err(), CallError::TimedOut(2 * HOUR));
        assert_eq!(begun.elapsed(), 2 * HOUR);
        if !is_modern {
            fake.expect("notifications/cancelled").await.status(202);
        }
        received.given_up().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_counts_whatever_the_timeout_is() {
    let (link, mut fake, _) = modern().await;
    let mut call = two_hours();
    call.deadline = Some(HOUR);
    let call = link.call(call, None);
    let _knock = fake.expect("tools/call").await;
    assert_eq!(call.await.unwrap_err(), CallError::TimedOut(HOUR));
}
