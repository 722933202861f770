//! The client side over HTTP: against servers that the test plays, in virtual time and without
//! sockets, and against our own server over real ones.

mod authorized;
mod bodies;
mod credentials;
mod cuts;
mod modern;
mod old;
mod opening;
#[cfg(feature = "server")]
mod own_server;
mod raw;
mod refusals;
mod sessions;
mod streams;
mod support;
mod times;
