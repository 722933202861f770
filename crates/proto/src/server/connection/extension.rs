//! Notifications of extensions: passed to the service like calls, and not answered.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::meta::key;
use bowline_types::method::{MessageKind, Method};

use super::super::exchange::Exchange;
use super::{ServerConnection, ServiceCall, State};
use crate::admission::Admitted;
use crate::classify::{ModernClaim, modern_revision};
use crate::members::Members;
use crate::wire::{Envelope, legacy, modern};

impl ServerConnection {
    /// Passes a notification of an extension to the service.
    ///
    /// It counts against the rate of requests and waits for its turn like a call. One that comes too
    /// fast or while too many calls wait is dropped, since there is no answer that could refuse it.
    /// Whether the client declared the extension is checked by the service.
    pub(super) fn extension_notification(
        &mut self,
        method: Method,
        params: &Members,
        now: Instant,
    ) {
        let is_request = method.row().kind == MessageKind::Request;
        let is_full = self.backlog.len() >= self.config.limits().backlog;
        if is_request || is_full || self.hold_pace(now).is_err() {
            return;
        }
        let Ok(envelope) = self.envelope_of_notification(method, params) else { return };
        let id = RequestId::from(0);
        let admitted = Admitted { id, method, params: params.clone(), envelope };
        let number = self.number();
        let (_, request) = Exchange::open(number, admitted, self.origin(self.attached.clone()));
        self.calls.insert(number, ServiceCall::Notification(State::WaitingForTurn));
        self.backlog.push_back(Box::new(request));
        self.start_next();
    }

    /// The facts beside the params: from `_meta`, or from the session.
    fn envelope_of_notification(
        &self,
        method: Method,
        params: &Members,
    ) -> Result<Envelope, ErrorObject> {
        let meta = params.object("_meta").map_err(ErrorObject::misread_params)?;
        if meta.value(key::PROTOCOL_VERSION).is_some() {
            let revision = modern_revision(&meta, self.config.revisions())?;
            let claim = ModernClaim { revision, meta };
            return modern::read_envelope(method, params, claim, &self.known_client);
        }
        match &self.session {
            Some(session) => legacy::read_envelope(meta, session.revision, session.client.clone()),
            None => Err(ErrorObject::invalid_request("there is no session")),
        }
    }
}
