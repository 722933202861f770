//! Credentials that a server repeats: taken out of texts for people, and out of nothing else.

use std::sync::{Arc, Mutex};

use bowline_proto::client::CallError;
use bowline_transport::connect::{Link, connect};
use bowline_transport::tap::{Tap, TapDirection};
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::{FakeServer, User, config, done, fake_at, tool};

const JSON: (&str, &str) = ("content-type", "application/json");

/// A server of 2025-11-25 to which a client sends credentials and other values.
struct Repeating {
    link: Link,
    fake: FakeServer,
    received: Arc<Mutex<Vec<String>>>,
}

impl Repeating {
    async fn connect() -> Self {
        let query = "project=customer-portal&number=12345678&api_key=canary-query";
        let (mut transport, mut fake) = fake_at(&format!("http://server.example/mcp?{query}"));
        for (name, value) in [
            (AUTHORIZATION, "Bearer canary-5b1d7c"),
            (HeaderName::from_static("x-mcp-toolsets"), "notifications"),
            (HeaderName::from_static("x-since"), "2025-06-18"),
            (HeaderName::from_static("x-api-key"), "87654321"),
        ] {
            transport = transport.with_header(name, HeaderValue::from_static(value));
        }
        let received = Arc::<Mutex<Vec<String>>>::default();
        let texts = Arc::clone(&received);
        let transport = Tap::new(transport, move |direction, text| {
            if direction == TapDirection::Received {
                texts.lock().unwrap().push(String::from_utf8(text.to_vec()).unwrap());
            }
        });
        let link = connect(transport, config(&[Revision::V2025_11_25]), Arc::new(User::default()));
        let (link, ()) = tokio::join!(link, fake.shake_hands(Some("session-4711")));
        received.lock().unwrap().clear();
        Self { link: link.unwrap(), fake, received }
    }

    /// What the client gets of these messages, which come during a call.
    async fn passed_on(&mut self, messages: &[Value]) -> Vec<Value> {
        let call = self.link.call(tool("echo"), None);
        let request = self.fake.expect("tools/call").await;
        let id = request.id();
        let events = request.events();
        messages.iter().for_each(|message| events.message(message));
        events.result(&id, &done());
        call.await.unwrap();
        let texts = std::mem::take(&mut *self.received.lock().unwrap());
        texts[..messages.len()].iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// How a call fails that the server answers with this error.
    async fn failure(&mut self, error: &Value) -> ErrorObject {
        let call = self.link.call(tool("echo"), None);
        let request = self.fake.expect("tools/call").await;
        let body = json!({ "jsonrpc": "2.0", "id": request.id(), "error": error });
        request.respond(200, &[JSON], &body.to_string());
        let CallError::Refused(error) = call.await.unwrap_err() else { panic!("{error}") };
        error
    }
}

#[tokio::test(start_paused = true)]
async fn messages_for_programs_pass_unchanged() {
    let mut server = Repeating::connect().await;
    let url = "https://server.example/key?session=session-4711&token=canary-5b1d7c";
    let messages = [
        json!({ "jsonrpc": "2.0", "id": "session-4711", "method": "elicitation/create",
            "params": { "mode": "url", "elicitationId": "1", "url": url, "message": url } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated",
            "params": { "uri": "repo://customer-portal/87654321/canary-query" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress",
            "params": { "progressToken": 1, "progress": 12345678, "total": 87654321 } }),
    ];
    assert_eq!(server.passed_on(&messages).await, messages);
}

#[tokio::test(start_paused = true)]
async fn values_that_are_no_credentials_stay_in_errors() {
    let mut server = Repeating::connect().await;
    let data = json!({ "supported": ["2025-06-18"], "project": "customer-portal", "n": 12345678 });
    let text = "no notifications for customer-portal since 2025-06-18 (12345678)";
    let error = server.failure(&json!({ "code": -32602, "message": text, "data": data })).await;
    assert_eq!(error.message, text);
    assert_eq!(error.data.unwrap().parse::<Value>().unwrap(), data);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_an_error_asks_to_open_keeps_its_address() {
    let mut server = Repeating::connect().await;
    let url = "https://server.example/key?session=session-4711&token=canary-5b1d7c";
    let data = json!({ "elicitations": [{ "mode": "url", "elicitationId": "1", "url": url }] });
    let error = json!({ "code": -32042, "message": format!("open {url}"), "data": data });
    let error = server.failure(&error).await;
    assert_eq!(
        error.message,
        "open https://server.example/key?session=[redacted]&token=[redacted]"
    );
    assert_eq!(error.data.unwrap().parse::<Value>().unwrap(), data);
}

#[tokio::test(start_paused = true)]
async fn numbers_and_session_ids_stay_in_the_data_of_an_error() {
    let mut server = Repeating::connect().await;
    let data = json!({ "session": "session-4711", "n": 87654321, "key": "got 87654321" });
    let error = json!({ "code": -32000, "message": "no session-4711", "data": data });
    let error = server.failure(&error).await;
    assert_eq!(error.message, "no [redacted]");
    let expected = json!({ "session": "session-4711", "n": 87654321, "key": "got [redacted]" });
    assert_eq!(error.data.unwrap().parse::<Value>().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn what_a_log_message_says_loses_credentials() {
    let mut server = Repeating::connect().await;
    let log = |data: Value| {
        let params = json!({ "level": "error", "logger": "canary-query", "data": data });
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
    };
    let said = log(json!({ "said": "canary-5b1d7c, session-4711, 2025-06-18", "n": 87654321 }));
    let expected = log(json!({ "said": "[redacted], [redacted], 2025-06-18", "n": 87654321 }));
    assert_eq!(server.passed_on(&[said]).await, [expected]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_keeps_its_links() {
    let mut server = Repeating::connect().await;
    let link =
        json!({ "type": "resource_link", "name": "log", "uri": "log://87654321/canary-query" });
    let result = |said: &str| {
        json!({
            "content": [{ "type": "text", "text": said }, link], "isError": true, "_meta": { "n": 87654321 },
        })
    };
    let call = server.link.call(tool("echo"), None);
    let request = server.fake.expect("tools/call").await;
    request.result(&result("customer-portal refuses canary-query"));
    let answer = call.await.unwrap().result.parse::<Value>().unwrap();
    assert_eq!(answer, result("customer-portal refuses [redacted]"));
}
