//! Calls while time passes, and messages that arrive in between.

use bowline_proto::client::{ClientEvent, Delivery, NegotiationError};
use bowline_proto::codec::Received;
use bowline_proto::codec::skipped::Skipped;
use bowline_proto::frame::ResponseMessage;
use bowline_proto::limits::Limits;
use bowline_proto::limits::long::Oversize;
use bowline_proto::request::ExchangeId;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{Client, LEGACY, config, limits, seconds};

#[test]
fn the_timeout_of_a_call_restarts_when_the_client_answers_its_question() {
    let limits = limits(|limits| limits.request_timeout = seconds(10));
    let mut client = Client::agreed(LEGACY, limits);
    client.call(1);
    client.hear(json!({ "id": "q", "method": "roots/list" }));
    let ask = client.asked();
    client.now += seconds(9);
    client.connection.answer(
        ask,
        Ok(RawJson::from_value(&json!({ "roots": [] })).unwrap()),
        client.now,
    );
    client.pass(seconds(9));
    assert_eq!(client.timed_out(), [0; 0]);
    client.pass(seconds(1));
    assert_eq!(client.timed_out(), [1]);
}

#[test]
fn a_question_of_one_call_does_not_stop_the_clock_of_another() {
    let limits = limits(|limits| limits.request_timeout = seconds(10));
    let mut client = Client::agreed(Revision::LATEST, limits);
    let asking = client.call(1);
    client.call(2);
    let question = json!({ "method": "roots/list" });
    client.hear(json!({ "id": asking, "result": {
        "resultType": "input_required", "inputRequests": { "q": question },
    } }));
    client.asked();
    client.pass(seconds(10));
    assert_eq!(client.timed_out(), [2]);
}

/// Over HTTP the transport parses a response before the connection does.
#[test]
fn noise_is_counted_from_the_last_message_even_if_the_transport_parsed_it() {
    let mut client = Client::agreed(LEGACY, limits(|limits| limits.noise = 2));
    let noise = |client: &mut Client| {
        client.hear_text("noise");
        let is_noise =
            |event: &ClientEvent| matches!(event, ClientEvent::Failed(NegotiationError::Noise(_)));
        client.events().iter().any(is_noise)
    };
    for _ in 0..2 {
        let id = client.call(1);
        assert!(!noise(&mut client) && !noise(&mut client));
        let result = RawJson::from_value(&json!({ "content": [] })).unwrap();
        let response = ResponseMessage { id: Some(id.into()), outcome: Ok(result), members: None };
        client.connection.receive(Delivery::Parsed("".into(), Box::new(response)), client.now);
    }
    assert!(!noise(&mut client) && !noise(&mut client) && noise(&mut client));
}

#[test]
fn the_next_timeout_is_that_of_a_call_or_of_the_keep_alive_whichever_is_first() {
    for (timeout, interval) in [(60, 5), (5, 60)] {
        let limits = limits(|limits| limits.request_timeout = seconds(timeout));
        let config = config().with_revisions([LEGACY]).with_limits(limits);
        let mut client = Client::new(config.with_keep_alive(seconds(interval), seconds(1)));
        client.agree(LEGACY);
        client.call(1);
        assert_eq!(client.connection.poll_timeout(), Some(client.now + seconds(5)));
    }
}

#[test]
fn a_call_that_timed_out_is_not_cancelled_again() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.call(1);
    client.pass(Limits::default().request_timeout);
    assert_eq!(client.methods(), ["notifications/cancelled"]);
    client.connection.cancel(ExchangeId(1), "not wanted");
    assert!(client.said().is_empty());
}

#[test]
fn a_change_for_a_call_that_is_no_subscription_is_dropped() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    let id = client.call(1);
    let params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
    client.hear(json!({ "method": "notifications/tools/list_changed", "params": params }));
    assert!(client.events().is_empty());
}

#[test]
fn an_answer_of_the_server_is_not_marked_as_reused() {
    for revision in [LEGACY, Revision::LATEST] {
        let mut client = Client::agreed(revision, Limits::default());
        let id = client.call(1);
        client.hear(json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
        let events = client.events();
        let [ClientEvent::Answered(_, Ok(answer))] = &events[..] else { panic!("{events:?}") };
        assert!(!answer.reused, "{revision}");
    }
}

/// Only 2025-11-25 gives names to elicitations by URL.
// spec: ELIC-33
#[test]
fn an_elicitation_of_an_error_is_completed_only_where_elicitations_have_names() {
    for (revision, expected) in [(LEGACY, 0), (Revision::V2025_11_25, 1)] {
        let mut client = Client::agreed(revision, Limits::default());
        let id = client.call(1);
        let page =
            json!({ "mode": "url", "message": "m", "url": "https://a.b/", "elicitationId": "e" });
        let data = json!({ "elicitations": [page] });
        client.hear(json!({ "id": id, "error": { "code": -32042, "message": "m", "data": data } }));
        client.events();
        let params = json!({ "elicitationId": "e" });
        client.hear(json!({ "method": "notifications/elicitation/complete", "params": params }));
        assert_eq!(client.events().len(), expected, "{revision}");
    }
}

#[test]
fn a_server_cancels_the_question_that_it_names_and_no_other() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    let asks = ["p", "q"].map(|id| {
        client.hear(json!({ "id": id, "method": "roots/list" }));
        client.asked()
    });
    for id in ["r", "q"] {
        let params = json!({ "requestId": id });
        client.hear(json!({ "method": "notifications/cancelled", "params": params }));
    }
    let events = client.events();
    assert!(matches!(events[..], [ClientEvent::AskCancelled(ask)] if ask == asks[1]), "{events:?}");
}

#[test]
fn a_subscription_that_the_server_cancels_still_gets_its_answer() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    client.listen(1);
    let id = client.said().pop().unwrap()["id"].clone();
    client.hear(json!({ "method": "notifications/cancelled", "params": { "requestId": id } }));
    let events = client.events();
    let [ClientEvent::Answered(_, Ok(answer))] = &events[..] else { panic!("{events:?}") };
    assert!(!answer.reused);
    client.connection.cancel(ExchangeId(1), "not wanted");
    assert!(client.said().is_empty(), "it has ended");
}

#[test]
fn the_first_three_lines_that_are_no_messages_are_reported() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    for _ in 0..5 {
        client.hear_text("noise");
    }
    let events = client.events();
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| matches!(event, ClientEvent::Diagnostic(_))), "{events:?}");
}

#[test]
fn a_message_that_is_too_long_and_not_awaited_is_reported_once() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    for head in [r#"{"jsonrpc":"2.0","id":77,"result":{"#, r#"{"jsonrpc":"2.0","method":"n","#] {
        let skipped = Skipped::new(head.as_bytes(), Oversize::Longer(400));
        client.connection.receive(Received::from(skipped), client.now);
        let events = client.events();
        assert!(matches!(events[..], [ClientEvent::Diagnostic(_)]), "{head}: {events:?}");
    }
}
