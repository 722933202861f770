//! The system calls that the kernel refuses the command, because Landlock does not restrict them.
//!
//! A filter (seccomp) refuses to make sockets of all families but those that the user allows.
//! Socket files need that most: a user's bus or a container daemon, which listen on one, start
//! programs outside the sandbox for every client. Three more ways lead around the rules, and are
//! refused always: `io_uring`, which makes sockets without system calls, the requests with which a
//! process types commands into its terminal, and the keyrings of the kernel, which hold secrets of
//! the user but are no files.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule,
};

/// The requests of terminals that insert input or select text: `TIOCSTI` and `TIOCLINUX`.
const TYPING: [u64; 2] = [0x5412, 0x541C];
/// The calls that are refused with all arguments.
const ALWAYS: [c_long; 4] =
    [libc::SYS_io_uring_setup, libc::SYS_add_key, libc::SYS_keyctl, libc::SYS_request_key];
/// The bits of a socket's type; the others are flags.
const SOCKET_TYPE: u64 = 0xF;
/// Marks the calls of the x32 ABI, which share the filter of x86-64.
const X32: i64 = 0x4000_0000;
/// The number of `ioctl` in the x32 ABI. The other calls of the filter keep theirs.
const X32_IOCTL: i64 = 514;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refuses these calls to the calling thread, and to all processes that it starts or becomes.
/// Sockets can be made of these address families only.
///
/// # Errors
///
/// If the kernel has no filters, or the processor is one that the filter does not know.
pub(super) fn refuse(families: &[c_int]) -> Result<(), Error> {
    let rules = rules(families)?;
    let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    // A call of another ABI, such as one of 32 bits, ends the process.
    let processor = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, processor)?;
    seccompiler::apply_filter(&BpfProgram::try_from(filter)?)
}

/// The refused calls. A call is refused if one of its rules matches, or if it has none.
fn rules(families: &[c_int]) -> Result<Rules, BackendError> {
    let others = families.iter().map(|family| condition(0, SeccompCmpOp::Ne, *family));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let sockets = match others.is_empty() {
        true => Vec::new(),
        false => vec![SeccompRule::new(others)?],
    };
    let is_typing =
        |request| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
    let typing = TYPING.map(|request| SeccompRule::new(vec![is_typing(request)?]));
    let mut rules = BTreeMap::from([
        (number(libc::SYS_socket), sockets),
        (number(libc::SYS_ioctl), typing.into_iter().collect::<Result<_, _>>()?),
    ]);
    rules.extend(ALWAYS.map(|call| (number(call), Vec::new())));
    if !families.contains(&libc::AF_UNIX) {
        // A datagram socket of a pair can send to other sockets than its peer. The kernel makes
        // raw ones datagram sockets.
        let is = |kind| condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind);
        let pairs =
            [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| SeccompRule::new(vec![is(kind)?]));
        rules.insert(number(libc::SYS_socketpair), pairs.into_iter().collect::<Result<_, _>>()?);
    }
    if cfg!(target_arch = "x86_64") {
        rules.append(&mut rules.iter().map(|(call, rules)| (x32(*call), rules.clone())).collect());
    }
    Ok(rules)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: c_int,
) -> Result<SeccompCondition, BackendError> {
    let value = u64::from(value.unsigned_abs());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

#[allow(clippy::useless_conversion, reason = "a `c_long` has 32 bits on some systems")]
fn number(call: c_long) -> i64 {
    call.into()
}

/// The number of a call in the x32 ABI.
fn x32(call: i64) -> i64 {
    X32 | if call == number(libc::SYS_ioctl) { X32_IOCTL } else { call }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixStream};
    use std::thread;

    use super::*;

    /// How attempts to use sockets end in a thread that may make those of these families.
    fn attempts(families: &'static [c_int]) -> [Option<std::io::ErrorKind>; 4] {
        let attempts = move || {
            refuse(families).unwrap();
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
        assert_eq!(attempts(&[]), [refused, refused, None, refused]);
        assert_eq!(attempts(&[libc::AF_INET]), [refused, refused, None, None]);
        assert_eq!(attempts(&[libc::AF_UNIX]), [Some(NotFound), None, None, refused]);
        assert_eq!(attempts(&[libc::AF_UNIX, libc::AF_INET]), [Some(NotFound), None, None, None]);
    }

    // spec: LOCAL-6
    #[test]
    fn rings_and_keyrings_are_refused_always() {
        let calls =
            [libc::SYS_io_uring_setup, libc::SYS_add_key, libc::SYS_keyctl, libc::SYS_request_key];
        for families in [&[][..], &[libc::AF_UNIX, libc::AF_INET]] {
            let rules = rules(families).unwrap();
            for call in calls {
                assert_eq!(rules.get(&number(call)), Some(&Vec::new()), "{call}");
            }
        }
    }
}
