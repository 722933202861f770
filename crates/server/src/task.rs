//! Tasks: calls of tools that go on after their first answer.
//!
//! A task is an ordinary call with another outbox, whose response is recorded. The record is stored
//! before the client gets the id of the task, and everything that the client sees later is read from
//! it. So the layers, the checks and the errors of a tool are the same as in a plain call, and a
//! handler cannot tell the difference.
//!
//! * `start`: decides whether a call becomes a task, and creates it.
//! * `ask_first`: asks what a tool wants to know before the task begins (2026-07-28).
//! * `run`: drives the call, and records how it ends; `listening`: waits for changes of the record.
//! * `lease`: shows other processes that this one has not stopped; `abandoned` and `sweep`: end or
//!   repeat the tasks of processes that have.
//! * `host`: which server has the task of a call that passes through several.
//! * `inside`: makes the request that a task runs, and `sink` takes its messages; `origin` sends
//!   some of them to the client (2025-11-25).
//! * `follow`: reports changes to a `subscriptions/listen` that names tasks (2026-07-28).
//! * `serve`: `tasks/get` and `tasks/cancel`; `modern` and `legacy`: what differs between the
//!   revisions.
//! * `record`: what is stored of a task; `records`: reads and changes it; `recorded_call`: the call,
//!   to be run again.
//! * `quota`: how many tasks an owner may create.
//! * `pauses`: how long to wait for a store that fails.
//! * `server_tasks`: what a server needs beside the records; `limits`: [`TaskLimits`].

mod abandoned;
mod ask_first;
mod follow;
mod host;
mod inside;
mod lease;
mod legacy;
mod limits;
mod listening;
mod modern;
mod origin;
mod pauses;
mod quota;
mod record;
mod recorded_call;
mod records;
mod run;
mod serve;
mod server_tasks;
mod sink;
mod start;
mod sweep;

pub(crate) use follow::{FollowedTasks, follow};
pub(crate) use host::{TaskHost, WithoutTasks};
pub(crate) use legacy::may_list;
pub use limits::TaskLimits;
pub(crate) use modern::{declares_tasks, missing_extension};
pub(crate) use serve::serve;
pub(crate) use server_tasks::{RecordedCallRunner, ServerTasks};
pub(crate) use start::call_tool;
pub(crate) use sweep::begin as begin_sweep;
