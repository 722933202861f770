//! One round of a call: drives the call until it ends, or until it asks.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{Outbox, Parts, Peer, QuestionError, Response, Success, SuccessKind};
use bowline_server::seal::Binding;
use bowline_types::error::ErrorObject;
use bowline_types::input::{InputRequired, InputResponses};
use bowline_types::revision::Revision;
use bowline_types::text::counted;
use futures_core::future::BoxFuture;
use tokio::time::{Sleep, sleep};

use super::lot::{Asker, Parked, ParkingLot};
use super::state::{ParkId, State};
use super::switch::Switch;

/// The caller that a round answers.
pub(super) struct CallerOfRound {
    asker: Arc<Asker>,
    revision: Revision,
    pub(super) binding: Binding,
    lot: Arc<ParkingLot>,
}

impl CallerOfRound {
    /// The caller of a request, whose call has this binding.
    pub(super) fn of(parts: &Parts, binding: Binding, lot: Arc<ParkingLot>) -> Self {
        let peer = parts.extensions.get::<Peer>().copied().map(CallerId::from);
        let asker = Arc::new(Asker { owner: parts.owner.clone(), peer });
        Self { asker, revision: parts.revision, binding, lot }
    }
}

/// A call that runs. Dropping it cancels the call.
pub(super) struct Round {
    call: BoxFuture<'static, Response>,
    switch: Arc<Switch>,
    /// The number of the round. The first has the number 0, and was begun by no answers.
    number: u32,
    /// The place of the call in the lot; `None` before it is parked for the first time.
    place: Option<RunningPlace>,
    caller: CallerOfRound,
}

/// What a call does next.
enum Step {
    Ended(Response),
    Asks,
}

impl Round {
    /// Drives a call from its beginning.
    pub(super) async fn first(
        call: BoxFuture<'static, Response>,
        switch: Arc<Switch>,
        caller: CallerOfRound,
    ) -> Response {
        Self { call, switch, number: 0, place: None, caller }.drive().await
    }

    /// Drives a call that was parked, with the answers that the caller brought.
    pub(super) async fn resume(
        parked: Parked,
        caller: CallerOfRound,
        outbox: &Outbox,
        responses: &InputResponses,
    ) -> Response {
        let Parked { call, switch, id, round: number } = parked;
        let place = Some(RunningPlace { lot: caller.lot.clone(), id });
        switch.connect(outbox.clone(), responses);
        Self { call, switch, number, place, caller }.drive().await
    }

    /// Drives the call until there is an answer for the caller: its outcome, or its questions.
    async fn drive(mut self) -> Response {
        loop {
            match self.next().await {
                Step::Ended(response) => return self.end(response),
                Step::Asks => match self.park() {
                    Ok(response) => return response,
                    Err(running) => self = running,
                },
            }
        }
    }

    /// Waits until the call ends, or has asked and the time to collect its questions is over.
    async fn next(&mut self) -> Step {
        let mut gathering = None;
        poll_fn(|cx| self.poll(&mut gathering, cx)).await
    }

    fn poll(
        &mut self,
        gathering: &mut Option<Pin<Box<Sleep>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Step> {
        if let Poll::Ready(response) = self.call.as_mut().poll(cx) {
            return Poll::Ready(Step::Ended(response));
        }
        if !self.switch.is_asking(cx) {
            *gathering = None;
            return Poll::Pending;
        }
        let time = self.caller.lot.limits().gathering;
        let gathering = gathering.get_or_insert_with(|| Box::pin(sleep(time)));
        gathering.as_mut().poll(cx).map(|()| Step::Asks)
    }

    /// Parks the call, and gives its questions to the caller.
    ///
    /// # Errors
    ///
    /// Gives the call back if it cannot be parked. Its questions are refused then.
    fn park(self) -> Result<Response, Self> {
        let lot = self.caller.lot.clone();
        let most = lot.limits().rounds;
        if self.number >= most {
            let rounds = counted(most as usize, "round");
            let error = ErrorObject::internal(format!("a call may ask in {rounds}, not more"));
            return Err(self.refuse(&QuestionError::Refused(error)));
        }
        let id = match &self.place {
            Some(place) => Ok(place.id),
            None => ParkId::random(),
        };
        let Ok(id) = id else { return Err(self.refuse(&QuestionError::TooMany)) };
        let round = self.number + 1;
        let Some(state) = lot.seal(&lot.name(id, round), &self.caller.binding) else {
            return Err(self.refuse(&QuestionError::TooMany));
        };
        let required = InputRequired::new(self.switch.open()).with_request_state(state);
        let response = Success::input_required(required, self.caller.revision);
        let Self { call, switch, number, place, caller } = self;
        match lot.park(&caller.asker, Box::new(Parked { call, switch, id, round })) {
            Ok(()) => {
                if let Some(place) = place {
                    lot.keep(place.id, number, &response);
                }
                Ok(response)
            }
            Err(parked) => {
                let Parked { call, switch, .. } = *parked;
                Err(Self { call, switch, number, place, caller }.refuse(&QuestionError::TooMany))
            }
        }
    }

    /// Refuses the open questions. The server decides how the call goes on.
    fn refuse(self, why: &QuestionError) -> Self {
        self.switch.refuse(why);
        self
    }

    /// The answer to the caller when the call has ended.
    fn end(self, response: Response) -> Response {
        let response = self.caller.seal_anew(response);
        if let Some(place) = &self.place {
            place.lot.keep(place.id, self.number, &response);
        }
        response
    }
}

impl CallerOfRound {
    /// Seals the state of a modern upstream anew, since it knows only the gateway and cannot bind it
    /// to the gateway's callers.
    fn seal_anew(&self, response: Response) -> Response {
        let success = response?;
        if success.kind() != SuccessKind::InputRequired {
            return Ok(success);
        }
        let unreadable = || ErrorObject::internal("the server's questions cannot be passed on");
        let mut required: InputRequired = success.body().parse().map_err(|_| unreadable())?;
        required.meta = success.meta().clone();
        let state = State::Passed(required.request_state.take());
        let state = self.lot.seal(&state, &self.binding).ok_or_else(unreadable)?;
        Success::input_required(required.with_request_state(state), self.revision)
    }
}

/// The place of a running call in the lot. Dropping it says that the call has ended, unless it was
/// parked again.
struct RunningPlace {
    lot: Arc<ParkingLot>,
    id: ParkId,
}

impl Drop for RunningPlace {
    fn drop(&mut self) {
        self.lot.end(self.id);
    }
}
