//! Authorization of requests: where the credentials of each attempt come from, and what a refusal of
//! the server means.
//!
//! The transport asks before every attempt, so a credential that was renewed meanwhile is used at
//! once, and one that proves possession of a key can be made for the very request. After 401 or 403
//! it asks whether to send the message again. Meanwhile the clock of the message stands still
//! ([`Report::Held`](bowline_proto::client::Report::Held)), because a user may have to log in.

use std::borrow::Cow;
use std::future::ready;

use bowline_proto::frame::{Frame, Message};
use bowline_proto::limits::Limits;
use bowline_proto::mirror::Mirror;
use bowline_types::method::Method as McpMethod;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::HeaderMap;
use http::{Method, StatusCode, Uri};

use super::fetch::BoxError;

/// How often a message is sent again after a refusal: with a nonce, with a renewed credential, after
/// a login, and with more scopes. An [`AuthorizeMessage`] that never gives up does not send more.
pub(super) const MOST_REPEATS: usize = 4;

/// Authorizes the requests to one server.
pub trait Authorize: Send + Sync + 'static {
    /// Begins to authorize one message, which may be sent several times.
    fn message(&self, operation: MessageOperation) -> Box<dyn AuthorizeMessage>;

    /// Ends the login: revokes its credentials and forgets them. Does nothing if there is no login
    /// to end.
    ///
    /// # Errors
    ///
    /// If a credential cannot be forgotten.
    fn log_out(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(ready(Ok(())))
    }
}

/// Authorizes one message.
pub trait AuthorizeMessage: Send {
    /// The headers that authorize the next attempt, such as `Authorization`. They replace headers of
    /// the same names.
    ///
    /// # Errors
    ///
    /// If there should be a credential and it cannot be obtained. The message then fails unsent.
    fn headers<'a>(
        &'a mut self,
        method: &'a Method,
        url: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, BoxError>>;

    /// Decides after an answer with status 401 or 403 whether to send the message again. May wait for
    /// a user, if the operation allows it.
    fn refused<'a>(
        &'a mut self,
        status: StatusCode,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, RefusalVerdict>;
}

/// What a message does, as far as its authorization may depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageOperation {
    /// The method and, of a tool, prompt or resource, its name: `tools/call purge`.
    pub name: String,
    /// Whether a user may be asked to log in. Only requests that a caller waits for may do that: no
    /// notification, no ping, no DELETE, and no GET for a stream.
    pub may_log_in: bool,
}

impl MessageOperation {
    /// The operation of a message.
    pub(super) fn of(mirror: &Mirror, message: &Bytes, limits: &Limits) -> Self {
        let name = match mirror.method {
            None => "answer".to_owned(),
            Some(method) => match mirror.name.clone().or_else(|| target(message, limits)) {
                None => method.name().to_owned(),
                Some(name) => format!("{} {name}", method.name()),
            },
        };
        let is_awaited = mirror.id.is_some() && mirror.method != Some(McpMethod::Ping);
        Self { name, may_log_in: is_awaited }
    }

    /// The operation of a request without a message: GET or DELETE.
    pub(super) fn without_message(method: &Method) -> Self {
        Self { name: method.to_string(), may_log_in: false }
    }
}

/// The tool, prompt or resource that a message is about. Only on 2026-07-28 the mirror has it.
fn target(message: &Bytes, limits: &Limits) -> Option<String> {
    let Ok(Frame::Message(Message::Request(request))) = Frame::parse(message, limits) else {
        return None;
    };
    let member = |key| request.params.string(key).ok().flatten().map(Cow::into_owned);
    member("name").or_else(|| member("uri"))
}

/// What to do after a refusal.
#[derive(Debug)]
pub enum RefusalVerdict {
    /// Send the message again.
    SendAgain,
    /// The refusal stands. If there is a reason, it says why no better credential could be obtained.
    Stands(Option<BoxError>),
}
