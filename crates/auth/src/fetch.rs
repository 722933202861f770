//! One HTTP request as a value, and the trait that sends it.
//!
//! This crate says what to request; a [`Fetcher`] of a crate above does it, and guards it: which
//! addresses it may reach, how many redirects it follows, how long an answer may be.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
pub use futures_core::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use crate::error::{Error, Kind};
use crate::form::{self, Form};
use crate::secret::Secret;
use crate::url::Url;

/// The most bytes of an answer.
pub const MOST_ANSWER: usize = 1024 * 1024;
/// The longest time from the request to the end of its answer.
pub const LONGEST_FETCH: Duration = Duration::from_secs(10);
/// The most redirects of a GET. A POST follows none, because its body holds secrets.
pub const MOST_REDIRECTS: usize = 3;

/// Sends the HTTP requests of this crate.
///
/// An implementation accepts `https` URLs, and `http` only for this machine. It follows redirects of
/// GET requests within one origin, up to [`FetchLimits::redirects`], and sends no cookies.
pub trait Fetcher: Send + Sync + 'static {
    /// Sends a request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    ///
    /// If there is no answer, it exceeds a limit, or the request is not permitted. See
    /// [`Error::fetch`].
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>>;
}

/// A request to an authorization server, or for a document.
pub struct FetchRequest {
    /// GET or POST.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// The headers, credentials included. The values of credentials are marked as sensitive.
    pub headers: HeaderMap,
    /// The body of a POST; empty for a GET.
    pub body: Secret<Vec<u8>>,
    /// What the answer may cost.
    pub limits: FetchLimits,
}

/// What the answer to a request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchLimits {
    /// The most bytes of its body.
    pub answer: usize,
    /// The longest time until its end.
    pub time: Duration,
    /// The most redirects, all within the origin of the URL.
    pub redirects: usize,
}

impl FetchRequest {
    /// Requests a JSON document.
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url, Secret::new(Vec::new()))
    }

    /// Sends a form, and expects JSON.
    pub fn post(url: Url, form: &Form) -> Self {
        let body = Secret::new(form.encode().expose().clone().into_bytes());
        let mut request = Self::new(Method::POST, url, body);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(form::MEDIA_TYPE));
        request
    }

    fn new(method: Method, url: Url, body: Secret<Vec<u8>>) -> Self {
        let redirects = if method == Method::GET { MOST_REDIRECTS } else { 0 };
        let limits = FetchLimits { answer: MOST_ANSWER, time: LONGEST_FETCH, redirects };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        Self { method, url, headers, body, limits }
    }

    /// Sets a header whose value must not be logged.
    ///
    /// # Errors
    ///
    /// If the value cannot be the value of a header.
    pub fn with_credential(
        mut self,
        name: HeaderName,
        value: &Secret<String>,
    ) -> Result<Self, Error> {
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| Error::new(Kind::Fetch, "a credential cannot be the value of a header"))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }
}

impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.method, self.url)
    }
}

/// The answer to a request.
#[derive(Clone)]
pub struct Fetched {
    /// Its status.
    pub status: StatusCode,
    /// Its headers. `Content-Type`, `Cache-Control`, `DPoP-Nonce` and `WWW-Authenticate` are read.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Fetched {
    /// The body of a successful answer in JSON, as text.
    ///
    /// # Errors
    ///
    /// If the status is not 200, the media type is not JSON, or the body is not UTF-8.
    pub fn json(&self) -> Result<&str, Error> {
        if self.status != StatusCode::OK {
            return Err(Error::new(
                Kind::Fetch,
                format!("the answer has the status {}", self.status),
            ));
        }
        if !self.is_json() {
            return Err(Error::new(Kind::Fetch, "the answer is not JSON by its `Content-Type`"));
        }
        std::str::from_utf8(&self.body)
            .map_err(|_| Error::new(Kind::Fetch, "the answer is not UTF-8"))
    }

    /// Whether the media type is one of JSON.
    pub fn is_json(&self) -> bool {
        let value = self.header(&CONTENT_TYPE).unwrap_or_default();
        let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        media_type == "application/json"
            || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    }

    /// How long the answer may be kept, according to `Cache-Control`.
    pub fn max_age(&self) -> Option<Duration> {
        let values = self.headers.get_all(http::header::CACHE_CONTROL).iter();
        let text: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        let joined = text.join(",").to_ascii_lowercase();
        let mut directives = joined.split(',').map(str::trim);
        if directives.clone().any(|directive| directive == "no-store" || directive == "no-cache") {
            return Some(Duration::ZERO);
        }
        let seconds = directives.find_map(|directive| directive.strip_prefix("max-age="))?;
        seconds.trim_matches('"').parse().ok().map(Duration::from_secs)
    }

    /// The first value of a header, if it is text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl fmt::Debug for Fetched {
    /// Without the body, which may hold tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fetched({}, {} bytes)", self.status, self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(status: StatusCode, headers: &[(HeaderName, &str)], body: &'static [u8]) -> Fetched {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        Fetched { status, headers: headers.collect(), body: Bytes::from_static(body) }
    }

    #[test]
    fn only_a_successful_answer_in_json_is_read() {
        for (status, media_type, body, is_read) in [
            (StatusCode::OK, "application/json", b"{}", true),
            (StatusCode::OK, "Application/JSON; charset=utf-8", b"{}", true),
            (StatusCode::OK, "application/jwk-set+json", b"{}", true),
            (StatusCode::CREATED, "application/json", b"{}", false),
            (StatusCode::OK, "text/html", b"{}", false),
            (StatusCode::OK, "text/x+json", b"{}", false),
            (StatusCode::OK, "application/jsonx", b"{}", false),
            (StatusCode::OK, "application/json", b"\xff\xff", false),
        ] {
            let answer = fetched(status, &[(CONTENT_TYPE, media_type)], body);
            assert_eq!(answer.json().is_ok(), is_read, "{status} {media_type}");
        }
    }

    #[test]
    fn the_age_of_an_answer_is_read() {
        for (value, seconds) in [
            ("public, max-age=60", Some(60)),
            ("MAX-AGE=7", Some(7)),
            ("max-age=60, no-store", Some(0)),
            ("no-cache, max-age=60", Some(0)),
            ("max-age=-1", None),
            ("max-age=99999999999999999999", None),
            ("private", None),
        ] {
            let answer = fetched(StatusCode::OK, &[(http::header::CACHE_CONTROL, value)], b"");
            assert_eq!(answer.max_age(), seconds.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn debug_shows_no_query_no_credential_and_no_body() {
        let url = Url::parse("https://a.example/token?canary").unwrap();
        let request = FetchRequest::post(url, &Form::new().with("code", "canary"));
        let name = http::header::AUTHORIZATION;
        let request = request.with_credential(name, &Secret::from("Basic canary")).unwrap();
        assert_eq!(format!("{request:?}"), "POST Url(https://a.example/token?…)");
        assert!(!format!("{:?}", request.headers).contains("canary"));
        assert_eq!(request.body.expose(), b"code=canary");
        assert_eq!(request.headers["accept"], "application/json");
        assert_eq!(
            format!("{:?}", fetched(StatusCode::OK, &[], b"canary")),
            "Fetched(200 OK, 6 bytes)"
        );
    }

    #[test]
    fn a_post_follows_no_redirect() {
        let url = Url::parse("https://a.example/").unwrap();
        assert_eq!(FetchRequest::get(url.clone()).limits.redirects, MOST_REDIRECTS);
        assert_eq!(FetchRequest::post(url, &Form::new()).limits.redirects, 0);
    }
}
