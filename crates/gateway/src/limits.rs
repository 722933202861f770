//! Every count and duration of a gateway, as one value.

use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_proto::limits::long::LongMessages;

use crate::park::ParkLimits;

/// The limits of a gateway. All are finite.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_gateway::GatewayLimits;
///
/// let mut limits = GatewayLimits::default();
/// limits.idle = Duration::from_secs(60);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatewayLimits {
    /// How long a server may be without calls before it is stopped.
    pub idle: Duration,
    /// How long a server may take to start and to answer the first message.
    pub start: Duration,
    /// The longest pause before the second start of a server that failed. It doubles with each
    /// further failure; the pause itself is drawn at random below it.
    pub first_pause: Duration,
    /// The longest pause of all.
    pub longest_pause: Duration,
    /// How long a server must have run for its earlier failures to be forgotten.
    pub healthy: Duration,
    /// How long a list of several servers, or a subscription to their changes, waits for one of them.
    /// The list then leaves the server out, and callers that listen hear of a change once it answers.
    pub patience: Duration,
    /// The same while the server is being started, for a caller that listens to no changes: nothing would
    /// tell it later that the list is complete.
    pub start_patience: Duration,
    /// How long a server may take to answer a list, or to begin to report changes.
    pub list: Duration,
    /// How long a server may take to answer any other call. It need not answer pings meanwhile.
    pub call: Duration,
    /// How long a server may be silent before it is pinged.
    pub silence: Duration,
    /// How long a server without calls may take to answer a ping. It is stopped after that, and
    /// started again by the next call.
    pub ping: Duration,
    /// Processes of one server that the callers of one owner have, if the server asks questions: each
    /// serves one of them at a time. If there are several, all but one may wait for answers; beyond
    /// that the call whose question has waited longest is ended for others. Calls from one address hold
    /// all but one.
    pub process_lanes: usize,
    /// The same for sessions over HTTP.
    pub http_lanes: usize,
    /// Processes or sessions of one server that the callers of one owner have besides, because they
    /// declare different capabilities. Those of one kind share one.
    pub capability_lanes: usize,
    /// How long a call waits for a process or session if others use all that its owner may have.
    pub lane_wait: Duration,
    /// How long a question may wait for its answer while other calls wait for the process or session.
    /// Then its call is ended for them.
    pub unanswered: Duration,
    /// Processes or sessions of one server that the isolated callers of one owner have.
    pub isolated_lanes: usize,
    /// Processes or sessions of one server in all, for all owners and isolated callers.
    pub lanes: usize,
    /// Questions per minute that a process or session may ask all its callers together. Each caller
    /// has its own limit besides.
    pub questions_per_minute: usize,
    /// Questions of a process or session that wait for answers of all its callers together.
    pub open_questions: usize,
    /// Calls that wait for answers of their callers (2026-07-28).
    pub park: ParkLimits,
    /// Bytes of one message of a server, and so of one result that is passed on.
    pub message: usize,
    /// The room for long messages of all servers together, in bytes. Clones of these limits share
    /// it. See [`Limits::long_messages`].
    pub long_messages: LongMessages,
    /// Bytes of the instructions of one server.
    pub instructions: usize,
    /// How often the configuration file is looked at for changes.
    pub reload: Duration,
    /// Whether the `baggage` of callers (W3C, in `_meta`) reaches servers. It may name users, and a
    /// gateway leads out of the organization that wrote it. So it is dropped, unless this is set.
    pub baggage: bool,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(600),
            start: Duration::from_secs(60),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            healthy: Duration::from_secs(60),
            patience: Duration::from_secs(8),
            start_patience: Duration::from_secs(25),
            list: Duration::from_secs(60),
            call: Duration::from_secs(3600),
            silence: Duration::from_secs(30),
            ping: Duration::from_secs(60),
            process_lanes: 8,
            http_lanes: 64,
            capability_lanes: 16,
            lane_wait: Duration::from_secs(30),
            unanswered: Duration::from_secs(60),
            isolated_lanes: 64,
            lanes: 1024,
            questions_per_minute: 10_000,
            open_questions: 1024,
            park: ParkLimits::default(),
            message: Limits::for_client().frame,
            long_messages: Limits::for_client().long_messages,
            instructions: 2048,
            reload: Duration::from_secs(1),
            baggage: false,
        }
    }
}

impl GatewayLimits {
    /// The same limits with longer or shorter messages. The room for long ones grows with them, so
    /// that two of them fit.
    #[must_use]
    pub fn with_message(mut self, bytes: usize) -> Self {
        let mut limits = Limits::default();
        limits.long_messages = self.long_messages;
        let limits = limits.with_frame(bytes);
        (self.message, self.long_messages) = (limits.frame, limits.long_messages);
        self
    }

    /// The same limits for lists of several servers that wait so long for one of them. A list that is
    /// awaited in any case may take as long at least.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self.list = self.list.max(patience);
        self
    }

    /// The limits of a server that passes on what these servers answer.
    pub fn server(&self) -> Limits {
        let mut limits = Limits::default();
        limits.result = self.message;
        limits
    }

    /// The pause before the next start, after this many failures in a row: with full jitter, so that
    /// many gateways do not start a server at the same moment.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        self.pause_of(failures, jitter())
    }

    /// This share of the longest pause after so many failures in a row.
    pub(crate) fn pause_of(&self, failures: u32, share: f64) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
        let longest = self.first_pause.saturating_mul(2u32.saturating_pow(doublings));
        longest.min(self.longest_pause).mul_f64(share)
    }
}

/// A random share, from 0 to 1.
pub(crate) fn jitter() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness the longest pause is still a good one.
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_messages_get_new_room_and_shorter_ones_share_the_old() {
        let limits = GatewayLimits::default();
        let mut share = limits.long_messages.share();
        share.grow(LongMessages::FREE + 1).unwrap();
        let longer = limits.clone().with_message(1 << 30);
        assert_eq!((longer.message, longer.long_messages.bytes()), (1 << 30, 3 << 30));
        assert_eq!(longer.long_messages.held(), 0);
        let shorter = limits.with_message(1 << 20);
        assert_eq!((shorter.message, shorter.long_messages.held()), (1 << 20, 1));
    }

    #[test]
    fn a_pause_is_drawn_below_a_bound_that_doubles_up_to_a_limit() {
        let limits = GatewayLimits::default();
        assert_eq!(limits.pause(0), Duration::ZERO);
        for (failures, bound) in [(1, 500), (2, 1000), (6, 16_000), (7, 30_000), (1000, 30_000)] {
            let bound = Duration::from_millis(bound);
            let pauses: Vec<Duration> = (0..200).map(|_| limits.pause(failures)).collect();
            assert!(pauses.iter().all(|pause| *pause <= bound));
            assert!(pauses.iter().any(|pause| *pause > bound / 2), "{failures}");
            assert!(pauses.iter().any(|pause| *pause < bound / 2), "{failures}");
        }
    }
}
