//! Extensions of the server: calls of the methods that they define.

use std::sync::Arc;

use bowline_proto::client::{CallError, CallRequest};
use bowline_types::json::{Object, RawJson};
use bowline_types::method::{CustomMethod, MessageKind, Method};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::request;

/// An extension of a server that a client is connected to; made by [`Client::extension`].
#[derive(Clone, Debug)]
pub struct ServerExtension {
    client: Client,
    identifier: Arc<str>,
}

impl Client {
    /// An extension of the server, to call its methods. Both sides have to declare it:
    /// [`ClientBuilder::extension`](crate::ClientBuilder::extension) does that for the client.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize)]
    /// struct Hits {
    ///     titles: Vec<String>,
    /// }
    ///
    /// let search = client.extension("com.example/search");
    /// if search.is_supported() {
    ///     let hits: Hits = search.request("search/run", &json!({ "text": "knots" })).await?;
    ///     println!("{}", hits.titles.join(", "));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension(&self, identifier: impl Into<Arc<str>>) -> ServerExtension {
        ServerExtension { client: self.clone(), identifier: identifier.into() }
    }
}

impl ServerExtension {
    /// Whether both the server and this client declare the extension.
    pub fn is_supported(&self) -> bool {
        self.is_declared() && self.is_offered()
    }

    /// The settings that the server declares; `None` if it does not declare the extension, or the
    /// settings do not fit the type.
    pub fn settings<T: DeserializeOwned>(&self) -> Option<T> {
        self.client.capabilities().extensions.parse(&self.identifier)
    }

    /// Calls a method of the extension when awaited. The params are anything that serializes to a
    /// JSON object, or `()` for none; the result is read as a type of yours.
    ///
    /// The name of the method is remembered as long as the process runs, so it should not come from
    /// a peer.
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`]. Nothing is sent if the server does not
    /// declare the extension ([`Error::is_not_offered`]), or this client does not.
    pub fn request<R>(&self, method: &str, params: &impl Serialize) -> ClientCall<'static, R>
    where
        R: DeserializeOwned + 'static,
    {
        let request = self.message(method, MessageKind::Request, params);
        let request = request.map(|(method, params)| {
            let mut request = CallRequest::new(method, params);
            request.log_level = self.client.log_level;
            request
        });
        let read = |subject: String, result: &RawJson| request::read(&subject, result);
        ClientCall::new(self.client.link.clone(), method.to_owned(), request, read)
    }

    /// Sends a notification of the extension, without waiting. Does nothing if the connection has
    /// ended. Since 2026-07-28 servers of Bowline take them over stdio and similar channels only.
    ///
    /// # Errors
    ///
    /// If one side does not declare the extension, or the params are no JSON object.
    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<()> {
        let (method, params) = self.message(method, MessageKind::Notification, params)?;
        self.client.link.notify(method, params);
        Ok(())
    }

    /// Checks that both sides declare the extension, and the parts of a message.
    fn message(
        &self,
        name: &str,
        kind: MessageKind,
        params: &impl Serialize,
    ) -> Result<(Method, Object)> {
        if !self.is_declared() {
            let identifier = &self.identifier;
            let advice = "add it with `ClientBuilder::extension`";
            let reason = format!("this client does not declare `{identifier}`; {advice}");
            return Err(Error::input(name, reason));
        }
        let method = CustomMethod::register(name, kind).map_err(|it| Error::input(name, it))?;
        let method = Method::Custom(method);
        if !self.is_offered() {
            let missing = format!("the extension `{}`", self.identifier);
            return Err(Error::call(name, CallError::NotOffered { method, missing }));
        }
        let params = Object::of(params)
            .map_err(|reason| Error::input(name, format_args!("the params {reason}")))?;
        Ok((method, params))
    }

    fn is_declared(&self) -> bool {
        self.client.application.declares(&self.identifier)
    }

    fn is_offered(&self) -> bool {
        self.client.capabilities().supports_extension(&self.identifier)
    }
}
