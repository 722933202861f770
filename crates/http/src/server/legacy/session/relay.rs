//! Carries standalone messages to the endpoint that has the GET stream.
//!
//! In a shared session, a handler may run at one endpoint while the client's GET stream is open at
//! another. This endpoint then writes its standalone messages into the log of that stream. The
//! store wakes the endpoint that has the stream, which sends what it finds.

use std::sync::Arc;

use bowline_transport::task::spawn;

use super::super::event_id::GET_STREAM;
use super::super::standalone::StandaloneReader;
use super::HttpSession;
use super::streams::Recorded;

impl HttpSession {
    /// Starts a task, unless there is one, that writes standalone messages into the log of the GET
    /// stream while another copy has that stream. The other copy sends them from there. Called
    /// whenever the copy has read the record. The task ends when this copy may listen itself, or
    /// the session ends.
    pub(super) fn relay(self: &Arc<Self>) {
        let is_needed = {
            let mut state = self.lock();
            let is_needed = !state.may_listen() && !state.is_relaying && state.end.is_none();
            state.is_relaying |= is_needed;
            is_needed
        };
        if !is_needed {
            return;
        }
        let session = self.clone();
        spawn(async move {
            let log = session.log(GET_STREAM);
            let mut reader = StandaloneReader::relay(session.clone());
            while let Some(message) = reader.next().await {
                // If the store fails, the reader puts the message back onto the line, and the next
                // refresh of this copy starts a new relay.
                let recorded = session.append(&log, &message, false).await;
                if !matches!(recorded, Recorded::At(_)) {
                    return;
                }
                reader.recorded();
            }
        });
    }

    /// Notes that the relay has ended.
    pub(in super::super) fn stop_relaying(self: &Arc<Self>) {
        self.lock().is_relaying = false;
    }
}
