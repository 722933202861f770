//! Times that lie ahead, also very far.

use std::time::Duration;

use tokio::time::Instant;

/// Longer times count as this one: clocks of some systems cannot count further.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The time that lies this long after `start`.
pub(crate) fn after(start: Instant, time: Duration) -> Instant {
    start + time.min(LONGEST)
}
