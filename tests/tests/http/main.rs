//! The HTTP server at its socket: who may knock, both eras, resumption, limits, and the end; and
//! the HTTP client at its own, over TLS and through proxies.

mod admission;
mod browser;
mod caller;
mod connections;
mod cors;
mod disconnect;
mod drain;
mod gate;
mod h2;
mod handover;
mod leaks;
mod limits;
mod mirror;
mod modern;
mod nginx;
mod older;
mod owners;
mod proxies;
mod resume;
mod rigged;
mod sessions;
mod shared;
mod slow;
mod stage;
mod stop;
mod storm;
mod subscriptions;
mod tls;
mod wire;
