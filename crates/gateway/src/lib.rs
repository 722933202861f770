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
//! * `refusal`: the errors for callers.

pub mod config;
mod dial;
mod lanes;
mod limits;
pub mod park;
mod refusal;
mod supervise;

pub use self::dial::{Dial, builder as client_builder};
pub use self::lanes::Lanes;
pub use self::limits::GatewayLimits;
pub use self::refusal::UpstreamFailure;
pub use self::supervise::MetServer;
