//! What is counted of each caller: how often it asks, its calls, and its subscriptions.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bowline_proto::callers::{self, CallerId, Count};
use bowline_proto::limits::Limits;
use bowline_proto::pace::Pace;
use bowline_types::error::{ErrorObject, TooManyRequests, code};
use bowline_types::text::counted;

use super::bodies;
use super::endpoint::Core;
use super::limits::HttpLimits;
use super::now;

/// When to try again for a place that is taken.
const RETRY: TooManyRequests = TooManyRequests { retry_after_ms: 1000 };

/// The callers of an endpoint.
pub(super) struct Callers {
    table: Mutex<callers::Callers<Caller>>,
    /// Those that are too many to be told apart.
    newcomers: Caller,
    limits: CallerLimits,
}

/// The bounds of one caller.
#[derive(Clone, Copy)]
struct CallerLimits {
    requests_per_minute: usize,
    calls: usize,
    subscriptions: usize,
    body_units: usize,
}

impl Callers {
    pub(super) fn new(message: &Limits, http: &HttpLimits) -> Self {
        let limits = CallerLimits {
            requests_per_minute: message.requests_per_minute,
            calls: http.calls_per_caller,
            subscriptions: message.subscriptions,
            body_units: bodies::units(http.bodies_per_caller),
        };
        let newcomers = Caller::new(limits);
        let table = Mutex::new(callers::Callers::new(http.callers, newcomers.clone()));
        Self { table, newcomers, limits }
    }

    /// What is counted of a caller.
    pub(super) fn find(&self, id: CallerId) -> Caller {
        // Nothing that runs under the lock can panic half-way, so a poisoned table is a good one.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.count(id, now(), || Caller::new(self.limits)).clone()
    }

    /// Whether a caller was not told from others when it came. There may be room for it now.
    pub(super) fn is_newcomer(&self, caller: &Caller) -> bool {
        *caller == self.newcomers
    }
}

/// The refusal of something of which a caller has too many; with time there may be fewer.
#[cold]
pub(super) fn too_many(most: &str) -> ErrorObject {
    let message = format!("no more than {most} at a time; try again");
    ErrorObject::new(code::TOO_MANY_REQUESTS, message).with_data(&RETRY)
}

/// One caller, or all that are too many to be told apart. Cheap to clone; all clones count together.
#[derive(Clone)]
pub(super) struct Caller(Arc<Counts>);

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

    /// Counts requests that come together.
    ///
    /// # Errors
    ///
    /// If they come too soon after the others: none of them is counted then.
    pub(super) fn hold_pace(&self, requests: usize, limits: &Limits) -> Result<(), ErrorObject> {
        if requests == 0 {
            return Ok(());
        }
        let now = now();
        let mut pace = self.0.pace.lock().unwrap_or_else(PoisonError::into_inner);
        match pace.admits(requests, now) {
            true => Ok(()),
            false => Err(limits.too_many_requests(pace.wait_for(requests, now))),
        }
    }
}

impl Caller {
    /// Counts the body of a request until the request is answered; none if there is no room for it
    /// beside the other requests of the caller.
    pub(super) fn hold_body(&self, units: usize) -> Option<HeldBody> {
        self.0.body_units.take(units).then(|| HeldBody { caller: self.clone(), units })
    }
}

/// What the body of a request takes of its caller's room; given back when it is dropped.
pub(super) struct HeldBody {
    caller: Caller,
    units: usize,
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        self.caller.0.body_units.give_back(self.units);
    }
}

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
    /// A caller that is connected or has a call under way is not forgotten: it would be counted anew.
    fn is_spent(&self, now: Instant) -> bool {
        let pace = self.0.pace.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::strong_count(&self.0) == 1 && pace.is_spent(now)
    }
}

/// How many of something there may be at the same time.
pub(super) struct Slots {
    taken: AtomicUsize,
    most: usize,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// Takes so many, if they are free; the taker has to give them back.
    fn take(&self, count: usize) -> bool {
        let before = self.taken.fetch_add(count, Ordering::Relaxed);
        let is_free = before + count <= self.most;
        if !is_free {
            self.give_back(count);
        }
        is_free
    }

    fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }
}

/// Places of calls, or the place of a subscription, among those of the endpoint and among those of
/// their caller. Given back when it is dropped.
pub(super) struct Places {
    core: Arc<Core>,
    caller: Caller,
    kind: Kind,
    count: usize,
}

/// What has a place.
#[derive(Clone, Copy)]
enum Kind {
    Call,
    Subscription,
}

impl Places {
    /// Takes places for so many calls.
    ///
    /// # Errors
    ///
    /// If so many are not free, for the caller or for anybody.
    pub(super) fn of_calls(
        core: &Arc<Core>,
        caller: &Caller,
        count: usize,
    ) -> Result<Self, ErrorObject> {
        Self::take(core, caller, Kind::Call, count)
    }

    /// Takes the place of a subscription.
    ///
    /// # Errors
    ///
    /// If none is free, for the caller or for anybody.
    pub(super) fn of_subscription(core: &Arc<Core>, caller: &Caller) -> Result<Self, ErrorObject> {
        Self::take(core, caller, Kind::Subscription, 1)
    }

    fn take(
        core: &Arc<Core>,
        caller: &Caller,
        kind: Kind,
        count: usize,
    ) -> Result<Self, ErrorObject> {
        let (of_caller, of_all) = kind.slots(core, caller);
        if !of_caller.take(count) {
            return Err(kind.too_many_of_caller(core));
        }
        if !of_all.take(count) {
            of_caller.give_back(count);
            return Err(kind.too_many());
        }
        Ok(Self { core: core.clone(), caller: caller.clone(), kind, count })
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let (of_caller, of_all) = self.kind.slots(&self.core, &self.caller);
        of_caller.give_back(self.count);
        of_all.give_back(self.count);
    }
}

impl Kind {
    /// The places of a caller, and those of all together.
    fn slots<'a>(self, core: &'a Core, caller: &'a Caller) -> (&'a Slots, &'a Slots) {
        match self {
            Self::Call => (&caller.0.calls, &core.calls),
            Self::Subscription => (&caller.0.subscriptions, &core.streams),
        }
    }

    #[cold]
    fn too_many_of_caller(self, core: &Core) -> ErrorObject {
        match self {
            Self::Call => {
                let most = counted(core.limits().calls_per_caller, "call");
                too_many(&format!("{most} of one caller"))
            }
            // It is for the client to end one, and no time that passes does.
            Self::Subscription => core.server.limits().too_many_subscriptions(),
        }
    }

    #[cold]
    fn too_many(self) -> ErrorObject {
        ErrorObject::unavailable(match self {
            Self::Call => "too many calls run at the same time; try again",
            Self::Subscription => "too many subscriptions are open; try again",
        })
    }
}
