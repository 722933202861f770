//! The scopes that a request was granted.

use std::sync::{Arc, LazyLock};

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
///
/// It takes the room of one pointer, because every request carries one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access(Option<Arc<Grant>>);

#[derive(Debug, PartialEq, Eq)]
enum Grant {
    /// There is at least one.
    Scopes(Vec<String>),
    Everything,
}

/// Shared by all requests that have it, so that none allocates.
static EVERYTHING: LazyLock<Arc<Grant>> = LazyLock::new(|| Arc::new(Grant::Everything));

impl Access {
    /// Access to nothing that needs a scope. This is the default.
    pub fn none() -> Self {
        Self::default()
    }

    /// Access to what these scopes allow. Scopes that others include must be among them.
    pub fn to<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        Self((!scopes.is_empty()).then(|| Arc::new(Grant::Scopes(scopes))))
    }

    /// Access to everything: rules about scopes do not apply.
    pub fn everything() -> Self {
        Self(Some(EVERYTHING.clone()))
    }

    /// Whether a scope was granted. Scopes are compared to the letter.
    pub fn has(&self, scope: &str) -> bool {
        match self.0.as_deref() {
            None => false,
            Some(Grant::Scopes(scopes)) => scopes.iter().any(|granted| granted == scope),
            Some(Grant::Everything) => true,
        }
    }

    /// The granted scopes. Access to everything names none.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let scopes = match self.0.as_deref() {
            Some(Grant::Scopes(scopes)) => scopes.as_slice(),
            None | Some(Grant::Everything) => &[],
        };
        scopes.iter().map(String::as_str)
    }
}
