//! A service that says what it offers, so that another server can stand for it.
//!
//! A built server is one, and so is a client, which answers by asking its server. Neither has to
//! know of the other: what either needs is the waist and this.

use std::convert::Infallible;

use bowline_types::capability::ServerCapabilities;
use tower_service::Service;

use crate::request::{Request, Response};

/// A service that says what it offers.
///
/// It is called as a transport would call it: in the name of the caller, whose
/// [`Outbox`](crate::request::Outbox) hears what it says meanwhile, and with a revision that the
/// caller speaks. Dropping the future of a call cancels it.
pub trait Upstream:
    Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
    /// What it offers at this moment.
    fn capabilities(&self) -> ServerCapabilities;

    /// How to use it, in its own words.
    fn instructions(&self) -> Option<String>;
}

/// What can be made an [`Upstream`].
pub trait IntoUpstream {
    /// What it is made into.
    type Upstream: Upstream;

    /// Why it cannot be.
    type Error: std::error::Error;

    /// Makes it into a service.
    ///
    /// # Errors
    ///
    /// If it is not fit to serve.
    fn into_upstream(self) -> Result<Self::Upstream, Self::Error>;
}

impl<U: Upstream> IntoUpstream for U {
    type Upstream = Self;
    type Error = Infallible;

    fn into_upstream(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}
