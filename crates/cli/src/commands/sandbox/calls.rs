//! The system calls that the kernel refuses the command, because Landlock does not restrict them.
//!
//! Filters (seccomp) see the numbers that a call is made with, and not the path that it names. So a
//! call that Landlock does not bind to the allowed folders is refused for all files, unless an option
//! allows it for all. `tables` lists the calls; docs/commands/sandbox.md lists what they would do.

mod newer;
mod tables;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule,
};

/// What the options of the user allow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allowed {
    pub(super) network: bool,
    pub(super) unix_sockets: bool,
    /// Mode, owner, times and attributes of open files, also of those that may only be read.
    pub(super) open_metadata: bool,
    /// Mode, owner, times and attributes of files that a path names.
    pub(super) metadata: bool,
    pub(super) watch: bool,
}

/// When a call is refused: always without rules, otherwise if one of them matches.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// The refused calls by the error that they return.
#[derive(Debug, Default)]
struct Refused(BTreeMap<c_int, Calls>);

/// Refuses calls to the calling thread, and to all processes that it starts or becomes.
///
/// # Errors
///
/// If the kernel has no filters, or the processor is one that the filters do not know.
pub(super) fn refuse(allowed: Allowed) -> Result<(), Error> {
    for (error, calls) in tables::refused(allowed)?.0 {
        let refused = SeccompAction::Errno(error.unsigned_abs());
        // A call of another processor's interface, such as one of 32 bits, ends the process.
        let processor = std::env::consts::ARCH.try_into()?;
        let filter = SeccompFilter::new(calls, SeccompAction::Allow, refused, processor)?;
        seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?;
    }
    newer::refuse(newer::LAST_KNOWN)
}

impl Refused {
    /// Refuses these calls with all arguments.
    fn always(&mut self, error: c_int, calls: &[c_long]) {
        let refused = self.0.entry(error).or_default();
        refused.extend(calls.iter().map(|call| (number(*call), Vec::new())));
    }

    /// Refuses a call whose arguments match all conditions of one of these rules.
    fn when<const N: usize>(
        &mut self,
        call: c_long,
        rules: [Vec<SeccompCondition>; N],
    ) -> Result<(), BackendError> {
        let rules = rules.into_iter().map(SeccompRule::new).collect::<Result<Vec<_>, _>>()?;
        self.0.entry(libc::EPERM).or_default().entry(number(call)).or_default().extend(rules);
        Ok(())
    }
}

/// The argument, as a number of 32 bits, is this value.
fn is(argument: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.into())
}

/// The argument, as a number of 32 bits, is another value.
fn is_not(argument: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
}

/// These bits of the argument have this value.
fn has_bits(argument: u8, mask: u32, value: u32) -> Result<SeccompCondition, BackendError> {
    let operator = SeccompCmpOp::MaskedEq(mask.into());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value.into())
}

/// The argument is a pointer that is not null.
fn is_pointer(argument: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

#[allow(clippy::useless_conversion, reason = "a `c_long` has 32 bits on some systems")]
fn number(call: c_long) -> i64 {
    call.into()
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixStream};
    use std::thread;

    use super::*;

    /// How attempts to use sockets end in a thread with these options.
    fn attempts(network: bool, unix_sockets: bool) -> [Option<std::io::ErrorKind>; 4] {
        let attempts = move || {
            refuse(Allowed { network, unix_sockets, ..Allowed::default() }).unwrap();
            [
                UnixStream::connect("/absent").map(drop),
                UnixDatagram::pair().map(drop),
                UnixStream::pair().map(drop),
                UdpSocket::bind("127.0.0.1:0").map(drop),
            ]
        };
        let ended = thread::spawn(attempts).join().unwrap();
        ended.map(|ended| ended.err().map(|error| error.kind()))
    }

    // spec: LOCAL-6
    #[test]
    fn only_sockets_of_allowed_families_are_made() {
        let refused = Some(PermissionDenied);
        assert_eq!(attempts(false, false), [refused, refused, None, refused]);
        assert_eq!(attempts(true, false), [refused, refused, None, None]);
        assert_eq!(attempts(false, true), [Some(NotFound), None, None, refused]);
        assert_eq!(attempts(true, true), [Some(NotFound), None, None, None]);
    }
}
