//! The environment variables that a child inherits unless it is given all of them.
//!
//! A server is often a program of another author. The environment of a host holds keys and tokens,
//! so a server gets only what it is given.

use std::env;
use std::ffi::OsString;

/// Variables that most programs need and that rarely hold a secret.
#[cfg(not(windows))]
const PASSED_ON: [&str; 9] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// Variables that most programs need and that rarely hold a secret.
#[cfg(windows)]
const PASSED_ON: [&str; 15] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// The names and values that are passed on, as far as they are set.
pub(super) fn passed_on() -> impl Iterator<Item = (&'static str, OsString)> {
    PASSED_ON.into_iter().filter_map(|name| Some((name, env::var_os(name)?)))
}
