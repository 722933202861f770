//! The outbox of a call that may be parked.
//!
//! Progress and log messages go to the round that is open, and are lost between rounds. Questions
//! stay here, each under a key of its own, until the caller answers or the server withdraws them.

use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::{ExchangeId, Outbox, Outgoing, OutgoingQuestion, QuestionError, Sink};
use bowline_proto::sync::lock;
use bowline_types::input::{InputRequests, InputResponses};

/// The outbox of one call, for all of its rounds.
#[derive(Debug)]
pub(super) struct Switch {
    questions: Mutex<Questions>,
    most: usize,
}

#[derive(Debug)]
struct Questions {
    /// Of the round that is open; `None` while the call is parked.
    outbox: Option<Outbox>,
    /// Questions without an answer, in the order of asking.
    open: Vec<(String, OutgoingQuestion)>,
    /// How many were asked. Keys never repeat.
    asked: usize,
    /// Wakes the round that is open.
    round: Option<Waker>,
}

impl Switch {
    /// A switch whose first round sends to this outbox.
    pub(super) fn new(outbox: Outbox, most: usize) -> Self {
        let outbox = Some(outbox);
        let questions = Questions { outbox, open: Vec::new(), asked: 0, round: None };
        Self { questions: Mutex::new(questions), most }
    }

    /// Begins another round: delivers the answers that it brought. Questions without an answer stay
    /// open and are asked again (MRTR-30).
    pub(super) fn connect(&self, outbox: Outbox, responses: &InputResponses) {
        let mut answered = Vec::new();
        {
            let mut questions = self.lock();
            questions.outbox = Some(outbox);
            let open = std::mem::take(&mut questions.open);
            for (key, question) in open {
                match responses.value(&key) {
                    Some(answer) => answered.push((question.reply, answer.clone())),
                    None => questions.open.push((key, question)),
                }
            }
        }
        // Outside of the lock, because a reply runs code of others.
        for (reply, answer) in answered {
            reply.deliver(Ok(answer));
        }
    }

    /// Ends a round: nothing reaches the caller until the next one.
    pub(super) fn disconnect(&self) {
        self.lock().outbox = None;
    }

    /// Whether questions are open. If not, the next one wakes the task.
    pub(super) fn is_asking(&self, cx: &Context<'_>) -> bool {
        let mut questions = self.lock();
        questions.round = Some(cx.waker().clone());
        !questions.open.is_empty()
    }

    /// The open questions.
    pub(super) fn open(&self) -> InputRequests {
        let mut requests = InputRequests::new();
        for (key, question) in &self.lock().open {
            // Keys never repeat.
            let _ = requests.insert(key, question.request.clone());
        }
        requests
    }

    /// Refuses all open questions.
    pub(super) fn refuse(&self, why: &QuestionError) {
        for (_, question) in std::mem::take(&mut self.lock().open) {
            question.reply.deliver(Err(why.clone()));
        }
    }

    fn ask(&self, question: OutgoingQuestion) {
        let mut questions = self.lock();
        if questions.open.len() >= self.most {
            drop(questions);
            return question.reply.deliver(Err(QuestionError::TooMany));
        }
        questions.asked += 1;
        let key = format!("q{}", questions.asked);
        questions.open.push((key, question));
        let round = questions.round.take();
        drop(questions);
        round.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        lock(&self.questions)
    }
}

impl Sink for Switch {
    /// Questions have room until they are refused, and everything else may be lost.
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        match outgoing {
            Outgoing::Ask(question) => self.ask(question),
            Outgoing::Withdraw(ticket) => {
                let withdrawn =
                    |question: &OutgoingQuestion| question.reply.ticket() == Some(&ticket);
                let mut questions = self.lock();
                let place = questions.open.iter().position(|(_, question)| withdrawn(question));
                let removed = place.map(|place| questions.open.remove(place));
                drop(questions);
                drop(removed);
            }
            other => {
                let outbox = self.lock().outbox.clone();
                if let Some(outbox) = outbox {
                    return outbox.emit(other);
                }
            }
        }
        Ok(())
    }
}
