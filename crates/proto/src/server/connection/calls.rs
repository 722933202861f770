//! Calls from their start to their answer: waiting, questions, answers.
//!
//! A call moves through [`State`]: it waits for its turn, runs, perhaps asks the client and runs
//! again, and ends. Every step that may free a place ends with `start_next`.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bytes::Bytes;

use super::super::batch::BatchId;
use super::super::exchange::{Attached, CallOrigin, Exchange};
use super::{ServerConnection, ServerEvent, ServiceCall, State};
use crate::admission::{self, Admitted};
use crate::request::{
    ExchangeId, OutgoingQuestion, QuestionError, QuestionTicket, Response, TaskNotification,
};
use crate::splice;
use crate::transmit::{Role, Route, Transmit};
use crate::wire::legacy;

impl ServerConnection {
    /// Opens an exchange, and starts it if fewer than
    /// [`in_flight`](crate::limits::Limits::in_flight) run.
    ///
    /// Order matters: a request is numbered and recorded before the event goes out, so a driver
    /// that completes it at once finds it.
    ///
    /// # Errors
    ///
    /// If there are too many subscriptions, or the session may not subscribe to the resource. Then
    /// nothing has been started.
    pub(super) fn open(
        &mut self,
        admitted: Admitted,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        let method = admitted.method;
        if method.streams() && self.listening() >= self.config.limits().subscriptions {
            return Err(admission::too_many_subscriptions(self.config.limits()));
        }
        let number = self.number();
        if let (Method::ResourcesSubscribe, Some(session)) = (method, &mut self.session) {
            session.subscribe(&admitted.params, number, self.config.limits())?;
        }
        let attached = match batch {
            Some(_) => self.attached.clone(),
            // A message that is no batch opens one call.
            None => std::mem::take(&mut self.attached),
        };
        let (exchange, request) = Exchange::open(number, admitted, self.origin(attached));
        let state = if method.streams() { State::Listening } else { State::WaitingForTurn };
        self.calls
            .insert(number, ServiceCall::OfClient { exchange, batch, state, is_reachable: true });
        if state == State::Listening {
            self.events.push_back(ServerEvent::Call(Box::new(request)));
        } else {
            self.backlog.push_back(Box::new(request));
            self.start_next();
        }
        Ok(())
    }

    /// Starts waiting calls while there is room.
    pub(super) fn start_next(&mut self) {
        while self.running < self.config.limits().in_flight {
            let Some(request) = self.backlog.pop_front() else { return };
            let call = self.calls.get_mut(request.parts.exchange);
            if let Some(ServiceCall::OfClient { state, .. } | ServiceCall::Notification(state)) =
                call
            {
                *state = State::Running;
                self.running += 1;
                self.events.push_back(ServerEvent::Call(request));
            }
        }
    }

    /// A call has ended: starts the next one, and cancels the questions of the call that are still
    /// open. The caller has removed it from the table already.
    pub(super) fn call_ended(&mut self, number: ExchangeId, state: State) {
        match state {
            State::Running => self.running -= 1,
            State::WaitingForTurn => {
                self.backlog.retain(|request| request.parts.exchange != number);
            }
            State::Asking(_) | State::Listening => {}
        }
        let frames =
            self.session.as_mut().map(|session| session.forget_call(number)).unwrap_or_default();
        for frame in frames {
            self.transmit(Route::Exchange(number), Role::Within, Some(frame));
        }
        self.start_next();
    }

    /// Sends a question of a call to the client. It fails at once in revisions without server
    /// requests, if the call cannot reach its client, and after the end of input. While the client
    /// is asked, the call gives up its place among those that run.
    pub(super) fn ask(&mut self, number: ExchangeId, question: OutgoingQuestion, now: Instant) {
        if question.method() == Some(Method::TasksCancel) {
            return self.cancel_client_task(number, &question);
        }
        let limits = self.config.limits().clone();
        let refused = |question: OutgoingQuestion, why| question.reply.deliver(Err(why));
        let session = match (self.calls.get(number), &mut self.session) {
            (Some(ServiceCall::OfClient { exchange, is_reachable, .. }), Some(session))
                if exchange.revision().has_server_requests() =>
            {
                if !is_reachable {
                    return refused(question, QuestionError::Unreachable);
                }
                session
            }
            (Some(ServiceCall::Notice | ServiceCall::Standalone { .. }), Some(session)) => session,
            _ => return refused(question, QuestionError::NoBackChannel),
        };
        if self.has_input_ended {
            return refused(question, QuestionError::Closed);
        }
        let Some(frame) = session.ask(number, question, &limits, now) else { return };
        self.transmit(self.route(number), Role::Within, Some(frame));
        if let Some(ServiceCall::OfClient { state, .. }) = self.calls.get_mut(number) {
            *state = match *state {
                State::Asking(questions) => State::Asking(questions + 1),
                _ => {
                    self.running -= 1;
                    State::Asking(1)
                }
            };
        }
        self.start_next();
    }

    /// Cancels the question with this ticket at the client.
    pub(super) fn withdraw(&mut self, ticket: &QuestionTicket) {
        let withdrawn = self.session.as_mut().and_then(|session| session.withdraw(ticket));
        let Some((number, frame)) = withdrawn else { return };
        self.transmit(self.route(number), Role::Within, Some(frame));
        self.question_closed(number);
    }

    /// The stream that the messages of a call go to. A notification of the client has none.
    pub(super) fn route(&self, number: ExchangeId) -> Route {
        match self.calls.get(number) {
            Some(ServiceCall::Standalone { .. } | ServiceCall::Notification(_)) => {
                Route::Standalone
            }
            _ => Route::Exchange(number),
        }
    }

    /// Fails the open questions of the calls that `is_meant` picks.
    pub(super) fn fail_questions(
        &mut self,
        is_meant: impl Fn(ExchangeId) -> bool,
        why: &QuestionError,
    ) {
        let session = self.session.as_mut();
        let failed = session.map(|session| session.fail_questions(is_meant, why));
        for number in failed.unwrap_or_default() {
            self.question_closed(number);
        }
    }

    /// Announces that an elicitation by URL is complete, whether its call still runs or not.
    pub(super) fn elicitation_complete(&mut self, number: ExchangeId, id: String) {
        let frame = self.session.as_ref().and_then(|session| session.elicitation_complete(id));
        let is_open = self.calls.get(number).is_some();
        let route = if is_open { self.route(number) } else { Route::Standalone };
        self.transmit(route, Role::Within, frame);
    }

    /// Withdraws a question that the client runs as a task. The call that asked may be over, and no
    /// answer is awaited.
    fn cancel_client_task(&mut self, number: ExchangeId, question: &OutgoingQuestion) {
        let is_open = self.calls.get(number).is_some();
        let route = if is_open { Route::Exchange(number) } else { Route::Standalone };
        let frame = self.session.as_mut().and_then(|session| session.cancel_task(question));
        self.transmit(route, Role::Within, frame);
    }

    /// Sends news of the task that a call became. They wait for the answer of the call, from which
    /// the client learns the id of the task.
    pub(super) fn task_notification(&mut self, number: ExchangeId, news: TaskNotification) {
        let frame = self.session.as_ref().and_then(|session| session.task_notification(news));
        if self.calls.get(number).is_none() {
            return self.transmit(Route::Standalone, Role::Within, frame);
        }
        if self.task_news.len() < self.config.limits().outbox {
            self.task_news.extend(frame.map(|frame| (number, frame)));
        }
    }

    /// Sends the news of a task that waited for the answer of this call.
    pub(super) fn send_task_news(&mut self, number: ExchangeId) {
        if self.task_news.is_empty() {
            return;
        }
        for (call, frame) in std::mem::take(&mut self.task_news) {
            match call == number {
                true => self.transmit(Route::Standalone, Role::Within, Some(frame)),
                false => self.task_news.push((call, frame)),
            }
        }
    }

    /// A question of a call has been answered, or has failed. After the last one the call counts as
    /// running again. It may exceed the number of calls that run at the same time for a moment: a
    /// call that has begun is not made to wait again.
    pub(super) fn question_closed(&mut self, number: ExchangeId) {
        if let Some(ServiceCall::OfClient { state, .. }) = self.calls.get_mut(number) {
            *state = match *state {
                State::Asking(1) => {
                    self.running += 1;
                    State::Running
                }
                State::Asking(questions) => State::Asking(questions - 1),
                other => other,
            };
        }
    }

    /// Answers the handshake, once the service has described itself. An error ends the session. The
    /// revision and the client stay as `initialize` fixed them; the capabilities come from the
    /// service.
    pub(super) fn answer_handshake(
        &mut self,
        number: ExchangeId,
        id: &RequestId,
        response: Response,
    ) {
        let Some(session) = &mut self.session else { return };
        let response =
            response.and_then(|discovered| session.answer_handshake(&discovered, &self.config));
        if response.is_err() {
            self.session = None;
        }
        let frame = match response {
            Ok(success) => legacy::result(id, success),
            Err(error) => splice::error(Ok(id), &error),
        };
        self.transmit(Route::Exchange(number), Role::Ends, Some(frame));
    }

    /// Answers a request of a session without the service.
    pub(super) fn reply(&mut self, id: &RequestId, batch: Option<BatchId>, response: Response) {
        let frame = match response {
            Ok(success) => legacy::result(id, success),
            Err(error) => splice::error(Ok(id), &error),
        };
        self.answer(Route::Standalone, batch, Some(frame));
    }

    /// Sends an answer, or keeps it until its batch is complete. `None` for a call that was
    /// cancelled: a batch then waits for one answer less.
    pub(super) fn answer(&mut self, route: Route, batch: Option<BatchId>, frame: Option<Bytes>) {
        let frame = match batch {
            Some(batch) => self.batches.answer(batch, frame),
            None => frame,
        };
        self.transmit(route, Role::Ends, frame);
    }

    /// Queues a message, if there is one.
    pub(super) fn transmit(&mut self, route: Route, role: Role, frame: Option<Bytes>) {
        let Some(frame) = frame else { return };
        if self.transmits.capacity() == 0 {
            // Most connections never queue more than one.
            self.transmits.reserve_exact(1);
        }
        self.transmits.push_back(Transmit { route, role, frame, mirror: None });
    }

    /// How many subscriptions of the client are open.
    pub(super) fn listening(&self) -> usize {
        let listening = |call: &ServiceCall| {
            matches!(call, ServiceCall::OfClient { state: State::Listening, .. })
        };
        self.calls.iter().filter(|(_, call)| listening(call)).count()
    }

    /// The number for the next call.
    pub(super) fn number(&mut self) -> ExchangeId {
        self.last_number += 1;
        ExchangeId(self.last_number)
    }

    /// What this connection knows of its calls.
    pub(super) fn origin(&self, attached: Attached) -> CallOrigin {
        CallOrigin { owner: self.owner.clone(), sink: self.sink.clone(), attached, headers: None }
    }
}
