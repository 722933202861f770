//! Times as records hold them.

use std::time::{SystemTime, UNIX_EPOCH};

pub(super) use bowline_types::time::iso;

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
