//! Traces and metrics of servers and clients, by the [conventions of OpenTelemetry for MCP].
//!
//! One layer for a server, one for a client. Both use the global providers of OpenTelemetry, and do
//! nothing as long as the program has set none:
//!
//! ```
//! use bowline::{Client, Server};
//!
//! let server = Server::new("weather", "1.0.0").layer(bowline_otel::server());
//! let client = Client::builder("my-app", "1.0.0").layer(bowline_otel::client());
//! ```
//!
//! Each request is a span. The client puts its span into `_meta` of the request, and the server
//! takes it as the parent. So a trace continues through any transport, and through a gateway.
//!
//! Spans and metrics have methods, names of listed tools and prompts, error codes and times; spans also
//! have URIs of resources without user, password and query, and the first eight characters of the id of a
//! session, which is a credential. **Never recorded** are arguments, results, answers of users, sealed
//! state, messages of errors (they may quote arguments) and headers. Metrics have a bounded number of
//! rows: a name that no list contained is recorded as `_OTHER`.
//!
//! * `server`: the layer of a server. `client`: the layer of a client.
//! * `operation`: one request, from its begin to its end, as a span and a measurement.
//! * `telemetry`: the tracer and the instruments. `known`: which names may become attributes.
//! * `endpoint`, `store`: metrics of a server over HTTP and of its store (feature `http`).
//! * `propagation`: trace context and baggage as text. `attribute`: the names of attributes.
//!
//! [conventions of OpenTelemetry for MCP]: https://github.com/open-telemetry/semantic-conventions-genai

mod attribute;
mod client;
#[cfg(feature = "http")]
mod endpoint;
mod known;
mod operation;
mod propagation;
mod server;
#[cfg(feature = "http")]
mod store;
mod telemetry;
mod uri;

pub use self::client::{ClientTelemetry, client};
#[cfg(feature = "http")]
pub use self::endpoint::endpoint;
pub use self::server::{ServerTelemetry, TracedService, server};
#[cfg(feature = "http")]
pub use self::store::{MeasuredStore, store};
pub use self::uri::shown as shown_uri;
