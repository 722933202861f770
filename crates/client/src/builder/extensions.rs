//! The extensions and experimental capabilities of a client.

use serde::Serialize;

use super::ClientBuilder;
use crate::extension::ClientExtension;
use bowline_types::json::Object;

impl<S> ClientBuilder<S> {
    /// Turns tasks on: a server of 2026-07-28 may answer the call of a tool with a task, and the
    /// call waits until the task has ended. Without this the client does not declare the extension
    /// `io.modelcontextprotocol/tasks`, so servers answer with the result, and refuse tools that run
    /// only as tasks. Extensions are off unless a program turns them on.
    ///
    /// 2025-11-25 has tasks in its core. There a call asks for a task by itself if the tool needs
    /// one, and this changes nothing.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let client =
    ///     Client::builder("my-app", "1.0.0").tasks().connect(Command::new("reports")).await?;
    /// println!("{}", client.call("export", ()).await?.text());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tasks(mut self) -> Self {
        self.handlers.tasks = true;
        self
    }

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
