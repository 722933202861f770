//! How many files a process that serves over HTTP may open.

/// The number of files that is asked for: enough for all connections of `HttpLimits` and a quarter
/// for everything else. Not more, because programs that the process starts inherit the limit, and
/// some of them close or clear every number below it.
#[cfg(unix)]
const OPEN_FILES: u64 = 65_536;

/// Raises the limit of open files as far as the system lets an ordinary user. Each connection takes
/// a file, and many systems begin with a limit of 1,024. If it cannot be raised, fewer connections are
/// served.
#[cfg(unix)]
pub(crate) fn raise_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let wanted = hard.min(OPEN_FILES);
        if soft < wanted {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
        }
    }
}

/// Elsewhere sockets are not counted as files.
#[cfg(not(unix))]
pub(crate) fn raise_limit() {}
