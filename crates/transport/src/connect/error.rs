//! The error of [`connect`](super::connect).

use std::fmt;

use bowline_proto::client::NegotiationError;

use crate::error::Error;

/// Why a client could not connect. There is no connection then.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The channel closed or broke before both sides agreed.
    Closed(Error),
    /// Client and server could not agree.
    Negotiation(NegotiationError),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(error) => write!(f, "the server was gone before it answered: {error}"),
            Self::Negotiation(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Closed(error) => std::error::Error::source(error),
            Self::Negotiation(error) => std::error::Error::source(error),
        }
    }
}
