//! Questions of a session: only its owner can answer them. Knowing the id of the
//! session is not enough.

use bowline_http::server::{Body, Endpoint};
use bowline_proto::request::Owner;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use crate::sessions::answer_to;
use crate::test_server::{Session, initialize, sample_server, text_of, within};
use crate::wire::Request;

/// Sends a request of this owner to an endpoint without a socket.
pub(crate) async fn ask(endpoint: &Endpoint, owner: &Owner, request: &Request) -> Response<Body> {
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri("/mcp").extension(owner.clone());
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    endpoint.answer(asked.body(Full::new(Bytes::copy_from_slice(body))).unwrap()).await
}

/// Reads the next message of a stream.
async fn message(stream: &mut Body) -> Value {
    loop {
        let frame = within(stream.frame()).await.unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        if let Some(message) = data.into_iter().find(|data| !data.is_empty()) {
            return serde_json::from_str(message).unwrap();
        }
    }
}

// spec: ELIC-41, ELIC-42, ELIC-43, ELIC-44, ELIC-50
#[tokio::test]
async fn only_the_owner_of_a_session_can_answer_its_question() {
    let (server, _) = sample_server();
    let endpoint = server.http().build().unwrap();
    let ann = Owner::known("issuer", "ann");
    let handshake = Request::post(initialize(Revision::V2025_11_25));
    let opened = ask(&endpoint, &ann, &handshake).await;
    let id = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let session = Session { id, revision: Revision::V2025_11_25 };
    let mut answers = ask(&endpoint, &ann, &session.call("ask", json!({}))).await.into_body();
    let question = message(&mut answers).await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = |action: &str| {
        let result = json!({ "action": action, "content": answer_to(&question) });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        session.post(answer.to_string())
    };
    let (bob, elsewhere) = (Owner::known("issuer", "bob"), Owner::known("other", "ann"));
    for stranger in [bob, elsewhere, Owner::anonymous()] {
        let status = ask(&endpoint, &stranger, &answer("decline")).await.status();
        assert_eq!(status, 404, "{stranger:?}");
    }
    assert_eq!(ask(&endpoint, &ann, &answer("accept")).await.status(), 202);
    assert_eq!(text_of(&message(&mut answers).await), "sure");
}
