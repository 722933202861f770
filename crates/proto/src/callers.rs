//! Identifies callers for rate limits, in a table that stays bounded however many callers come.
//!
//! One caller may have many connections, and many callers may share one address behind a proxy. So
//! the identity that is counted is chosen by what can be verified, and the table is bounded: a peer
//! with many addresses must not make the server remember all of them.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use crate::pace::Pace;
use crate::request::{ConnectionId, Owner, Peer};

/// The caller that requests are counted for: the owner of a verified credential, or else an
/// address, or else a connection. Never something that a client claims about itself. The transport
/// chooses it: HTTP by credential or address, other channels by connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerId {
    /// The owner that a verified credential names.
    Known(Owner),
    /// An IPv4 address, or the first 64 bits of an IPv6 address, because providers give each
    /// customer a whole /64 network.
    Network(IpAddr),
    /// A connection, where neither credential nor address is known.
    Connection(ConnectionId),
}

impl CallerId {
    /// The caller that a verified credential names, if there is one.
    pub fn known(owner: &Owner) -> Option<Self> {
        owner.identity().map(|_| Self::Known(owner.clone()))
    }

    /// Whether this caller can send no more requests.
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Known(_) | Self::Network(_) => false,
            Self::Connection(connection) => connection.is_gone(),
        }
    }
}

impl From<Peer> for CallerId {
    fn from(Peer(address): Peer) -> Self {
        Self::Network(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                Ipv6Addr::from(network).into()
            }
            address => address,
        })
    }
}

/// The counts of one caller. Implemented by [`Pace`], and by the HTTP server for its set of
/// counters.
pub trait Count {
    /// Whether the counts equal those of a new caller, so that they can be dropped.
    fn is_spent(&self, now: Instant) -> bool;
}

impl Count for Pace {
    fn is_spent(&self, now: Instant) -> bool {
        self.is_full(now)
    }
}

/// The shortest time between two searches for callers that can be dropped. A search visits every
/// caller, so a peer with many addresses must not cause one per request.
const PAUSE: Duration = Duration::from_secs(1);

/// The counts of each caller. The hash function is seeded, so that callers cannot choose colliding
/// keys. Never shrinks by time alone: callers are dropped only when the table is full and a new one
/// comes.
#[derive(Debug)]
pub struct Callers<C> {
    by_id: HashMap<CallerId, C>,
    most: usize,
    /// Shared by the callers that came when the table was full.
    newcomers: C,
    /// When the table was last searched for callers that can be dropped.
    looked: Option<Instant>,
}

impl<C: Count> Callers<C> {
    /// A table for `most` callers. All further callers share the counts of `newcomers`, so that
    /// many callers can exceed neither the memory nor a limit.
    pub fn new(most: usize, newcomers: C) -> Self {
        Self { by_id: HashMap::new(), most, newcomers, looked: None }
    }

    /// The counts of a caller. `new` makes the counts of a new caller. If the table is full even
    /// after a search, these are the counts that all newcomers share.
    pub fn count(&mut self, id: CallerId, now: Instant, new: impl FnOnce() -> C) -> &mut C {
        if !self.by_id.contains_key(&id) {
            if self.is_full() {
                self.forget(now);
            }
            if self.is_full() {
                return &mut self.newcomers;
            }
        }
        self.by_id.entry(id).or_insert_with(new)
    }

    /// How many callers have counts of their own.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether no caller has counts of its own.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Drops callers whose counts equal those of a new caller.
    fn forget(&mut self, now: Instant) {
        let is_due = |looked| now.saturating_duration_since(looked) >= PAUSE;
        if self.looked.is_none_or(is_due) {
            self.looked = Some(now);
            self.by_id.retain(|id, count| !id.is_gone() && !count.is_spent(now));
        }
    }

    fn is_full(&self) -> bool {
        self.by_id.len() >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Outbox;

    const MOST: usize = 100;

    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn start() -> Instant {
        Instant::now()
    }

    fn callers() -> Callers<Pace> {
        Callers::new(MOST, Pace::per_minute(1))
    }

    fn known(number: usize) -> CallerId {
        CallerId::Known(Owner::known("issuer", number.to_string()))
    }

    fn admits(callers: &mut Callers<Pace>, id: CallerId, now: Instant) -> bool {
        callers.count(id, now, || Pace::per_minute(1)).admits(1, now)
    }

    #[test]
    fn callers_beyond_the_limit_are_counted_together() {
        let (mut callers, now) = (callers(), start());
        for number in 0..MOST {
            assert!(admits(&mut callers, known(number), now));
        }
        assert!(admits(&mut callers, known(MOST), now));
        assert!(!admits(&mut callers, known(MOST + 1), now), "the one before counted for it");
        assert!(!admits(&mut callers, known(0), now));
        assert_eq!(callers.len(), MOST);
        // A caller that has not called for long is dropped.
        let later = now + Duration::from_secs(60);
        assert!(admits(&mut callers, known(MOST + 1), later));
        assert_eq!(callers.len(), 1);
    }

    #[test]
    fn a_full_table_is_searched_once_a_second() {
        let (mut callers, now) = (callers(), start());
        (0..MOST).for_each(|number| assert!(admits(&mut callers, known(number), now)));
        // Searched now without success; all callers can be dropped a minute later.
        admits(&mut callers, known(MOST), now + Duration::from_millis(59_500));
        let almost = now + Duration::from_millis(60_400);
        admits(&mut callers, known(MOST), almost);
        assert_eq!(callers.len(), MOST);
        admits(&mut callers, known(MOST), almost + Duration::from_millis(100));
        assert_eq!(callers.len(), 1);
    }

    #[test]
    fn a_closed_connection_is_dropped() {
        let (mut callers, now) = (callers(), start());
        let outbox = Outbox::closed();
        let gone = CallerId::Connection(outbox.connection());
        assert!(admits(&mut callers, gone.clone(), now));
        assert!(!gone.is_gone());
        drop(outbox);
        assert!(gone.is_gone());
        (1..MOST).for_each(|number| assert!(admits(&mut callers, known(number), now)));
        assert!(admits(&mut callers, known(0), now));
        assert!(!admits(&mut callers, known(0), now), "it has a pace of its own");
        assert_eq!(callers.len(), MOST);
    }

    #[test]
    fn all_addresses_of_one_network_are_one_caller() {
        let id = |address: &str| CallerId::from(Peer(address.parse().unwrap()));
        assert_eq!(id("2001:db8:1:2::1"), id("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(id("2001:db8:1:2::1"), id("2001:db8:1:3::1"));
        assert_ne!(id("192.0.2.1"), id("192.0.2.2"));
        // A dual-stack socket shows IPv4 addresses in this form.
        assert_eq!(id("::ffff:192.0.2.1"), id("192.0.2.1"));
        assert_ne!(id("::ffff:192.0.2.1"), id("::ffff:192.0.2.2"));
    }
}
