//! Why a server cannot be used now.

use std::time::Duration;

use bowline_client::Client;
use bowline_types::text::with_causes;

use crate::dial::DialError;

/// The most characters of a cause: it quotes text from outside.
const LONGEST: usize = 2000;

/// The server cannot be used now: it did not start, or it failed a moment ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unavailable {
    /// Why, for the operator; it may name addresses and quote the output of the server.
    pub(crate) problem: String,
    pub(crate) kind: UnavailableKind,
}

/// Why a server cannot be used, for its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnavailableKind {
    /// It could not be started.
    NotStarted,
    /// It was starting still after this time.
    Slow(Duration),
    /// It ran, and ended by itself.
    Ended,
    /// It was stopped for good.
    Stopped,
}

impl Unavailable {
    /// The start failed, for which there was so much time.
    pub(crate) fn not_dialled(error: &DialError, limit: Duration) -> Self {
        let error = error.as_ref();
        let is_slow = |it: &bowline_client::Error| it.is_connect() && it.is_timeout();
        let kind = match error.downcast_ref().is_some_and(is_slow) {
            true => UnavailableKind::Slow(limit),
            false => UnavailableKind::NotStarted,
        };
        Self { problem: bounded(with_causes(error)), kind }
    }

    /// The start did not end in this time.
    pub(crate) fn silent(limit: Duration) -> Self {
        let problem = format!("the server did not answer within {} s", limit.as_secs_f64());
        Self { problem, kind: UnavailableKind::Slow(limit) }
    }

    /// The server ended by itself; the client of its connection knows more.
    pub(crate) fn ended(client: &Client) -> Self {
        let mut problem = "the server ended by itself".to_owned();
        if let Some(failure) = client.failure() {
            problem = format!("{problem}: {}", with_causes(failure.as_ref()));
        }
        Self { problem: bounded(problem), kind: UnavailableKind::Ended }
    }

    /// The start broke off.
    pub(crate) fn broken_off() -> Self {
        Self { problem: "its start broke off".to_owned(), kind: UnavailableKind::NotStarted }
    }

    /// It was stopped for good.
    pub(crate) fn stopped() -> Self {
        Self { problem: "it was stopped".to_owned(), kind: UnavailableKind::Stopped }
    }

    /// How many starts in a row took too long, after so many.
    pub(crate) fn slow_starts_after(&self, before: u32) -> u32 {
        match self.kind {
            UnavailableKind::Slow(_) => before.saturating_add(1),
            _ => 0,
        }
    }
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
