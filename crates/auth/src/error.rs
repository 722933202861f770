//! The error of this crate.
//!
//! Its text names what is wrong and never quotes a token, a key or a secret.

use std::fmt;

use bowline_types::read::ReadError;

/// Why something that another machine wrote, or that was configured, cannot be used.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    reason: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Url,
    Scope,
    Form,
    Token,
    Key,
    Metadata,
    Fetch,
    #[cfg(feature = "client")]
    Login,
    #[cfg(feature = "client")]
    Visit,
    #[cfg(feature = "client")]
    Store,
    TooLarge,
}

impl Error {
    pub(crate) fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), source: None }
    }

    /// What exceeds a limit of this crate.
    pub(crate) fn too_large(what: &str, most: usize, unit: &str) -> Self {
        Self::new(Kind::TooLarge, format!("{what} has more than {most} {unit}"))
    }

    /// An HTTP request of a [`Fetcher`](crate::fetch::Fetcher) that got no answer. The reason must
    /// not quote a query, a header or a body, because they may hold secrets.
    pub fn fetch(reason: impl Into<String>) -> Self {
        Self::new(Kind::Fetch, reason)
    }

    /// The same error for another caller that waits for the same thing, without its cause.
    #[cfg(feature = "client")]
    pub(crate) fn copy(&self) -> Self {
        Self::new(self.kind, self.reason.clone())
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether a length or count exceeds a limit.
    pub fn is_too_large(&self) -> bool {
        self.kind == Kind::TooLarge
    }

    /// Whether an HTTP request got no answer.
    pub fn is_fetch(&self) -> bool {
        self.kind == Kind::Fetch
    }

    /// Whether a token is malformed, or its signature is wrong.
    pub fn is_token(&self) -> bool {
        self.kind == Kind::Token
    }

    /// Why a page was not visited: the user gave up, or no browser can be opened.
    #[cfg(feature = "client")]
    pub fn visit(reason: impl Into<String>) -> Self {
        Self::new(Kind::Visit, reason)
    }

    /// Why a [`Store`](crate::client::store::Store) failed. The reason must not quote a record.
    #[cfg(feature = "client")]
    pub fn store(reason: impl Into<String>) -> Self {
        Self::new(Kind::Store, reason)
    }

    /// Whether a login failed: the authorization server refused it, or a rule forbids it.
    #[cfg(feature = "client")]
    pub fn is_login(&self) -> bool {
        self.kind == Kind::Login
    }

    /// Whether the user did not visit the page of the authorization server.
    #[cfg(feature = "client")]
    pub fn is_visit(&self) -> bool {
        self.kind == Kind::Visit
    }

    /// Whether the store of records failed.
    #[cfg(feature = "client")]
    pub fn is_store(&self) -> bool {
        self.kind == Kind::Store
    }

    /// Whether a key cannot be used.
    pub fn is_key(&self) -> bool {
        self.kind == Kind::Key
    }

    /// Whether a document about a resource or an authorization server cannot be used.
    pub fn is_metadata(&self) -> bool {
        self.kind == Kind::Metadata
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

/// An error about JSON that does not have the shape of a type. Names the member, quotes nothing.
pub(crate) fn misread(kind: Kind, what: &str, error: &ReadError) -> Error {
    Error::new(kind, format!("{what}: {error}"))
}
