//! The questions to the authorization server that are under way, bounded in all and for one address.
//!
//! Each unknown token is a question, and a caller can make up as many tokens as it likes. So an
//! address may have no more than a part of the questions, and its further tokens wait in a queue of
//! their own. The questions of all addresses take their turns in the order in which they came. Tokens
//! that were accepted before, which no caller can make up, have permits of their own.
//!
//! Callers behind one proxy share its address, and with it the queue: while one of them sends more
//! made-up tokens than the authorization server can answer, new tokens of the others are refused. A
//! proxy that limits the requests of each caller prevents that. Callers without an address, such as
//! those of a Unix socket, share the queue of all addresses.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::callers::CallerId;
use bowline_proto::request::Peer;
use bowline_proto::sync::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The most questions about unknown tokens at a time, and the most about tokens that were accepted
/// before. So a flood of wrong tokens does not become a flood of questions.
pub const MOST_QUESTIONS: usize = 64;
/// The most questions about unknown tokens that one address may have. Fewer than
/// [`MOST_QUESTIONS`], so that no address can take all; yet many, since all callers behind one proxy
/// have its address. Further tokens wait.
pub const MOST_QUESTIONS_OF_ADDRESS: usize = 48;
/// The most unknown tokens of one address that are asked about or wait for it. Further ones are
/// answered with 503 at once.
pub const MOST_TOKENS_OF_ADDRESS: usize = 1024;
/// How long a token waits until it can be asked about. Then it is answered with 503.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What may be asked at the same time.
pub(super) struct Questions {
    unknown: Semaphore,
    known: Semaphore,
    by_address: Mutex<HashMap<CallerId, Address>>,
}

/// The questions of an address.
struct Address {
    /// How many there are, waiting ones included.
    count: usize,
    places: Arc<Semaphore>,
}

/// A question that may be asked. It is over when this is dropped.
pub(super) struct QuestionPermit<'a> {
    _place: SemaphorePermit<'a>,
    _share: Option<(OwnedSemaphorePermit, AddressShare<'a>)>,
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

    /// Waits until an unknown token can be asked about. `None` if too many tokens of its address
    /// wait, or if it takes too long.
    pub(super) async fn about_unknown(&self, from: Option<Peer>) -> Option<QuestionPermit<'_>> {
        let turn = async {
            let share = match from {
                Some(peer) => {
                    let (places, share) = self.share(peer.into())?;
                    Some((places.acquire_owned().await.ok()?, share))
                }
                None => None,
            };
            let place = self.unknown.acquire().await.ok()?;
            Some(QuestionPermit { _place: place, _share: share })
        };
        timeout(LONGEST_WAIT, turn).await.ok()?
    }

    /// Counts a token of an address, and returns the places for its questions.
    fn share(&self, address: CallerId) -> Option<(Arc<Semaphore>, AddressShare<'_>)> {
        let mut by_address = lock(&self.by_address);
        let Address { count, places } = by_address.entry(address.clone()).or_insert_with(|| {
            Address { count: 0, places: Arc::new(Semaphore::new(MOST_QUESTIONS_OF_ADDRESS)) }
        });
        if *count == MOST_TOKENS_OF_ADDRESS {
            return None;
        }
        *count += 1;
        Some((places.clone(), AddressShare { questions: self, address }))
    }
}

impl Drop for AddressShare<'_> {
    fn drop(&mut self) {
        let mut by_address = lock(&self.questions.by_address);
        if let Entry::Occupied(mut address) = by_address.entry(self.address.clone()) {
            address.get_mut().count -= 1;
            if address.get().count == 0 {
                address.remove();
            }
        }
    }
}
