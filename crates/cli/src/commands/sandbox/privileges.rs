//! What the command would inherit from this process: privileges of root, and open files.

use std::fs;
use std::io;
use std::os::fd::RawFd;

use rustix::thread::{CapabilitySet, CapabilitySets};

/// The flag of a descriptor that a new program does not inherit (`O_CLOEXEC`), in the octal numbers
/// of `/proc/self/fdinfo`.
const CLOSES: u32 = 0o2_000_000;

/// Whether the command would run as root.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root() || rustix::process::getuid().is_root()
}

/// Gives up the privileges of root over the files and processes of other users. No program brings
/// them back, since the kernel's `no_new_privs` is set.
pub(super) fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, none)?)
}

/// Closes all files that the command would inherit, but for standard input, output and error.
///
/// The files of this process itself are not among them: they close when the command starts.
pub(super) fn close_inherited() -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?.collect::<io::Result<Vec<_>>>()?;
    let open = open.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for descriptor in open.filter(|descriptor: &RawFd| *descriptor > 2) {
        if is_inherited(descriptor)? {
            nix::unistd::close(descriptor)?;
        }
    }
    Ok(())
}

/// Whether a new program gets this descriptor. One that is closed meanwhile does not count, such as
/// that of the folder of descriptors.
///
/// # Errors
///
/// If it cannot be known: nothing is started then, because the file might stay open.
fn is_inherited(descriptor: RawFd) -> io::Result<bool> {
    let info = match fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        info => info?,
    };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    let unknown = || io::Error::other(format!("descriptor {descriptor} has no flags"));
    Ok(flags.ok_or_else(unknown)? & CLOSES == 0)
}
