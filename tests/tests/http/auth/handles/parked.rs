//! The state of a call that waits behind a bridge, in the hands of another caller.

use bowline::Client;
use bowline_gateway::bridge;
use bowline_gateway::park::{ParkLimits, Parking, ParkingLot};
use bowline_http::server::Endpoint;
use bowline_transport::duplex::duplex;
use bowline_types::capability::ClientCapabilities;
use bowline_types::revision::Revision;
use serde_json::Value;

use super::{OWNER, STRANGERS, admit, ask, seen, server};
use crate::test_server::text_of;

/// A bridge to a server of an older revision, whose calls are parked while their callers answer.
async fn bridged() -> Endpoint {
    let (server, _) = server();
    let (near, far) = duplex();
    tokio::spawn(server.serve(far));
    let declared = ClientCapabilities::new().with_form_elicitation();
    let builder = Client::builder("bridge", "1.0.0").passing_on(declared);
    let builder = builder.revisions([Revision::LATEST_LEGACY]);
    let client = builder.connect(near).await.unwrap();
    let lot = ParkingLot::new(ParkLimits::default()).unwrap();
    let parking = Parking::new(client.relay(), "far", lot);
    let http = bridge(parking, None).http().public_url("http://localhost/mcp").auth(admit());
    http.build().unwrap()
}

// spec: SBP-13, SBP-15, MRTR-13
#[tokio::test]
async fn foreign_handle_matrix_of_parked_calls() {
    let endpoint = bridged().await;
    let asked = seen(&endpoint, OWNER, &ask(None), "/mcp").await;
    let result: Value = serde_json::from_str(&asked.body).unwrap();
    let result = &result["result"];
    assert_eq!(result["resultType"], "input_required", "{asked:?}");
    let (questions, state) = (&result["inputRequests"], result["requestState"].as_str().unwrap());
    let garbage = "x".repeat(state.len());
    for stranger in STRANGERS {
        let foreign = seen(&endpoint, stranger, &ask(Some((questions, state))), "/mcp").await;
        let never = seen(&endpoint, stranger, &ask(Some((questions, &garbage))), "/mcp").await;
        assert_eq!(foreign, never, "{stranger} cannot tell whether it exists");
        assert!(!foreign.body.contains("sure"), "{foreign:?}");
    }
    // The call waits still, for its owner, with a new token too.
    let renewed = "ann@issuer mcp,admin 60";
    let done = seen(&endpoint, renewed, &ask(Some((questions, state))), "/mcp").await;
    assert_eq!(text_of(&serde_json::from_str(&done.body).unwrap()), "sure");
    // Its outcome is kept for a moment, and belongs to its owner as well.
    for stranger in STRANGERS {
        let foreign = seen(&endpoint, stranger, &ask(Some((questions, state))), "/mcp").await;
        assert!(!foreign.body.contains("sure"), "{foreign:?}");
    }
}
