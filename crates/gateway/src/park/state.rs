//! What a caller carries between two rounds of a call, sealed.

use serde::{Deserialize, Serialize};

/// The name of a parked call: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ParkId([u8; 16]);

impl ParkId {
    /// A name that no other call has.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        Ok(Self(id))
    }
}

/// What `requestState` holds for the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// A call that is parked.
    Parked {
        /// The process that has it.
        replica: u64,
        id: ParkId,
        /// The round that its questions belong to, from 1. The state counts for this round only.
        round: u32,
    },
    /// The state of a modern upstream, if it gave one.
    Passed(Option<String>),
}
