//! Answers of the endpoints: documents, pages, redirects and OAuth errors.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;

/// The header in which a server demands a nonce in the next proof (RFC 9449).
pub(super) const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// An answer, before it is sent.
pub(super) struct OAuthAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The OAuth error in it, for the log.
    pub(super) error: Option<&'static str>,
}

impl OAuthAnswer {
    fn new(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        Self { status, headers, body: body.into(), error: None }
    }

    /// An answer without content.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), error: None }
    }

    /// A document.
    pub(super) fn json(status: StatusCode, document: &impl Serialize) -> Self {
        let body = serde_json::to_vec(document).expect("the document can be written as JSON");
        Self::new(status, "application/json", body)
    }

    /// A text that is called JSON.
    pub(super) fn json_text(text: impl Into<Bytes>) -> Self {
        Self::new(StatusCode::OK, "application/json", text)
    }

    /// A page for the user.
    pub(super) fn page(status: StatusCode, html: impl Into<Bytes>) -> Self {
        Self::new(status, "text/html; charset=utf-8", html)
    }

    /// A redirect. Its URL must be printable ASCII.
    pub(super) fn redirect(status: StatusCode, url: &str) -> Self {
        let url = HeaderValue::from_str(url).expect("a redirect is printable ASCII");
        Self::empty(status).with(LOCATION, url)
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Forbids to store the answer, as answers with tokens must.
    pub(super) fn no_store(self) -> Self {
        self.with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// A request that an endpoint refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) error: &'static str,
    pub(super) description: &'static str,
    /// The nonce that the next proof must carry.
    nonce: Option<String>,
}

impl Refusal {
    /// An error with the status 400.
    pub(super) fn new(error: &'static str, description: &'static str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error, description, nonce: None }
    }

    pub(super) fn invalid_request(description: &'static str) -> Self {
        Self::new("invalid_request", description)
    }

    pub(super) fn invalid_grant(description: &'static str) -> Self {
        Self::new("invalid_grant", description)
    }

    /// The client did not authenticate itself: 401.
    pub(super) fn invalid_client(description: &'static str) -> Self {
        let refusal = Self::new("invalid_client", description);
        Self { status: StatusCode::UNAUTHORIZED, ..refusal }
    }

    /// The proof of possession lacks the nonce that the server wants.
    pub(super) fn use_dpop_nonce(nonce: String) -> Self {
        let refusal = Self::new("use_dpop_nonce", "the proof lacks the current nonce");
        Self { nonce: Some(nonce), ..refusal }
    }

    pub(super) fn into_answer(self) -> OAuthAnswer {
        #[derive(Serialize)]
        struct Document {
            error: &'static str,
            error_description: &'static str,
        }

        let document = Document { error: self.error, error_description: self.description };
        let mut answer = OAuthAnswer::json(self.status, &document).no_store();
        answer.error = Some(self.error);
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Basic realm=\"token\"");
            answer = answer.with(http::header::WWW_AUTHENTICATE, challenge);
        }
        match self.nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok()) {
            Some(nonce) => answer.with(DPOP_NONCE, nonce),
            None => answer,
        }
    }
}
