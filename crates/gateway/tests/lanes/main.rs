//! One server behind the gateway: started, stopped, restarted, and what its callers see of that. In
//! virtual time, with servers in this process.

mod subscriptions;
mod supervision;
mod support;
