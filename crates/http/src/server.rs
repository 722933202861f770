//! The server side: one endpoint for every revision.
//!
//! In reading order:
//!
//! * [`config`](HttpConfig), [`limits`](HttpLimits) — what may be set, and every bound;
//! * [`gate`](Gate) — who may knock: Host, Origin, content types;
//! * `cors` — what web pages of other origins may send and read;
//! * `endpoint` — POST, GET, DELETE and OPTIONS to the right place;
//! * `callers` — what is counted of each caller;
//! * `modern` — one exchange, in place;
//! * `legacy/` — sessions, their streams, resumption, and the transport of 2024-11-05;
//! * `read`, `bodies` — the body of a request, and those of all of them;
//! * `reply`, `body`, `line` — every HTTP answer by its name, what it carries, and what waits for it;
//! * `listener` — the accept loop; `connections`, `protocol`, `tcp` — what becomes of a connection;
//! * `answer`, `stall`, `flow`, `pace` — whether its client takes what is written.

mod answer;
mod bodies;
mod body;
mod callers;
mod calls;
mod clock;
mod config;
mod connection_use;
mod connections;
mod core;
mod cors;
mod endpoint;
#[cfg(feature = "http2")]
mod flow;
mod gate;
mod head;
mod inbound;
mod legacy;
mod limits;
mod line;
mod listener;
mod modern;
mod pace;
mod places;
mod protocol;
mod read;
mod reply;
mod slots;
mod stall;
mod tcp;
#[cfg(test)]
mod test_endpoint;

pub use self::body::Body;
pub use self::config::{HttpConfig, Sessions};
pub use self::endpoint::Endpoint;
pub use self::gate::Gate;
pub use self::limits::HttpLimits;
pub use self::listener::{BindError, Listener};

/// The answer of a server that cannot serve at all, and why.
pub fn failed(reason: &str) -> http::Response<Body> {
    reply::refused(http::StatusCode::INTERNAL_SERVER_ERROR, reason)
}
