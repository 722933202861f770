//! How often a caller may call.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use bowline_proto::callers::{CallerId, Callers};
use bowline_proto::pace::Pace;
use bowline_proto::rate_share::RateShare;
use bowline_proto::request::{Parts, Peer, Request, Response};
use bowline_proto::sync::lock;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::text::counted;
use futures_core::future::BoxFuture;

use super::Next;
use super::guard::{CallHead, Guard, guards, sent, subject};
use crate::seal::{Opener, Seal};

/// The most callers that are counted one by one. Further callers are counted together.
const MOST_CALLERS: usize = 10_000;

/// The most states that are remembered until they expire. Beyond that every round counts as a call.
const MOST_SEALS: usize = 65_536;

/// Limits how often each caller may call in a time, all at once or spread out; refuses further calls.
///
/// A [caller](CallerId) is the owner of a verified credential, or else an address, or else a
/// connection. Around a server the limit holds for all of a caller's requests together, around a
/// tool for its calls of that tool. [`Limits::requests_per_minute`] always holds in addition.
///
/// If several processes serve HTTP on one store (`Http::store`), each grants its part of
/// the limit: a third if there are three, and at least one call. So the whole limit holds for callers
/// whose requests a balancer spreads evenly.
///
/// A call that asks the user counts once, also where each round of questions is a request of its own
/// (2026-07-28). A retry is not counted if its state was sealed by this server for this call and was
/// not used before. State of a [mounted](crate::Server::mount) server cannot be checked here, so each
/// round of its calls counts.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_server::layer::RateLimit;
/// use bowline_server::{Server, Tool};
/// use bowline_types::method::Method;
///
/// let search = Tool::new("search", || async { "found" }).layer(RateLimit::per_minute(30));
/// let server = Server::new("api", "1.0.0")
///     .tool(search)
///     .layer(RateLimit::new(10, Duration::from_secs(1)).on([Method::CompletionComplete]));
/// ```
///
/// [`Limits::requests_per_minute`]: bowline_proto::limits::Limits::requests_per_minute
#[derive(Clone, Debug)]
pub struct RateLimit {
    most: usize,
    per: Duration,
    methods: Option<Vec<Method>>,
}

impl RateLimit {
    /// Allows each caller so many calls per period.
    pub fn new(most: usize, per: Duration) -> Self {
        Self { most, per, methods: None }
    }

    /// Allows each caller so many calls per minute.
    pub fn per_minute(most: usize) -> Self {
        Self::new(most, Duration::from_secs(60))
    }

    /// Counts only requests of these methods, and lets all others pass.
    #[must_use]
    pub fn on(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = Some(methods.into_iter().collect());
        self
    }
}

guards!(RateLimit, |limit| Buckets {
    limit: limit.clone(),
    paces: Mutex::new(Callers::new(MOST_CALLERS, Pace::new(limit.most, limit.per))),
    used: Mutex::default(),
});

/// A bucket for each caller.
#[derive(Debug)]
struct Buckets {
    limit: RateLimit,
    paces: Mutex<Callers<Pace>>,
    /// The seals of states that retries have used, until they expire.
    used: Mutex<HashSet<Seal>>,
}

impl Guard for Buckets {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response> {
        match self.check(&request) {
            Ok(()) => Box::pin(next.run(request)),
            Err(refusal) => Box::pin(async move { refusal }),
        }
    }
}

impl Buckets {
    /// Counts a request for its caller.
    ///
    /// # Errors
    ///
    /// Gives the answer to a request over the limit.
    fn check(&self, request: &Request) -> Result<(), Response> {
        let Some(method) = sent(request) else { return Ok(()) };
        if self.limit.methods.as_ref().is_some_and(|methods| !methods.contains(&method)) {
            return Ok(());
        }
        if self.goes_on(request, SystemTime::now()) {
            return Ok(());
        }
        let now = tokio::time::Instant::now().into_std();
        let share = request.parts.extensions.get::<RateShare>();
        let granted = share.map_or(self.limit.most, |share| share.of(self.limit.most));
        self.count(caller(&request.parts), granted, now).map_err(|wait| {
            let RateLimit { most, per, .. } = &self.limit;
            let part = match granted < *most {
                true => format!(", of which this process grants {granted}"),
                false => String::new(),
            };
            let message = format!(
                "{} was called more than {} in {per:?}{part}; try again in {:.1} s",
                subject(request),
                counted(*most, "time"),
                wait.as_secs_f64()
            );
            CallHead::of(request).refuse(ErrorObject::too_many_requests(message, wait))
        })
    }

    /// Whether a request is a retry of a call that was counted.
    fn goes_on(&self, request: &Request, now: SystemTime) -> bool {
        Opener::seal_of(request, now).is_some_and(|seal| self.is_first_use(seal, now))
    }

    /// Whether a state was not used before, as far as is remembered.
    fn is_first_use(&self, seal: Seal, now: SystemTime) -> bool {
        let mut used = lock(&self.used);
        if used.len() >= MOST_SEALS {
            used.retain(|seal| !seal.is_expired(now));
        }
        used.len() < MOST_SEALS && used.insert(seal)
    }

    /// Counts one call, of at most `granted`.
    ///
    /// # Errors
    ///
    /// If there were too many, with the time to wait.
    fn count(&self, caller: CallerId, granted: usize, now: Instant) -> Result<(), Duration> {
        let mut paces = lock(&self.paces);
        let pace = paces.count(caller, now, || Pace::new(granted, self.limit.per));
        pace.set_most(granted);
        if pace.admits(1, now) { Ok(()) } else { Err(pace.wait(now)) }
    }
}

/// Whose calls are counted together.
fn caller(parts: &Parts) -> CallerId {
    let peer = || parts.extensions.get::<Peer>().map(|peer| CallerId::from(*peer));
    CallerId::known(&parts.owner)
        .or_else(peer)
        .unwrap_or_else(|| CallerId::Connection(parts.outbox.connection()))
}
