//! The session's own subscription: a call to the service that reports every change the client may
//! want to hear of.
//!
//! It stays with the session as a parked future. The stream that listens polls it in place, so a
//! stream that is never polled again cannot keep it from the next one.

use bowline_proto::request::{ExchangeId, Response as Outcome};
use bowline_transport::BoxFuture;

/// The state of the subscription.
#[derive(Default)]
pub(super) enum Subscription {
    /// Not begun, or ended by the service.
    #[default]
    None,
    /// Waits until a listener polls it.
    Parked(Parked),
    /// A listener polls it at this moment.
    Polled {
        /// Whether another listener wanted to poll it meanwhile, and has to be woken.
        is_missed: bool,
    },
}

/// The future of a subscription that no listener polls at this moment.
pub(super) struct Parked {
    /// Its exchange in the state machine.
    pub(super) number: ExchangeId,
    pub(super) call: BoxFuture<Outcome>,
}

impl Subscription {
    /// Takes the future out to poll it. `None` if there is none, or another listener polls it.
    pub(super) fn take(&mut self) -> Option<Parked> {
        match std::mem::take(self) {
            Self::None => None,
            Self::Parked(parked) => {
                *self = Self::Polled { is_missed: false };
                Some(parked)
            }
            Self::Polled { .. } => {
                *self = Self::Polled { is_missed: true };
                None
            }
        }
    }

    /// Puts the future back. Returns whether a listener has to be woken to poll it. True also for
    /// the first one, since a listener may be waiting for it already.
    pub(super) fn park(&mut self, parked: Parked) -> bool {
        let before = std::mem::replace(self, Self::Parked(parked));
        !matches!(before, Self::Polled { is_missed: false })
    }
}
