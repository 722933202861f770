//! Transports: standard input and output, sockets, memory, and transports of your own.
//!
//! Programs that use `Server::run`, `Server::http` and `Client::connect` do not need this module. The crate
//! `bowline-transport` has the rest, for programs that drive connections themselves; it may change in any
//! minor version.

#[doc(inline)]
pub use bowline_transport::{
    duplex::{Duplex, duplex},
    lines::Lines,
    stdio::Stdio,
    tap::{Tap, TapDirection},
    transport::{PeerIdentity, ServerTransport, Transport},
};

#[cfg(unix)]
#[doc(inline)]
pub use bowline_transport::socket::{UnixTransport, listen};
