//! Requests whose connections end, and session ids that are not shown.

use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline_proto::transmit::FailureKind;
use futures_core::future::BoxFuture;
use http::Response;

use super::super::fetch::{BoxError, Incoming};
use super::*;

/// Sends nothing, and fails the first requests as if their connections were cut.
#[derive(Default)]
struct Cut {
    cuts: usize,
    is_unseen: bool,
    requests: AtomicUsize,
}

impl Fetch for Cut {
    fn fetch(
        self: Arc<Self>,
        _: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        let is_cut = self.requests.fetch_add(1, Ordering::Relaxed) < self.cuts;
        let cut = CutOff { cause: "cable pulled".into(), is_unseen: self.is_unseen };
        let response = || Response::new(Incoming::new(RequestBody::default()));
        Box::pin(ready(if is_cut { Err(cut.into()) } else { Ok(response()) }))
    }
}

fn shared(fetch: Arc<dyn Fetch>) -> Shared {
    let (deliveries, _received) = mpsc::channel(1);
    let address = Address::parse("http://127.0.0.1:1/mcp").unwrap();
    let whom = (address, HeaderMap::new(), fetch);
    Shared::new(whom, Limits::default(), HttpClientLimits::default(), deliveries)
}

// RFC 9110, 9.2.2.
#[tokio::test]
async fn a_request_whose_connection_is_cut_is_sent_again_a_few_times_if_that_is_safe() {
    use FailureKind::{Lost, NotSent};
    for (method, is_unseen, cuts, outcome, requests) in [
        (McpMethod::ToolsList, false, 2, Ok(()), 3),
        (McpMethod::ToolsList, false, 3, Err(Lost), 3),
        (McpMethod::ToolsCall, false, 1, Err(Lost), 1),
        (McpMethod::ToolsCall, true, 2, Ok(()), 3),
        (McpMethod::ToolsCall, true, 3, Err(NotSent), 3),
    ] {
        let cut = Arc::new(Cut { cuts, is_unseen, ..Cut::default() });
        let shared = shared(cut.clone());
        let (id, method, revision) = (Some(1), Some(method), Some(Revision::V2026_07_28));
        let mirror = Mirror { id, method, revision, name: None, params: Vec::new() };
        let posted = shared.post(&shared.address, &mirror, None, &Bytes::new()).await;
        assert_eq!(posted.map(drop).map_err(|failure| failure.kind), outcome, "{method:?} {cuts}");
        assert_eq!(cut.requests.load(Ordering::Relaxed), requests, "{method:?} {cuts}");
    }
}

#[test]
fn a_replaced_handshake_does_not_release_calls() {
    let shared = shared(Arc::new(Cut::default()));
    shared.begin_handshake();
    let first = shared.current();
    shared.begin_handshake();
    shared.begin(&first);
    assert!(shared.current().is_beginning);
    shared.begin(&shared.current());
    assert!(!shared.current().is_beginning);
}

// spec: SESS-4
#[test]
fn a_session_id_is_never_shown() {
    let shared = shared(Arc::new(Cut::default()));
    shared.set_session(&HeaderMap::from_iter([(SESSION_ID, HeaderValue::from_static("s3cret"))]));
    let headers = shared.headers_without_message();
    assert_eq!(headers[&SESSION_ID], "s3cret");
    assert!(!format!("{headers:?}").contains("s3cret"));
}
