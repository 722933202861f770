//! Extensions: methods and notifications outside of the specification, which client and server
//! agree on by declaring the same identifier.
//!
//! An [`Extension`] is what a program writes. [`Server::extension`](crate::Server::extension) checks
//! it, and the server puts all of them into a [`table`] when it is built. The router passes requests
//! for methods that the specification does not have to that table, which checks that the client
//! declared the extension too. From there on a method runs like a tool: scopes, layers, extractors,
//! handler.
//!
//! Only `Server::extension` names the table. So a program without extensions does not contain it.

use std::fmt;
use std::sync::Arc;

use bowline_types::capability::DeclaredExtensions;
use bowline_types::ext::tasks;
use bowline_types::json::Object;
use bowline_types::method::{CustomMethod, MessageKind};
use serde::Serialize;
use tower_layer::Layer;

use crate::error::{BoxError, BuildError};
use crate::handler::Handler;
use crate::layer::{ErasedService, Layers, Request, Response};
use crate::respond::{IntoMethodResult, IntoNothing};
use crate::run::ScopeRules;

mod declared;
mod method;
mod table;

pub(crate) use declared::{BuiltExtensions, Extensions};
use method::MethodEntry;

/// An extension that a server supports: an identifier, settings, and the methods and notifications
/// that clients may send.
///
/// The server declares it in its capabilities. Its methods are served only for clients that declare
/// the same identifier; others get an error that names it. Without methods, an extension is just
/// declared, for example because tools act differently if the client has it too:
/// [`Context::capabilities`](crate::Context::capabilities) knows.
///
/// Handlers take the same [extractors](crate::extract) as tools, and
/// [`Params<T>`](crate::Params) for what the client sent. They cannot take [`Ask`](crate::Ask):
/// since 2026-07-28 only tools, prompts and resources may ask. A server that mounts this one offers
/// its extensions, too.
///
/// ```
/// use bowline_server::{Extension, Json, Params, Server};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize)]
/// struct Query {
///     text: String,
/// }
///
/// #[derive(Serialize)]
/// struct Hits {
///     titles: Vec<String>,
/// }
///
/// async fn run(Params(query): Params<Query>) -> Json<Hits> {
///     Json(Hits { titles: vec![format!("About {}", query.text)] })
/// }
///
/// let search = Extension::new("com.example/search").method("search/run", run);
/// let server = Server::new("library", "1.0.0").extension(search);
/// assert!(server.build().is_ok());
/// ```
#[derive(Clone)]
pub struct Extension {
    identifier: String,
    settings: Object,
    methods: Vec<Arc<MethodEntry>>,
    scopes: ScopeRules,
    /// Whether its methods are served only for clients that declare it.
    needs_declaration: bool,
    layers: Layers,
    /// The first problem that a builder method found; [`Server::build`](crate::Server::build)
    /// reports it.
    problem: Option<String>,
}

impl Extension {
    /// An extension with this identifier, such as `com.example/search`: a domain that its author
    /// controls in reverse, and a name.
    ///
    /// A change that breaks clients needs a new identifier. `io.modelcontextprotocol/` is for the
    /// official extensions.
    pub fn new(identifier: impl Into<String>) -> Self {
        Self {
            identifier: identifier.into(),
            settings: Object::default(),
            methods: Vec::new(),
            scopes: ScopeRules::default(),
            needs_declaration: true,
            layers: Layers::default(),
            problem: None,
        }
    }

    /// Sets the settings that clients read: a value that serializes as a JSON object. Without this,
    /// they are `{}`.
    #[must_use]
    pub fn settings<T: Serialize + ?Sized>(mut self, settings: &T) -> Self {
        match Object::of(settings) {
            Ok(settings) => self.settings = settings,
            Err(reason) => self.note(format!("has settings that {reason}")),
        }
        self
    }

    /// Serves a request of clients.
    ///
    /// Names are free except for those of the specification, but `search/run` is better than `run`:
    /// a server has each name once.
    #[must_use]
    pub fn method<M, H>(self, name: &str, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoMethodResult + 'static,
    {
        let method = self.register(name, MessageKind::Request);
        self.add(method.map(|method| MethodEntry::request(method, handler)))
    }

    /// Handles a notification of clients, which is not answered. Its name usually begins with
    /// `notifications/`.
    ///
    /// It counts against the limits like a request. Since 2026-07-28 clients send their capabilities
    /// in its `_meta`; without them it is not served.
    #[must_use]
    pub fn notification<M, H>(self, name: &str, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoNothing + 'static,
    {
        let method = self.register(name, MessageKind::Notification);
        self.add(method.map(|method| MethodEntry::notification(method, handler)))
    }

    /// Serves only callers with this scope; as [`Tool::require_scope`](crate::Tool::require_scope),
    /// for everything of the extension.
    #[must_use]
    pub fn require_scope(mut self, scope: &str) -> Self {
        if let Err(reason) = self.scopes.require(scope) {
            self.note(reason);
        }
        self
    }

    /// Serves clients that do not declare the extension, too: for extensions that only a server
    /// declares.
    #[must_use]
    pub fn for_every_client(mut self) -> Self {
        self.needs_declaration = false;
        self
    }

    /// Wraps a tower layer around everything that the extension serves. The layer that was added
    /// last is the outermost.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<ErasedService> + Send + Sync + 'static,
        L::Service:
            tower_service::Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        <L::Service as tower_service::Service<Request>>::Error: Into<BoxError>,
        <L::Service as tower_service::Service<Request>>::Future: Send + 'static,
    {
        self.layers.add(layer);
        self
    }

    /// The identifier.
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// Checks everything except the state that handlers need.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the extension.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        DeclaredExtensions::new()
            .insert(&self.identifier, Object::default())
            .map_err(|error| BuildError::new(error.to_string()))?;
        if self.identifier == tasks::IDENTIFIER {
            return Err(self.error("is declared by itself as soon as a tool has `.task(..)`"));
        }
        match &self.problem {
            Some(problem) => Err(self.error(problem)),
            None => Ok(()),
        }
    }

    fn error(&self, reason: &str) -> BuildError {
        BuildError::new(format!("extension `{}` {reason}", self.identifier))
    }

    fn register(&self, name: &str, kind: MessageKind) -> Result<CustomMethod, String> {
        CustomMethod::register(name, kind).map_err(|error| format!("cannot have the {error}"))
    }

    fn add(mut self, entry: Result<MethodEntry, String>) -> Self {
        let entry = match entry {
            Ok(entry) => entry,
            Err(reason) => {
                self.note(reason);
                return self;
            }
        };
        if let Some(problem) = entry.problem() {
            self.note(problem);
        }
        if self.methods.iter().any(|other| other.name() == entry.name()) {
            self.note(format!("has `{}` twice", entry.name()));
        }
        self.methods.push(Arc::new(entry));
        self
    }

    fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<_> = self.methods.iter().map(|method| method.name()).collect();
        let mut shown = f.debug_struct("Extension");
        shown.field("identifier", &self.identifier).field("methods", &methods).finish()
    }
}
