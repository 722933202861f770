//! The commands: one file for each, with its arguments and what it does.

pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod demo;
pub(crate) mod gateway;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod man;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod request;
#[cfg(target_os = "linux")]
pub(crate) mod sandbox;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod watch;
