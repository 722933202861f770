//! Serves over a transport, in one line.

use std::fmt;
use std::future::{Future, pending};
use std::sync::Arc;

use bowline_transport::stdio::Stdio;
use bowline_transport::transport::Transport;

use crate::error::Result;
use crate::server::{BuildError, Server};

impl Server {
    /// Serves one client over a transport until it goes away. Call it again for the next client:
    /// any number can be served at the same time.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the transport breaks.
    pub fn serve<T: Transport>(
        &self,
        transport: T,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + use<T> {
        self.serve_until(transport, pending())
    }

    /// Serves one client over a transport until it goes away or `stop` says so. Calls that run then
    /// have a moment to end.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the transport breaks.
    pub fn serve_until<T, S>(
        &self,
        transport: T,
        stop: S,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + use<T, S>
    where
        T: Transport,
        S: Future<Output = ()> + Send,
    {
        let service = self.build();
        let config = Arc::new(self.config());
        async move {
            let service = service.map_err(|error| ServeError(Kind::Build(error)))?;
            bowline_transport::serve::serve(transport, service, config, stop)
                .await
                .map_err(|error| ServeError(Kind::Transport(error)))
        }
    }

    /// Serves on standard input and output, as most servers are started, until the client closes
    /// its end.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or standard input and output cannot be used.
    pub async fn run(self) -> Result {
        // Built first, so that a mistake is told before anything is taken.
        self.build()?;
        Ok(self.serve(Stdio::take()?).await?)
    }
}

/// Why a server does not serve.
#[derive(Debug)]
pub struct ServeError(Kind);

#[derive(Debug)]
enum Kind {
    Build(BuildError),
    Transport(bowline_transport::error::Error),
}

impl ServeError {
    /// Whether the server was wrong to begin with, and would fail again.
    pub fn is_build(&self) -> bool {
        matches!(self.0, Kind::Build(_))
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Build(_) => f.write_str("the server cannot be built"),
            Kind::Transport(_) => f.write_str("the connection broke"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Build(error) => Some(error),
            Kind::Transport(error) => Some(error),
        }
    }
}
