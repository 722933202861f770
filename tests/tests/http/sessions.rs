//! Legacy sessions: their ids, their owners, their end, and their streams.

use std::collections::HashSet;
use std::time::Duration;

use bowline_http::server::Endpoint;
use bowline_proto::request::Owner;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::test_server::{
    Session, TestServer, initialize, request, sample_server, text_of, within,
};
use crate::wire::{Request, Wire};

/// The revisions that have sessions.
const REVISIONS: [Revision; 3] =
    [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn list() -> String {
    request(1, "tools/list", json!({}))
}

// spec: SESS-1, SESS-2, SESS-3, SESS-14, SESS-15, SBP-14
#[tokio::test]
async fn session_ids_are_long_random_and_visible_ascii() {
    let server = TestServer::open().await;
    let mut ids = HashSet::new();
    for _ in 0..50 {
        let Session { id, .. } = server.session(Revision::V2025_11_25).await;
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        assert!(id.len() >= 22, "128 bits take 22 letters of base64: {id}");
        assert!(ids.insert(id));
    }
    let beginnings: HashSet<_> = ids.iter().map(|id| &id[..4]).collect();
    assert!(beginnings.len() > 45, "they have nothing in common");
}

// spec: SESS-6, HTTP-1
#[tokio::test]
async fn a_request_outside_of_a_session_is_400() {
    let server = TestServer::open().await;
    for request in [Request::post(list()), Request::get(), Request::delete()] {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status(), 400, "{answer:?}");
        assert!(answer.reason().contains("Mcp-Session-Id"), "{answer:?}");
    }
    let session = server.session(Revision::V2025_11_25).await;
    let twice = session.post(list()).with("Mcp-Session-Id", &session.id);
    assert_eq!(server.ask(&twice).await.status(), 400);
}

// spec: SESS-8, SESS-10
#[tokio::test]
async fn an_unknown_session_is_404_and_so_is_one_that_was_deleted() {
    let server = TestServer::open().await;
    let unknown = Session { id: "AAAAAAAAAAAAAAAAAAAAAA".into(), revision: Revision::V2025_11_25 };
    let deleted = server.session(Revision::V2025_11_25).await;
    let mut stream = server.stream(&deleted.get()).await;
    assert_eq!(server.ask(&deleted.delete()).await.status(), 204);
    within(stream.messages()).await;
    assert!(stream.is_whole(), "its stream ends with it");
    for session in [unknown, deleted] {
        let requests =
            [session.post(list()), session.get(), session.resume("1.0"), session.delete()];
        for request in requests {
            assert_eq!(server.ask(&request).await.status(), 404, "{request:?}");
        }
    }
}

// spec: SESS-1
#[tokio::test]
async fn a_handshake_that_fails_creates_no_session() {
    let server = TestServer::limited(|it| it.sessions = 1).await;
    let session = server.session(Revision::V2025_11_25).await;
    let bad = [
        request(0, "initialize", json!({})),
        request(0, "initialize", json!({ "protocolVersion": 7 })),
        request(0, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": 1 })),
        format!("[{}]", initialize(Revision::V2025_03_26)),
        "{\"method\":\"initialize\"}".to_owned(),
    ];
    for body in bad {
        for _ in 0..20 {
            let answer = server.ask(&Request::post(body.clone())).await;
            assert_eq!(answer.status(), 400, "{answer:?}");
            assert_eq!(answer.header("mcp-session-id"), None);
        }
    }
    // If the server had kept one of them, it would have evicted the only session it may have.
    assert_eq!(server.ask(&session.post(list())).await.status(), 200);
}

/// Sends a request of this owner to an endpoint without a socket.
pub(crate) async fn asked(
    endpoint: &Endpoint,
    owner: &Owner,
    request: &Request,
) -> (u16, String, Option<String>) {
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri("/mcp").extension(owner.clone());
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    let body = Full::new(Bytes::copy_from_slice(body));
    let answer = endpoint.answer(asked.body(body).unwrap()).await;
    let status = answer.status().as_u16();
    let session = answer.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let kind = answer.headers().get("content-type");
    let is_stream = kind.is_some_and(|kind| kind == "text/event-stream");
    let body = match is_stream {
        true => Bytes::new(),
        false => answer.into_body().collect().await.unwrap().to_bytes(),
    };
    (status, String::from_utf8(body.to_vec()).unwrap(), session)
}

// spec: SESS-12, SESS-13, SESS-16
#[tokio::test]
async fn a_session_of_another_owner_is_404_like_an_unknown_one() {
    let (server, _) = sample_server();
    let endpoint = server.http().build().unwrap();
    let (ann, bob) = (Owner::known("issuer", "ann"), Owner::known("issuer", "bob"));
    let other_issuer = Owner::known("other", "ann");
    let handshake = Request::post(initialize(Revision::V2025_11_25));
    let (status, _, id) = asked(&endpoint, &ann, &handshake).await;
    assert_eq!(status, 200);
    let session = Session { id: id.unwrap(), revision: Revision::V2025_11_25 };
    let unknown = Session { id: "x".repeat(22), ..session.clone() };
    let requests: [fn(&Session) -> Request; 5] = [
        |session| session.post(list()),
        |session| session.get(),
        |session| session.resume("0.0"),
        |session| session.post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        |session| session.delete(),
    ];
    for stranger in [bob, other_issuer, Owner::anonymous()] {
        for make in requests {
            let foreign = asked(&endpoint, &stranger, &make(&session)).await;
            let never = asked(&endpoint, &stranger, &make(&unknown)).await;
            assert_eq!(foreign, never, "no telling whether it exists");
            assert_eq!(foreign.0, 404);
        }
    }
    assert_eq!(asked(&endpoint, &ann, &session.post(list())).await.0, 200, "it is unharmed");
}

// spec: PV-3, PV-4
#[tokio::test]
async fn the_version_header_may_be_absent_but_not_wrong() {
    let server = TestServer::open().await;
    for revision in REVISIONS {
        let session = server.session(revision).await;
        let absent = session.post(list()).without("MCP-Protocol-Version");
        assert_eq!(server.ask(&absent).await.status(), 200, "{revision}");
        for version in ["1900-01-01", "nonsense", "", "2025-06-18, 2025-06-18"] {
            for request in [session.post(list()), session.get(), session.delete()] {
                let answer = server.ask(&request.set("MCP-Protocol-Version", version)).await;
                assert_eq!(answer.status(), 400, "{version}: {answer:?}");
            }
        }
        assert_eq!(server.ask(&session.post(list())).await.status(), 200, "{revision}");
    }
}

// spec: PV-4
#[tokio::test]
async fn a_revision_that_this_server_does_not_speak_is_400() {
    let (server, handlers) = sample_server();
    let server = server.revisions([Revision::V2026_07_28, Revision::V2025_11_25]);
    let server = TestServer::of((server, handlers), |http| http).await;
    let session = server.session(Revision::V2025_11_25).await;
    let answer = server.ask(&session.post(list()).set("MCP-Protocol-Version", "2025-06-18")).await;
    assert_eq!((answer.status(), answer.code()), (400, -32022), "{answer:?}");
}

// spec: HTTP-9, HTTP-10
#[tokio::test]
async fn the_server_accepts_batches_only_in_2025_03_26() {
    let server = TestServer::open().await;
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let echo = |id: u32| {
        let params = json!({ "name": "echo", "arguments": { "text": format!("{id}") } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let batch =
        json!([echo(1), ping(2), echo(3), { "jsonrpc": "2.0", "method": "notifications/x" }]);
    let silent = json!([{ "jsonrpc": "2.0", "method": "notifications/x" }]);
    for revision in REVISIONS {
        let session = server.session(revision).await;
        let answer = server.ask(&session.post(batch.to_string())).await;
        if !revision.has_batches() {
            assert_eq!((answer.status(), answer.code()), (400, -32600), "{revision}: {answer:?}");
            continue;
        }
        let answers = answer.json();
        let ids: HashSet<_> =
            answers.as_array().unwrap().iter().map(|it| it["id"].as_u64()).collect();
        assert_eq!(ids, HashSet::from([Some(1), Some(2), Some(3)]), "{answers}");
        let answer = server.ask(&session.post(silent.to_string())).await;
        assert_eq!((answer.status(), answer.body.as_str()), (202, ""));
    }
}

// spec: HTTP-10, HTTP-11, HTTP-13
#[tokio::test]
async fn notifications_and_answers_are_202_without_a_body() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let bodies = [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"no"}}"#,
    ];
    for body in bodies {
        let answer = server.ask(&session.post(body)).await;
        assert_eq!((answer.status(), answer.body.as_str()), (202, ""), "{body}");
    }
    let broken = server.ask(&session.post(r#"{"jsonrpc":"2.0"}"#)).await;
    assert_eq!((broken.status(), broken.code()), (400, -32600));
    let unknown = server.ask(&session.post(request(5, "no/such", json!({})))).await;
    assert_eq!((unknown.status(), unknown.code()), (200, -32601), "{unknown:?}");
}

// spec: HTTP-16, HTTP-21, HTTP-22, HTTP-26, RESUME-1, RESUME-2, RESUME-3, RESUME-8
#[tokio::test]
async fn the_stream_of_a_post_begins_with_an_event_id_and_ends_with_the_answer() {
    let server = TestServer::open().await;
    for revision in REVISIONS {
        let session = server.session(revision).await;
        let mut seen = HashSet::new();
        for _ in 0..3 {
            server.handlers.step(3);
            let mut wire = server.stream(&session.call("tell", json!({ "count": 2 }))).await;
            let first = within(wire.event()).await.unwrap();
            let has_first_id = !first.has_message();
            assert_eq!(has_first_id, revision.has_first_event_id(), "{revision}: {first:?}");
            let mut events = vec![first];
            events.extend(within(wire.messages()).await);
            assert!(wire.is_whole());
            let ids: Vec<_> = events.iter().map(|event| event.id.clone().unwrap()).collect();
            let stream = ids[0].split_once('.').unwrap().0;
            let begin = usize::from(!has_first_id);
            let expected: Vec<_> =
                (0..ids.len()).map(|at| format!("{stream}.{}", at + begin)).collect();
            assert_eq!(ids, expected, "one cursor, and the stream in every id");
            assert!(ids.into_iter().all(|id| seen.insert(id)), "no id comes twice in a session");
            assert_eq!(text_of(&events.last().unwrap().json()), "told 2");
        }
    }
}

// spec: HTTP-38, HTTP-39, HTTP-40, HTTP-41, HTTP-43, HTTP-47, HTTP-48
#[tokio::test]
async fn each_message_goes_to_exactly_one_stream() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    let place = within(get.event()).await.unwrap();
    assert_eq!(place.id.as_deref(), Some("0.0"));
    server.handlers.step(2);
    let mut post = server.stream(&session.call("tell", json!({ "count": 1 }))).await;
    let posted = within(post.messages()).await;
    server.notify.tools_changed();
    let got = within(get.message()).await.unwrap();
    assert_eq!(got.json()["method"], "notifications/tools/list_changed");
    assert_eq!(got.id.as_deref(), Some("0.1"), "the first on this stream, and the only one");
    let methods: Vec<_> = posted.iter().map(|it| it.json()["method"].clone()).collect();
    assert_eq!(methods, [json!("notifications/message"), Value::Null]);
}

// spec: HTTP-40, HTTP-44, HTTP-45, HTTP-46, HTTP-47
#[tokio::test]
async fn a_new_get_stream_replaces_the_open_get_stream_of_its_session() {
    let server = TestServer::open().await;
    for revision in REVISIONS {
        let session = server.session(revision).await;
        let mut first = server.stream(&session.get()).await;
        within(first.event()).await.unwrap();
        server.notify.tools_changed();
        assert!(within(first.message()).await.is_some());
        // The client lost the first stream, and the server does not know it.
        let mut second = server.stream(&session.get()).await;
        within(second.event()).await.unwrap();
        if revision.has_first_event_id() {
            let last = within(first.event()).await.unwrap();
            assert!(!last.has_message() && last.retry == Some(5000), "come back later: {last:?}");
        }
        assert_eq!(within(first.event()).await, None, "{revision}");
        assert!(first.is_whole(), "the older stream is ended, not cut");
        for _ in 0..3 {
            server.notify.tools_changed();
            let told = within(second.message()).await.unwrap().json();
            assert_eq!(told["method"], "notifications/tools/list_changed", "{revision}");
        }
        let mut third = server.stream(&session.resume("0.1")).await;
        let missed = within(third.message()).await.unwrap();
        assert_eq!(missed.id.as_deref(), Some("0.2"), "resumption takes over too");
        assert_eq!(within(second.messages()).await, []);
        assert!(second.is_whole());
    }
}

// spec: HTTP-39
#[tokio::test]
async fn a_get_that_does_not_accept_event_streams_is_406() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let get = session.get().set("Accept", "application/json");
    assert_eq!(server.ask(&get).await.status(), 406);
}

// spec: HTTP-22, HTTP-23, ELIC-1
#[tokio::test]
async fn the_server_asks_on_the_stream_of_the_call_and_the_client_answers_by_another_post() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    let mut post = server.stream(&session.call("ask", json!({}))).await;
    let question = within(post.message()).await.unwrap().json();
    assert_eq!(question["method"], "elicitation/create");
    let content = json!({ "action": "accept", "content": answer_to(&question) });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
    assert_eq!(server.ask(&session.post(answer.to_string())).await.status(), 202);
    let last = within(post.messages()).await;
    assert_eq!(text_of(&last[0].json()), "sure");
    // The other stream got no message.
    server.notify.tools_changed();
    let got = within(get.message()).await.unwrap().json();
    assert_eq!(got["method"], "notifications/tools/list_changed");
}

/// Accepts the one field of a form.
pub(crate) fn answer_to(question: &Value) -> Value {
    let fields = question["params"]["requestedSchema"]["properties"].as_object().unwrap();
    fields
        .keys()
        .map(|field| (field.clone(), json!(true)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

// spec: CANC-1, CANC-3, HTTP-28
#[tokio::test]
async fn the_server_does_not_answer_a_cancelled_call_of_a_batch_and_answers_the_others() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_03_26).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let mut wire = Wire::send(server.address, &session.call("hold", json!({}))).await;
    server.handlers.running(1).await;
    assert_eq!(server.ask(&session.post(cancel)).await.status(), 202);
    server.handlers.running(0).await;
    let head = within(wire.head()).await;
    assert!(head.is_stream(), "{head:?}");
    assert_eq!(within(wire.messages()).await, []);

    let held = json!({ "name": "hold", "arguments": {} });
    let held = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": held });
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let mut wire = Wire::send(server.address, &session.post(json!([held, ping]).to_string())).await;
    server.handlers.running(1).await;
    let cancelled = server.ask(&session.post(cancel)).await;
    assert_eq!((cancelled.status(), cancelled.body.as_str()), (202, ""), "not the batch's answer");
    let answer = within(wire.answer()).await.json();
    assert_eq!(answer, json!([{ "jsonrpc": "2.0", "id": 2, "result": {} }]));
}

// spec: SESS-7, SESS-8, SESS-15, SBP-14
#[tokio::test]
async fn an_idle_session_expires_and_a_used_one_does_not() {
    let server = TestServer::limited(|it| it.session_idle = Duration::from_millis(300)).await;
    let idle = server.session(Revision::V2025_11_25).await;
    let (listening, calling) =
        (server.session(Revision::V2025_11_25).await, server.session(Revision::V2025_11_25).await);
    let mut stream = server.stream(&listening.get()).await;
    let mut call = Wire::send(server.address, &calling.call("hold", json!({}))).await;
    server.handlers.running(1).await;
    expired(&server, &idle).await;
    server.notify.tools_changed();
    assert!(within(stream.message()).await.is_some(), "an open stream is use");
    server.handlers.step(1);
    assert_eq!(text_of(&within(call.answer()).await.json()), "held", "a running call is use");
}

// spec: SESS-7
#[tokio::test]
async fn a_session_without_a_finished_handshake_expires_sooner() {
    let server = TestServer::limited(|it| it.session_opening = Duration::from_millis(100)).await;
    let opened = server.session(Revision::V2025_11_25).await;
    let answer = server.ask(&Request::post(initialize(Revision::V2025_11_25))).await;
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    expired(&server, &Session { id, revision: Revision::V2025_11_25 }).await;
    assert_eq!(server.ask(&opened.post(list())).await.status(), 200);
}

/// Waits until a session is gone without using it: a GET that does not accept streams is not a use.
async fn expired(server: &TestServer, session: &Session) {
    let probe = session.resume("nonsense");
    within(async { while server.ask(&probe).await.status() != 404 {} }).await;
}

// spec: SESS-7, SESS-8
#[tokio::test]
async fn the_server_removes_the_longest_idle_session_to_make_room_and_no_used_one() {
    let server = TestServer::limited(|it| it.sessions = 2).await;
    let used = server.session(Revision::V2025_11_25).await;
    let mut stream = server.stream(&used.get()).await;
    let idle = server.session(Revision::V2025_11_25).await;
    let new = server.session(Revision::V2025_11_25).await;
    assert_eq!(server.ask(&idle.post(list())).await.status(), 404, "it made room");
    let mut other = server.stream(&new.get()).await;
    let refused = server.ask(&Request::post(initialize(Revision::V2025_11_25))).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("1")));
    server.notify.tools_changed();
    for stream in [&mut stream, &mut other] {
        assert!(within(stream.message()).await.is_some());
    }
}
