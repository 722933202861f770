//! What an endpoint does for its sessions once a second.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_transport::task::spawn;

use super::super::super::clock::now;
use super::super::super::limits::SWEEP;
use super::super::session::HttpSession;
use super::{Table, forget, forget_closed};

/// How long the copy of a shared session may be idle. The next request makes a new one from the
/// record, so a copy that is not in use only takes memory.
const COPY_IDLE: Duration = Duration::from_secs(30);

/// Once a second: fails questions that were not answered in time, renews what the store has of shared
/// sessions that are in use, closes idle sessions and copies.
pub(super) async fn sweep(table: Weak<Table>, idle: Duration, opening: Duration) {
    let mut interval = tokio::time::interval(SWEEP);
    loop {
        interval.tick().await;
        let Some(table) = table.upgrade() else { return };
        let sessions: Vec<_> = lock(&table).values().cloned().collect();
        let now = now();
        for session in sessions {
            session.handle_timeout(now);
            if session.is_in_use() {
                lock(&table).touch(&session.id, now);
            }
            if session.is_shared() {
                if session.is_upkeep_due(now) {
                    keep_up(&table, session);
                } else if session.is_idle(now, idle.min(COPY_IDLE), opening.min(COPY_IDLE)) {
                    forget(&table, &session);
                    session.close_here();
                }
            } else if session.is_idle(now, idle, opening) {
                lock(&table).remove(&session.id);
                session.close();
            }
        }
    }
}

/// Renews what the store has of a shared session.
fn keep_up(table: &Arc<Table>, session: Arc<HttpSession>) {
    let table = Arc::downgrade(table);
    spawn(async move {
        session.keep_up().await;
        forget_closed(&table, &session);
    });
}
