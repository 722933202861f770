//! Which calls are refused, and when.

use std::ffi::{c_int, c_long};

use seccompiler::BackendError;

use super::{Allowed, Refused, has_bits, is, is_not, is_pointer};

/// Calls that `libc` does not name on all processors. Newer calls have one number on all.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// The mode that opens a file neither for reading nor for writing. Landlock does not check that, and the calls for
/// open files then reach files outside.
const UNCHECKED: u32 = 3;

/// Change the mode, owner, times or flags of a file that a path names.
const METADATA: &[c_long] = &[libc::SYS_fchmodat, FCHMODAT2, libc::SYS_fchownat, FILE_SETATTR];
#[cfg(target_arch = "x86_64")]
const OLD_METADATA: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
/// Change the mode or owner of an open file.
const OPEN_METADATA: &[c_long] = &[libc::SYS_fchmod, libc::SYS_fchown];
/// The requests of `ioctl` that change an open file without writing to it: its flags, in two forms,
/// its version, in two forms, whether it is encrypted or sealed, its format and place in ext4, and its
/// attributes in FAT (`FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`, `FS_IOC_SETVERSION`,
/// `EXT4_IOC_SETVERSION`, `FS_IOC_SET_ENCRYPTION_POLICY`, `FS_IOC_ENABLE_VERITY`, `EXT4_IOC_MIGRATE`,
/// `EXT4_IOC_SETRSVSZ`, `FAT_IOCTL_SET_ATTRIBUTES`).
const OPEN_FLAGS: [u32; 9] = [
    0x4008_6602,
    0x401C_5820,
    0x4008_7602,
    0x4008_6604,
    0x800C_6613,
    0x4080_6685,
    0x0000_6609,
    0x4008_6606,
    0x4004_7211,
];
/// The requests of `ioctl` that make, remove or change subvolumes of Btrfs in a folder that is open for
/// reading, which Landlock does not check (`BTRFS_IOC_SNAP_CREATE`, `BTRFS_IOC_SUBVOL_CREATE`,
/// `BTRFS_IOC_SNAP_DESTROY`, their second versions, and `BTRFS_IOC_SUBVOL_SETFLAGS`).
const SUBVOLUMES: [u32; 7] =
    [0x5000_9401, 0x5000_940E, 0x5000_940F, 0x5000_9417, 0x5000_9418, 0x5000_943F, 0x4008_941A];

/// Read or change extended attributes of a file that a path names.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    SETXATTRAT,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    GETXATTRAT,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    LISTXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    REMOVEXATTRAT,
];
/// Change extended attributes of an open file.
const OPEN_ATTRIBUTES: &[c_long] = &[libc::SYS_fsetxattr, libc::SYS_fremovexattr];

/// Shared memory, semaphores and queues of messages. They have numbers and names of their own, and
/// are no files for Landlock.
const IPC: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Services of the kernel that need no file: rings make sockets without system calls, keyrings hold
/// secrets of the user, and the others observe the machine or have been ways into the kernel.
const SERVICES: &[c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_fanotify_init,
    libc::SYS_setns,
];
/// The requests of terminals that insert input or select text: `TIOCSTI` and `TIOCLINUX`.
const TYPING: [u32; 2] = [0x5412, 0x541C];

/// The flags of `unshare` and `clone` that make namespaces.
const NAMESPACES: [c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// In `clone` this bit belongs to the number of a signal.
const TIME_NAMESPACE: c_int = 0x80;

/// The bits of a socket's type; the others are flags.
const SOCKET_TYPE: u32 = 0xF;

/// The refused calls.
pub(super) fn refused(allowed: Allowed) -> Result<Refused, BackendError> {
    let mut refused = Refused::default();
    refused.always(libc::ENOSYS, IPC);
    refused.always(libc::EPERM, SERVICES);
    for request in TYPING.iter().chain(&SUBVOLUMES).copied() {
        refused.when(libc::SYS_ioctl, [vec![is(1, request)?]])?;
    }
    files(&mut refused, allowed)?;
    sockets(&mut refused, allowed)?;
    processes(&mut refused)?;
    namespaces(&mut refused)?;
    Ok(refused)
}

fn files(refused: &mut Refused, allowed: Allowed) -> Result<(), BackendError> {
    // The mode of `openat2` is in memory, which a filter cannot see.
    #[cfg(target_arch = "x86_64")]
    refused.when(libc::SYS_open, [vec![has_bits(1, UNCHECKED, UNCHECKED)?]])?;
    refused.when(libc::SYS_openat, [vec![has_bits(2, UNCHECKED, UNCHECKED)?]])?;
    refused.always(libc::ENOSYS, &[libc::SYS_openat2]);
    if !allowed.watch {
        refused.always(libc::ENOSYS, &[libc::SYS_inotify_init1]);
        #[cfg(target_arch = "x86_64")]
        refused.always(libc::ENOSYS, &[libc::SYS_inotify_init]);
        // It needs a folder that is open, and so one that may be read.
        refused.when(libc::SYS_fcntl, [vec![is(1, libc::F_NOTIFY.unsigned_abs())?]])?;
    }
    if allowed.metadata {
        return Ok(());
    }
    refused.always(libc::EPERM, METADATA);
    #[cfg(target_arch = "x86_64")]
    refused.always(libc::EPERM, OLD_METADATA);
    // As if the file system had no attributes, which programs expect.
    refused.always(libc::EOPNOTSUPP, ATTRIBUTES);
    if allowed.open_metadata {
        // Without a path it is for an open file.
        return refused.when(libc::SYS_utimensat, [vec![is_pointer(1)?]]);
    }
    refused.always(libc::EPERM, &[libc::SYS_utimensat]);
    refused.always(libc::EPERM, OPEN_METADATA);
    refused.always(libc::EOPNOTSUPP, OPEN_ATTRIBUTES);
    for request in OPEN_FLAGS {
        refused.when(libc::SYS_ioctl, [vec![is(1, request)?]])?;
    }
    Ok(())
}

/// Socket files need it most: a user's bus or a container daemon, which listen on one, start programs
/// outside the sandbox for every client.
fn sockets(refused: &mut Refused, allowed: Allowed) -> Result<(), BackendError> {
    let mut families = Vec::new();
    if allowed.network {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
        // Netlink is how a program learns which addresses this machine has. Its other protocols
        // observe and control the kernel.
        let is_netlink = is(0, libc::AF_NETLINK.unsigned_abs())?;
        let is_other = is_not(2, libc::NETLINK_ROUTE.unsigned_abs())?;
        refused.when(libc::SYS_socket, [vec![is_netlink, is_other]])?;
    }
    let is_other = is_not(0, libc::AF_UNIX.unsigned_abs())?;
    refused.when(libc::SYS_socketpair, [vec![is_other]])?;
    if allowed.unix_sockets {
        families.push(libc::AF_UNIX);
    } else {
        // A datagram socket of a pair can send to other sockets than its peer. The kernel makes
        // raw ones datagram sockets.
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            let is_kind = has_bits(1, SOCKET_TYPE, kind.unsigned_abs())?;
            refused.when(libc::SYS_socketpair, [vec![is_kind]])?;
        }
    }
    if families.is_empty() {
        refused.always(libc::EPERM, &[libc::SYS_socket]);
        return Ok(());
    }
    let others = families.iter().map(|family| is_not(0, family.unsigned_abs()));
    refused.when(libc::SYS_socket, [others.collect::<Result<_, _>>()?])
}

/// A process may change its own limits and priorities, as the number 0, and those of no other one.
fn processes(refused: &mut Refused) -> Result<(), BackendError> {
    refused.when(libc::SYS_prlimit64, [vec![is_not(0, 0)?, is_pointer(2)?]])?;
    // The kind of the number comes first: a process, a group of processes or a user.
    for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
        refused.when(call, [vec![is_not(0, process)?], vec![is_not(1, 0)?]])?;
    }
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        refused.when(call, [vec![is_not(0, 0)?]])?;
    }
    Ok(())
}

/// In a namespace of its own a process has all privileges, and so reaches more of the kernel.
fn namespaces(refused: &mut Refused) -> Result<(), BackendError> {
    // Its flags are in memory. C libraries use `clone` then.
    refused.always(libc::ENOSYS, &[libc::SYS_clone3]);
    let unshare = NAMESPACES.iter().chain([&TIME_NAMESPACE]);
    let unshare = unshare.map(|flag| (libc::SYS_unshare, flag));
    for (call, flag) in unshare.chain(NAMESPACES.iter().map(|flag| (libc::SYS_clone, flag))) {
        let flag = flag.unsigned_abs();
        refused.when(call, [vec![has_bits(0, flag, flag)?]])?;
    }
    Ok(())
}
