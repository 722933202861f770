//! Signs of life: asks a server that has been silent whether it is still there.
//!
//! Only silence is answered with a question, so a busy connection is never asked. Whatever the
//! server then says is a sign of life; if it says nothing, the connection has failed.

use std::time::Instant;

use bowline_types::method::Method;

use super::calls::FOREVER;
use super::{ClientConnection, ClientEvent, NegotiationError, Waiting};

/// When the server was last heard, and whether it is asked.
#[derive(Debug)]
pub(super) struct Life {
    heard: Instant,
    asked: Option<i64>,
}

impl ClientConnection {
    /// Anything at all arrived.
    pub(super) fn hear(&mut self, now: Instant) {
        let Some(life) = &mut self.life else { return };
        life.heard = now;
        if let Some(id) = life.asked {
            self.waiting.touch(id, now);
        }
    }

    /// Begins to listen for signs of life.
    pub(super) fn watch(&mut self, now: Instant) {
        self.life = self.config.keep_alive().map(|_| Life { heard: now, asked: None });
    }

    /// When a server that stays silent is asked.
    pub(super) fn silence_ends(&self) -> Option<Instant> {
        let (life, keep_alive) = (self.life.as_ref()?, self.config.keep_alive()?);
        match life.asked {
            Some(_) => None,
            None => life.heard.checked_add(keep_alive.interval),
        }
    }

    /// Asks a server that has been silent for too long.
    pub(super) fn break_silence(&mut self, now: Instant) {
        let Some(keep_alive) = self.config.keep_alive() else { return };
        let Some(profile) = &self.profile else { return };
        if self.silence_ends().is_none_or(|at| now < at) {
            return;
        }
        let pings = Method::Ping.is_from_client(profile.revision);
        let (method, params) = match pings {
            true => (Method::Ping, "{}".to_owned()),
            false => (Method::ServerDiscover, format!("{{\"_meta\":{{{}}}}}", self.always)),
        };
        // While the server waits for us, its clock stands still; so there is no maximum.
        let id = self.await_answer(Waiting::Life, keep_alive.timeout, FOREVER, now);
        self.open_with(id, method, &params);
        if let Some(life) = &mut self.life {
            life.asked = Some(id);
        }
    }

    /// The server answered; an error is as good as a result.
    pub(super) fn is_alive(&mut self) {
        if let Some(life) = &mut self.life {
            life.asked = None;
        }
    }

    /// The server did not answer.
    pub(super) fn is_dead(&mut self) {
        let after = self.config.keep_alive().map(|it| it.timeout).unwrap_or_default();
        self.events.push_back(ClientEvent::Failed(NegotiationError::Silent(after)));
    }
}
