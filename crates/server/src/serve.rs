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
    /// its end. With `--http 127.0.0.1:3000` on the command line it serves over HTTP instead, until
    /// the process is told to stop (feature `http`).
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or what it should serve on cannot be used.
    pub async fn run(self) -> Result {
        // Built first, so that a mistake is told before anything is taken.
        self.build()?;
        if let Some(address) = http_address(std::env::args())? {
            return self.run_http(&address).await;
        }
        Ok(self.serve(Stdio::take()?).await?)
    }

    #[cfg(feature = "http")]
    async fn run_http(self, address: &str) -> Result {
        self.http().bind(address).await
    }

    #[cfg(not(feature = "http"))]
    async fn run_http(self, _: &str) -> Result {
        Err("this program was built without HTTP: enable the feature `http` of `bowline`")?
    }
}

/// The address after `--http`, if it is there.
fn http_address(arguments: impl Iterator<Item = String>) -> Result<Option<String>> {
    let mut rest = arguments.skip_while(|argument| argument != "--http");
    match (rest.next(), rest.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(address)) => Ok(Some(address)),
        (Some(_), None) => Err("`--http` needs an address, such as `--http 127.0.0.1:3000`")?,
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
