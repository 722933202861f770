//! Sending the user to web pages, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_proto::request::Owner;
use bowline_server::extract::Visit;
use bowline_server::{Ask, Error, Result, Server, State, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::{ElicitParams, UrlParams};
use bowline_types::implementation::Implementation;
use bowline_types::input::InputRequest;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::peer::{BOTH, Peer};
use crate::wire::{Wire, answer, call};

const PAGE: &str = "https://mail.example.com/connect?state=x";

/// Sends the user to sign in, and says so when it is done.
async fn sign_in(ask: Ask) -> Result<String> {
    let visit = ask.url("Sign in", PAGE).await?;
    assert_eq!(visit.url(), PAGE);
    visit.complete().await;
    Ok("signed in".to_owned())
}

fn server() -> Server {
    Server::new("mail", "1").tool(Tool::new("sign_in", sign_in))
}

fn with_pages(server: &Server, revision: Revision) -> Peer {
    Peer::able(server, revision, ClientCapabilities::new().with_url_elicitation())
}

fn consent() -> Value {
    json!({ "action": "accept" })
}

fn pages(peer: &Peer) -> Vec<UrlParams> {
    let page = |question| match question {
        InputRequest::Elicit(ElicitParams::Url(page)) => page,
        other => panic!("{other:?}"),
    };
    peer.inbox.questions().into_iter().map(page).collect()
}

// spec: ELIC-15, ELIC-23, ELIC-25, ELIC-28, ELIC-30, ELIC-32
#[tokio::test]
async fn a_page_has_a_name_of_its_own_and_its_completion_is_announced_by_it() {
    let peer = with_pages(&server(), Revision::V2025_11_25);
    for _ in 0..2 {
        peer.inbox.answer(Ok(consent()));
        assert_eq!(peer.text("sign_in", json!({})).await, "signed in");
    }
    let pages = pages(&peer);
    let names: Vec<_> = pages.iter().map(|page| page.elicitation_id.clone().unwrap()).collect();
    assert_eq!((pages[0].message.as_str(), pages[0].url.as_str()), ("Sign in", PAGE));
    assert_ne!(names[0], names[1]);
    assert!(names[0].len() >= 20, "{names:?}");
    assert_eq!(peer.inbox.completed(), names);
}

// spec: ELIC-24, ELIC-28, MRTR-6
#[tokio::test]
async fn a_modern_page_has_no_name_and_its_completion_is_no_news() {
    let peer = with_pages(&server(), Revision::LATEST);
    let asked = peer.call("sign_in", json!({})).await.unwrap();
    let params = json!({ "mode": "url", "message": "Sign in", "url": PAGE });
    let expected = json!({ "method": "elicitation/create", "params": params });
    assert_eq!(asked["inputRequests"], json!({ "q1": expected }));
    let state = asked["requestState"].as_str();
    let done = peer.round("sign_in", json!({}), json!({ "q1": consent() }), state).await;
    assert_eq!(done.text(), "signed in");
    assert!(peer.inbox.completed().is_empty());
}

// spec: ELIC-29, ELIC-77, ELIC-78
#[tokio::test]
async fn a_user_who_does_not_want_to_go_is_not_sent() {
    for (action, text) in [("decline", "declined"), ("cancel", "closed")] {
        let peer = with_pages(&server(), Revision::LATEST_LEGACY);
        peer.inbox.answer(Ok(json!({ "action": action })));
        assert!(peer.failure("sign_in", json!({})).await.contains(text));
        let peer = with_pages(&server(), Revision::LATEST);
        let (_, state) = peer.round("sign_in", json!({}), json!({}), None).await.asks();
        let answers = json!({ "q1": { "action": action } });
        let done = peer.round("sign_in", json!({}), answers, Some(&state)).await;
        assert!(done.text().contains(text));
    }
}

// spec: ELIC-4, ELIC-5, MRTR-7, CAP-5
#[tokio::test]
async fn a_client_that_only_shows_forms_is_not_sent_anywhere() {
    let bare: ClientCapabilities = serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    for can in [bare, ClientCapabilities::new().with_form_elicitation()] {
        let peer = Peer::able(&server(), Revision::LATEST_LEGACY, can.clone());
        assert!(peer.failure("sign_in", json!({})).await.contains(r#""url":{}"#));
        assert!(peer.inbox.questions().is_empty());
        let peer = Peer::able(&server(), Revision::LATEST, can);
        let error = peer.call("sign_in", json!({})).await.unwrap_err();
        let required = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
        assert_eq!((error.code, error.parse_data()), (-32021, Some(required)));
    }
}

// spec: ELIC-25, ELIC-59, ELIC-60, ELIC-62
#[tokio::test]
async fn a_page_that_users_must_not_be_sent_to_is_a_fault_of_the_server() {
    let send = |State(url): State<&'static str>, ask: Ask| async move {
        ask.url("Sign in", url).await?;
        Ok::<_, Error>(())
    };
    let require = |State(url): State<&'static str>, ask: Ask| async move {
        let visit = Visit::new(&ask, "Sign in", url)?;
        Err::<(), _>(Error::url_elicitation_required([visit]))
    };
    for url in [
        "https://ann:hunter2@example.com/",
        "https://example.com/?access_token=hunter2",
        "https://store.example.com/a?X-Amz-Signature=hunter2",
        "http://example.com/hunter2",
        "example.com",
    ] {
        let server = Server::new("mail", "1").state(url);
        let server = server.tool(Tool::new("send", send)).tool(Tool::new("require", require));
        for revision in BOTH {
            for tool in ["send", "require"] {
                let peer = with_pages(&server, revision);
                let error = peer.call(tool, json!({})).await.unwrap_err();
                assert_eq!(error.code, -32603, "{tool} {url}: {error}");
                assert!(!serde_json::to_string(&error).unwrap().contains("hunter2"), "{error}");
                assert!(peer.inbox.questions().is_empty());
            }
        }
    }
}

/// A tool that needs the user to have signed in.
fn guarded() -> (Server, Arc<AtomicBool>) {
    let signed_in = Arc::new(AtomicBool::new(false));
    let read = |State(signed_in): State<Arc<AtomicBool>>, ask: Ask| async move {
        if signed_in.load(Ordering::SeqCst) {
            return Ok("no new mail");
        }
        let mail = Visit::new(&ask, "Sign in", PAGE)?;
        let pay = Visit::new(&ask, "Pay", "https://pay.example.com/")?;
        Err(Error::url_elicitation_required([mail, pay]))
    };
    let server = Server::new("mail", "1").tool(Tool::new("read", read)).state(signed_in.clone());
    (server, signed_in)
}

// spec: ELIC-36, ELIC-37, ELIC-38, ELIC-39, ELIC-40
#[tokio::test]
async fn a_call_that_needs_pages_first_is_refused_with_their_list() {
    let (server, signed_in) = guarded();
    let peer = with_pages(&server, Revision::V2025_11_25);
    let error = peer.call("read", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32042);
    assert_eq!(error.message, "a page must be visited first: Sign in; Pay");
    let data: Value = error.parse_data().unwrap();
    let pages = data["elicitations"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    for (page, url) in pages.iter().zip([PAGE, "https://pay.example.com/"]) {
        assert_eq!((&page["mode"], &page["url"]), (&json!("url"), &json!(url)));
        assert!(page["elicitationId"].is_string(), "{page}");
    }
    signed_in.store(true, Ordering::SeqCst);
    assert_eq!(peer.text("read", json!({})).await, "no new mail");
}

// spec: ERR-11, ELIC-28, MRTR-18
#[tokio::test]
async fn a_modern_call_that_needs_pages_first_asks_until_they_were_visited() {
    let (server, signed_in) = guarded();
    let peer = with_pages(&server, Revision::LATEST);
    let (questions, state) = peer.round("read", json!({}), json!({}), None).await.asks();
    let messages: Vec<_> = questions.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(messages, ["Sign in", "Pay"]);
    let agreed = json!({ "q1": consent(), "q2": consent() });
    let (again, state) = peer.round("read", json!({}), agreed.clone(), Some(&state)).await.asks();
    assert_eq!(again, questions);
    let refused = json!({ "q1": consent(), "q2": { "action": "decline" } });
    let done = peer.round("read", json!({}), refused, Some(&state)).await;
    assert_eq!(done.text(), "the user declined to answer");
    signed_in.store(true, Ordering::SeqCst);
    let done = peer.round("read", json!({}), agreed, Some(&state)).await;
    assert_eq!(done.text(), "no new mail");
}

// spec: ELIC-5, ELIC-37
#[tokio::test]
async fn a_client_that_visits_no_pages_gets_the_missing_capability() {
    let (server, _) = guarded();
    for revision in [Revision::V2024_11_05, Revision::V2025_06_18] {
        let text = Peer::with_forms(&server, revision).failure("read", json!({})).await;
        assert!(text.contains("has no elicitation by URL"), "{text}");
    }
    let peer = Peer::with_forms(&server, Revision::V2025_11_25);
    let text = peer.failure("read", json!({})).await;
    assert!(text.contains(r#"{"elicitation":{"url":{}}}"#), "{text}");
    let error = Peer::with_forms(&server, Revision::LATEST).call("read", json!({})).await;
    assert_eq!(error.unwrap_err().code, -32021);
}

#[tokio::test]
async fn pages_that_are_none_are_a_fault_of_the_server() {
    let read = |_: Ask| async { Err::<(), _>(Error::url_elicitation_required([])) };
    let server = Server::new("mail", "1").tool(Tool::new("read", read));
    for revision in BOTH {
        let error = with_pages(&server, revision).call("read", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603);
    }
}

/// A tool that hands its page to the test before it ends.
fn handing_out() -> (Server, UnboundedReceiver<Visit>) {
    let (sender, receiver) = unbounded_channel::<Visit>();
    let start = |State(pages): State<UnboundedSender<Visit>>, ask: Ask| async move {
        pages.send(ask.url("Sign in", PAGE).await?).map_err(|_| "the test is gone")?;
        Ok::<_, Error>("started")
    };
    let server = Server::new("mail", "1").tool(Tool::new("start", start)).state(sender);
    (server, receiver)
}

// spec: ELIC-30, ELIC-31, ELIC-32
#[tokio::test]
async fn completion_is_announced_to_the_client_that_was_asked_even_after_the_call() {
    let (server, mut pages) = handing_out();
    let (mut asked, mut other) = (Wire::to(&server), Wire::to(&server));
    for wire in [&mut asked, &mut other] {
        wire.initialize_in("2025-11-25", json!({ "elicitation": { "url": {} } })).await;
    }
    let question = asked.ask(call(2, "start")).await;
    let name = question["params"]["elicitationId"].clone();
    let started = asked.ask(answer(&question, &consent())).await;
    assert_eq!(started["result"]["content"][0]["text"], "started");
    pages.recv().await.unwrap().complete().await;
    let told = asked.hear().await;
    assert_eq!(told["method"], "notifications/elicitation/complete");
    assert_eq!(told["params"], json!({ "elicitationId": name }));
    // The next thing that the other client hears is the answer to its own request.
    assert_eq!(other.ask(call(3, "nope")).await["id"], 3);
}

// spec: ELIC-5, CAP-2
#[tokio::test]
async fn what_a_revision_has_no_words_for_cannot_be_declared_in_it() {
    let mut wire = Wire::to(&server());
    wire.initialize_in("2025-06-18", json!({ "elicitation": { "form": {}, "url": {} } })).await;
    let failed = wire.ask(call(2, "sign_in")).await;
    assert_eq!(failed["result"]["isError"], true, "{failed}");
}

// spec: ELIC-41, ELIC-43, ELIC-44, ELIC-50, ELIC-71
#[tokio::test]
async fn the_consent_of_one_user_is_not_that_of_another() {
    let server = server();
    let mut peer = with_pages(&server, Revision::LATEST);
    peer.owner = Owner::known("https://issuer.example", "ann");
    let (_, state) = peer.round("sign_in", json!({}), json!({}), None).await.asks();
    let consent = json!({ "q1": consent() });
    // Who the client says it is counts for nothing; only the verified owner does.
    let mut eve = with_pages(&server, Revision::LATEST);
    eve.client.info = Some(Implementation::new("ann", "1"));
    eve.meta = json!({ "example.com/user": "ann" });
    for owner in [Owner::anonymous(), Owner::known("https://issuer.example", "eve")] {
        eve.owner = owner;
        let error = eve.round("sign_in", json!({}), consent.clone(), Some(&state)).await.error();
        assert_eq!(error.code, -32602);
    }
    let done = peer.round("sign_in", json!({}), consent, Some(&state)).await;
    assert_eq!(done.text(), "signed in");
}

async fn connect(ask: Ask) -> Result<String> {
    let ticket = ask.ticket().await?;
    let visit = ask.url("Connect", format!("https://example.com/?ticket={ticket}")).await?;
    Ok(visit.url().to_owned())
}

/// The ticket in a URL.
fn ticket(url: &str) -> &str {
    url.split_once("ticket=").unwrap().1
}

// spec: ELIC-73, ELIC-74, ELIC-75
#[tokio::test]
async fn a_page_can_tell_that_its_visitor_is_the_user_who_was_asked() {
    let server = Server::new("mail", "1").tool(Tool::new("connect", connect));
    let ann = Owner::known("https://issuer.example", "ann");
    let mut old = with_pages(&server, Revision::LATEST_LEGACY);
    old.owner = ann.clone();
    old.inbox.answer(Ok(consent()));
    let mut new = with_pages(&server, Revision::LATEST);
    new.owner = ann.clone();
    let asked = new.call("connect", json!({})).await.unwrap();
    let url = asked["inputRequests"]["q1"]["params"]["url"].as_str().unwrap();
    let state = asked["requestState"].as_str();
    let done = new.round("connect", json!({}), json!({ "q1": consent() }), state).await;
    assert_eq!(done.text(), url, "the ticket is the same when the handler runs again");
    for url in [url, &old.text("connect", json!({})).await] {
        let ticket = ticket(url);
        assert!(server.admits(ticket, &ann));
        let eve = Owner::known("https://issuer.example", "eve");
        let elsewhere = Owner::known("https://other.example", "ann");
        for visitor in [Owner::anonymous(), eve, elsewhere] {
            assert!(!server.admits(ticket, &visitor), "{visitor:?}");
        }
        for forged in ["", "x", &ticket.to_uppercase(), state.unwrap()] {
            assert!(!server.admits(forged, &ann), "{forged}");
        }
        let other = Server::new("mail", "1").tool(Tool::new("connect", connect));
        assert!(!other.admits(ticket, &ann));
    }
}

// spec: ELIC-73
#[tokio::test]
async fn a_ticket_expires() {
    let server = Server::new("mail", "1").tool(Tool::new("connect", connect));
    let server = server.state_expiry(std::time::Duration::ZERO);
    let peer = with_pages(&server, Revision::LATEST_LEGACY);
    peer.inbox.answer(Ok(consent()));
    let url = peer.text("connect", json!({})).await;
    assert!(!server.admits(ticket(&url), &Owner::anonymous()));
}
