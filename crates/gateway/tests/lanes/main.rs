//! One server behind the gateway: started, stopped, restarted, and what its callers see of that. In
//! virtual time, with servers in this process.

mod asking;
mod failures;
mod naming;
mod subscriptions;
mod supervision;
mod support;
mod tasks;
mod traces;
