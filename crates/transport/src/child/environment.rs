//! The environment variables that a child inherits unless it is given all of them, and the credentials
//! in those that it is given.
//!
//! A server is often a program of another author. The environment of a host holds keys and tokens,
//! so a server gets only what it is given.

use std::env;
use std::ffi::{OsStr, OsString};

use bowline_proto::secrets::names_a_credential;

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

/// The credentials in a variable: its value if its name says so, and those that its value shows.
pub(super) fn credentials(name: &OsStr, value: &OsStr) -> Vec<String> {
    let value = value.to_string_lossy();
    let whole = names_a_credential(&name.to_string_lossy()).then_some(&*value);
    let found = [whole, password(&value), bearer(&value)];
    found.into_iter().flatten().map(str::to_owned).collect()
}

/// The password in `scheme://user:password@host`.
fn password(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    Some(authority.rsplit_once('@')?.0.split_once(':')?.1)
}

/// The token of a header `Authorization`, which may stand in JSON.
fn bearer(value: &str) -> Option<&str> {
    value.split_once("Bearer ")?.1.split(['"', '\'', ',', ' ']).next()
}
