//! Which call a question or a log message of the server belongs to.
//!
//! Only HTTP streams and tasks name the call. On other channels a question belongs to the only
//! [`Asker`] whose calls are in flight. It is never guessed: a question of one caller must not be
//! put to another.

use bowline_types::ext::tasks::TaskIdParams;
use bowline_types::legacy::task::RelatedTask;
use bowline_types::meta::key;
use bowline_types::method::Method;

use super::super::ask::AskOrigin;
use super::super::call::{Asker, CallRequest};
use super::{ClientConnection, Purpose};
use crate::frame::RequestMessage;
use crate::members::Members;
use crate::request::ExchangeId;

impl ClientConnection {
    /// The call that a question belongs to: the call on whose stream it came; the one that awaits the
    /// task that it names; or the newest of the only asker in flight.
    pub(super) fn asking_call(&self, params: &Members) -> Option<ExchangeId> {
        self.streaming_call().or_else(|| self.call_of_task(params)).or_else(|| self.only_asker())
    }

    /// Where the answer to a request of the server goes.
    pub(super) fn asked_by(&self, request: &RequestMessage) -> AskOrigin {
        AskOrigin::Request { id: request.id.clone(), stream: self.streaming_call() }
    }

    /// The call that a log message belongs to: the call on whose stream it came, or the only one on
    /// behalf of a caller without a session. Sessions get messages without a call.
    pub(super) fn logging_call(&self) -> Option<ExchangeId> {
        self.streaming_call().or_else(|| {
            let mut askers = self.askers();
            match (askers.next(), askers.next()) {
                (Some((exchange, Asker::Call)), None) => Some(exchange),
                _ => None,
            }
        })
    }

    /// The call on whose stream the message came that is being received.
    fn streaming_call(&self) -> Option<ExchangeId> {
        match self.waiting.get(self.stream?)? {
            Purpose::Call(flight) => Some(flight.exchange),
            _ => None,
        }
    }

    /// The `tasks/result` call that awaits the task which a message names (2025-11-25).
    fn call_of_task(&self, params: &Members) -> Option<ExchangeId> {
        let meta = params.object("_meta").ok()?;
        let named = meta.parse::<RelatedTask>(key::RELATED_TASK).ok()??.task_id;
        let awaits = |request: &CallRequest| {
            let id = || request.params.parse::<TaskIdParams>().map(|params| params.task_id);
            request.method == Method::TasksResult && id().is_ok_and(|id| id == named)
        };
        let mut calls = self.calls_in_flight().filter(|(_, request)| awaits(request));
        calls.next().map(|(exchange, _)| exchange)
    }

    /// The newest call of the only asker; `None` if there is none, or more than one.
    fn only_asker(&self) -> Option<ExchangeId> {
        let (first, asker) = self.askers().next()?;
        let mut newest = first;
        for (exchange, other) in self.askers().filter(|(exchange, _)| *exchange != first) {
            if !asker.is_same(other) {
                return None;
            }
            newest = newest.max(exchange);
        }
        Some(newest)
    }

    fn askers(&self) -> impl Iterator<Item = (ExchangeId, Asker)> {
        let asker = |request: &CallRequest| request.on_behalf.as_ref().map(|it| it.asker);
        self.calls_in_flight().filter_map(move |(it, request)| Some((it, asker(request)?)))
    }

    pub(super) fn calls_in_flight(&self) -> impl Iterator<Item = (ExchangeId, &CallRequest)> {
        self.in_flight.iter().filter_map(|(exchange, id)| match self.waiting.get(*id)? {
            Purpose::Call(flight) => Some((*exchange, &flight.request)),
            _ => None,
        })
    }
}
