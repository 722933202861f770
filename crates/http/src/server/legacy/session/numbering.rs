//! The number of a copy of a shared session: taken before its first stream or question, because their
//! ids begin with it.
//!
//! Most copies answer a few plain calls and are dropped. They need no number, so they write nothing.

use std::future::poll_fn;
use std::sync::Arc;

use bowline_proto::request::{ExchangeId, Outgoing, QuestionError, Sink as _};
use bowline_store::backend::{Error, Expect, Version, Written};
use bowline_transport::task::spawn;

use super::super::record::{self, Record};
use super::shared::{ATTEMPTS, contended};
use super::sink::SessionSink;
use super::{HttpSession, State};

impl State {
    /// Whether this copy has no number yet.
    pub(super) fn lacks_number(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.number.is_none())
    }

    /// The record with this copy counted in, its number, and the version that it replaces. `None` if
    /// the copy has a number, or there were too many copies.
    fn numbered(&self) -> Option<(Record, Option<u32>, Version)> {
        let copy = self.copy.as_ref().filter(|copy| copy.number.is_none())?;
        let mut record = copy.record.clone();
        let number = record.add_copy();
        Some((record, number, copy.version))
    }

    /// Begins to count streams and questions where no other copy does.
    fn begin_to_count(&mut self, number: u32, record: Record, replaces: Version, version: Version) {
        let Some(copy) = &mut self.copy else { return };
        // Another task may have read our record already, and adopted a later one.
        if copy.version == replaces {
            (copy.record, copy.version) = (record, version);
        }
        // It may also have taken a number. That one is in use; ours is never used.
        if copy.number.is_some() {
            return;
        }
        let before = record::before_first(number) + record::random_start();
        (copy.number, copy.counts_from) = (Some(number), before);
        self.last_stream = before;
        self.connection.count_questions_after(i64::try_from(before).unwrap_or(i64::MAX));
    }
}

impl HttpSession {
    /// Takes a number for this copy, unless it has one.
    ///
    /// # Errors
    ///
    /// If the store fails, or there were too many copies.
    pub(in super::super) async fn take_number(self: &Arc<Self>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let numbered = self.lock().numbered();
            let Some((record, number, replaces)) = numbered else { return Ok(()) };
            let Some(number) = number else {
                return Err(Error::new("the session was copied too often"));
            };
            if let Written::Yes(version) = self.put(&record, Expect::Version(replaces)).await? {
                self.lock().begin_to_count(number, record, replaces, version);
                return Ok(());
            }
            if !self.refresh().await? {
                return Ok(());
            }
        }
        Err(contended())
    }

    /// Sends a question after the copy has taken a number. If the store fails, the question does too.
    pub(super) fn ask_numbered(self: &Arc<Self>, exchange: ExchangeId, question: Outgoing) {
        let session = self.clone();
        spawn(async move {
            let is_numbered = session.take_number().await.is_ok();
            let sink = SessionSink(Arc::downgrade(&session));
            poll_fn(|cx| sink.poll_ready(exchange, cx)).await;
            let unsent = match is_numbered {
                true => sink.emit(exchange, question).err(),
                false => Some(question),
            };
            if let Some(Outgoing::Ask(question)) = unsent {
                question.reply.deliver(Err(QuestionError::Closed));
            }
        });
    }
}
