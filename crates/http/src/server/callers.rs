//! What is counted of each caller: the pace of its requests, its calls, its subscriptions, and the
//! bytes of its bodies.
//!
//! A caller is an identity with verified credentials, or else an address.
//!
//! The counters of a caller last longer than its connections, so a client gains nothing by
//! reconnecting. The table has room for [`HttpLimits::callers`]; all further callers share one set
//! of counters. A flood of addresses can therefore slow down other newcomers, but none of the
//! callers that are known, and it cannot fill the memory.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bowline_proto::admission;
use bowline_proto::callers::{self, CallerId, Count};
use bowline_proto::limits::Limits;
use bowline_proto::pace::Pace;
use bowline_proto::rate_share::RateShare;
use bowline_proto::sync::lock;
use bowline_types::error::{ErrorObject, TooManyRequests, code};

use super::clock::now;
use super::limits::HttpLimits;
use super::slots::Slots;

/// Bodies are counted in units of this many bytes, so that a count fits into a semaphore.
pub(super) const BODY_UNIT: usize = 1024;

/// The units that so many bytes of a body take.
pub(super) fn body_units(bytes: usize) -> usize {
    bytes.div_ceil(BODY_UNIT)
}

/// When to try again for a slot that is taken.
const RETRY: TooManyRequests = TooManyRequests { retry_after_ms: 1000 };

/// The callers of an endpoint. The endpoint has one. Connections and calls hold clones of a
/// [`Caller`] out of it.
pub(super) struct Callers {
    table: Mutex<callers::Callers<Caller>>,
    /// Stands for all callers beyond [`HttpLimits::callers`].
    newcomers: Caller,
    /// The bounds that every new caller gets.
    limits: CallerLimits,
}

/// The bounds of one caller.
#[derive(Clone, Copy)]
struct CallerLimits {
    requests_per_minute: usize,
    calls: usize,
    /// Open `subscriptions/listen`.
    subscriptions: usize,
    body_units: usize,
}

impl Callers {
    /// An empty table. The bounds of one caller come from both sets of limits.
    pub(super) fn new(message: &Limits, http: &HttpLimits) -> Self {
        let limits = CallerLimits {
            requests_per_minute: message.requests_per_minute,
            calls: http.calls_per_caller,
            subscriptions: message.subscriptions,
            body_units: body_units(http.bodies_per_caller),
        };
        let newcomers = Caller::new(limits);
        let table = Mutex::new(callers::Callers::new(http.callers, newcomers.clone()));
        Self { table, newcomers, limits }
    }

    /// The counters of a caller, new ones if it is not known yet. If the table is full of callers
    /// that may not be forgotten yet, the counters that all newcomers share.
    pub(super) fn find(&self, id: CallerId) -> Caller {
        let mut table = lock(&self.table);
        table.count(id, now(), || Caller::new(self.limits)).clone()
    }

    /// Whether a caller was counted together with others because the table was full. The table may
    /// have room for it now.
    pub(super) fn is_newcomer(&self, caller: &Caller) -> bool {
        *caller == self.newcomers
    }
}

/// The refusal of something of which a caller has too many, with the time to retry after. `most`
/// says how many it may have of what: "4 calls of one caller".
#[cold]
pub(super) fn too_many(most: &str) -> ErrorObject {
    let message = format!("no more than {most} at a time; try again");
    ErrorObject::new(code::TOO_MANY_REQUESTS, message).with_data(&RETRY)
}

/// One caller, or all that the table has no room for. Cheap to clone; all clones count together.
#[derive(Clone)]
pub(super) struct Caller(Arc<Counts>);

/// All are atomic, except for the pace, a token bucket behind a lock.
struct Counts {
    pace: Mutex<Pace>,
    calls: Slots,
    subscriptions: Slots,
    body_units: Slots,
}

impl Caller {
    fn new(limits: CallerLimits) -> Self {
        Self(Arc::new(Counts {
            pace: Mutex::new(Pace::per_minute(limits.requests_per_minute)),
            calls: Slots::new(limits.calls),
            subscriptions: Slots::new(limits.subscriptions),
            body_units: Slots::new(limits.body_units),
        }))
    }

    /// Counts the requests of one message. With a share, this endpoint grants a part of the pace.
    ///
    /// # Errors
    ///
    /// If they come too soon after the others. Then none of them is counted.
    pub(super) fn hold_pace(
        &self,
        requests: usize,
        limits: &Limits,
        share: Option<&RateShare>,
    ) -> Result<(), ErrorObject> {
        if requests == 0 {
            return Ok(());
        }
        let mut pace = lock(&self.0.pace);
        if let Some(share) = share {
            pace.set_most(share.of(limits.requests_per_minute));
        }
        admission::hold_pace(&mut pace, requests, limits, now())
    }

    /// The slots of its calls.
    pub(super) fn calls(&self) -> &Slots {
        &self.0.calls
    }

    /// The slots of its subscriptions.
    pub(super) fn subscriptions(&self) -> &Slots {
        &self.0.subscriptions
    }

    /// Counts the body of a request until the guard is dropped. `None` if the other bodies of this
    /// caller leave no room for it.
    ///
    /// Called once a long body has arrived completely; the bytes that are still arriving count only
    /// for the endpoint as a whole (see `bodies`).
    pub(super) fn hold_body(&self, units: usize) -> Option<HeldBody> {
        self.0.body_units.take(units).then(|| HeldBody { caller: self.clone(), units })
    }
}

/// The room that the body of a request takes of its caller's. Dropping it returns the room.
pub(super) struct HeldBody {
    caller: Caller,
    units: usize,
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        self.caller.0.body_units.give_back(self.units);
    }
}

/// Two callers are the same if they share their counters. So all newcomers are one caller.
impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Caller {}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl Count for Caller {
    /// The table may forget a caller that has no connection and no call under way: both hold a
    /// clone. Forgotten earlier, the caller would get a second set of slots.
    fn is_spent(&self, now: Instant) -> bool {
        let pace = lock(&self.0.pace);
        Arc::strong_count(&self.0) == 1 && pace.is_spent(now)
    }
}
