//! The events that the driver reports to the table of lanes, and the actions that the table answers with.

use std::time::{Duration, Instant};

use bowline_proto::callers::CallerId;
use bowline_types::capability::ClientCapabilities;

use crate::lanes::key::LaneCaller;
use crate::unavailable::Unavailable;

/// What the driver reports. Jitter is a random share, from 0 to 1, of the pause after a failure.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is handled where it is made")]
pub(in crate::lanes) enum Event<C> {
    /// A caller needs a lane.
    Take(UseId, Wanted),
    /// A caller needs the connection of a lane.
    Connect(UseId, LaneId, Start),
    /// A caller needs its connection, but not the lane any more.
    Share(UseId),
    /// A caller has left, whatever it waited for or used.
    Leave(UseId),
    /// The server asks the caller of a call. The question has this number, the caller this address.
    Asked(u64, UseId, Option<CallerId>),
    /// A question was answered, or is over.
    Answered(u64),
    /// The server asks questions.
    Asks,
    /// A connection is open. Does it state the capabilities of callers in each request?
    Started { lane: LaneId, link: Link<C>, states_capabilities: bool },
    /// A connection could not be opened.
    NotStarted { lane: LaneId, problem: Unavailable, jitter: f64 },
    /// A connection ended by itself.
    Died { lane: LaneId, jitter: f64 },
    /// A connection or a start that was to end has ended.
    Ended,
    /// Another table takes over: calls that run may end.
    Retire,
    /// All ends.
    Close,
    /// The deadline of the table has come.
    Tick,
}

/// What the driver does.
#[derive(Clone, Debug)]
pub(in crate::lanes) enum Action<C> {
    Give(UseId, Result<Given, NoLane>),
    Connect(UseId, Result<Link<C>, Problem<C>>),
    /// Opens a connection that declares this, within this time.
    Dial(LaneId, ClientCapabilities, Duration),
    /// Ends a start; reports when it has ended.
    Abort(LaneId),
    /// Closes a connection; reports when it has ended.
    Close(C),
    /// Ends a call for others that need its lane.
    Recall(UseId),
}

/// Identifies the use of a lane by one call, or by a caller that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::lanes) struct UseId(pub(in crate::lanes) u64);

/// The lane that a call or a subscription needs.
#[derive(Clone, Debug)]
pub(in crate::lanes) struct Wanted {
    pub(in crate::lanes) caller: LaneCaller,
    pub(in crate::lanes) purpose: LanePurpose,
    /// The connection that alone can serve the call, if it still runs.
    pub(in crate::lanes) connection: Option<u64>,
    /// How long it waits while others hold all lanes. `None` if it does not wait.
    pub(in crate::lanes) until: Option<Instant>,
}

/// What a lane is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lanes) enum LanePurpose {
    /// A call: if the server may ask its caller, no other asker uses the lane meanwhile.
    Call,
    /// A subscription to resources: the server is started if it does not run.
    Start,
    /// A subscription to lists: it waits until a call starts the server.
    Wait,
    /// The same for a caller that listened on another lane before. No lane is closed for it: two such
    /// callers would close each other's lanes without end.
    Move,
}

/// A lane that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lanes) struct Given {
    pub(in crate::lanes) lane: LaneId,
    /// Whether it is held for the asker.
    pub(in crate::lanes) holds: bool,
}

/// Why there is no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lanes) enum NoLane {
    /// Other askers hold all lanes that the owner may have.
    Held,
    /// Calls from the same address hold all lanes that are not left to others.
    HeldByPeer,
    /// Too many lanes are open.
    Full,
    /// The server was stopped for good.
    Closed,
}

/// When a caller that waits for the connection of a lane has the server started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lanes) enum Start {
    /// At once; fails in the pause after a failure.
    Now,
    /// As soon as the limits and the pause after a failure allow it.
    WhenAllowed,
    /// Not at all: another caller does.
    Never,
}

/// Identifies a lane; no other lane of the process that is used later has its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::lanes) struct LaneId(pub(in crate::lanes) u64);

/// An open connection.
#[derive(Clone, Debug)]
pub(in crate::lanes) struct Link<C> {
    /// The number of the connection, which no other connection of the process has.
    pub(in crate::lanes) number: u64,
    pub(in crate::lanes) connection: C,
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(in crate::lanes) enum Problem<C> {
    NotStarted(Unavailable),
    /// The last connection ended by itself; it knows more.
    Ended(C),
}

/// A time; far off if it is too late for one.
pub(in crate::lanes) fn later(now: Instant, wait: Duration) -> Instant {
    const FAR_OFF: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(wait).unwrap_or_else(|| now + FAR_OFF)
}
