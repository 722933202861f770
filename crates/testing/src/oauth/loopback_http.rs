//! HTTP requests to this machine: what the user's browser sends, and what fetches documents.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use bowline_auth::form::{Form, MEDIA_TYPE};
use bowline_auth::url::Url;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, HOST, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::cookie_jar::CookieJar;

/// The most bytes of an answer.
const MOST_ANSWER: usize = 1024 * 1024;

/// Why a request within this machine failed. Its text names no query.
#[derive(Debug)]
pub struct VisitError(String);

impl VisitError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for VisitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VisitError {}

/// Fetches a URL of this machine.
pub(super) async fn get(url: &Url, jar: &mut CookieJar) -> Result<Response<Bytes>, VisitError> {
    send(request(Method::GET, url, Bytes::new()), url, jar).await
}

/// Sends a form to a URL of this machine.
pub(super) async fn post(
    url: &Url,
    form: &Form,
    jar: &mut CookieJar,
) -> Result<Response<Bytes>, VisitError> {
    let mut request = request(Method::POST, url, form.encode().expose().clone().into());
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    send(request, url, jar).await
}

async fn send(
    mut request: Request<Full<Bytes>>,
    url: &Url,
    jar: &mut CookieJar,
) -> Result<Response<Bytes>, VisitError> {
    if url.is_https() || !url.is_loopback() {
        return Err(VisitError::new(format!("{} is not `http` on this machine", url.origin())));
    }
    let failed = |error: &dyn fmt::Display| VisitError::new(format!("{}: {error}", url.origin()));
    let ip = url.ip().unwrap_or(Ipv4Addr::LOCALHOST.into());
    let stream = TcpStream::connect(SocketAddr::new(ip, url.port())).await;
    let stream = TokioIo::new(stream.map_err(|error| failed(&error))?);
    let (mut sender, connection) =
        http1::handshake(stream).await.map_err(|error| failed(&error))?;
    let connection = tokio::spawn(connection);
    if let Some(cookies) = jar.header() {
        request.headers_mut().insert(COOKIE, cookies);
    }
    let response = sender.send_request(request).await;
    let (head, body) = response.map_err(|error| failed(&error))?.into_parts();
    let body = Limited::new(body, MOST_ANSWER).collect().await;
    connection.abort();
    let answer = Response::from_parts(head, body.map_err(|error| failed(&error))?.to_bytes());
    jar.keep(&answer);
    Ok(answer)
}

fn request(method: Method, url: &Url, body: Bytes) -> Request<Full<Bytes>> {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{}{query}", url.path());
    let origin = url.origin();
    let host = origin.split("://").last().unwrap_or_default();
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.parse().expect("the path of a URL is a target");
    let host = HeaderValue::from_str(host).expect("the host of a URL is ASCII");
    request.headers_mut().insert(HOST, host);
    request
}
