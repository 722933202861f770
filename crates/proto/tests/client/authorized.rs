//! Requests that wait for a credential, and servers that demand one.

use bowline_proto::client::{CacheOptions, CallError, ClientEvent, NegotiationError, Report};
use bowline_proto::limits::Limits;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::{Client, config, seconds};

impl Client {
    /// The request waits for a credential.
    fn hold(&mut self, id: i64) {
        self.connection.receive(Report::Held(id), self.now);
    }

    /// The request was sent with another credential.
    fn grant(&mut self, id: i64) {
        self.connection.receive(Report::Granted(id), self.now);
    }
}

/// The id of the request that was sent last.
fn last_id(client: &mut Client) -> i64 {
    client.said().pop().unwrap()["id"].as_i64().unwrap()
}

#[test]
fn held_clock() {
    let mut client = Client::new(config());
    let probe = last_id(&mut client);
    client.pass(seconds(9));
    client.hold(probe);
    client.pass(seconds(600));
    client.grant(probe);
    client.pass(seconds(9));
    assert!(client.said().is_empty(), "no handshake");
    let versions = [Revision::LATEST.to_string()];
    let result = json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": {},
        "ttlMs": 0, "cacheScope": "private",
    });
    client.hear(json!({ "id": probe, "result": result }));
    let events = client.events();
    let [ClientEvent::Ready(profile)] = &events[..] else { panic!("{events:?}") };
    assert!(profile.revision.is_modern());
}

#[test]
fn a_granted_probe_that_is_not_answered_leads_to_the_handshake_like_any_other() {
    let mut client = Client::new(config());
    let probe = last_id(&mut client);
    client.hold(probe);
    client.pass(seconds(60));
    client.grant(probe);
    client.pass(Limits::default().probe_timeout);
    assert_eq!(client.methods(), ["initialize"]);
}

#[test]
fn a_login_that_does_not_end_says_nothing_about_the_era() {
    let mut client = Client::new(config());
    let probe = last_id(&mut client);
    client.hold(probe);
    let limits = Limits::default();
    client.pass(limits.question_timeout + limits.request_timeout);
    assert!(client.said().is_empty(), "no handshake");
    client.has_failed(&NegotiationError::TimedOut);
}

#[test]
fn a_probe_without_a_credential_leads_to_no_handshake_whatever_its_refusal_holds() {
    for error in [None, Some(ErrorObject::invalid_request("a token is required"))] {
        let mut client = Client::new(config());
        let id = Some(last_id(&mut client));
        let (kind, reason) = (FailureKind::Unauthorized, "401 from http://a".to_owned());
        let failure = SendFailure { id, kind, error, reason: reason.clone() };
        client.connection.receive(Report::Failed(Box::new(failure)), client.now);
        assert!(client.said().is_empty(), "no handshake");
        client.has_failed(&NegotiationError::Unauthorized(reason));
    }
}

#[test]
fn the_time_of_a_login_is_not_time_of_the_call() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    let call = client.call(1);
    client.hold(call);
    client.pass(seconds(500));
    client.grant(call);
    client.pass(Limits::default().request_timeout - seconds(1));
    assert!(client.events().is_empty());
    client.pass(seconds(1));
    let events = client.events();
    assert!(matches!(events[..], [ClientEvent::Answered(_, Err(CallError::TimedOut(_)))]));
}

/// Lists the tools; says whether the answer was stored before.
fn list(client: &mut Client, exchange: u64) -> bool {
    client.request(exchange, Method::ToolsList, &json!({}));
    let result = json!({
        "resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private",
    });
    let asked: Vec<Value> = client.said();
    for request in &asked {
        client.hear(json!({ "id": request["id"], "result": result }));
    }
    assert_eq!(client.events().len(), 1);
    asked.is_empty()
}

// spec: CACHE-15
#[test]
fn another_credential_means_another_cache() {
    let config = config().with_revisions([Revision::LATEST]).with_cache(CacheOptions::default());
    let mut client = Client::new(config);
    client.agree(Revision::LATEST);
    client.events();
    client.said();
    assert!(!list(&mut client, 1));
    assert!(list(&mut client, 2));
    // The list is under way while another request gets more scopes.
    client.request(3, Method::ToolsList, &json!({ "cursor": "x" }));
    let under_way = last_id(&mut client);
    let call = client.call(4);
    client.hold(call);
    client.grant(call);
    let result = json!({
        "resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private",
    });
    client.hear(json!({ "id": under_way, "result": result }));
    client.events();
    client.request(5, Method::ToolsList, &json!({ "cursor": "x" }));
    assert_eq!(client.methods(), ["tools/list"], "it was not stored");
    assert!(!list(&mut client, 6));
}
