//! Builder methods for extensions and experimental capabilities.

use std::collections::BTreeMap;

use bowline_types::capability::ServerCapabilities;
use bowline_types::ext::{apps, tasks};
use bowline_types::json::Object;
use serde::Serialize;

use super::{Inner, Server};
use crate::error::BuildError;
use crate::extension::{BuiltExtensions, Extension};

impl Server {
    /// Supports an extension: declares it, and serves its methods for clients that declare it too.
    ///
    /// [`build`](Self::build) fails if the identifier is not of the form `com.example/search`, if
    /// two extensions have the same identifier or method, or if the specification has a method of
    /// the same name.
    #[must_use]
    pub fn extension(self, extension: Extension) -> Self {
        let checked = extension.check();
        self.edit(|inner| {
            inner.note(checked);
            inner.extensions.add(extension);
        })
    }

    /// Declares an experimental capability: a name of your own, with settings that serialize as a
    /// JSON object. It tells clients of your own what this server does beyond the protocol;
    /// [`extension`](Self::extension) is the way with rules and methods.
    ///
    /// ```
    /// use bowline_server::Server;
    /// use serde_json::json;
    ///
    /// let server = Server::new("files", "1.0.0").experimental("diff", &json!({ "context": 3 }));
    /// # assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn experimental<T: Serialize + ?Sized>(self, name: &str, settings: &T) -> Self {
        let settings = Object::of(settings).map_err(|reason| {
            BuildError::new(format!("experimental capability `{name}` has settings that {reason}"))
        });
        self.edit(|inner| match settings {
            Ok(settings) => inner.extensions.add_experimental(name.to_owned(), settings),
            Err(error) => inner.note(Err(error)),
        })
    }
}

impl Inner {
    /// Checks that no two of this server and the mounted servers have the same extension: a client
    /// could not say whose method it calls. Extensions whose requests name a tool or a URI may be
    /// shared.
    ///
    /// # Errors
    ///
    /// Names the extension and the servers.
    pub(super) fn check_mounted(&self, extensions: &BuiltExtensions) -> Result<(), BuildError> {
        let mut own = ServerCapabilities::new();
        extensions.declare(&mut own);
        let owned = |(identifier, _): (&str, _)| (identifier.to_owned(), "this server".to_owned());
        let mut owners: BTreeMap<_, _> = own.extensions.iter().map(owned).collect();
        for mount in self.registry.mounts().iter() {
            let declared = mount.capabilities().extensions;
            for (identifier, _) in declared.iter().filter(|(it, _)| !is_shared(it)) {
                let owner = format!("the server mounted as `{}`", mount.namespace);
                if let Some(other) = owners.insert(identifier.to_owned(), owner.clone()) {
                    return Err(BuildError::duplicate(format!(
                        "{other} and {owner} both have the extension `{identifier}`; \
                         a client could not say whose method it calls"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Whether several servers behind one may have an extension.
fn is_shared(identifier: &str) -> bool {
    #[cfg(feature = "skills")]
    let is_skills = identifier == bowline_skills::entry::IDENTIFIER;
    #[cfg(not(feature = "skills"))]
    let is_skills = false;
    is_skills || matches!(identifier, tasks::IDENTIFIER | apps::IDENTIFIER)
}
