//! Chaos: three replicas on one store, under clients that note what they see.
//!
//! nginx passes requests to the replicas in turn. Replicas are killed, paused and restarted; the
//! store is killed, replaced by an older copy, emptied; connections to it fail. Each call has a nonce,
//! which the tool appends to a file before it sends numbered events. In the end a checker compares
//! what clients saw, what ran, and which faults there were. `cargo xtask chaos` runs it.
//!
//! In reading order:
//!
//! * `round`: a run from its beginning to its judgement.
//! * `cluster`: the processes. `bin/replica` is a replica.
//! * `clients`: clients of both eras, on `wire`.
//! * `faults`: which faults happen when, and how each is done; `random` chooses. `stalls` notes those
//!   of the machine.
//! * `ledger`: what is known about a run.
//! * `checker`: judges a ledger. `report`: prints its figures.
#![cfg(unix)]

pub mod checker;
pub mod clients;
pub mod cluster;
pub mod faults;
pub mod ledger;
pub mod random;
pub mod report;
pub mod round;
pub mod stalls;
pub mod wire;
