//! The tasks behind calls: a call that the server continues as a task waits for the end of it.
//!
//! * `wait`: a call that waits for its task, and cancels it if the caller goes away.
//! * `poll`: asks for the status until the end, and answers questions; `legacy`, `modern`: how the
//!   revisions do it.
//! * `read`: reads the tasks of both revisions.

mod poll;
mod read;
mod wait;

pub(crate) use self::poll::{TaskWait, wait_for};
pub(crate) use self::read::{created, described, from_core};
pub(crate) use self::wait::wait_or_cancel;
