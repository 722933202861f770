//! Watches any session of the Model Context Protocol for broken rules, and drives servers to show
//! them.
//!
//! In reading order:
//!
//! * [`rule`] — a rule of the ledger, and what an observer says about it;
//! * [`message`] — what goes over the wire; [`seen`] — what an observer looks at; [`past`] — what a
//!   session has shown so far;
//! * `json`, [`shape`] — which keys and members the messages of servers have;
//! * [`rules`] — the observers, one subject in each file; [`unseen`] — the rules that no observer
//!   can watch, with the reason;
//! * [`evidence`] — the exchange that shows a broken rule; `pages` — where the specification states it;
//! * [`watch`] — shows frames of a session to all observers and collects findings;
//! * [`drive`] — what `bowline check` sends to servers, and its report; [`report`] — the report as
//!   text, JSON, JUnit and SARIF.
//!
//! Observers only look: a frame, its revision and its sender, and the past give a rule of the ledger
//! and a verdict. So they can watch sessions of any program.
//!
//! ```
//! use bowline_check::message::{Channel, Sender};
//! use bowline_check::past::Carrier;
//! use bowline_check::watch::Watch;
//! use bowline_types::revision::Revision;
//!
//! let mut watch = Watch::new(Carrier::Stdio, Revision::V2025_11_25);
//! watch.frame(Sender::Client, Channel::Stdio, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
//! watch.frame(Sender::Server, Channel::Stdio, br#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
//! assert_eq!(watch.findings()[0].rule.id, "RPC-6");
//! ```

pub mod drive;
pub mod evidence;
mod json;
pub mod message;
mod pages;
pub mod past;
pub mod report;
pub mod rule;
pub mod rules;
pub mod seen;
pub mod shape;
pub mod unseen;
pub mod watch;
