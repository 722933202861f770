//! The store against real databases: single, as a cluster, over TLS, out of reach, killed.

mod cluster;
mod crash;
mod faults;
mod load;
mod memory;
mod options;
mod redis_server;
mod suite;
mod tls;
