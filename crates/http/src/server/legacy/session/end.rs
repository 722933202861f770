//! How a session ends: for good, or only here because it goes on elsewhere.

use std::sync::Arc;

use bowline_transport::task::spawn_on;
use tokio::runtime::Handle;

use super::{Hand, STANDALONE, Session, State};

/// How a session ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// For good.
    Over,
    /// Other endpoints serve it on.
    Elsewhere,
}

impl Session {
    /// Ends everything: calls are cancelled, streams end, and what they said is forgotten.
    pub(in super::super) fn close(self: &Arc<Self>) {
        self.end(End::Over);
    }

    /// Ends what is here of a session that goes on elsewhere: calls are cancelled, streams end. If
    /// nobody shares it, it is over.
    pub(in super::super) fn let_go(self: &Arc<Self>) {
        let end = if self.copy().is_some() { End::Elsewhere } else { End::Over };
        self.end(end);
    }

    fn end(self: &Arc<Self>, end: End) {
        let (standing, streams) = {
            let mut state = self.lock();
            if state.is_closed {
                return;
            }
            state.is_closed = true;
            state.is_elsewhere = end == End::Elsewhere;
            state.connection.close();
            state.places.clear();
            let _ = state.deliver(&mut Hand::default());
            state.standalone.nudge();
            (std::mem::take(&mut state.standing), state.logged(end))
        };
        self.ended.notify_waiters();
        // A handler must not be dropped under the lock, since it may have something to say.
        drop(standing);
        if let (Ok(runtime), false) = (Handle::try_current(), streams.is_empty()) {
            let session = self.clone();
            spawn_on(&runtime, async move {
                for stream in streams {
                    session.cut_off(stream, end).await;
                }
            });
        }
    }

    /// Settles what is kept of a stream that came to no end of its own. What cannot be done now is
    /// done by time.
    async fn cut_off(&self, stream: u64, end: End) {
        let log = self.log(stream);
        let _ = match end {
            End::Over => log.delete().await,
            End::Elsewhere => log.append(b"", true).await.map(|_| ()),
        };
        self.unmark(stream).await;
    }

    /// Whether it has ended, and not only here.
    pub(in super::super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.is_closed && !state.is_elsewhere
    }
}

impl State {
    /// The streams whose logs do not expire by themselves when the session ends.
    fn logged(&self, end: End) -> Vec<u64> {
        let is_written = self.listener.has_log() || self.share.is_some();
        let standalone = (is_written && end == End::Over).then_some(STANDALONE);
        self.going_on.iter().copied().chain(standalone).collect()
    }
}
