//! Refuses the system calls that came after the tables, since they may lead around them.
//!
//! The kernel gives new calls higher numbers. Programs ask older kernels for them too, so they know
//! what to do if a call is missing. Calls of the x32 interface, which shares the filters of x86-64
//! and has numbers of its own for the same calls, have high numbers as well.

use seccompiler::{Error, sock_filter};

/// The last call of Linux 6.18, on all processors (`file_setattr`).
pub(super) const LAST_KNOWN: u32 = 469;

/// Loads the number of the call.
const LOAD: u16 = 0x20;
/// Jumps: one number of instructions if the loaded number is greater, another if not.
const IF_GREATER: u16 = 0x25;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7FFF_0000;
const ERROR: u32 = 0x0005_0000;

/// Calls with higher numbers than this one are missing for the calling thread from now on.
pub(super) fn refuse(last: u32) -> Result<(), Error> {
    let missing = ERROR | libc::ENOSYS.unsigned_abs();
    let program = [
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: IF_GREATER, jt: 1, jf: 0, k: last },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: missing },
    ];
    seccompiler::apply_filter(&program)
}

#[cfg(test)]
mod tests {
    use std::ffi::c_long;
    use std::thread;

    use rustix::io::Errno;
    use rustix::process::{PidfdFlags, getpid, pidfd_open};

    use super::*;

    /// How a call ends in a thread that has no calls after the one with this number.
    fn pidfd_after(last: c_long) -> Result<(), Errno> {
        let attempt = move || {
            refuse(last.try_into().unwrap()).unwrap();
            pidfd_open(getpid(), PidfdFlags::empty()).map(drop)
        };
        thread::spawn(attempt).join().unwrap()
    }

    #[test]
    fn calls_after_the_last_known_one_are_missing() {
        assert_eq!(pidfd_after(libc::SYS_pidfd_open), Ok(()));
        assert_eq!(pidfd_after(libc::SYS_pidfd_open - 1), Err(Errno::NOSYS));
    }
}
