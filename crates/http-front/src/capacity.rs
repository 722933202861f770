//! How many connections a listener serves: all together, and those of one address.

use std::time::Duration;

use crate::config::FrontLimits;

/// The bounds of a listener, as far as the process may open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) connections: usize,
    pub(crate) per_address: usize,
    /// How long a client may keep the server waiting while there is no room for another.
    pub(crate) crowded: Duration,
}

impl Capacity {
    pub(crate) fn new(limits: &FrontLimits) -> Self {
        Self::within(limits, open_files())
    }

    /// A quarter of the files is left to handlers and to everything else in the process.
    fn within(limits: &FrontLimits, open_files: usize) -> Self {
        let wanted = limits.connections.max(1);
        let connections = wanted.min(open_files / 4 * 3).max(1);
        let per_address = match limits.connections_per_address {
            any if connections == wanted => any.max(1),
            all if all >= wanted => connections,
            some => some.clamp(1, connections - connections / 4),
        };
        Self { connections, per_address, crowded: limits.crowded }
    }
}

/// The number of files that the process may open.
#[cfg(unix)]
fn open_files() -> usize {
    use nix::sys::resource::{Resource, getrlimit};

    let limit = getrlimit(Resource::RLIMIT_NOFILE).map(|(soft, _)| soft);
    limit.ok().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Elsewhere sockets are not counted as files.
#[cfg(not(unix))]
fn open_files() -> usize {
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_a_quarter_of_the_open_files_to_the_process() {
        let limits = FrontLimits::default();
        let bounds = |connections, per_address| {
            let limits =
                FrontLimits { connections, connections_per_address: per_address, ..limits.clone() };
            [usize::MAX, 1_048_576, 1024, 0].map(|files| {
                let it = Capacity::within(&limits, files);
                (it.connections, it.per_address)
            })
        };
        let (all, of_one) = (limits.connections, limits.connections_per_address);
        assert_eq!(bounds(all, of_one), [(all, of_one), (all, of_one), (768, 576), (1, 1)]);
        // Behind a proxy, all connections come from one address.
        assert_eq!(bounds(all, all), [(all, all), (all, all), (768, 768), (1, 1)]);
        assert_eq!(bounds(8, 7), [(8, 7), (8, 7), (8, 7), (1, 1)]);
        assert_eq!(bounds(all, 2), [(all, 2), (all, 2), (768, 2), (1, 1)]);
    }
}
