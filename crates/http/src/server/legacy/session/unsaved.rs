//! What a request has set in a shared session, until the store has it.
//!
//! If the store refuses it, or the client hangs up before, the client takes it for not set, and may set
//! something else at another endpoint. So this copy takes it back, and does not write it with a later
//! request.

use std::sync::Arc;

use bowline_store::backend::Error;

use super::super::posted::Posted;
use super::HttpSession;

/// Takes back what a message has set, unless it was saved.
struct Unsaved<'a> {
    session: &'a Arc<HttpSession>,
    /// `None` once its changes are saved.
    posted: Option<&'a Posted>,
}

impl HttpSession {
    /// [Saves](Self::save) what a message of the client has set, or takes it back.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn save_changes(
        self: &Arc<Self>,
        posted: &Posted,
    ) -> Result<(), Error> {
        let mut unsaved = Unsaved { session: self, posted: Some(posted) };
        self.save().await?;
        unsaved.posted = None;
        Ok(())
    }

    /// Takes back what a message has set, because its client gets an error.
    pub(in super::super) fn take_back(self: &Arc<Self>, posted: &Posted) {
        let detached = {
            let mut locked = self.lock();
            let state = &mut *locked;
            let Some(copy) = &mut state.copy else { return };
            let Some(mut session) = state.connection.snapshot() else { return };
            for change in posted.changes() {
                session.take_back(change, &copy.record.session);
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
        if let Some(posted) = self.posted {
            self.session.take_back(posted);
        }
    }
}
