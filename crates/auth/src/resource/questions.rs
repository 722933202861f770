//! The questions to the authorization server that are under way, bounded in all and for one address.
//!
//! Each unknown token is a question, and a caller can make up as many tokens as it likes. So an
//! address may have no more than a part of the questions, the questions of all addresses take their
//! turns in the order in which they came, and tokens that were accepted before, which no caller can
//! make up, have permits of their own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::time::Duration;

use bowline_proto::callers::CallerId;
use bowline_proto::request::Peer;
use bowline_proto::sync::lock;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The most questions about unknown tokens at a time, and the most about tokens that were accepted
/// before. So a flood of wrong tokens does not become a flood of questions.
pub const MOST_QUESTIONS: usize = 64;
/// The most questions about unknown tokens that one address may have, waiting ones included. Fewer
/// than [`MOST_QUESTIONS`], so that no address can take all; yet many, since all callers behind one
/// proxy have its address. Further tokens are answered with 503.
pub const MOST_QUESTIONS_OF_ADDRESS: usize = 48;
/// How long a token waits until it can be asked about. Then it is answered with 503.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What may be asked at the same time.
pub(super) struct Questions {
    unknown: Semaphore,
    known: Semaphore,
    by_address: Mutex<HashMap<CallerId, usize>>,
}

/// A question that may be asked. It is over when this is dropped.
pub(super) struct QuestionPermit<'a> {
    _place: SemaphorePermit<'a>,
    _share: Option<AddressShare<'a>>,
}

/// One of the questions of an address. Dropping it returns it.
struct AddressShare<'a> {
    questions: &'a Questions,
    address: CallerId,
}

impl Questions {
    pub(super) fn new() -> Self {
        Self {
            unknown: Semaphore::new(MOST_QUESTIONS),
            known: Semaphore::new(MOST_QUESTIONS),
            by_address: Mutex::default(),
        }
    }

    /// Waits until a token that was accepted before can be asked about. `None` if that takes too long.
    pub(super) async fn about_known(&self) -> Option<QuestionPermit<'_>> {
        let place = timeout(LONGEST_WAIT, self.known.acquire()).await.ok()?.ok()?;
        Some(QuestionPermit { _place: place, _share: None })
    }

    /// Waits until an unknown token can be asked about. `None` if its address has too many
    /// questions, or if it takes too long.
    pub(super) async fn about_unknown(&self, from: Option<Peer>) -> Option<QuestionPermit<'_>> {
        let share = match from {
            Some(peer) => Some(self.share(peer.into())?),
            None => None,
        };
        let place = timeout(LONGEST_WAIT, self.unknown.acquire()).await.ok()?.ok()?;
        Some(QuestionPermit { _place: place, _share: share })
    }

    fn share(&self, address: CallerId) -> Option<AddressShare<'_>> {
        let mut by_address = lock(&self.by_address);
        let count = by_address.entry(address.clone()).or_default();
        if *count == MOST_QUESTIONS_OF_ADDRESS {
            return None;
        }
        *count += 1;
        Some(AddressShare { questions: self, address })
    }
}

impl Drop for AddressShare<'_> {
    fn drop(&mut self) {
        let mut by_address = lock(&self.questions.by_address);
        if let Entry::Occupied(mut count) = by_address.entry(self.address.clone()) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
