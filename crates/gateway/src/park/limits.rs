//! The limits of parked calls.

use std::time::Duration;

/// The limits of a [`ParkingLot`](super::ParkingLot). All are finite.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParkLimits {
    /// How long a caller may take to answer one round. Then its call is cancelled.
    pub question_timeout: Duration,
    /// How often one call may ask. Later questions are refused.
    pub rounds: u32,
    /// Calls that one owner may have parked. Beyond that the oldest is ended, of the peer that has
    /// most.
    pub per_owner: usize,
    /// Calls that all owners may have parked. Questions of more are refused.
    pub in_all: usize,
    /// Questions of one call that are open at the same time.
    pub questions: usize,
    /// How long questions are collected after the first, so that several travel together.
    pub gathering: Duration,
    /// How long the outcome of a round is kept for a caller that sends the same retry again.
    pub outcomes: Duration,
    /// Outcomes that are kept for one owner. Of more, the newest.
    pub outcomes_per_owner: usize,
    /// Bytes of the outcomes that are kept for one owner.
    pub outcome_bytes_per_owner: usize,
    /// Bytes of the outcomes that are kept for all owners. An outcome without room is not kept.
    pub outcome_bytes_in_all: usize,
}

impl Default for ParkLimits {
    fn default() -> Self {
        Self {
            question_timeout: Duration::from_secs(600),
            rounds: 16,
            per_owner: 64,
            in_all: 1024,
            questions: 16,
            gathering: Duration::from_millis(10),
            outcomes: Duration::from_secs(60),
            outcomes_per_owner: 64,
            outcome_bytes_per_owner: 8 << 20,
            outcome_bytes_in_all: 64 << 20,
        }
    }
}
