//! Builder methods for extensions and experimental capabilities.

use bowline_types::json::Object;
use serde::Serialize;

use super::{BuildError, Server};
use crate::extension::Extension;

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
