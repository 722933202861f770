//! Why a server does not serve, or no longer does.

use std::fmt;

use crate::error::{BuildError, chain};

/// What `run`, `serve`, `bind` and `listen` fail with: why a server does not serve, or no longer
/// does.
///
/// It is a [`std::error::Error`], so `?` turns it into `anyhow::Error` or `Box<dyn Error>`. Its
/// `Debug` is the error with all of its causes in one sentence, because that is what a `main` that
/// returns it prints:
///
/// ```text
/// Error: the server cannot be built: tool `search` needs `State<Db>`, but `.state::<Db>(..)` was never called
/// ```
///
/// Handlers fail with [`Error`](crate::Error) instead.
pub struct ServeError(Kind);

enum Kind {
    Build(BuildError),
    /// What the command line says of `--http` cannot be used.
    Option(String),
    /// The address that `--http` names cannot be served on.
    #[cfg(feature = "http")]
    HttpOption {
        address: String,
        source: Box<ServeError>,
    },
    /// No place to listen on was found, or it may not be listened on.
    #[cfg(feature = "http")]
    Address {
        reason: String,
        source: Option<std::io::Error>,
    },
    #[cfg(feature = "http")]
    Bind(bowline_http::server::BindError),
    /// Standard input and output cannot be used.
    Stdio(bowline_transport::error::Error),
    Transport(bowline_transport::error::Error),
}

impl ServeError {
    pub(super) fn option(reason: impl Into<String>) -> Self {
        Self(Kind::Option(reason.into()))
    }

    pub(super) fn stdio(error: bowline_transport::error::Error) -> Self {
        Self(Kind::Stdio(error))
    }

    pub(super) fn transport(error: bowline_transport::error::Error) -> Self {
        Self(Kind::Transport(error))
    }

    /// Adds that `--http` named the address.
    #[cfg(feature = "http")]
    pub(super) fn of_option(self, address: &str) -> Self {
        Self(Kind::HttpOption { address: address.to_owned(), source: Box::new(self) })
    }

    #[cfg(feature = "http")]
    pub(crate) fn address(reason: impl Into<String>) -> Self {
        Self(Kind::Address { reason: reason.into(), source: None })
    }

    #[cfg(feature = "http")]
    pub(crate) fn unresolved(source: std::io::Error) -> Self {
        let reason = "the address cannot be resolved".to_owned();
        Self(Kind::Address { reason, source: Some(source) })
    }

    #[cfg(feature = "http")]
    pub(crate) fn bind(error: bowline_http::server::BindError) -> Self {
        Self(Kind::Bind(error))
    }

    /// Whether the server was described wrongly: it would fail again, wherever it is served.
    pub fn is_build(&self) -> bool {
        match &self.0 {
            Kind::Build(_) => true,
            #[cfg(feature = "http")]
            Kind::HttpOption { source, .. } => source.is_build(),
            _ => false,
        }
    }
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self(Kind::Build(error))
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Build(_) => f.write_str("the server cannot be built"),
            Kind::Option(reason) => f.write_str(reason),
            #[cfg(feature = "http")]
            Kind::HttpOption { address, .. } => write!(f, "cannot serve with `--http {address}`"),
            #[cfg(feature = "http")]
            Kind::Address { reason, .. } => f.write_str(reason),
            #[cfg(feature = "http")]
            Kind::Bind(error) => error.fmt(f),
            Kind::Stdio(error) => error.fmt(f),
            Kind::Transport(_) => f.write_str("the connection broke"),
        }
    }
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(self))
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Build(error) => Some(error),
            Kind::Option(_) => None,
            #[cfg(feature = "http")]
            Kind::HttpOption { source, .. } => Some(source),
            #[cfg(feature = "http")]
            Kind::Address { source, .. } => Some(source.as_ref()?),
            #[cfg(feature = "http")]
            Kind::Bind(error) => error.source(),
            Kind::Stdio(error) => error.source(),
            Kind::Transport(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;

    fn unbuildable() -> ServeError {
        Server::new("api", "1.0.0").state_keys(Vec::<[u8; 32]>::new()).build().unwrap_err().into()
    }

    #[test]
    fn debug_is_a_sentence_with_all_causes() {
        let expected =
            "the server cannot be built: `.state_keys(..)` was given no keys; give at least one";
        assert_eq!(format!("{:?}", unbuildable()), expected);
    }

    #[test]
    fn the_error_becomes_any_boxed_error() {
        fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            Ok(Err(unbuildable())?)
        }
        assert!(main().unwrap_err().downcast_ref::<ServeError>().unwrap().is_build());
    }
}
