//! Questions that send the user to a web page (since 2025-11-25), and their completion.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{ClientBuilder, Question, WebPage};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::peer::{Heard, Peer, both, builder, legacy, modern, pair, put};

const CREATE: &str = "elicitation/create";

fn page(url: &str) -> Value {
    json!({ "mode": "url", "message": "Sign in", "url": url, "elicitationId": "7" })
}

/// A client whose user agrees to everything, and what the user was shown.
fn agreeing(heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder().allow_urls().on_ask(move |question: Question| {
        heard.push(format!("{} {:?}", question.message(), question.page().map(WebPage::host)));
        async move { question.consent() }
    })
}

async fn complete(peer: &mut Peer, name: &str) {
    let (method, params) = ("notifications/elicitation/complete", json!({ "elicitationId": name }));
    peer.send_json(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
}

// spec: ELIC-1, ELIC-2, ELIC-3
#[tokio::test(start_paused = true)]
async fn the_modes_of_elicitation_are_declared_for_each_revision() {
    let asking = || builder().on_ask(|question| async move { question.decline() });
    for (builder, expected) in [
        (builder(), Value::Null),
        (builder().allow_urls(), Value::Null),
        (asking(), json!({ "form": {} })),
        (asking().allow_urls(), json!({ "form": {}, "url": {} })),
    ] {
        let (near, mut peer) = pair();
        let serve = async {
            let probe = peer.request("server/discover").await;
            let declared = &probe.params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(declared["elicitation"], expected);
            peer.refuse(&probe, -32601, "what?").await;
            let handshake = peer.shake("2025-11-25").await;
            assert_eq!(handshake.params["capabilities"]["elicitation"], expected);
        };
        tokio::join!(builder.clone().connect(near), serve).0.unwrap();

        let (near, mut peer) = pair();
        let older = builder.revisions([Revision::V2025_06_18]).connect(near);
        let (_client, handshake) = tokio::join!(older, peer.shake("2025-06-18"));
        let expected = if expected.is_null() { Value::Null } else { json!({}) };
        assert_eq!(handshake.params["capabilities"]["elicitation"], expected);
    }
}

// spec: ELIC-27, ELIC-52
#[tokio::test(start_paused = true)]
async fn consent_to_visit_a_page_has_no_content() {
    let heard = Heard::default();
    for mut pair in both(agreeing(&heard)).await {
        let answer = put(&mut pair, CREATE, &page("https://example.com:8443/login?a=b")).await;
        assert_eq!(answer.unwrap(), json!({ "action": "accept" }));
    }
    assert_eq!(heard.all(), [r#"Sign in Some("example.com")"#; 2]);
}

// spec: ELIC-13, ELIC-65, ELIC-66
#[tokio::test(start_paused = true)]
async fn the_user_sees_the_whole_url_and_its_host_and_then_consents() {
    let (shown, agreed) = (Heard::default(), Arc::new(Notify::new()));
    let (log, user) = (shown.clone(), Arc::clone(&agreed));
    let builder = builder().allow_urls().on_ask(move |question: Question| {
        let user = Arc::clone(&user);
        let page = question.page().unwrap();
        log.push(format!("{} {}", page.host(), page.url()));
        async move {
            user.notified().await;
            question.consent()
        }
    });
    let url = format!("https://user@example.com:8443/login?next={}#end", "x".repeat(5000));
    for mut pair in both(builder).await {
        let params = page(&url);
        let mut asking = pin!(put(&mut pair, CREATE, &params));
        let early = timeout(Duration::from_secs(5), &mut asking).await;
        assert!(early.is_err(), "answered before the user agreed: {early:?}");
        agreed.notify_one();
        assert_eq!(asking.await.unwrap(), json!({ "action": "accept" }));
    }
    let expected = format!("example.com {url}");
    assert_eq!(shown.all(), [expected.as_str(); 2]);
}

// spec: ELIC-64
#[tokio::test(start_paused = true)]
async fn the_library_never_opens_a_page() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/login", listener.local_addr().unwrap());
    let heard = Heard::default();
    for mut pair in both(agreeing(&heard)).await {
        put(&mut pair, CREATE, &page(&url)).await.unwrap();
        pair.0.close().await;
    }
    assert_eq!(heard.all(), [r#"Sign in Some("127.0.0.1")"#; 2]);
    let visit = listener.accept().unwrap_err();
    assert_eq!(visit.kind(), ErrorKind::WouldBlock, "the page was visited");
}

// spec: ELIC-11, ELIC-53
#[tokio::test(start_paused = true)]
async fn the_user_may_refuse_to_visit_a_page() {
    for action in ["decline", "cancel"] {
        let builder = builder().allow_urls().on_ask(move |it| async move {
            if action == "decline" { it.decline() } else { it.cancel() }
        });
        for mut pair in both(builder).await {
            let answer = put(&mut pair, CREATE, &page("https://example.com")).await;
            assert_eq!(answer.unwrap(), json!({ "action": action }));
        }
    }
}

// spec: ELIC-6
#[tokio::test(start_paused = true)]
async fn a_client_that_allows_no_urls_is_not_asked_to_visit_any() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().on_ask(move |question| {
        log.push(question.message());
        async move { question.consent() }
    });
    let [mut modern, mut legacy] = both(builder).await;
    let error = put(&mut legacy, CREATE, &page("https://example.com")).await.unwrap_err();
    let undeclared = "`elicitation/create` needs what this client does not declare: \
                      {\"elicitation\":{\"url\":{}}}";
    assert_eq!(error, format!("{undeclared} (-32602)"));
    let error = put(&mut modern, CREATE, &page("https://example.com")).await.unwrap_err();
    assert!(error.ends_with(undeclared), "{error}");
    assert_eq!(heard.all(), [""; 0]);
}

// spec: ELIC-3, ELIC-6
#[tokio::test(start_paused = true)]
async fn a_revision_without_url_mode_cannot_ask_for_a_page() {
    let heard = Heard::default();
    let mut pair = legacy(agreeing(&heard), Revision::V2025_06_18).await;
    let error = put(&mut pair, CREATE, &page("https://example.com")).await.unwrap_err();
    assert!(error.ends_with("(-32602)"), "{error}");
    assert_eq!(heard.all(), [""; 0]);
}

// spec: ELIC-6
#[tokio::test(start_paused = true)]
async fn an_unknown_mode_is_refused() {
    let heard = Heard::default();
    for mut pair in both(agreeing(&heard)).await {
        let params = json!({ "mode": "voice", "message": "Say it" });
        let error = put(&mut pair, CREATE, &params).await.unwrap_err();
        assert!(error.ends_with("`mode`: neither `form` nor `url` (-32602)"), "{error}");
    }
    assert_eq!(heard.all(), [""; 0]);
}

// spec: ELIC-63
#[tokio::test(start_paused = true)]
async fn a_page_that_no_browser_should_open_is_refused_before_the_user_sees_it() {
    let heard = Heard::default();
    for mut pair in both(agreeing(&heard)).await {
        for url in ["javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b"] {
            let error = put(&mut pair, CREATE, &page(url)).await.unwrap_err();
            assert!(error.contains("`params.url`: elicitation URL"), "{error}");
            assert!(error.ends_with("(-32602)"), "{error}");
        }
    }
    assert_eq!(heard.all(), [""; 0]);
}

// spec: ELIC-10, ELIC-51, ELIC-55
#[tokio::test(start_paused = true)]
async fn a_question_carries_the_applications_label_of_the_server() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().label("calendar").on_ask(move |question| {
        let server = question.server().map(|it| it.name.clone());
        log.push(format!("{:?} {server:?}: {}", question.label(), question.message()));
        async move { question.decline() }
    });
    let form =
        json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } });
    for mut pair in both(builder).await {
        put(&mut pair, CREATE, &form).await.unwrap();
    }
    assert_eq!(heard.all(), [r#"Some("calendar") Some("scripted"): Who?"#; 2]);
}

// spec: ELIC-26, ELIC-33, ELIC-34
#[tokio::test(start_paused = true)]
async fn the_completion_of_a_known_page_is_reported_once() {
    let done = Heard::default();
    let builder = agreeing(&Heard::default()).on_elicitation_complete(done.hear());
    let mut pair = legacy(builder, Revision::V2025_11_25).await;
    complete(&mut pair.1, "7").await;
    put(&mut pair, CREATE, &page("https://example.com")).await.unwrap();
    for name in ["8", "7", "7"] {
        complete(&mut pair.1, name).await;
    }
    pair.1.send(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}"#).await;
    pair.1.gets_nothing().await;
    assert_eq!(done.all(), ["7"]);
}

// spec: ELIC-33
#[tokio::test(start_paused = true)]
async fn revisions_without_elicitation_ids_report_no_completion() {
    let done = Heard::default();
    let builder = agreeing(&Heard::default()).on_elicitation_complete(done.hear());
    let mut pair = modern(builder).await;
    put(&mut pair, CREATE, &page("https://example.com")).await.unwrap();
    complete(&mut pair.1, "7").await;
    pair.1.gets_nothing().await;
    assert_eq!(done.all(), [""; 0]);
}

// spec: ELIC-34, ELIC-35
#[tokio::test(start_paused = true)]
async fn a_refused_call_names_the_pages_to_visit_first() {
    let done = Heard::default();
    let builder = builder().allow_urls().on_elicitation_complete(done.hear());
    let (client, mut peer) = legacy(builder, Revision::V2025_11_25).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        let data = json!({ "elicitations": [page("https://example.com/a"), page("javascript:b")] });
        let error = json!({ "code": -32042, "message": "sign in first", "data": data });
        peer.send_json(json!({ "jsonrpc": "2.0", "id": request.id, "error": error })).await;
    };
    let (outcome, ()) = tokio::join!(client.call("mail", ()).into_future(), serve);
    let pages = outcome.unwrap_err().url_elicitations();
    let urls: Vec<_> = pages.iter().map(|it| (it.url(), it.elicitation_id())).collect();
    assert_eq!(urls, [("https://example.com/a", Some("7"))]);
    complete(&mut peer, "7").await;
    peer.gets_nothing().await;
    assert_eq!(done.all(), ["7"]);
    let serve = async {
        let request = peer.request("tools/call").await;
        peer.refuse(&request, -32603, "broken").await;
    };
    let (outcome, ()) = tokio::join!(client.call("mail", ()).into_future(), serve);
    assert_eq!(outcome.unwrap_err().url_elicitations(), []);
}

// spec: ELIC-12, ELIC-14
#[tokio::test(start_paused = true)]
async fn an_answer_can_be_checked_and_changed_before_it_is_sent() {
    let builder = builder().on_ask(|question| async move {
        let draft = question.accept(json!({ "size": "L" }));
        assert!(draft.problem().unwrap().contains("`size`: expected a whole number"));
        question.accept(json!({ "size": 50 }))
    });
    let properties = json!({ "size": { "type": "integer" } });
    let schema = json!({ "type": "object", "properties": properties });
    for mut pair in both(builder).await {
        let form = json!({ "message": "Which?", "requestedSchema": schema });
        let answer = put(&mut pair, CREATE, &form).await.unwrap();
        assert_eq!(answer, json!({ "action": "accept", "content": { "size": 50 } }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_asks_for_a_secret_can_be_declined() {
    let builder = builder().on_ask(|question| async move {
        if question.looks_sensitive() { question.decline() } else { question.accept("x") }
    });
    for mut pair in both(builder).await {
        for (field, action) in [("apiKey", "decline"), ("city", "accept")] {
            let properties = json!({ field: { "type": "string" } });
            let schema = json!({ "type": "object", "properties": properties });
            let form = json!({ "message": "Please", "requestedSchema": schema });
            assert_eq!(put(&mut pair, CREATE, &form).await.unwrap()["action"], action);
        }
    }
}
