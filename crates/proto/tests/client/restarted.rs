//! A server that exited and was restarted: which state of the old one counts for the new one.

use bowline_proto::client::{CacheOptions, CallError, ClientEvent, NegotiationError};
use bowline_proto::limits::Limits;
use bowline_proto::request::{ExchangeId, ReportedChange};
use bowline_proto::transmit::FailureKind;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{Client, LEGACY, config, limits, seconds};

fn is_lost(event: &ClientEvent, call: u64) -> bool {
    matches!(event, ClientEvent::Answered(ExchangeId(number), Err(CallError::Failed { kind, .. }))
        if *number == call && *kind == FailureKind::Lost)
}

#[test]
fn unwritten_messages_are_not_written_to_the_next_server() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.request(1, Method::ToolsCall, &json!({ "name": "a" }));
    client.connection.lost("it died");
    client.connection.restarted(client.now);
    assert_eq!(client.methods(), ["initialize"]);
    assert!(is_lost(&client.events()[0], 1));
}

#[test]
fn a_call_that_waits_for_the_next_server_times_out_after_its_own_time() {
    let mut client = Client::agreed(LEGACY, limits(|limits| limits.request_timeout = seconds(1)));
    client.listen(1);
    client.connection.lost("it died");
    client.request(2, Method::ToolsCall, &json!({ "name": "a" }));
    client.events();
    assert_eq!(client.connection.poll_timeout(), Some(client.now + seconds(1)));
    client.pass(seconds(1));
    assert_eq!(client.timed_out(), [2]);
    assert_eq!(client.connection.poll_timeout(), None, "the open subscription waits on");
    client.connection.restarted(client.now);
    client.agree(LEGACY);
    assert!(!client.methods().contains(&"tools/call".to_owned()));
}

#[test]
fn noise_of_the_old_server_does_not_count_against_the_new_one() {
    let mut client = Client::agreed(LEGACY, limits(|limits| limits.noise = 2));
    for _ in 0..2 {
        client.hear_text("noise");
        client.hear_text("noise");
        client.connection.lost("it died");
        client.connection.restarted(client.now);
        let failed =
            |event: &ClientEvent| matches!(event, ClientEvent::Failed(NegotiationError::Noise(_)));
        assert!(!client.events().iter().any(failed));
    }
}

#[test]
fn the_new_server_may_contradict_itself_once_too() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    client.connection.lost("it died");
    client.connection.restarted(client.now);
    client.refuse_version(Revision::LATEST);
    assert_eq!(client.events().len(), 0);
    client.agree(Revision::LATEST);
    assert!(matches!(client.events()[..], [ClientEvent::Renewed]));
}

#[test]
fn a_lost_server_is_not_pinged_and_the_new_one_is() {
    let config = config().with_revisions([LEGACY]).with_keep_alive(seconds(5), seconds(1));
    let mut client = Client::new(config);
    client.agree(LEGACY);
    client.said();
    client.connection.lost("it died");
    assert_eq!(client.connection.poll_timeout(), None);
    client.pass(seconds(5));
    assert!(client.said().is_empty());
    client.connection.restarted(client.now);
    client.agree(LEGACY);
    client.said();
    client.pass(seconds(5));
    assert_eq!(client.methods(), ["ping"]);
}

#[test]
fn stored_results_of_the_old_server_do_not_answer_calls_to_the_new_one() {
    let config = config().with_revisions([Revision::LATEST]).with_cache(CacheOptions::default());
    let mut client = Client::new(config);
    client.agree(Revision::LATEST);
    client.said();
    for is_restarted in [false, true] {
        client.request(1, Method::ToolsList, &json!({}));
        let asked = client.said();
        assert_eq!(asked.len(), 1, "restarted: {is_restarted}");
        let result = json!({
            "resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private",
        });
        client.hear(json!({ "id": asked[0]["id"], "result": result }));
        client.request(2, Method::ToolsList, &json!({}));
        assert!(client.said().is_empty(), "it is kept meanwhile");
        client.connection.lost("it died");
        client.connection.restarted(client.now);
        client.agree(Revision::LATEST);
        client.said();
    }
}

#[test]
fn questions_of_the_old_server_are_over_in_both_eras() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.hear(json!({ "id": "q", "method": "roots/list" }));
    let ask = client.asked();
    client.connection.lost("it died");
    assert!(matches!(client.events()[..], [ClientEvent::AskCancelled(over)] if over == ask));

    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    let id = client.call(1);
    client.hear(json!({ "id": id, "result": {
        "resultType": "input_required", "inputRequests": { "q": { "method": "roots/list" } },
    } }));
    let ask = client.asked();
    client.connection.lost("it died");
    let events = client.events();
    assert!(matches!(events[0], ClientEvent::AskCancelled(over) if over == ask), "{events:?}");
    assert!(events.len() == 2 && is_lost(&events[1], 1), "{events:?}");
}

/// The client does not know what changed meanwhile, so everything may have.
#[test]
fn subscriptions_continue_and_report_every_change_that_they_asked_for() {
    for revision in [LEGACY, Revision::LATEST] {
        let mut client = Client::agreed(revision, Limits::default());
        let filter = json!({ "notifications": {
            "toolsListChanged": true, "resourceSubscriptions": ["a:/1"],
        } });
        client.request(1, Method::SubscriptionsListen, &filter);
        client.said();
        client.events();
        client.connection.lost("it died");
        client.connection.restarted(client.now);
        client.agree(revision);
        let changes = client.events().into_iter().filter_map(|event| match event {
            ClientEvent::Change(Some(ExchangeId(1)), change) => Some(change),
            _ => None,
        });
        let expected = [ReportedChange::Tools, ReportedChange::Resource("a:/1".to_owned())];
        assert_eq!(changes.collect::<Vec<_>>(), expected, "{revision}");
        let again = client.methods().pop().unwrap();
        let listens = ["resources/subscribe", "subscriptions/listen"];
        assert_eq!(again, listens[usize::from(revision.is_modern())]);
    }
}

#[test]
fn a_call_that_waits_for_the_new_server_reports_no_changes() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    client.connection.lost("it died");
    let params = json!({ "name": "a", "notifications": { "toolsListChanged": true } });
    client.request(1, Method::ToolsCall, &params);
    client.connection.restarted(client.now);
    client.agree(Revision::LATEST);
    assert!(matches!(client.events()[..], [ClientEvent::Renewed]));
    assert_eq!(client.methods(), ["tools/call"]);
}
