//! A service that declares its capabilities, so that a server can mount it.
//!
//! A built server is an upstream, and so is a client, which forwards calls to its server. Neither
//! depends on the other: both implement the service of [`crate::request`] and this trait.

use std::convert::Infallible;

use bowline_types::capability::ServerCapabilities;
use bowline_types::implementation::Implementation;
use tower_service::Service;

use crate::request::{Request, Response};

/// A service that declares what it offers.
///
/// The mounting server calls it as a transport would: with the owner, revision and
/// [`Outbox`](crate::request::Outbox) of the original caller. Dropping the future of a call cancels
/// it.
///
/// The mounting server reads the capabilities whenever it describes itself, so they may change
/// while it runs.
pub trait Upstream:
    Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
    /// The capabilities that it has at this moment.
    fn capabilities(&self) -> ServerCapabilities;

    /// Instructions for the model on how to use it.
    fn instructions(&self) -> Option<String>;

    /// The name and version of the server, as far as it is known: self-reported, for display only.
    fn info(&self) -> Option<Implementation> {
        None
    }

    /// Why it cannot be offered over HTTP without authorization, if it cannot: a feature of it needs
    /// scopes, or the claims of its caller.
    fn needs_authorization(&self) -> Option<String> {
        None
    }
}

/// A value that can be turned into an [`Upstream`]. Lets a server take a builder, a built server or
/// a client in the same place.
pub trait IntoUpstream {
    /// The upstream that it becomes.
    type Upstream: Upstream;

    /// The reason why it cannot become one.
    type Error: std::error::Error;

    /// Turns it into a service.
    ///
    /// # Errors
    ///
    /// If it is not ready to serve.
    fn into_upstream(self) -> Result<Self::Upstream, Self::Error>;
}

impl<U: Upstream> IntoUpstream for U {
    type Upstream = Self;
    type Error = Infallible;

    fn into_upstream(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}
