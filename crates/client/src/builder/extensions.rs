//! The extensions and experimental capabilities of a client.

use serde::Serialize;

use super::ClientBuilder;
use crate::extension::ClientExtension;
use bowline_types::json::Object;

impl<S> ClientBuilder<S> {
    /// Supports an extension: declares it, and takes its notifications. Its methods are called with
    /// [`Client::extension`](crate::Client::extension).
    ///
    /// Connecting fails if the identifier is not of the form `com.example/search`, or two extensions
    /// have the same identifier or take the same notification.
    pub fn extension(mut self, extension: ClientExtension) -> Self {
        self.handlers.extensions.add(extension);
        self
    }

    /// Declares an experimental capability: a name of your own, with settings that serialize as a
    /// JSON object. [`extension`](Self::extension) is the way with rules and methods.
    pub fn experimental<T: Serialize + ?Sized>(mut self, name: &str, settings: &T) -> Self {
        self.handlers.extensions.add_experimental(name, Object::of(settings));
        self
    }
}
