//! One server behind the gateway: started, stopped, restarted, and what its callers see of that. In
//! virtual time, with servers in this process.

mod admission;
mod asking;
mod closing;
mod cursors;
mod failures;
mod hanging;
mod health;
mod kept;
mod limits;
mod naming;
mod owners;
mod pings;
mod reloads;
mod renames;
mod resources;
mod rules;
mod starved;
mod subscriptions;
mod supervision;
mod support;
mod tasks;
mod traces;
