//! The head of a response: its status, redirects and `Retry-After`.

use std::time::Duration;

use bowline_proto::secrets::Secrets;
use bowline_proto::transmit::SendFailure;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Method, Response, StatusCode};
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::events::{self, BodyLimits, Ended, EventStream};
use super::failure::RequestLine;
use super::fetch::Incoming;
use super::limits::HttpClientLimits;

/// A response whose body has not been read. `address` is where the answer came from in the end,
/// after redirects. Dropping it unread closes an HTTP/1.1 connection.
pub(super) struct Reply {
    pub(super) method: Method,
    pub(super) address: Address,
    pub(super) response: Response<Incoming>,
}

impl Reply {
    pub(super) fn asked<'a>(&'a self, secrets: &'a Secrets) -> RequestLine<'a> {
        RequestLine { method: &self.method, address: &self.address, secrets }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Whether it is a success with an event stream as its body. Anything else is read whole and
    /// taken for JSON.
    pub(super) fn is_stream(&self) -> bool {
        let kind = self.response.headers().get(header::CONTENT_TYPE);
        let kind = kind.map(HeaderValue::as_bytes).unwrap_or_default();
        let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        self.status().is_success() && kind.eq_ignore_ascii_case(b"text/event-stream")
    }

    /// The body as an event stream.
    pub(super) fn into_events(self, limits: BodyLimits<'_>) -> EventStream {
        EventStream::new(self.response.into_body(), limits)
    }

    /// Reads the whole body.
    pub(super) async fn whole(&mut self, limits: BodyLimits<'_>) -> Result<Bytes, Ended> {
        let BodyLimits { frame, long_messages, http } = limits;
        events::whole(self.response.body_mut(), frame, http.idle, long_messages).await
    }

    /// The failure of a request that the server refused.
    pub(super) async fn into_refusal(
        mut self,
        limits: BodyLimits<'_>,
        secrets: &Secrets,
    ) -> SendFailure {
        let body = self.whole(limits).await.unwrap_or_default();
        self.asked(secrets).refused(self.status(), &body)
    }

    /// The `Retry-After`, if it is a number of seconds.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let value = self.response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
        value.trim().parse().ok().map(Duration::from_secs)
    }

    /// Reads the rest of the body, so that the connection can be reused, and waits for the pause.
    /// The pause begins when the head has come; reading counts as part of it.
    pub(super) async fn wait(mut self, pause: Duration, limits: BodyLimits<'_>) {
        let pause = sleep(pause);
        let _ = timeout(limits.http.shortest_pause, self.whole(limits)).await;
        drop(self);
        pause.await;
    }
}

/// The pauses that a busy server asked for with one message.
///
/// A server that answers 429 or 503 with `Retry-After` has not processed the message.
#[derive(Default)]
pub(super) struct BusyPauses {
    /// Pauses so far.
    count: usize,
    /// Their sum.
    total: Duration,
}

impl BusyPauses {
    /// The pause before the message is sent again; `None` if it is not. All pauses together take at
    /// most `most`.
    pub(super) fn next(
        &mut self,
        reply: &Reply,
        limits: &HttpClientLimits,
        most: Duration,
    ) -> Option<Duration> {
        const BUSY: [StatusCode; 2] =
            [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        if !BUSY.contains(&reply.status()) || self.count == limits.busy_repeats {
            return None;
        }
        let pause = reply.retry_after()?.max(limits.shortest_pause);
        self.count += 1;
        self.total = self.total.saturating_add(pause);
        (self.total <= most).then_some(pause)
    }
}

/// The target of a redirect, if it may be followed: 307 or 308 within the origin.
///
/// 301, 302 and 303 are not followed, because HTTP clients turn the POST into a GET there.
///
/// # Errors
///
/// If the redirect may not be followed. The failure says where it leads, so that the user can
/// connect there.
pub(super) fn redirected(
    asked: RequestLine<'_>,
    response: &Response<Incoming>,
) -> Result<Address, SendFailure> {
    let status = response.status();
    let location = response.headers().get(header::LOCATION);
    let location = location.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let target = asked
        .address
        .join(location)
        .map_err(|error| asked.not_followed(status, location, &error.to_string()))?;
    let shown = target.to_string();
    if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
        return Err(asked.not_followed(status, &shown, "only 307 and 308 keep the message"));
    }
    if !asked.address.is_same_origin(&target) {
        let why = "it is another origin; connect there if you trust it";
        return Err(asked.not_followed(status, &shown, why));
    }
    Ok(target)
}
