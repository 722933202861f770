//! The outbox of a call that holds a lane: notes its open questions, so that the call can be ended while
//! it waits for an answer.

use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{
    ExchangeId, Outbox, Outgoing, OutgoingQuestion, Parts, Peer, Reply, Sink,
};

use super::pool::{LanePool, TakenLane};
use super::recall::Recall;
use crate::supervise::Supervised;

/// The outbox for a call on a lane. While one of its questions is open, the call can be recalled for
/// others that need its lane.
pub(super) fn asking_outbox(
    parts: &Parts,
    lane: &TakenLane,
    (recall, most_asking): (Recall, usize),
) -> Outbox {
    let peer = parts.extensions.get::<Peer>().copied().map(CallerId::from);
    let (pool, supervised) = (lane.pool().clone(), lane.supervised.clone());
    let outbox = parts.outbox.clone();
    let sink = AskingOutbox { outbox, pool, supervised, peer, recall, most_asking };
    Outbox::new(parts.exchange, Arc::new(sink))
}

struct AskingOutbox {
    outbox: Outbox,
    pool: Arc<LanePool>,
    supervised: Supervised,
    peer: Option<CallerId>,
    recall: Recall,
    most_asking: usize,
}

impl Sink for AskingOutbox {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let Outgoing::Ask(question) = outgoing else { return self.outbox.emit(outgoing) };
        let asker = (self.peer.clone(), self.recall.clone());
        let open = self.pool.ask(&self.supervised, asker, self.most_asking);
        let OutgoingQuestion { request, reply, task } = question;
        let ticket = reply.ticket().cloned();
        let deliver = move |answer| {
            drop(open);
            reply.deliver(answer);
        };
        let reply = match ticket {
            Some(ticket) => Reply::withdrawable(ticket, deliver),
            None => Reply::new(deliver),
        };
        self.outbox.emit(Outgoing::Ask(OutgoingQuestion { request, reply, task }))
    }
}
