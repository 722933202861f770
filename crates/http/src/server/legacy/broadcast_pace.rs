//! How much of what a client sends one copy of its session may pass on to the other copies.
//!
//! Every endpoint that shares the store reads what one publishes, so one client could keep all of them
//! busy.

use std::time::Instant;

use bowline_proto::pace::Pace;
use bowline_types::error::ErrorObject;

/// How much one copy of a session passes on per minute, in MiB. Enough for four answers of the usual
/// longest length ([`Limits::frame`]).
///
/// [`Limits::frame`]: bowline_proto::limits::Limits::frame
const MIB_PER_MINUTE: usize = 16;

/// A message counts as at least this many bytes, because a short one costs each endpoint time too.
const UNIT: usize = 4 * 1024;

/// The most units per minute, and so the most messages.
const UNITS_PER_MINUTE: usize = MIB_PER_MINUTE * 1024 * 1024 / UNIT;

/// The pace of the messages of a client that one copy of its session passes on, in units of [`UNIT`].
pub(super) fn new() -> Pace {
    Pace::per_minute(UNITS_PER_MINUTE)
}

/// Counts a message of so many bytes that is to be passed on.
///
/// # Errors
///
/// If it comes too soon after the others. Then it is not counted.
pub(super) fn hold(pace: &mut Pace, bytes: usize, now: Instant) -> Result<(), ErrorObject> {
    // A server may take longer messages than a minute admits. One of them takes the whole minute.
    let units = bytes.div_ceil(UNIT).clamp(1, UNITS_PER_MINUTE);
    if pace.admits(units, now) {
        return Ok(());
    }
    let reason = format!(
        "the session takes no more than {MIB_PER_MINUTE} MiB per minute of answers, progress and \
         cancellations for calls that run at other endpoints; wait"
    );
    Err(ErrorObject::too_many_requests(reason, pace.wait_for(units, now)))
}
