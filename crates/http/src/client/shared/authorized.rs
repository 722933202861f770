//! Sends requests with credentials, and once more with better ones after a refusal.
//!
//! 401 and 403 mean that the server has not processed the message, so any message may be sent again.

use std::pin::Pin;
use std::task::Poll;

use bowline_proto::client::Report;
use bowline_proto::secrets::names_a_credential;
use bowline_proto::transmit::SendFailure;
use http::StatusCode;
use http::header::HeaderMap;
use tokio::time::timeout;

use super::super::authorize::{
    Authorize, AuthorizeMessage, MOST_REPEATS, MessageOperation, RefusalVerdict,
};
use super::super::failure::RequestLine;
use super::super::reply::Reply;
use super::super::secrets;
use super::{OutgoingRequest, Shared};

/// Where the credentials of one message come from. A thin pointer to it fits into small futures.
pub(super) struct Credentials(Box<dyn AuthorizeMessage>);

impl Shared {
    /// Sends a request with credentials. After a refusal it is sent again, if that may help.
    pub(super) async fn send_authorized(
        &self,
        authorize: &dyn Authorize,
        sending: &OutgoingRequest<'_>,
        headers: &(impl Fn() -> HeaderMap + Send + Sync),
    ) -> Result<Reply, SendFailure> {
        let operation = match sending.mirror {
            Some(mirror) => MessageOperation::of(mirror, sending.message, &self.messages),
            None => MessageOperation::without_message(&sending.method),
        };
        let is_awaited = operation.may_log_in;
        let mut credentials = Credentials(authorize.message(operation));
        let mut repeats = 0;
        loop {
            let mut reply = self.attempt(sending, headers, Some(&mut credentials)).await?;
            let status = reply.status();
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(reply);
            }
            let verdict = match repeats < MOST_REPEATS {
                true => {
                    self.judge(&mut credentials, sending, (status, reply.response.headers())).await
                }
                false => RefusalVerdict::Stands(None),
            };
            let RefusalVerdict::Stands(why) = verdict else {
                repeats += 1;
                // Read, so that the connection can be used again.
                let _ = timeout(self.limits.shortest_pause, reply.whole(self.body_limits())).await;
                continue;
            };
            return match (status, why) {
                // A JSON-RPC error in the body must not count as an answer: it says nothing about the
                // era of the server.
                (StatusCode::UNAUTHORIZED, why) if is_awaited => {
                    let body = reply.whole(self.body_limits()).await.unwrap_or_default();
                    Err(reply.asked(&self.secrets).unauthorized(why.as_ref(), &body))
                }
                (StatusCode::FORBIDDEN, Some(why)) => {
                    Err(reply.asked(&self.secrets).forbidden(&why))
                }
                _ => Ok(reply),
            };
        }
    }

    /// Asks what a refusal means. Meanwhile the clock of the message stands still.
    async fn judge(
        &self,
        credentials: &mut Credentials,
        sending: &OutgoingRequest<'_>,
        (status, headers): (StatusCode, &HeaderMap),
    ) -> RefusalVerdict {
        self.hold(sending).await;
        let verdict = credentials.0.refused(status, headers).await;
        self.grant(sending).await;
        verdict
    }

    /// Adds credentials to the headers of an attempt. While they are obtained, the clock of the
    /// message stands still.
    pub(super) async fn authorized(
        &self,
        credentials: &mut Credentials,
        sending: &OutgoingRequest<'_>,
        asked: RequestLine<'_>,
        mut headers: HeaderMap,
    ) -> Result<HeaderMap, SendFailure> {
        let mut obtaining = credentials.0.headers(asked.method, asked.address.uri());
        let obtained = match poll_once(&mut obtaining).await {
            Poll::Ready(obtained) => obtained,
            Poll::Pending => {
                self.hold(sending).await;
                let obtained = obtaining.await;
                self.grant(sending).await;
                obtained
            }
        };
        let obtained = obtained.map_err(|why| asked.without_credential(&why))?;
        for (name, mut value) in
            obtained.into_iter().filter_map(|(name, value)| Some((name?, value)))
        {
            value.set_sensitive(true);
            if names_a_credential(name.as_str()) {
                self.secrets.add_tokens(secrets::in_header(&value));
            }
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Stops the clock of a request.
    async fn hold(&self, sending: &OutgoingRequest<'_>) {
        if let Some(id) = sending.mirror.and_then(|mirror| mirror.id) {
            self.deliver(Report::Held(id)).await;
        }
    }

    /// Starts the clock of a request anew.
    async fn grant(&self, sending: &OutgoingRequest<'_>) {
        if let Some(id) = sending.mirror.and_then(|mirror| mirror.id) {
            self.deliver(Report::Granted(id)).await;
        }
    }
}

/// Polls a future once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}
