//! How handlers send to the client: through their session.
//!
//! A message of a call goes onto the line of that call; once the call has ended, onto the
//! standalone line, where only few kinds of messages are sent at all. While a line is full,
//! handlers wait.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Outgoing, Sink};

use super::super::super::clock::now;
use super::super::item::{Item, Line};
use super::{HttpSession, State};

/// The sink of all calls of a session. Weak, because the connection of the session holds it. A
/// handler that outlives its session finds that nothing can be sent any more.
pub(super) struct SessionSink(pub(super) Weak<HttpSession>);

impl Sink for SessionSink {
    fn poll_ready(&self, exchange: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let Some(session) = self.0.upgrade() else { return Poll::Ready(()) };
        let state = session.lock();
        match state.end {
            Some(_) => Poll::Ready(()),
            None => state.line_of(exchange).poll_room(cx),
        }
    }

    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let Some(session) = self.0.upgrade() else { return Err(outgoing) };
        let detached = {
            let mut state = session.lock();
            if state.end.is_some() {
                return Err(outgoing);
            }
            if matches!(outgoing, Outgoing::Ask(_)) && state.lacks_number() {
                drop(state);
                session.ask_numbered(exchange, outgoing);
                return Ok(());
            }
            let line = state.line_of(exchange);
            if line.is_full() {
                // A client that reads too slowly misses progress and logs, nothing else.
                return if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) };
            }
            if let Outgoing::Pause(after) = outgoing {
                line.push(Item::Pause(after));
                return Ok(());
            }
            state.connection.emit(exchange, outgoing, now());
            state.deliver(None)
        };
        session.start(detached);
        Ok(())
    }
}

impl State {
    /// The line on which an exchange sends.
    fn line_of(&self, exchange: ExchangeId) -> &Arc<Line> {
        self.lines.get(exchange).unwrap_or(&self.standalone)
    }
}
