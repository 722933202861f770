//! How long a call may take.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;

use super::Next;
use super::guard::{CallHead, Guard, guards, subject};

/// Cancels calls that take too long, and answers them with an error.
///
/// Up to 2025-11-25 the time that the user takes to answer a question counts. Subscriptions stay
/// open.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_server::Server;
/// use bowline_server::layer::Timeout;
///
/// let server = Server::new("api", "1.0.0").layer(Timeout::new(Duration::from_secs(30)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timeout(Duration);

impl Timeout {
    /// Ends calls that take longer than this.
    pub fn new(duration: Duration) -> Self {
        Self(duration)
    }
}

guards!(Timeout, |timeout| *timeout);

impl Guard for Timeout {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response> {
        if request.parts.method.streams() {
            return Box::pin(next.run(request));
        }
        let (head, subject) = (CallHead::of(&request), subject(&request));
        Box::pin(async move {
            let Self(most) = *self;
            tokio::time::timeout(most, next.run(request)).await.unwrap_or_else(|_| {
                let message = format!("{subject} took longer than {most:?} and was ended");
                head.refuse(ErrorObject::internal(message))
            })
        })
    }
}
