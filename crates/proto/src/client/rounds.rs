//! Calls whose server asked for input: the questions, the answers so far, the retry.
//!
//! Only 2026-07-28 has rounds: a result may ask questions and carry a state of the server, and the
//! client sends the same call again with the answers (MRTR-18, MRTR-26). Nothing waits on the
//! server meanwhile.

use std::collections::BTreeMap;

use bowline_types::input::InputRequired;
use bowline_types::json::RawJson;

use super::CallRequest;
use super::ask::AskId;
use crate::request::ExchangeId;
use crate::splice;

/// A call in flight, with what is needed to send it again. It moves with the call: from the table
/// of awaited answers into a [`Round`], back again, or among the postponed calls.
#[derive(Debug)]
pub(super) struct InFlightCall {
    pub(super) exchange: ExchangeId,
    pub(super) request: CallRequest,
    /// How often it has been retried with answers.
    pub(super) round: usize,
    /// How many changes the server had reported when the call was sent.
    pub(super) changes: u64,
    /// Whether it was sent before, in a session that the server lost. False for calls that waited
    /// for a restart of the server.
    pub(super) again: bool,
}

/// A call that waits for answers to questions of the server. Exists from the result that asked
/// until the last answer, or until one question fails.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) flight: InFlightCall,
    /// The questions without an answer, with the keys that the server gave them.
    open: BTreeMap<AskId, String>,
    responses: Vec<(String, RawJson)>,
    /// Returned as it came; a client must not look into it (MRTR-21, MRTR-22).
    state: Option<String>,
}

impl Round {
    /// Starts a round with these questions.
    pub(super) fn new(
        flight: InFlightCall,
        required: &InputRequired,
        asks: BTreeMap<AskId, String>,
    ) -> Self {
        let state = required.request_state.clone();
        Self { flight, open: asks, responses: Vec::new(), state }
    }

    /// Takes the answer to one question.
    pub(super) fn answer(&mut self, ask: AskId, response: RawJson) {
        if let Some(key) = self.open.remove(&ask) {
            self.responses.push((key, response));
        }
    }

    /// Whether every question has its answer.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The questions that are still open.
    pub(super) fn open(&self) -> impl Iterator<Item = AskId> {
        self.open.keys().copied()
    }

    /// The call to send again, with the members that the retry adds to its params. No state is sent
    /// if none came (MRTR-23).
    pub(super) fn retry(mut self) -> (InFlightCall, String) {
        self.flight.round += 1;
        let mut members = Vec::new();
        if !self.responses.is_empty() {
            let responses: Vec<_> = self
                .responses
                .iter()
                .map(|(key, response)| splice::member(key, response))
                .collect();
            members.push(format!("\"inputResponses\":{{{}}}", responses.join(",")));
        }
        if let Some(state) = &self.state {
            members.push(splice::member("requestState", state));
        }
        (self.flight, members.join(","))
    }
}
