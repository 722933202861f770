//! The server side: one endpoint for every revision.
//!
//! In reading order:
//!
//! * [`config`](HttpConfig), [`limits`](HttpLimits) — the settings, and every bound;
//! * `endpoint` — sends POST, GET, DELETE and OPTIONS to the place that serves them; `inbound` — a
//!   request as it gets there; `core` — what every request needs;
//! * [`gate`](Gate) — checks Host and Origin; `cors` — answers preflights of web pages;
//! * [`admit`](Admit) — verifies credentials; `admitted` — requests to an endpoint that does that;
//! * [`counts`](EndpointCounts) — what metrics show of an endpoint;
//! * `callers`, `slots`, `places` — what is counted of each caller; `heartbeat` — how many endpoints
//!   count, if they share a store;
//! * `read`, `bodies` — the body of a request, and the room that all bodies share; `head` — headers;
//! * `modern` — one exchange, in place;
//! * `legacy/` — sessions, their streams, resumption, and the transport of 2024-11-05;
//! * `line`, `calls` — what waits to be sent, and how calls are polled, in both eras;
//! * `reply`, `body` — every HTTP answer, and its body; `page` — the one for browsers;
//! * `listener` — the accept loop; `capacity` — how many connections it serves; `connections`,
//!   `connection_use`, `arriving`, `protocol`, `tcp` — its connections;
//! * `answer`, `socket`, `flow`, `read_pace` — whether the client reads what is written.

mod admit;
mod admitted;
mod answer;
mod arriving;
mod bodies;
mod body;
mod callers;
mod calls;
mod capacity;
mod clock;
mod config;
mod connection_use;
mod connections;
mod core;
mod cors;
mod counts;
mod endpoint;
#[cfg(feature = "http2")]
mod flow;
mod gate;
mod head;
mod health;
mod heartbeat;
mod inbound;
mod legacy;
mod limits;
mod line;
mod listener;
mod modern;
mod page;
mod places;
mod protocol;
mod read;
mod read_pace;
mod reply;
mod slots;
mod socket;
mod tcp;
#[cfg(test)]
mod test_endpoint;

pub use self::admit::{Admit, CredentialRefusal, VerifiedCaller};
pub use self::body::Body;
pub use self::config::{HttpConfig, Sessions};
pub use self::counts::EndpointCounts;
pub use self::endpoint::Endpoint;
pub use self::gate::Gate;
pub use self::limits::HttpLimits;
pub use self::listener::{BindError, Listener};

/// An answer with status 500 and a reason, for a server that cannot be built.
///
/// The facade answers every request with it when the settings of a server contradict each other, so
/// that the mounting program starts and its log and its clients see the reason.
pub fn failed(reason: &str) -> http::Response<Body> {
    reply::refused(http::StatusCode::INTERNAL_SERVER_ERROR, reason)
}
