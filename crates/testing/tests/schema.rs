//! The official schemas accept valid messages and find invalid ones.
#![cfg(feature = "schemas")]

use bowline_testing::schema::Schemas;
use bowline_testing::transcript::{SentMessage, Side};
use bowline_types::revision::Revision;
use serde_json::json;

fn check(revision: Revision, said: &[(Side, &str)]) -> Result<(), String> {
    let schemas = Schemas::find().unwrap();
    let said: Vec<_> =
        said.iter().map(|(by, text)| SentMessage { by: *by, text: (*text).to_owned() }).collect();
    schemas.check(revision, Side::Server, &said).map_err(|error| error.to_string())
}

const CALL: (Side, &str) =
    (Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);

#[test]
fn a_result_is_checked_by_the_method_of_its_request() {
    for revision in Revision::ALL.into_iter().filter(|revision| revision.has_handshake()) {
        let right = (Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
        assert_eq!(check(revision, &[CALL, right]), Ok(()));
        let wrong = (Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
        let error = check(revision, &[CALL, wrong]).unwrap_err();
        assert!(error.contains("CallToolResult"), "{error}");
    }
}

#[test]
fn a_modern_result_needs_a_result_type() {
    let bare = (Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    assert!(check(Revision::LATEST, &[CALL, bare]).unwrap_err().contains("resultType"));
    let stamped = (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#,
    );
    assert_eq!(check(Revision::LATEST, &[CALL, stamped]), Ok(()));
    let asks = (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"fly"}}}}"#,
    );
    assert!(check(Revision::LATEST, &[CALL, asks]).is_err());
}

#[test]
fn a_response_without_a_request_is_an_error() {
    let answer = (Side::Server, r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    assert!(
        check(Revision::LATEST_LEGACY, &[CALL, answer]).unwrap_err().contains("without a request")
    );
}

#[test]
fn an_error_without_an_id_has_null_in_revisions_that_require_one() {
    let null =
        (Side::Server, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#);
    let absent = (Side::Server, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#);
    for revision in Revision::ALL {
        let (right, wrong) =
            if revision.has_errors_without_id() { (absent, null) } else { (null, absent) };
        assert_eq!(check(revision, &[right]), Ok(()), "{revision}");
        assert!(check(revision, &[wrong]).is_err(), "{revision}");
    }
}

#[test]
fn a_notification_is_checked_by_its_method() {
    let right = (
        Side::Server,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}"#,
    );
    let wrong = (
        Side::Server,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2}}"#,
    );
    let unknown = (Side::Server, r#"{"jsonrpc":"2.0","method":"notifications/fly"}"#);
    for revision in Revision::ALL {
        assert_eq!(check(revision, &[right]), Ok(()), "{revision}");
        assert!(
            check(revision, &[wrong]).unwrap_err().contains("ProgressNotification"),
            "{revision}"
        );
        assert!(
            check(revision, &[unknown]).unwrap_err().contains("notifications/fly"),
            "{revision}"
        );
    }
}

#[test]
fn a_batch_is_valid_in_one_revision_only() {
    let batch = (Side::Server, r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#);
    for revision in Revision::ALL.into_iter().filter(|revision| revision.has_handshake()) {
        assert_eq!(check(revision, &[CALL, batch]).is_ok(), revision.has_batches(), "{revision}");
    }
}

#[test]
fn a_modern_request_in_a_legacy_session_is_checked_as_modern() {
    let call = (
        Side::Client,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    );
    let bare = (Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    assert!(check(Revision::LATEST_LEGACY, &[call, bare]).unwrap_err().contains("2026-07-28"));
}

#[test]
fn a_value_is_checked_by_its_definition() {
    let schemas = Schemas::find().unwrap();
    let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
    assert_eq!(schemas.check_value(Revision::LATEST, "Tool", &tool), Ok(()));
    assert!(schemas.check_value(Revision::LATEST, "Tool", &json!({"name": "a"})).is_err());
    assert!(
        schemas
            .check_value(Revision::LATEST, "Spaceship", &tool)
            .unwrap_err()
            .to_string()
            .contains("Spaceship")
    );
}

#[test]
fn an_error_for_missing_schemas_says_how_to_get_them() {
    let error = Schemas::open("/nowhere").unwrap_err().to_string();
    assert!(error.contains("install.sh") && error.contains("/nowhere"), "{error}");
}
