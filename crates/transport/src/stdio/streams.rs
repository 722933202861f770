//! Standard input and output as streams, whatever kind of file they are.

use tokio::io::{AsyncRead, AsyncWrite};

/// Where messages are read from.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Where messages are written to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;
