//! What a request has set in a shared session, until the store has it.
//!
//! If the store refuses it, or the client hangs up before, the client takes it for not set, and may set
//! something else at another endpoint. So this copy takes it back, and does not write it with a later
//! request.

use std::sync::Arc;

use bowline_store::backend::Error;
use bytes::Bytes;

use super::super::stream_mark::requests_of;
use super::HttpSession;

/// Takes back what a message has set, unless it was saved.
struct Unsaved<'a> {
    session: &'a Arc<HttpSession>,
    /// The message as it came. `None` once its changes are saved.
    text: Option<&'a Bytes>,
}

impl HttpSession {
    /// [Saves](Self::save) what a message of the client has set, or takes it back.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn save_what(self: &Arc<Self>, text: &Bytes) -> Result<(), Error> {
        let mut unsaved = Unsaved { session: self, text: Some(text) };
        self.save().await?;
        unsaved.text = None;
        Ok(())
    }

    /// Takes back what a message has set, because its client gets an error.
    pub(in super::super) fn take_back(self: &Arc<Self>, text: &Bytes) {
        let detached = {
            let mut locked = self.lock();
            let state = &mut *locked;
            let Some(copy) = &mut state.copy else { return };
            let Some(mut session) = state.connection.snapshot() else { return };
            for request in requests_of(text, self.core.server.limits()) {
                session.take_back(&request, &copy.record.session);
            }
            copy.taken_back += 1;
            state.connection.adopt(session);
            state.deliver(None)
        };
        self.start(detached);
    }
}

impl Drop for Unsaved<'_> {
    fn drop(&mut self) {
        if let Some(text) = self.text {
            self.session.take_back(text);
        }
    }
}
