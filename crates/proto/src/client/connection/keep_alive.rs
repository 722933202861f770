//! Pings: asks a server that has been silent whether it is still there.
//!
//! A ping is sent only after silence, so a busy connection never sends one. Anything that the
//! server sends then counts as a sign of life. If nothing comes, the connection has failed.

use std::time::Instant;

use bowline_types::method::Method;

use super::super::keep_alive::KeepAliveState;
use super::calls::FOREVER;
use super::{AgreedEra, ClientConnection, ClientEvent, NegotiationError, Purpose};

impl ClientConnection {
    /// Takes note that something arrived, whatever it is.
    pub(super) fn note_arrival(&mut self, now: Instant) {
        let Some(state) = &mut self.keep_alive else { return };
        state.heard = now;
        if let Some(id) = state.ping {
            self.waiting.touch(id, now);
        }
    }

    /// Starts the clock, once both sides agree.
    pub(super) fn start_keep_alive(&mut self, now: Instant) {
        self.keep_alive =
            self.config.keep_alive().map(|_| KeepAliveState { heard: now, ping: None });
    }

    /// When to send a ping, if the server stays silent until then.
    pub(super) fn next_ping(&self) -> Option<Instant> {
        let (state, keep_alive) = (self.keep_alive.as_ref()?, self.config.keep_alive()?);
        match state.ping {
            Some(_) => None,
            None => state.heard.checked_add(keep_alive.interval),
        }
    }

    /// Sends a ping to a server that has been silent for too long. 2026-07-28 has no ping (ST-8),
    /// so `server/discover` takes its place: every server answers it (DISC-1).
    pub(super) fn ping_if_silent(&mut self, now: Instant) {
        let Some(keep_alive) = self.config.keep_alive() else { return };
        let Some(agreed) = &self.agreed else { return };
        if self.next_ping().is_none_or(|at| now < at) {
            return;
        }
        let (method, params) = match &agreed.era {
            AgreedEra::Legacy(_) => (Method::Ping, "{}".to_owned()),
            AgreedEra::Modern { meta } => {
                (Method::ServerDiscover, format!("{{\"_meta\":{{{meta}}}}}"))
            }
        };
        // No maximum: the clock is restarted while the server waits for an answer of the client.
        let id = self.await_answer(Purpose::KeepAlive, keep_alive.timeout, FOREVER, now);
        self.send_request(id, method, &params);
        if let Some(state) = &mut self.keep_alive {
            state.ping = Some(id);
        }
    }

    /// The server answered the ping, with a result or an error. An error is as good a sign of life
    /// as a result.
    pub(super) fn keep_alive_answered(&mut self) {
        if let Some(state) = &mut self.keep_alive {
            state.ping = None;
        }
    }

    /// The server did not answer the ping in time. While it may be busy with a call it is pinged
    /// again; otherwise the connection has failed.
    pub(super) fn keep_alive_expired(&mut self, now: Instant) {
        let during_calls = self.config.keep_alive().map(|it| it.during_calls).unwrap_or_default();
        let Some(state) = &mut self.keep_alive else { return };
        state.ping = None;
        let silence = now.saturating_duration_since(state.heard);
        if silence >= during_calls || !self.is_busy() {
            self.keep_alive_failed();
        }
    }

    /// Whether a call runs. Lists do not count: a server that answers none hangs.
    fn is_busy(&self) -> bool {
        use Method::{PromptsList, ResourcesList, ResourcesTemplatesList, ToolsList};
        let lists = [ToolsList, PromptsList, ResourcesList, ResourcesTemplatesList];
        self.calls_in_flight().any(|(_, request)| !lists.contains(&request.method))
    }

    /// The connection has failed: a missing answer to a ping counts as that (PING-7).
    pub(super) fn keep_alive_failed(&mut self) {
        let after = self.config.keep_alive().map(|it| it.timeout).unwrap_or_default();
        self.events.push_back(ClientEvent::Failed(NegotiationError::Silent(after)));
    }
}
