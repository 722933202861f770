//! Messages from the client: admitted, or refused with an error.
//!
//! The checks are those of [`admission`](crate::admission), in its order. A request that is refused
//! is answered at once and leaves no trace; a request that is admitted has an exchange. Answers to
//! requests that belong to no exchange have the route [`Route::Standalone`].

use std::time::Instant;

use bowline_types::cancel::CancelledParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::super::batch::BatchId;
use super::super::exchange::{Attached, Exchange};
use super::super::legacy::LegacySession;
use super::{ServerConnection, ServerEvent, ServiceCall, State};
use crate::admission::{self, Admitted};
use crate::classify::{Claim, SessionStep, classify, session_step};
use crate::codec::skipped::Skipped;
use crate::frame::{
    Malformed, MalformedKind, Message, MethodName, NotificationMessage, RequestMessage,
};
use crate::members::Members;
use crate::pace::Pace;
use crate::request::{Access, EveryResource, ExchangeId, Handshake, Success};
use crate::splice;
use crate::splice::NoId;
use crate::transmit::Route;
use crate::wire::legacy;

impl ServerConnection {
    /// Handles one message by its kind.
    pub(super) fn message(&mut self, message: Message, batch: Option<BatchId>, now: Instant) {
        match message {
            Message::Request(request) => self.request(request, None, batch, now),
            Message::Notification(notification) => self.notification(&notification, now),
            Message::Response(response) => {
                let answered = self.session.as_mut().and_then(|session| session.answered(response));
                if let Some(number) = answered {
                    self.question_closed(number);
                }
            }
        }
    }

    /// Handles an array of messages, which only 2025-03-26 has. Each item is handled as if it had
    /// come alone, except that the answers are collected.
    pub(super) fn batch(&mut self, items: Vec<Result<Message, Malformed>>, now: Instant) {
        if let Err(error) = admission::check_batch(self.revision()) {
            return self.refuse(Malformed { error, kind: MalformedKind::Request(None) }, None);
        }
        let batch = self.batches.open();
        // Keeps the batch open until all its messages are handled.
        self.batches.await_one(batch);
        for item in items {
            match item {
                Ok(message) => self.message(message, Some(batch), now),
                Err(malformed) => self.refuse(malformed, Some(batch)),
            }
        }
        self.answer(Route::Standalone, Some(batch), None);
    }

    /// Takes a request: admits it and starts what it asks for, or answers with the error. `claim`
    /// is the era of the request, if the driver has decided it already.
    pub(super) fn request(
        &mut self,
        request: RequestMessage,
        claim: Option<Claim>,
        batch: Option<BatchId>,
        now: Instant,
    ) {
        if let Some(batch) = batch {
            self.batches.await_one(batch);
        }
        let id = request.id.clone();
        let admitted = self.hold_pace(now).and_then(|()| self.admit(request, claim, batch));
        if let Err(error) = admitted {
            self.answer(Route::Standalone, batch, Some(splice::error(Ok(&id), &error)));
        }
    }

    /// Refuses a request that exceeds the rate limit.
    pub(super) fn hold_pace(&mut self, now: Instant) -> Result<(), ErrorObject> {
        match &mut self.pace {
            Some(pace) => admission::hold_pace(pace, 1, self.config.limits(), now),
            None => Ok(()),
        }
    }

    /// Admits a request of either era, and starts what it asks for.
    ///
    /// On a channel without headers the request is classified here; over HTTP the driver has done
    /// it.
    ///
    /// # Errors
    ///
    /// The error that answers the request.
    fn admit(
        &mut self,
        request: RequestMessage,
        claim: Option<Claim>,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        let claim = match claim {
            Some(claim) => claim,
            None => classify(&request, None, self.config.revisions())?,
        };
        match claim {
            Claim::Modern(claim) => {
                let admitted = admission::admit_modern(request, claim, &self.known_client)?;
                self.open(admitted, batch)
            }
            Claim::Legacy(meta) => self.admit_legacy(request, meta, batch),
        }
    }

    /// Admits a legacy request by the state of the session.
    fn admit_legacy(
        &mut self,
        request: RequestMessage,
        meta: Members,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        match session_step(&request, &meta, self.revision(), self.config.revisions())? {
            SessionStep::Call(revision) => self.admit_call(request, meta, revision, batch),
            // Never in a batch: batches are read only in a session, so after the handshake.
            SessionStep::Handshake => self.handshake(&request),
            SessionStep::EarlyPing => {
                self.reply(&request.id, batch, Ok(Success::empty()));
                Ok(())
            }
        }
    }

    /// Admits a request of an open session. Methods that concern only the session are answered
    /// here.
    fn admit_call(
        &mut self,
        request: RequestMessage,
        meta: Members,
        revision: Revision,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        let method = admission::method_of(&request.method, revision)?;
        let Some(session) = &mut self.session else { return Ok(()) };
        if let Some(response) = session.serve(method, &request.params) {
            let is_left = method == Method::ResourcesUnsubscribe && response.is_ok();
            self.reply(&request.id, batch, response);
            if is_left {
                self.pass_unsubscribe(request.params);
            }
            return Ok(());
        }
        let envelope = legacy::read_envelope(meta, revision, session.client.clone())?;
        let admitted = Admitted { id: request.id, method, params: request.params, envelope };
        self.open(admitted, batch)
    }

    /// Opens a session, and asks the service to describe itself. The answer follows in
    /// `answer_handshake`. The session is set before the service has answered, so a second
    /// `initialize` is refused meanwhile.
    fn handshake(&mut self, request: &RequestMessage) -> Result<(), ErrorObject> {
        let session = LegacySession::open(&request.params, &self.config)?;
        let discover = own_call(&session, request.id.clone(), Method::ServerDiscover)?;
        self.session = Some(session);
        let number = self.number();
        self.calls.insert(number, ServiceCall::Handshake(request.id.clone()));
        let mut attached = std::mem::take(&mut self.attached);
        attached.extensions.insert(Handshake);
        let (_, request) = Exchange::open(number, discover, self.origin(attached));
        self.events.push_back(ServerEvent::Call(Box::new(request)));
        Ok(())
    }

    /// Handles a notification. Unknown ones are ignored. A notification is never answered, not even
    /// a malformed one (RPC-16, CANC-13).
    pub(super) fn notification(&mut self, notification: &NotificationMessage, now: Instant) {
        if let Some(method) = notification.extension_method() {
            return self.extension_notification(method, &notification.params, now);
        }
        let MethodName::Known(method) = notification.method else { return };
        match method {
            Method::Cancelled => {
                if let Ok(CancelledParams { request_id: Some(id), .. }) =
                    notification.params.parse_all()
                {
                    self.cancel(&id);
                }
            }
            Method::Initialized => self.initialized(),
            Method::RootsListChanged => self.roots_changed(),
            _ => {}
        }
    }

    /// Cancels the call with this id. Does nothing if several calls have it, because the client
    /// could mean any of them.
    ///
    /// An id that names no open call is ignored: the cancellation may have crossed the answer
    /// (CANC-8, CANC-10). `initialize` cannot be cancelled (CANC-2).
    pub(super) fn cancel(&mut self, id: &RequestId) {
        let named = |call: &ServiceCall| match call {
            ServiceCall::OfClient { exchange, .. } => exchange.id() == id,
            _ => false,
        };
        let number = {
            let mut named = self.calls.iter().filter(|(_, call)| named(call));
            let (Some((number, _)), None) = (named.next(), named.next()) else { return };
            number
        };
        if let Some(ServiceCall::OfClient { batch, state, .. }) = self.calls.remove(number) {
            if state != State::WaitingForTurn {
                self.events.push_back(ServerEvent::Cancelled(number));
            }
            self.call_ended(number, state);
            self.task_news.retain(|(call, _)| *call != number);
            self.answer(Route::Exchange(number), batch, None);
        }
    }

    /// The session is open: subscribes to changes on its behalf.
    ///
    /// The subscription asks for everything; [`LegacySession::wants`] decides for each change what
    /// the session gets. A second `notifications/initialized` changes nothing.
    pub(super) fn initialized(&mut self) {
        let Some(session) = &mut self.session else { return };
        session.is_initialized = true;
        let standing =
            self.calls.iter().any(|(_, call)| matches!(call, ServiceCall::Standalone { .. }));
        if standing {
            return;
        }
        let filter = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}"#;
        let Ok(params) = Members::cut(Bytes::from_static(filter.as_bytes())) else { return };
        let Ok(listen) = own_call(session, RequestId::from(0), Method::SubscriptionsListen) else {
            return;
        };
        let listen = Admitted { params, ..listen };
        let number = self.number();
        // The scopes for a resource were checked when the session subscribed to it.
        let mut attached = Attached { access: Access::everything(), ..Attached::default() };
        attached.extensions.insert(EveryResource);
        let (_, request) = Exchange::open(number, listen, self.origin(attached));
        let logs = Pace::per_minute(self.config.limits().logs_per_minute);
        self.calls.insert(number, ServiceCall::Standalone { logs });
        self.events.push_back(ServerEvent::Call(Box::new(request)));
    }

    /// The roots of the client changed: passes that to the service, unless it still handles an
    /// earlier change. So a flood of changes reaches the service at most twice.
    pub(super) fn roots_changed(&mut self) {
        let is_handled = self.calls.iter().any(|(_, call)| matches!(call, ServiceCall::Notice));
        let Some(session) = &mut self.session else { return };
        if !session.client.capabilities.supports_roots() {
            return;
        }
        session.roots_changed_again = is_handled;
        if is_handled {
            return;
        }
        let Ok(notice) = own_call(session, RequestId::from(0), Method::RootsListChanged) else {
            return;
        };
        let number = self.number();
        let attached = self.attached_by_channel();
        let (_, request) = Exchange::open(number, notice, self.origin(attached));
        self.calls.insert(number, ServiceCall::Notice);
        self.events.push_back(ServerEvent::Call(Box::new(request)));
    }

    /// The session does not follow a resource any more: passes that to the service, which may follow
    /// the resource elsewhere on behalf of the session. Its answer is not awaited. If too many calls
    /// wait, the unsubscribe is not forwarded, and the service reports changes that the session does
    /// not get.
    fn pass_unsubscribe(&mut self, params: Members) {
        let Some(session) = &self.session else { return };
        let call = own_call(session, RequestId::from(0), Method::ResourcesUnsubscribe);
        let (Ok(call), true) = (call, self.backlog.len() < self.config.limits().backlog) else {
            return;
        };
        let number = self.number();
        let attached = self.attached_by_channel();
        let (_, request) =
            Exchange::open(number, Admitted { params, ..call }, self.origin(attached));
        self.calls.insert(number, ServiceCall::Notification(State::WaitingForTurn));
        self.backlog.push_back(Box::new(request));
        self.start_next();
    }

    /// The service has handled a change of the roots. If another came meanwhile, it is passed on
    /// now.
    pub(super) fn noticed(&mut self, number: ExchangeId) {
        self.call_ended(number, State::Listening);
        if self.session.as_ref().is_some_and(|session| session.roots_changed_again) {
            self.roots_changed();
        }
    }

    /// Answers a message beyond the size limit. The rest of the message was skipped, so the channel
    /// can go on.
    pub(super) fn refuse_too_long(&mut self, skipped: &Skipped) {
        let error = ErrorObject::invalid_request(format!("the message is {}", skipped.why));
        self.refuse(Malformed { error, kind: MalformedKind::Request(skipped.id()) }, None);
    }

    /// Answers a malformed message, unless it was a notification or a response.
    pub(super) fn refuse(&mut self, malformed: Malformed, batch: Option<BatchId>) {
        let MalformedKind::Request(id) = malformed.kind else { return };
        let without = match &self.session {
            Some(session) if !session.revision.has_errors_without_id() => NoId::Null,
            _ => NoId::Absent,
        };
        if let Some(batch) = batch {
            self.batches.await_one(batch);
        }
        let frame = splice::error(id.as_ref().ok_or(without), &malformed.error);
        self.answer(Route::Standalone, batch, Some(frame));
    }
}

/// A call that the connection itself makes to the service on behalf of a session. It has the
/// revision and the client of the session, and no params.
fn own_call(
    session: &LegacySession,
    id: RequestId,
    method: Method,
) -> Result<Admitted, ErrorObject> {
    let client = session.client.clone();
    let envelope = legacy::read_envelope(Members::default(), session.revision, client)?;
    Ok(Admitted { id, method, params: Members::default(), envelope })
}
