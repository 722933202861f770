//! Messages that fail, sessions and servers that are lost, channels that close.

use bowline_proto::client::{CallError, CallRequest, ClientEvent, NegotiationError, Report};
use bowline_proto::limits::Limits;
use bowline_proto::request::ExchangeId;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::error::ErrorObject;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{Client, LEGACY, config, seconds};

#[test]
fn a_call_that_is_cancelled_while_the_session_is_renewed_is_not_made_again() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    let (kept, cancelled) = (client.call(1), client.call(2));
    client.fail(cancelled, FailureKind::SessionLost);
    client.fail(kept, FailureKind::SessionLost);
    client.connection.cancel(ExchangeId(2), "not wanted");
    client.agree(LEGACY);
    assert_eq!(client.methods(), ["notifications/initialized", "tools/call"]);
    assert!(!client.events().iter().any(|event| matches!(event, ClientEvent::Answered(..))));
}

#[test]
fn a_call_that_waits_for_a_new_session_times_out_after_its_own_time() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    let params = Object::new(RawJson::from_value(&json!({ "name": "a" })).unwrap()).unwrap();
    let mut request = CallRequest::new(Method::ToolsCall, params);
    request.timeout = Some(seconds(1));
    client.connection.call(ExchangeId(1), request, client.now);
    let sent = client.said().pop().unwrap()["id"].as_i64().unwrap();
    client.fail(sent, FailureKind::SessionLost);
    client.pass(seconds(1));
    assert_eq!(client.timed_out(), [1]);
}

#[test]
fn a_lost_session_is_renewed_once_although_no_call_waits_for_it_any_more() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    let (cancelled, kept) = (client.call(1), client.call(2));
    client.fail(cancelled, FailureKind::SessionLost);
    client.connection.cancel(ExchangeId(1), "not wanted");
    client.fail(kept, FailureKind::SessionLost);
    assert_eq!(client.methods(), ["initialize"]);
}

#[test]
fn closing_a_connection_ends_each_call_once_with_its_reason() {
    for revision in [LEGACY, Revision::LATEST] {
        let mut client = Client::agreed(revision, Limits::default());
        let id = client.call(1);
        client.listen(2);
        client.events();
        client.connection.close();
        let mut closed: Vec<_> = client.events().into_iter().map(end_of).collect();
        closed.sort_unstable();
        assert_eq!(closed, [(1, "closed"), (2, "closed")], "{revision}");
        client.hear(json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
        assert!(client.events().is_empty(), "{revision}: an answer that comes too late");
    }
}

#[test]
fn of_the_calls_that_wait_for_a_new_server_only_unsent_ones_fail_as_not_sent() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    client.listen(1);
    client.connection.lost("it died");
    client.request(2, Method::ToolsCall, &json!({ "name": "a" }));
    client.events();
    client.connection.close();
    let closed: Vec<_> = client.events().into_iter().map(end_of).collect();
    assert_eq!(closed, [(1, "closed"), (2, "not sent")]);

    let mut client = Client::agreed(LEGACY, Limits::default());
    let sent = client.call(1);
    client.fail(sent, FailureKind::SessionLost);
    client.connection.close();
    let closed: Vec<_> = client.events().into_iter().map(end_of).collect();
    assert_eq!(closed, [(1, "closed")]);
}

fn end_of(event: ClientEvent) -> (u64, &'static str) {
    match event {
        ClientEvent::Answered(call, Err(CallError::Closed)) => (call.0, "closed"),
        ClientEvent::Answered(call, Err(CallError::Failed { kind: FailureKind::NotSent, .. })) => {
            (call.0, "not sent")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_sent_to_a_lost_server() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.call(1);
    client.connection.lost("it died");
    client.request(2, Method::ToolsCall, &json!({ "name": "a" }));
    for call in [1, 2] {
        client.connection.cancel(ExchangeId(call), "not wanted");
    }
    client.connection.notify(Method::RootsListChanged, &Object::default());
    assert!(client.said().is_empty());
}

/// Over HTTP each request can fail by itself, also those of a subscription in a session.
#[test]
fn a_call_whose_request_fails_ends_with_the_error_or_the_reason() {
    let filter = json!({ "notifications": { "resourceSubscriptions": ["a:/1"] } });
    let calls =
        [(Method::ToolsCall, json!({ "name": "a" })), (Method::SubscriptionsListen, filter)];
    let refused = Some(ErrorObject::invalid_params("no such thing"));
    let cases = [(refused, "refused"), (None, "lost")];
    for ((method, params), (error, expected)) in
        calls.iter().flat_map(|call| cases.iter().map(move |case| (call, case.clone())))
    {
        let mut client = Client::agreed(LEGACY, Limits::default());
        client.request(1, *method, params);
        let id = client.said().pop().unwrap()["id"].as_i64();
        let failure = SendFailure { id, kind: FailureKind::Lost, error, reason: "no".to_owned() };
        client.connection.receive(Report::Failed(Box::new(failure)), client.now);
        let ended = match &client.events()[..] {
            [ClientEvent::Answered(ExchangeId(1), Err(CallError::Refused(_)))] => "refused",
            [ClientEvent::Answered(ExchangeId(1), Err(CallError::Failed { .. }))] => "lost",
            other => panic!("{other:?}"),
        };
        assert_eq!(ended, expected);
    }
}

/// The driver of the connection would use the old revision with a server of another.
#[test]
fn a_server_that_renews_its_session_in_another_revision_is_given_up() {
    let older = Revision::V2025_03_26;
    let mut client = Client::new(config().with_revisions([LEGACY, older]));
    client.agree(LEGACY);
    client.said();
    client.events();
    let call = client.call(1);
    client.fail(call, FailureKind::SessionLost);
    client.agree(older);
    let expected = NegotiationError::NoCommonRevision(vec![older.to_string()]);
    client.has_failed(&expected);
}

/// A restarted server may have changed; one that lost a session has not.
#[test]
fn a_new_session_on_the_same_server_is_no_change_of_its_lists() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.listen(1);
    client.events();
    let call = client.call(2);
    client.fail(call, FailureKind::SessionLost);
    client.agree(LEGACY);
    let events = client.events();
    assert!(matches!(events[..], [ClientEvent::Renewed]), "{events:?}");
}

/// A client that has set its log level and then lost the session; its call waits for a new one.
fn lost_with_a_level() -> Client {
    let logging = json!({ "tools": {}, "logging": {} });
    let mut client = Client::new(config().with_revisions([LEGACY]));
    client.agree_on(LEGACY, &logging);
    client.said();
    client.request(1, Method::LoggingSetLevel, &json!({ "level": "debug" }));
    let id = client.said().pop().unwrap()["id"].clone();
    client.hear(json!({ "id": id, "result": {} }));
    let call = client.call(2);
    client.fail(call, FailureKind::SessionLost);
    client.agree_on(LEGACY, &logging);
    client.events();
    client
}

/// Over HTTP a call could overtake the level, and the server would not log for it.
#[test]
fn a_new_session_has_its_log_level_before_it_gets_calls() {
    let mut client = lost_with_a_level();
    let said = client.said();
    assert_eq!(said[0]["method"], "notifications/initialized");
    assert_eq!(said[1]["method"], "logging/setLevel");
    assert_eq!(said[1]["params"]["level"], "debug");
    assert_eq!(said.len(), 2, "{said:?}");
    client.request(3, Method::ToolsCall, &json!({ "name": "a" }));
    assert!(client.said().is_empty(), "a new call waits too");
    client.hear(json!({ "id": said[1]["id"], "result": {} }));
    assert_eq!(client.methods(), ["tools/call", "tools/call"]);
    assert!(client.events().is_empty());
}

/// A client without log messages is still of use.
#[test]
fn calls_follow_although_the_log_level_of_a_new_session_is_refused_or_lost() {
    for (case, end) in ["refused", "lost", "unreadable", "silent"].iter().enumerate() {
        let mut client = lost_with_a_level();
        let id = client.said()[1]["id"].as_i64().unwrap();
        match case {
            0 => client.hear(json!({ "id": id, "error": { "code": -32603, "message": "no" } })),
            1 => client.fail(id, FailureKind::Lost),
            2 => client.hear(json!({ "id": id, "result": 1, "error": 2 })),
            _ => client.pass(Limits::default().request_timeout),
        }
        assert_eq!(client.methods(), ["tools/call"], "{end}");
        assert!(matches!(client.events()[..], [ClientEvent::Diagnostic(_)]), "{end}");
    }
}
