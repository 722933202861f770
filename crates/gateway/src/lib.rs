//! Many Model Context Protocol servers behind one endpoint, of any revision.
//!
//! # Reading order
//!
//! * [`config`]: the servers that configuration files of hosts name.
//! * `limits`: every count and duration.
//! * `dial`: opens connections to one server; `server_description`: what the server told; `unavailable`: why there is
//!   no connection.
//! * `asking`: whether a server asks questions; `memory`: remembers it across restarts.
//! * `lanes`: the connections to one server, as one upstream: opened when needed, shared by callers,
//!   closed when idle, and opened again after a failure.
//! * [`park`]: calls of callers without a session that wait for answers of these.
//! * `layered`: an upstream behind a layer.
//! * `question_prefix`: questions that begin with the name of their server.
//! * `rules`: which tools of a server are offered, under which names.
//! * `health`: whether the servers work; `resource_owners`: resources that several servers list.
//! * `options`: what a gateway can be given besides its file; `reporter`: reports of its faults.
//! * `permitted`: which entries a reload may use.
//! * `loaded_servers`: all servers of a file behind one service; `service`: the gateway, which can load another
//!   file; `acknowledge`: subscriptions that outlive what serves them.
//! * `bridge`: a server that answers as an upstream does; `tasks`: calls that it runs as tasks.
//! * `refusal`: the errors for callers.

mod acknowledge;
mod asking;
mod bridge;
pub mod config;
mod dial;
mod health;
mod lanes;
mod layered;
mod limits;
mod loaded_servers;
mod memory;
mod options;
pub mod park;
mod permitted;
mod question_prefix;
mod refusal;
mod reporter;
mod resource_owners;
mod rules;
mod server_description;
mod service;
mod tasks;
mod unavailable;

pub use self::bridge::bridge;
pub use self::dial::{
    Dial, DialError, Logins, ServerCredential, builder as client_builder,
    layered_builder as layered_client_builder,
};
pub use self::health::UpstreamChange;
pub use self::lanes::Lanes;
pub use self::limits::GatewayLimits;
pub use self::memory::AskingServers;
pub use self::options::{Dialer, GatewayOptions};
pub use self::refusal::UpstreamFailure;
pub use self::server_description::ServerDescription;
pub use self::service::{FileStamp, Gateway, Reloaded};
