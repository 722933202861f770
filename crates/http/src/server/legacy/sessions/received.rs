//! What other endpoints publish about the sessions of a store.

use std::sync::{Arc, Weak};

use bowline_proto::sync::lock;
use bowline_transport::task::spawn;
use tokio::sync::Notify;

use super::super::broadcast::{self, Broadcast};
use super::super::session::HttpSession;
use super::{Table, forget_closed};

/// Handles what another endpoint published about a session, if this endpoint has a copy. `None` if
/// messages may have been missed: then `missed` is notified, on which [`read_again`] waits.
pub(super) fn handle(table: &Weak<Table>, missed: &Notify, broadcast: Option<Broadcast>) {
    let Some(broadcast) = broadcast else { return missed.notify_one() };
    let found = table.upgrade().and_then(|table| lock(&table).get(&broadcast.session).cloned());
    let is_foreign = |session: &Arc<HttpSession>| session.core.replica != broadcast.replica;
    let Some(session) = found.filter(is_foreign) else { return };
    match &broadcast.message {
        // In place, so that messages of the client stay in order.
        Some(message) => broadcast::hand_over(message, &session),
        None if session.note_change() => {
            let table = table.clone();
            spawn(async move {
                session.read_record().await;
                forget_closed(&table, &session);
            });
        }
        // A task reads the record already, and once more then.
        None => {}
    }
}

/// Reads the records of all copies whenever messages of other endpoints may have been missed. One pass
/// at a time: if more are missed meanwhile, one more pass follows.
pub(super) async fn read_again(table: Weak<Table>, missed: Arc<Notify>) {
    loop {
        missed.notified().await;
        let Some(sessions) = table.upgrade() else { return };
        let sessions: Vec<_> = lock(&sessions).values().cloned().collect();
        // One after the other, since there may be many.
        for session in sessions.iter().filter(|session| session.is_shared()) {
            // If the store fails, the next request reads the record.
            let _ = session.refresh().await;
            session.may_have_missed_changes();
            forget_closed(&table, session);
        }
    }
}
