//! The scopes that a request was granted.

use std::sync::Arc;

/// The scopes that the credential of a request grants, attached to its
/// [`Extensions`](super::Extensions).
///
/// Without it, rules about scopes do not apply: on stdio the user who starts a server may do
/// everything. Over HTTP an endpoint with authorization attaches it to every request, empty if no
/// credential was verified.
///
/// ```
/// use bowline_proto::request::Access;
///
/// let access = Access::to(["mcp", "export"]);
/// assert!(access.has("mcp") && !access.has("admin"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access(Arc<[String]>);

impl Access {
    /// Access to nothing that needs a scope.
    pub fn none() -> Self {
        Self::default()
    }

    /// Access to what these scopes allow. Scopes that others include must be among them.
    pub fn to<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        Self(scopes.into_iter().map(Into::into).collect())
    }

    /// Whether a scope was granted. Scopes are compared to the letter.
    pub fn has(&self, scope: &str) -> bool {
        self.0.iter().any(|granted| granted == scope)
    }

    /// The granted scopes.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}
