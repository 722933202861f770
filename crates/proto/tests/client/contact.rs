//! The negotiation, its options, and what a server offers.

use bowline_proto::client::{CallError, ClientConfig, ClientEvent, NegotiationError, Report};
use bowline_proto::limits::Limits;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::{ErrorObject, code};
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::{Client, LEGACY, config};

#[test]
fn revisions_are_tried_from_the_newest_whatever_order_they_are_given_in() {
    let given = [Revision::V2025_06_18, Revision::V2026_07_28, Revision::V2025_06_18];
    let config = config().with_revisions(given);
    assert_eq!(config.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
    let unchanged = config.with_revisions([]);
    assert_eq!(unchanged.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
}

/// Only HTTP repeats parts of a message in headers.
#[test]
fn messages_have_mirrors_only_if_the_config_asks_for_them() {
    for (config, expected) in [(config(), None), (config().with_mirrors(), Some(Revision::LATEST))]
    {
        let mirror = Client::new(config).connection.poll_transmit().unwrap().mirror;
        assert_eq!(mirror.map(|mirror| mirror.revision.unwrap()), expected);
    }
}

/// In a session headers repeat neither the name of a call nor its arguments.
#[test]
fn only_a_modern_call_has_its_name_in_its_mirror() {
    for (revision, name) in [(LEGACY, None), (Revision::LATEST, Some("a".to_owned()))] {
        let mut client = Client::new(config().with_revisions([revision]).with_mirrors());
        client.agree(revision);
        client.said();
        client.request(1, Method::ToolsCall, &json!({ "name": "a" }));
        assert_eq!(client.connection.poll_transmit().unwrap().mirror.unwrap().name, name);
    }
}

/// A server that is being upgraded may contradict itself once.
#[test]
fn a_server_that_refuses_the_version_it_offers_is_given_up_the_second_time() {
    let mut client = Client::new(config());
    for _ in 0..2 {
        assert!(client.events().is_empty());
        client.refuse_version(Revision::LATEST);
    }
    assert!(client.said().is_empty());
    let events = client.events();
    assert!(
        matches!(events[..], [ClientEvent::Failed(NegotiationError::Refused { .. })]),
        "{events:?}"
    );
}

/// It has no handshake to try, so it gains nothing by giving up early.
#[test]
fn a_client_without_handshake_waits_for_a_server_that_is_slow_to_start() {
    let limits = Limits::default();
    let modern = || Client::new(config().with_revisions([Revision::LATEST]));
    let mut client = modern();
    client.pass(limits.probe_timeout);
    assert!(client.events().is_empty());
    client.agree(Revision::LATEST);
    assert!(matches!(client.events()[..], [ClientEvent::Ready(_)]));
    let mut client = modern();
    client.pass(limits.request_timeout);
    assert!(matches!(client.events()[..], [ClientEvent::Failed(_)]));
}

/// A server can be slow to start. Once both sides agree, its answer to the probe changes nothing.
#[test]
fn an_answer_to_the_probe_that_comes_after_the_handshake_changes_nothing() {
    let mut client = Client::new(config());
    let probe = client.said().pop().unwrap()["id"].clone();
    client.pass(Limits::default().probe_timeout);
    client.agree(LEGACY);
    assert!(matches!(client.events()[..], [ClientEvent::Ready(_)]));
    client.said();
    client.hear(json!({ "id": probe, "result": discovered() }));
    assert!(client.events().is_empty() && client.said().is_empty());
}

/// Over HTTP a probe can fail and still be answered.
#[test]
fn only_the_last_probe_may_be_answered_late() {
    let mut client = Client::new(config());
    let first = client.said().pop().unwrap()["id"].as_i64();
    let data = json!({ "supported": [Revision::LATEST.to_string()], "requested": "?" });
    let error = ErrorObject::new(-32022, "no").with_data(&data);
    let kind = FailureKind::Refused(400);
    let failure = SendFailure { id: first, kind, error: Some(error), reason: "no".to_owned() };
    client.connection.receive(Report::Failed(Box::new(failure)), client.now);
    let second = client.said().pop().unwrap()["id"].clone();
    client.pass(Limits::default().probe_timeout);
    client.hear(json!({ "id": first, "result": discovered() }));
    assert!(client.events().is_empty());
    client.hear(json!({ "id": second, "result": discovered() }));
    assert!(matches!(client.events()[..], [ClientEvent::Ready(_)]));
}

/// A modern server that was slow to start finds the probe and the handshake, and may refuse the
/// handshake before it answers the probe. It is probed again, and either answer counts.
// spec: ERA-5
#[test]
fn a_slow_server_that_refuses_the_handshake_is_probed_again() {
    for answers_first_probe in [true, false] {
        let mut client = Client::new(config());
        let first = client.said().pop().unwrap()["id"].clone();
        client.pass(Limits::default().probe_timeout);
        client.refuse_version(Revision::LATEST);
        assert!(client.events().is_empty());
        let second = client.said().pop().unwrap();
        assert_eq!(second["method"], "server/discover");
        let (taken, late) = match answers_first_probe {
            true => (&first, &second["id"]),
            false => (&second["id"], &first),
        };
        client.hear(json!({ "id": taken, "result": discovered() }));
        assert!(matches!(client.events()[..], [ClientEvent::Ready(_)]));
        client.hear(json!({ "id": late, "result": discovered() }));
        assert!(client.events().is_empty() && client.said().is_empty());
    }
}

/// The same over HTTP, where each request has an answer of its own.
#[test]
fn a_slow_server_over_http_that_refuses_the_handshake_is_probed_again() {
    for (status, expected) in [(400, vec!["server/discover"]), (401, vec![])] {
        let mut client = Client::new(config());
        client.said();
        client.pass(Limits::default().probe_timeout);
        let handshake = client.said().pop().unwrap()["id"].as_i64();
        let error = Some(ErrorObject::new(-32022, "no"));
        let kind = FailureKind::Refused(status);
        let failure = SendFailure { id: handshake, kind, error, reason: "no".to_owned() };
        client.connection.receive(Report::Failed(Box::new(failure)), client.now);
        assert_eq!(client.methods(), expected, "{status}");
        assert_eq!(client.events().is_empty(), status == 400, "{status}");
    }
}

#[test]
fn a_silent_server_that_refuses_two_handshakes_is_given_up() {
    let mut client = Client::new(config());
    for _ in 0..2 {
        assert!(client.events().is_empty());
        assert_eq!(client.methods(), ["server/discover"]);
        client.pass(Limits::default().probe_timeout);
        let id = client.said().pop().unwrap()["id"].clone();
        client.hear(json!({ "id": id, "error": { "code": -32000, "message": "no key" } }));
    }
    assert!(client.said().is_empty());
    let events = client.events();
    assert!(
        matches!(events[..], [ClientEvent::Failed(NegotiationError::Refused { .. })]),
        "{events:?}"
    );
}

/// The result of `server/discover`.
fn discovered() -> Value {
    let versions = [Revision::LATEST.to_string()];
    json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": {},
        "ttlMs": 0, "cacheScope": "private",
    })
}

/// In 2025-11-25 tasks are a capability with parts, since 2026-07-28 an extension.
// spec: CAP-2
#[test]
fn methods_of_tasks_are_sent_only_to_servers_that_offer_them() {
    let parts = |parts: Value| json!({ "tasks": parts });
    let extension = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
    for (revision, capabilities, method, missing) in [
        (old, json!({}), Method::TasksGet, Some("`tasks`")),
        (old, extension.clone(), Method::TasksGet, Some("`tasks`")),
        (old, parts(json!({})), Method::TasksGet, None),
        (old, parts(json!({ "cancel": {} })), Method::TasksList, Some("`tasks.list`")),
        (old, parts(json!({ "list": {} })), Method::TasksList, None),
        (old, parts(json!({ "list": {} })), Method::TasksCancel, Some("`tasks.cancel`")),
        (old, parts(json!({ "cancel": {} })), Method::TasksCancel, None),
        (new, parts(json!({ "cancel": {} })), Method::TasksCancel, Some("/tasks`")),
        (new, extension, Method::TasksCancel, None),
    ] {
        let mut client = Client::new(config().with_revisions([revision]));
        client.agree_on(revision, &capabilities);
        client.said();
        client.events();
        client.request(1, method, &json!({ "taskId": "t" }));
        let told = client.events().pop().map(|event| match event {
            ClientEvent::Answered(_, Err(CallError::NotOffered { missing, .. })) => missing,
            other => panic!("{other:?}"),
        });
        let is_as_expected = match (&told, missing) {
            (Some(told), Some(missing)) => told.ends_with(missing) && client.said().is_empty(),
            (told, missing) => told.is_none() && missing.is_none() && client.said().len() == 1,
        };
        assert!(is_as_expected, "{method} in {revision} with {capabilities}: {told:?}");
    }
}

/// A JSON-RPC answer whose result is no object.
#[test]
fn first_contact_goes_on_after_an_answer_that_cannot_be_read() {
    let mut client = Client::new(config());
    let probe = client.said().pop().unwrap()["id"].clone();
    client.hear(json!({ "id": probe, "result": 1 }));
    let said = client.said().pop().unwrap();
    assert_eq!(said["method"], "initialize");
    client.hear(json!({ "id": said["id"], "result": 1 }));
    let events = client.events();
    assert!(
        matches!(events[..], [ClientEvent::Failed(NegotiationError::Invalid(_))]),
        "{events:?}"
    );
}

#[test]
fn a_probe_that_is_refused_for_other_reasons_than_the_protocol_leads_to_no_handshake() {
    for (status, is_old) in [
        (400, true),
        (404, true),
        (401, false),
        (403, false),
        (407, false),
        (429, false),
        (500, false),
    ] {
        let mut client = Client::new(config());
        let id = client.said().pop().unwrap()["id"].as_i64().unwrap();
        client.fail(id, FailureKind::Refused(status));
        let events = client.events();
        let is_unreachable = matches!(
            &events[..],
            [ClientEvent::Failed(error)] if error.http_status() == Some(status)
        );
        let shakes = client.methods() == ["initialize"];
        assert_eq!((shakes, is_unreachable), (is_old, !is_old), "{status}");
    }
}

/// 2026-07-28 has no handshake, so none can agree on it.
#[test]
fn a_server_that_answers_the_handshake_in_a_revision_that_is_not_spoken_is_given_up() {
    let both = [LEGACY, Revision::V2026_07_28];
    for (spoken, answered) in [(&both[..1], "2025-03-26"), (&both[..], "2026-07-28")] {
        let mut client = Client::new(config().with_revisions(spoken.iter().copied()));
        if spoken.len() > 1 {
            let id = client.said().pop().unwrap()["id"].as_i64().unwrap();
            client.fail(id, FailureKind::Refused(404));
        }
        let id = client.said().pop().unwrap()["id"].clone();
        let info = json!({ "name": "s", "version": "1" });
        let result = json!({ "protocolVersion": answered, "capabilities": {}, "serverInfo": info });
        client.hear(json!({ "id": id, "result": result }));
        let expected = NegotiationError::NoCommonRevision(vec![answered.to_owned()]);
        client.has_failed(&expected);
    }
}

#[test]
fn a_refusal_with_an_error_that_only_modern_servers_know_names_error_and_status() {
    let mut client = Client::new(config());
    let id = client.said().pop().unwrap()["id"].as_i64();
    let error = ErrorObject::new(code::HEADER_MISMATCH, "no");
    let reason = "400 from http://a".to_owned();
    let kind = FailureKind::Refused(400);
    let failure = SendFailure { id, kind, error: Some(error.clone()), reason: reason.clone() };
    client.connection.receive(Report::Failed(Box::new(failure)), client.now);
    let expected = NegotiationError::Refused { error, how: Some(reason), status: Some(400) };
    client.has_failed(&expected);
}

#[test]
fn a_server_that_knows_discovery_but_offers_only_handshakes_gets_one() {
    let mut client = Client::new(config());
    let mut discovered = discovered();
    discovered["supportedVersions"] = json!([LEGACY.to_string()]);
    let probe = client.said().pop().unwrap()["id"].clone();
    client.hear(json!({ "id": probe, "result": discovered }));
    assert_eq!(client.methods(), ["initialize"]);
}

#[test]
fn the_last_answer_of_a_server_to_the_probe_counts() {
    let mut client = Client::new(config());
    client.refuse_version(Revision::LATEST);
    client.refuse_version(LEGACY);
    assert_eq!(client.methods(), ["initialize"]);
    assert!(client.events().is_empty());
}

#[test]
fn a_handshake_describes_the_client_in_the_shape_of_its_revision() {
    for (revision, has_title) in [(Revision::V2024_11_05, false), (LEGACY, true)] {
        let info = Implementation::new("test", "1").with_title("Test");
        let config = ClientConfig::new(info, ClientCapabilities::new());
        let mut client = Client::new(config.with_revisions([revision]));
        let params = client.said().pop().unwrap()["params"].clone();
        assert_eq!(params["clientInfo"]["name"], "test");
        assert_eq!(params["clientInfo"].get("title").is_some(), has_title, "{revision}");
    }
}
