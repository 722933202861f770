//! Mounted servers: another server's tools and prompts in a namespace, and its resources under
//! their own URIs.
//!
//! A mounted server is any [`Upstream`]. It gets the caller's own request, with the same [`Parts`],
//! so it hides features, applies limits, asks the user and reports progress as if the caller were
//! connected to it directly.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::{Parts, Request, Response};
use bowline_proto::upstream::{IntoUpstream, Upstream};
use bowline_types::capability::ServerCapabilities;
use bowline_types::ext::tasks;
use bowline_types::method::Method;
use bowline_types::namespace::Namespace;
use futures_core::future::BoxFuture;

use crate::error::BuildError;
use crate::layer::{ErasedService, Fault};

pub(crate) mod lists;

/// One mounted server. Cheap to clone. Kept by the registry in the order of mounting.
#[derive(Clone)]
pub(crate) struct Mount {
    pub(crate) namespace: Namespace,
    route: ErasedService,
    offer: Arc<dyn Offer>,
    has_tasks: Option<HasTasks>,
}

/// Whether a mounted server has tools that run as tasks now.
pub(crate) type HasTasks = Arc<dyn Fn() -> bool + Send + Sync>;

impl Mount {
    /// Mounts a server in a namespace. `task_watch` knows which upstreams can run their tools as
    /// tasks of the server that mounts them.
    ///
    /// # Errors
    ///
    /// If the namespace cannot be one, or the server cannot be built.
    pub(crate) fn make(
        namespace: String,
        upstream: impl IntoUpstream,
        task_watch: fn(&dyn Any) -> Option<HasTasks>,
    ) -> Result<Self, BuildError> {
        let namespace = Namespace::new(namespace)
            .map_err(|error| BuildError::new(format!("nothing can be mounted in {error}")))?;
        let unfit =
            |error| BuildError::new(format!("the server mounted as `{namespace}`: {error}"));
        let upstream = upstream.into_upstream().map_err(|error| unfit(error.to_string()))?;
        let route = ErasedService::new(upstream.clone(), Fault::Server);
        let has_tasks = task_watch(&upstream);
        Ok(Self { namespace, route, offer: Arc::new(upstream), has_tasks })
    }

    /// Whether its tools run as tasks of the server that mounts it.
    pub(crate) fn has_tasks(&self) -> bool {
        self.has_tasks.as_ref().is_some_and(|has_tasks| has_tasks())
    }

    /// What it offers now.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        self.offer.capabilities()
    }

    /// Its instructions for models, with a sentence that gives the prefix of its names.
    pub(crate) fn instructions(&self) -> Option<String> {
        let text = self.offer.instructions()?;
        let prefix = self.namespace.qualify("");
        Some(format!("On the tools and prompts whose names begin with `{prefix}`:\n{text}"))
    }

    /// Why it cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        let why = self.offer.needs_authorization()?;
        Some(format!("the server mounted as `{}`: {why}", self.namespace))
    }

    /// Serves a request.
    pub(crate) fn serve(&self, request: Request) -> BoxFuture<'static, Response> {
        self.route.serve(request)
    }

    /// Sends a request of our own on behalf of a caller, with the parts of the caller's request.
    /// Without the progress token, since the client did not send this request, and without input of
    /// a round, which belongs to another.
    pub(crate) fn ask(
        &self,
        parts: &Parts,
        method: Method,
        params: Members,
    ) -> BoxFuture<'static, Response> {
        let mut parts = parts.clone();
        parts.method = method;
        (parts.progress, parts.input) = (None, None);
        self.serve(Request { parts, params })
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mount").field(&self.namespace).finish()
    }
}

/// The part of an [`Upstream`] that is no service, as an object.
trait Offer: Send + Sync {
    fn capabilities(&self) -> ServerCapabilities;
    fn instructions(&self) -> Option<String>;
    fn needs_authorization(&self) -> Option<String>;
}

impl<U: Upstream> Offer for U {
    fn capabilities(&self) -> ServerCapabilities {
        Upstream::capabilities(self)
    }

    fn instructions(&self) -> Option<String> {
        Upstream::instructions(self)
    }

    fn needs_authorization(&self) -> Option<String> {
        Upstream::needs_authorization(self)
    }
}

/// Adds the capabilities of a mounted server to those of the server, as far as the server passes
/// their requests on. Capabilities that the server would not pass on, such as experimental ones,
/// are left out.
pub(crate) fn join(mut own: ServerCapabilities, other: &ServerCapabilities) -> ServerCapabilities {
    type With = fn(ServerCapabilities) -> ServerCapabilities;
    let joins: [(bool, With); 9] = [
        (other.supports_tools(), ServerCapabilities::with_tools),
        (other.supports_tools_list_changed(), ServerCapabilities::with_tools_list_changed),
        (other.supports_prompts(), ServerCapabilities::with_prompts),
        (other.supports_prompts_list_changed(), ServerCapabilities::with_prompts_list_changed),
        (other.supports_resources(), ServerCapabilities::with_resources),
        (other.supports_resources_list_changed(), ServerCapabilities::with_resources_list_changed),
        (other.supports_resources_subscribe(), ServerCapabilities::with_resources_subscribe),
        (other.supports_completions(), ServerCapabilities::with_completions),
        (other.supports_logging(), ServerCapabilities::with_logging),
    ];
    for (can, with) in joins {
        if can {
            own = with(own);
        }
    }
    // Tasks are those of the mounting server, which declares them itself.
    let is_passed_on = |identifier: &str| identifier != tasks::IDENTIFIER;
    for (identifier, settings) in other.extensions.iter().filter(|(it, _)| is_passed_on(it)) {
        if !own.supports_extension(identifier) {
            // The mounted server has declared it, so it is well-formed.
            _ = own.extensions.insert(identifier, settings.clone());
        }
    }
    own
}

/// Awaits a future, and polls others meanwhile. Drops those that have not ended when it returns.
/// Used for subscriptions: the streams of mounted servers live as long as the client's.
pub(crate) async fn accompanied<T>(
    main: impl Future<Output = T>,
    mut company: Vec<BoxFuture<'static, ()>>,
) -> T {
    let mut main = pin!(main);
    poll_fn(|cx| {
        company.retain_mut(|other| other.as_mut().poll(cx).is_pending());
        main.as_mut().poll(cx)
    })
    .await
}
