//! The slots that calls and subscriptions hold while they run.
//!
//! A slot is taken before a call starts and returned when its [`Places`] is dropped, in whatever
//! way the call ends: answered, cancelled, cut off by the server, or panicked. There is no other
//! way to return one, so no path can forget it.

use std::sync::Arc;

use bowline_proto::admission;
use bowline_proto::frame::Frame;
use bowline_types::error::ErrorObject;
use bowline_types::text::counted;

use super::callers::{Caller, too_many};
use super::core::Core;
use super::slots::Slots;

/// Slots of calls, or of one subscription: each counts once for the endpoint and once for its caller.
/// Dropping it returns them.
///
/// A modern call holds its own. In a session, the use of the session by a POST holds the slot of its
/// request, and passes it on to the task that drives the call to its end. The slots of a batch, of a
/// notification, and of every call in the transport of 2024-11-05 are held by the session until
/// their calls have ended: a POST may be answered before.
pub(super) struct Places {
    core: Arc<Core>,
    caller: Caller,
    kind: Kind,
    count: usize,
}

/// What holds the slots.
#[derive(Clone, Copy)]
enum Kind {
    /// A handler runs: bounded by `HttpLimits::calls` and `calls_per_caller`.
    Call,
    /// A stream waits for changes: bounded by `HttpLimits::streams` and `Limits::subscriptions`.
    Subscription,
}

impl Places {
    /// Takes slots for the calls of a frame, if it holds any.
    ///
    /// # Errors
    ///
    /// If the caller or the endpoint has too few free slots. Then none is taken.
    pub(super) fn of_frame(
        core: &Arc<Core>,
        caller: &Caller,
        frame: &Frame,
    ) -> Result<Option<Self>, ErrorObject> {
        match frame.calls() {
            0 => Ok(None),
            calls => Self::of_calls(core, caller, calls).map(Some),
        }
    }

    /// Takes slots for so many calls.
    ///
    /// # Errors
    ///
    /// If the caller or the endpoint has too few free slots. Then none is taken.
    pub(super) fn of_calls(
        core: &Arc<Core>,
        caller: &Caller,
        count: usize,
    ) -> Result<Self, ErrorObject> {
        Self::take(core, caller, Kind::Call, count)
    }

    /// Takes the slot of one subscription.
    ///
    /// # Errors
    ///
    /// If the caller or the endpoint has no free slot.
    pub(super) fn of_subscription(core: &Arc<Core>, caller: &Caller) -> Result<Self, ErrorObject> {
        Self::take(core, caller, Kind::Subscription, 1)
    }

    /// The slots of the caller are taken first: a caller above its own bound must not take a slot
    /// of the endpoint from others, not even for a moment.
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
    /// The slots of a caller, and those of the endpoint. Subscriptions only wait, so they have
    /// slots of their own and keep no call out.
    fn slots<'a>(self, core: &'a Core, caller: &'a Caller) -> (&'a Slots, &'a Slots) {
        match self {
            Self::Call => (caller.calls(), &core.calls),
            Self::Subscription => (caller.subscriptions(), &core.streams),
        }
    }

    /// Answered 429 for calls: this caller alone has too many.
    #[cold]
    fn too_many_of_caller(self, core: &Core) -> ErrorObject {
        match self {
            Self::Call => {
                let most = counted(core.limits().calls_per_caller, "call");
                too_many(&format!("{most} of one caller"))
            }
            // Without a time to retry after: only the client can end one of its subscriptions.
            Self::Subscription => admission::too_many_subscriptions(core.server.limits()),
        }
    }

    /// Answered 503: the endpoint is full, for every caller.
    #[cold]
    fn too_many(self) -> ErrorObject {
        ErrorObject::unavailable(match self {
            Self::Call => "too many calls run at the same time; try again",
            Self::Subscription => "too many subscriptions are open; try again",
        })
    }
}
