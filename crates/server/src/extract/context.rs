//! Everything about a call that has no extractor of its own.

use std::time::Duration;

use bowline_proto::request::{Access, ExtensionNotification, Outgoing, Owner};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::code;
use bowline_types::implementation::Implementation;
use bowline_types::json::Object;
use bowline_types::meta::key;
use bowline_types::method::{CustomMethod, MessageKind};
use bowline_types::revision::Revision;
use bowline_types::trace;
use http::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::FromCall;
use crate::call::Call;
use crate::error::{Error, Result};

/// The caller, the revision, and everything that the request holds beside the arguments. Cheap to
/// clone.
///
/// ```
/// use bowline_server::Context;
///
/// async fn whoami(context: Context) -> String {
///     let client = context.client().map_or("a client", |client| client.display_name());
///     format!("{client}, speaking {}", context.revision())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Context(Call);

impl FromCall for Context {
    async fn from_call(call: &Call) -> Result<Self> {
        Ok(Self(call.clone()))
    }
}

impl Context {
    /// The revision that the caller speaks: for logs. Handlers should not depend on it.
    pub fn revision(&self) -> Revision {
        self.0.parts().revision
    }

    /// The name and version that the client reports: for logs, never for decisions.
    pub fn client(&self) -> Option<&Implementation> {
        self.0.parts().client.info.as_ref()
    }

    /// The capabilities that the client declares.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.parts().client.capabilities
    }

    /// Whether the caller shows views of tools ([`Tool::ui`](crate::Tool::ui)). A tool may say less in
    /// words then. The model reads the words in either case.
    pub fn shows_views(&self) -> bool {
        self.0.parts().shows_views()
    }

    /// On whose behalf the call is made, as verified by a layer around the HTTP endpoint: the
    /// [`Owner`] that it inserted into the extensions of the HTTP request, or
    /// [`Owner::anonymous`] if there is none.
    pub fn owner(&self) -> &Owner {
        &self.0.parts().owner
    }

    /// The scopes that the call was granted. Over stdio it has access to
    /// [everything](Access::everything).
    pub fn access(&self) -> &Access {
        &self.0.parts().access
    }

    /// A value in `_meta` of the request; `None` if it is missing or of another shape.
    pub fn meta<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0.parts().meta.parse(key).ok().flatten()
    }

    /// W3C `traceparent`: the span of the caller that this call belongs to. A value that breaks the
    /// W3C rules is ignored, here and in the next two methods.
    pub fn traceparent(&self) -> Option<String> {
        self.traced(key::TRACEPARENT)
    }

    /// W3C `tracestate`, beside [`traceparent`](Self::traceparent).
    pub fn tracestate(&self) -> Option<String> {
        self.traced(key::TRACESTATE)
    }

    /// W3C `baggage`, beside [`traceparent`](Self::traceparent).
    pub fn baggage(&self) -> Option<String> {
        self.traced(key::BAGGAGE)
    }

    /// A value of this type that a layer of the server, a layer around the HTTP endpoint (such as
    /// axum's `Extension`), or the transport attached to the request.
    ///
    /// Values that layers of the server inserted into [`Parts::extensions`] hide values of the same
    /// type in the extensions of the HTTP request.
    ///
    /// [`Parts::extensions`]: bowline_proto::request::Parts::extensions
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extension()
    }

    /// The headers of the HTTP request that the call came with. Empty over other transports.
    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// The value of an HTTP header as text, by its name in any case. The first one, if there are
    /// several; `None` if there is none, if it is no visible ASCII text, or over other transports.
    ///
    /// A header is what the client or a proxy wrote there. [`owner`](Self::owner) is what a layer
    /// has verified.
    ///
    /// ```
    /// use bowline_server::Context;
    ///
    /// async fn tenant(context: Context) -> String {
    ///     context.header("x-tenant").unwrap_or("none").to_owned()
    /// }
    /// ```
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// The name of the tool or prompt that is called, or the URI of the resource that is read, for
    /// handlers that serve several.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Sends the caller a notification of an extension, before the answer of this call. Nothing is
    /// sent to a client that did not declare the extension.
    ///
    /// In a task and in a handler of notifications there is no answer to come. Up to 2025-11-25 the
    /// notification goes to the session of the client then. A client that reads too slowly may miss
    /// one of a task. Since 2026-07-28 clients have no session, and this fails.
    ///
    /// `name` is one of the program, and never a text from a request: each name is kept until the
    /// program ends.
    ///
    /// ```
    /// use bowline_server::{Context, Result};
    /// use serde_json::json;
    ///
    /// async fn search(context: Context) -> Result<String> {
    ///     let found = json!({ "title": "Knots" });
    ///     context.notify("com.example/search", "notifications/search/found", &found).await?;
    ///     Ok("one title".to_owned())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the params are no JSON object. If the client declared the extension: also if an extension
    /// cannot have a notification of this name, or if a task or a handler of notifications has no
    /// session to send it to. A client that has gone away is no error.
    pub async fn notify<T: Serialize + ?Sized>(
        &self,
        extension: &str,
        name: &str,
        params: &T,
    ) -> Result<()> {
        let unfit = |reason: String| Error::rpc(code::INTERNAL_ERROR, reason);
        // Wrong params are a defect of the program, and show with every client.
        let params = Object::of(params)
            .map_err(|reason| unfit(format!("`{name}` has params that {reason}")))?;
        if !self.capabilities().supports_extension(extension) {
            return Ok(());
        }
        let method = CustomMethod::register(name, MessageKind::Notification)
            .map_err(|error| unfit(error.to_string()))?;
        if let Some(reason) = self.has_no_stream() {
            return Err(unfit(format!("`{name}` cannot be sent: {reason}")));
        }
        let message = Box::new(ExtensionNotification { method, params });
        _ = self.0.parts().outbox.send(Outgoing::Notification(message)).await;
        Ok(())
    }

    /// Closes the stream of a long call; the client reconnects after this time and resumes it. So a
    /// long call holds no connection. Only HTTP streams of 2025-11-25 can do that; elsewhere this does
    /// nothing.
    pub fn pause(&self, after: Duration) {
        let _ = self.0.parts().outbox.emit(Outgoing::Pause(after));
    }

    /// Why there is no stream for a notification, if there is none.
    fn has_no_stream(&self) -> Option<&'static str> {
        let parts = self.0.parts();
        if parts.revision.has_sessions() {
            None
        } else if self.0.is_in_task() {
            Some(
                "the client of a task has no session since 2026-07-28; put it into the result, \
                 or report it as progress",
            )
        } else if parts.method.row().kind == MessageKind::Notification {
            Some(
                "a notification has no answer and its client no session since 2026-07-28; handle \
                 a request instead (`Extension::method`)",
            )
        } else {
            None
        }
    }

    fn traced(&self, key: &str) -> Option<String> {
        self.meta(key).filter(|text: &String| trace::may_stand_at(key, text))
    }
}
