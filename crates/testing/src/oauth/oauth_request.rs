//! A request to an endpoint, read whole.

use bowline_auth::form::{Form, MEDIA_TYPE};
use bowline_types::json::RawJson;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;

use super::oauth_answer::Refusal;

/// The most bytes of a body.
const MOST_BODY: usize = 256 * 1024;

/// A request: its query and its form are one set of parameters, because no endpoint takes both.
pub(super) struct OAuthRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) parameters: Form,
    /// The body, if it is JSON.
    pub(super) json: Option<RawJson>,
}

impl OAuthRequest {
    /// Reads a request. `None` if its body breaks off or is too long, or its form is malformed.
    pub(super) async fn read(request: Request<Incoming>) -> Option<Self> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, MOST_BODY).collect().await.ok()?.to_bytes();
        let media_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let query = head.uri.query().unwrap_or_default();
        let parameters = match head.method == Method::POST {
            true if media_type.eq_ignore_ascii_case(MEDIA_TYPE) => text(&body)?,
            true => "",
            false => query,
        };
        Some(Self {
            path: head.uri.path().to_owned(),
            parameters: Form::parse(parameters).ok()?,
            json: RawJson::from_text(text(&body)?).ok(),
            method: head.method,
            headers: head.headers,
        })
    }

    /// A parameter. One that is empty counts as absent.
    pub(super) fn value(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let twice = |_| Refusal::invalid_request("a parameter stands in the request twice");
        let value = self.parameters.value(name).map_err(twice)?;
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// A parameter that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, Refusal> {
        let missing = || Refusal::invalid_request("a required parameter is missing");
        self.value(name)?.ok_or_else(missing)
    }
}

fn text(body: &Bytes) -> Option<&str> {
    std::str::from_utf8(body).ok()
}
