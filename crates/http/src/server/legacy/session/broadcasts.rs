//! What one copy of a shared session does when another has changed the record, and how much it passes
//! on to the others.

use std::sync::Arc;

use bowline_types::error::ErrorObject;

use super::super::super::clock::now;
use super::super::broadcast_pace;
use super::HttpSession;
use super::copy::Reading;

impl HttpSession {
    /// Notes that another copy has changed the record. Returns whether the caller has to read it, with
    /// [`read_record`](Self::read_record): only one task of a session reads it at a time, however many
    /// changes are announced.
    pub(in super::super) fn note_change(&self) -> bool {
        let mut state = self.lock();
        let Some(copy) = &mut state.copy else { return false };
        let is_idle = copy.reading == Reading::Idle;
        copy.reading = if is_idle { Reading::UnderWay } else { Reading::AndOnceMore };
        is_idle
    }

    /// Reads the record until no more change was noted meanwhile.
    pub(in super::super) async fn read_record(self: &Arc<Self>) {
        loop {
            // If the store fails, the next request reads the record.
            let _ = self.refresh().await;
            let mut state = self.lock();
            let Some(copy) = &mut state.copy else { return };
            copy.reading = match copy.reading {
                Reading::AndOnceMore => Reading::UnderWay,
                Reading::Idle | Reading::UnderWay => Reading::Idle,
            };
            if copy.reading == Reading::Idle {
                return;
            }
        }
    }

    /// Counts a message of so many bytes that is to be passed on to the other copies.
    ///
    /// # Errors
    ///
    /// If it comes too soon after the others.
    pub(in super::super) fn hold_broadcast_pace(&self, bytes: usize) -> Result<(), ErrorObject> {
        match &mut self.lock().copy {
            Some(copy) => broadcast_pace::hold(&mut copy.passed_on, bytes, now()),
            None => Ok(()),
        }
    }
}
