//! The outbox of a call that holds a lane: notes its open questions, so that the call can be ended while
//! it waits for an answer.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{ExchangeId, Outbox, Outgoing, OutgoingQuestion, Parts, Reply, Sink};
use bowline_proto::sync::lock;

use super::driver::LaneDriver;
use super::guards::LaneClaim;
use super::key::peer_of;
use super::recall::Recall;
use super::table::UseId;

/// The outbox for a call on a lane. While one of its questions is open, the call can be recalled for
/// others that need its lane.
pub(super) fn asking_outbox(parts: &Parts, held: &LaneClaim, recall: Recall) -> Outbox {
    let outbox = parts.outbox.clone();
    let (driver, call, peer) = (held.driver.clone(), held.id, peer_of(parts));
    let sink = AskingOutbox { outbox, driver, call, peer, recall };
    Outbox::new(parts.exchange, Arc::new(sink))
}

struct AskingOutbox {
    outbox: Outbox,
    driver: Arc<LaneDriver>,
    call: UseId,
    peer: Option<CallerId>,
    recall: Recall,
}

impl Sink for AskingOutbox {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let Outgoing::Ask(question) = outgoing else { return self.outbox.emit(outgoing) };
        let register = || self.driver.ask(self.call, (self.peer.clone(), self.recall.clone()));
        emit_registered(&self.outbox, question, register)
    }
}

/// Sends a question, and registers it once it is sent, until it is answered. A question that is
/// refused is given back as it was.
fn emit_registered<G: Send + 'static>(
    outbox: &Outbox,
    question: OutgoingQuestion,
    register: impl FnOnce() -> G,
) -> Result<(), Outgoing> {
    let OutgoingQuestion { request, reply, task } = question;
    let ticket = reply.ticket().cloned();
    // The reply until it is delivered, and what registers the question.
    let asked = Arc::new(Mutex::new((Some(reply), None)));
    let shared = asked.clone();
    let deliver = move |answer| {
        let (reply, guard) = std::mem::take(&mut *lock(&shared));
        drop::<Option<G>>(guard);
        if let Some(reply) = reply {
            reply.deliver(answer);
        }
    };
    let reply = match ticket {
        Some(ticket) => Reply::withdrawable(ticket, deliver),
        None => Reply::new(deliver),
    };
    let mut outcome = outbox.emit(Outgoing::Ask(OutgoingQuestion { request, reply, task }));
    match &mut outcome {
        Ok(()) => {
            let guard = register();
            let mut asked = lock(&asked);
            // It may have been answered meanwhile.
            if asked.0.is_some() {
                asked.1 = Some(guard);
            }
        }
        Err(Outgoing::Ask(refused)) => {
            if let Some(reply) = lock(&asked).0.take() {
                refused.reply = reply;
            }
        }
        Err(_) => {}
    }
    outcome
}

#[cfg(test)]
mod tests {
    use bowline_proto::request::QuestionTicket;
    use bowline_types::input::InputRequest;
    use bowline_types::json::RawJson;

    use super::*;

    /// An outbox that is full so many times.
    struct Full {
        times: Mutex<usize>,
        taken: Mutex<Option<OutgoingQuestion>>,
    }

    impl Sink for Full {
        fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }

        fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
            match (&mut *lock(&self.times), outgoing) {
                (0, Outgoing::Ask(question)) => *lock(&self.taken) = Some(question),
                (times, outgoing) => {
                    *times -= 1;
                    return Err(outgoing);
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_question_is_registered_once_it_is_sent_and_until_it_is_answered() {
        let sink = Arc::new(Full { times: Mutex::new(3), taken: Mutex::default() });
        let outbox = Outbox::new(ExchangeId(1), sink.clone());
        let ticket = QuestionTicket::default();
        let (sender, answers) = std::sync::mpsc::channel();
        let reply = Reply::withdrawable(ticket.clone(), move |answer| sender.send(answer).unwrap());
        let request = InputRequest::Other(RawJson::default());
        let mut question = OutgoingQuestion { request, reply, task: None };
        let registered = Arc::new(());
        for _ in 0..3 {
            let refused = emit_registered(&outbox, question, || registered.clone()).unwrap_err();
            let Outgoing::Ask(refused) = refused else { panic!() };
            assert_eq!(Arc::strong_count(&registered), 1, "it is registered, but not sent");
            question = refused;
        }
        emit_registered(&outbox, question, || registered.clone()).unwrap();
        assert_eq!(Arc::strong_count(&registered), 2);
        let question = lock(&sink.taken).take().unwrap();
        assert_eq!(question.reply.ticket(), Some(&ticket));
        question.reply.deliver(Ok(RawJson::default()));
        assert_eq!(Arc::strong_count(&registered), 1);
        assert_eq!(answers.try_iter().count(), 1);
    }
}
