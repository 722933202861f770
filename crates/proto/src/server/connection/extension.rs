//! Notifications of extensions: passed to the service like calls, and not answered.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::meta::key;
use bowline_types::method::Method;

use super::super::exchange::Exchange;
use super::{ServerConnection, ServiceCall, State};
use crate::admission::{self, Admitted};
use crate::members::Members;
use crate::wire::legacy;

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
        let is_full = self.backlog.len() >= self.config.limits().backlog;
        if is_full || self.hold_pace(now).is_err() {
            return;
        }
        let Ok(admitted) = self.admit_notification(method, params) else { return };
        let number = self.number();
        let (_, request) = Exchange::open(number, admitted, self.origin(self.attached.clone()));
        self.calls.insert(number, ServiceCall::Notification(State::WaitingForTurn));
        self.backlog.push_back(Box::new(request));
        self.start_next();
    }

    /// Reads the facts beside the params: from `_meta`, or from the session.
    fn admit_notification(
        &self,
        method: Method,
        params: &Members,
    ) -> Result<Admitted, ErrorObject> {
        let meta = params.object("_meta").map_err(ErrorObject::misread_params)?;
        let params = params.clone();
        if meta.value(key::PROTOCOL_VERSION).is_some() {
            let spoken = self.config.revisions();
            return admission::admit_notification(method, params, spoken, &self.known_client);
        }
        let Some(session) = &self.session else {
            return Err(ErrorObject::invalid_request("there is no session"));
        };
        let envelope = legacy::read_envelope(meta, session.revision, session.client.clone())?;
        Ok(Admitted { id: RequestId::from(0), method, params, envelope })
    }
}
