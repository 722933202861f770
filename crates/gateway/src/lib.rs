//! Many Model Context Protocol servers behind one endpoint, of any revision.
//!
//! # Reading order
//!
//! * [`config`]: the servers that configuration files of hosts name.
//! * `limits`: every count and duration.
//! * `dial`: opens connections to one server; `supervise`: opens them when needed, closes idle ones
//!   and opens them again after a failure.
//! * `lanes`: the connections to one server, as one upstream.
//! * [`park`]: calls of callers without a session that wait for answers of these.
//! * `rules`: which tools of a server are offered, under which names.
//! * `fan`: all servers of a file behind one service; `service`: the gateway, which can load another
//!   file; `acknowledge`: subscriptions that outlive what serves them.
//! * `bridge`: a server that answers as an upstream does.
//! * `refusal`: the errors for callers.

mod acknowledge;
mod bridge;
pub mod config;
mod dial;
mod fan;
mod lanes;
mod limits;
pub mod park;
mod refusal;
mod rules;
mod service;
mod supervise;

pub use self::bridge::bridge;
pub use self::dial::{Dial, DialError, builder as client_builder};
pub use self::lanes::Lanes;
pub use self::limits::GatewayLimits;
pub use self::refusal::UpstreamFailure;
pub use self::service::{FileStamp, Gateway, Reloaded};
pub use self::supervise::MetServer;
