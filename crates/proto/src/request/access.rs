//! The scopes that a request was granted.

use std::sync::Arc;

/// The scopes that the credential of a request grants; a field of its [`Parts`](super::Parts).
///
/// Over HTTP a request has the scopes of its verified credential, and none without one. On stdio and
/// on other channels of this machine it has access to [everything](Self::everything): the user who
/// starts a server may do all that it can do.
///
/// It is no extension, because a layer may replace the extensions of a request. A layer that means to
/// change what a request was granted sets the field.
///
/// ```
/// use bowline_proto::request::Access;
///
/// let access = Access::to(["mcp", "export"]);
/// assert!(access.has("mcp") && !access.has("admin"));
/// assert!(Access::everything().has("admin") && !Access::none().has("admin"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access(Grant);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Grant {
    /// `None` if there are no scopes: most requests have none, and clone nothing.
    Scopes(Option<Arc<[String]>>),
    Everything,
}

impl Default for Grant {
    fn default() -> Self {
        Self::Scopes(None)
    }
}

impl Access {
    /// Access to nothing that needs a scope. This is the default.
    pub fn none() -> Self {
        Self::default()
    }

    /// Access to what these scopes allow. Scopes that others include must be among them.
    pub fn to<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes: Arc<[String]> = scopes.into_iter().map(Into::into).collect();
        Self(Grant::Scopes(Some(scopes).filter(|scopes| !scopes.is_empty())))
    }

    /// Access to everything: rules about scopes do not apply.
    pub fn everything() -> Self {
        Self(Grant::Everything)
    }

    /// Whether a scope was granted. Scopes are compared to the letter.
    pub fn has(&self, scope: &str) -> bool {
        self.0 == Grant::Everything || self.scopes().any(|granted| granted == scope)
    }

    /// The granted scopes. Access to everything names none.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let scopes = match &self.0 {
            Grant::Scopes(scopes) => scopes.as_deref().unwrap_or_default(),
            Grant::Everything => &[],
        };
        scopes.iter().map(String::as_str)
    }
}
