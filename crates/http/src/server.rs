//! The server side: one endpoint for every revision.
//!
//! The modules form layers, listed from the lowest to the highest: a module uses those of its own
//! layer and of the layers listed above it.

// Answers: every HTTP answer, its body, and the headers that a web page may read.
mod body;
mod cors;
mod gate;
mod reply;

// Settings: who may call, every bound, and the page for browsers.
mod admit;
mod browser_page;
mod config;
mod limits;

// Counts: calls and bodies of each caller, and how many endpoints count if they share a store.
mod bodies;
mod callers;
mod clock;
mod heartbeat;
mod random_id;
mod slots;

// What every request of an endpoint needs.
mod core;
mod places;

// Requests: the head, the body, and what is known of the sender.
mod head;
mod inbound;
mod read;

// The two eras: one exchange in place, or sessions with their streams, resumption, and the transport
// of 2024-11-05. In both, calls are polled in place, and messages wait on lines.
mod calls;
mod legacy;
mod line;
mod modern;

// The endpoint: each request to its era, after gate and credentials; what metrics show of it.
mod admitted;
mod counts;
mod endpoint;
mod page;

// An endpoint on a socket of its own, and what balancers ask it.
mod health;
mod listener;

#[cfg(test)]
mod test_endpoint;

pub use self::admit::{Admit, CredentialRefusal, VerifiedCaller};
pub use self::body::Body;
pub use self::browser_page::{BrowserPage, Described, Offer, PageContent};
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
