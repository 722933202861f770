//! Routes a request by its method to the feature that serves it.
//!
//! Two rules run through it. What the server does not offer is answered with -32601 (ERR-3), even
//! if the method exists in the protocol. What is hidden from a caller is answered as if it did not
//! exist, so that no error tells the two apart. Own features come first; a name or URI that the
//! server itself does not have goes to the servers that it mounts.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_types::capability::ServerCapabilities;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::text::excerpt;
use futures_core::future::BoxFuture;
use tower_service::Service;

use crate::call::ServerShared;
use crate::discover::{ResourceSubscriptions, capabilities, instructions, own_capabilities};
use crate::extension::BuiltExtensions;
use crate::feature::visible::{CallerView, VisibilityFilter};
use crate::feature::{NotificationHandler, ToolEntry};
use crate::layer::always_ready;
use crate::registry::Registry;
use crate::run::{HandlerRun, Invocation};
use crate::task::{RecordedCallRunner, ServerTasks, call_tool, may_list};

mod caching;
mod complete;
mod extensions;
mod holders;
mod list;
mod merge;
mod mounted;
mod prompt;
mod resource;
#[cfg(feature = "skills")]
mod skills;
mod tasks;
mod together;

pub(crate) use caching::ListCaching;
pub use caching::ListKind;

/// Serves requests by their method. Cheap to clone. Lives in the
/// [`Service`](crate::service::Service), and is called through it only.
#[derive(Clone)]
pub(crate) struct Router(Arc<Inner>);

struct Inner {
    registry: Registry,
    shared: Arc<ServerShared>,
    tasks: Arc<ServerTasks>,
    profile: Profile,
}

/// What a server declares about itself, and how it lists its features.
pub(crate) struct Profile {
    /// The newest first.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) instructions: Option<String>,
    pub(crate) caching: ListCaching,
    pub(crate) page_size: usize,
    /// Which callers see which features.
    pub(crate) filter: VisibilityFilter,
    pub(crate) subscriptions: ResourceSubscriptions,
    /// Runs when a client says that its roots changed.
    pub(crate) roots_changed: Option<Arc<NotificationHandler>>,
    pub(crate) extensions: BuiltExtensions,
    /// Why the layers cannot be offered over HTTP without authorization, if they cannot.
    pub(crate) needs_authorization: Option<String>,
}

impl Router {
    pub(crate) fn new(registry: Registry, tasks: Arc<ServerTasks>, profile: Profile) -> Self {
        let shared = tasks.shared().clone();
        Self(Arc::new(Inner { registry, shared, tasks, profile }))
    }

    /// Serves calls of stored tasks again, as long as the server is there.
    pub(crate) fn recaller(&self) -> RecordedCallRunner {
        let server = Arc::downgrade(&self.0);
        Box::new(move |request| Some(Box::pin(Self(server.upgrade()?).route(request))))
    }

    /// Serves one request.
    ///
    /// Tools come first because nearly all calls are theirs.
    pub(crate) fn route(&self, request: Request) -> Routed {
        use Method::{TasksCancel, TasksGet, TasksList, TasksResult, TasksUpdate};
        let served = match request.parts.method {
            Method::ToolsCall => self.call_tool(request),
            Method::PromptsGet => self.get_prompt(request),
            Method::ResourcesRead => self.read_resource(request),
            Method::ResourcesSubscribe => self.subscribe(request),
            Method::ResourcesUnsubscribe => Ok(self.pass_unsubscribe(&request)),
            Method::CompletionComplete => self.complete(request),
            Method::ServerDiscover => self.discover(&request).map(Routed::done),
            Method::SubscriptionsListen => self.listen(request),
            Method::RootsListChanged => Ok(self.roots_changed(request)),
            TasksGet | TasksUpdate | TasksCancel | TasksResult | TasksList => {
                self.serve_task(request)
            }
            Method::Custom(_) => self.serve_extension(&request),
            method if is_list(method) => self.list(&request),
            method => Err(not_offered(method)),
        };
        served.unwrap_or_else(|refusal| Routed::Ready(Some(Err(refusal))))
    }

    /// A server without mounts lists at once, usually from pages that are written already.
    fn list(&self, request: &Request) -> Result<Routed, ErrorObject> {
        match self.0.registry.mounts().is_empty() {
            true => self.list_own(request).map(Routed::done),
            false => Ok(Routed::Later(self.list_all(request.clone()))),
        }
    }

    /// Lists the server's own features.
    fn list_own(&self, request: &Request) -> Response {
        match request.parts.method {
            Method::ToolsList => self.list_tools(request),
            Method::PromptsList => self.list_prompts(request),
            Method::ResourcesList => self.list_resources(request),
            Method::ResourcesTemplatesList => self.list_templates(request),
            method => Err(not_offered(method)),
        }
    }

    /// Answers `server/discover`, and through the connection `initialize` of older clients.
    fn discover(&self, request: &Request) -> Response {
        let Profile { revisions, caching, .. } = &self.0.profile;
        let mut capabilities = self.capabilities();
        if let Some(tasks) = capabilities.tasks.as_mut().filter(|_| !may_list(&request.parts)) {
            tasks.list = None;
        }
        let mut result = DiscoverResult::new(revisions.iter().copied(), capabilities);
        result.instructions = self.instructions();
        let success = Success::complete(result, request.parts.revision)?;
        Ok(success.with_cache(caching.general))
    }

    /// An unknown tool is an error of the request and not of the tool (-32602).
    fn call_tool(&self, request: Request) -> Result<Routed, ErrorObject> {
        let tools = self.0.registry.tools();
        if !tools.is_offered() && !self.capabilities().supports_tools() {
            return Err(not_offered(Method::ToolsCall));
        }
        let name = name(&request, "tool")?;
        match tools.find(&name, self.view(&request)) {
            Some(tool) => {
                self.check_task(tool, &request)?;
                Ok(Routed::Tool(call_tool(tool, request, &self.0.tasks)))
            }
            None => {
                let name = name.into_owned();
                self.pass_by_name(request, "tool", &name)
            }
        }
    }

    /// Notifies the mounted servers first, then runs the server's own handler.
    fn roots_changed(&self, request: Request) -> Routed {
        let others = self.notify_mounts(&request);
        let own = match &self.0.profile.roots_changed {
            Some(handler) => {
                Routed::later(HandlerRun::start(handler.clone(), request, self.0.shared.clone()))
            }
            None => Routed::done(Success::empty()),
        };
        match others {
            None => own,
            Some(others) => Routed::Later(Box::pin(async move {
                others.await;
                own.await
            })),
        }
    }

    /// The connection keeps the subscriptions of a session; mounted servers may follow resources
    /// elsewhere on its behalf.
    fn pass_unsubscribe(&self, request: &Request) -> Routed {
        match self.notify_mounts(request) {
            None => Routed::done(Success::empty()),
            Some(others) => Routed::Later(Box::pin(async move {
                others.await;
                Ok(Success::empty())
            })),
        }
    }

    /// The server's instructions for models, with those of the mounted servers.
    pub(crate) fn instructions(&self) -> Option<String> {
        instructions(self.0.profile.instructions.as_deref(), &self.0.registry)
    }

    /// Why the server cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        let Profile { extensions, needs_authorization, .. } = &self.0.profile;
        let of_extensions = || extensions.table.needs_authorization();
        let of_layers = || needs_authorization.clone();
        self.0.registry.needs_authorization().or_else(of_extensions).or_else(of_layers)
    }

    /// The tasks of the server.
    #[cfg(feature = "http")]
    pub(crate) fn tasks(&self) -> &ServerTasks {
        &self.0.tasks
    }

    /// The capabilities of the server and of the mounted servers, as of now.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut all = capabilities(&self.0.registry, self.0.profile.subscriptions);
        self.0.profile.extensions.declare(&mut all);
        all
    }

    /// The capabilities of the server without those of the mounted servers.
    fn own_capabilities(&self) -> ServerCapabilities {
        let mut own = own_capabilities(&self.0.registry, self.0.profile.subscriptions);
        self.0.profile.extensions.declare(&mut own);
        own
    }

    /// The features that the caller sees.
    fn view<'a>(&'a self, request: &'a Request) -> CallerView<'a> {
        CallerView::new(&request.parts, &self.0.profile.filter)
    }
}

/// Whether a method asks for a list.
fn is_list(method: Method) -> bool {
    use Method::{PromptsList, ResourcesList, ResourcesTemplatesList, ToolsList};
    matches!(method, ToolsList | PromptsList | ResourcesList | ResourcesTemplatesList)
}

/// The name of what is called.
fn name<'a>(request: &'a Request, what: &str) -> Result<Cow<'a, str>, ErrorObject> {
    let name = request.params.string("name").map_err(ErrorObject::misread_params)?;
    let missing = || format!("`params.name`: missing; name the {what} to call");
    name.ok_or_else(|| ErrorObject::invalid_params(missing()))
}

fn not_offered(method: Method) -> ErrorObject {
    ErrorObject::method_not_found(format!("`{}` is not offered by this server", method.name()))
}

fn unknown(what: &str, name: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("no {what} is named `{}`", excerpt(name)))
}

/// A request being served, as a future. The usual cases are variants of their own, so that a list
/// and a tool call need no box.
pub(crate) enum Routed {
    Ready(Option<Response>),
    Tool(Invocation<ToolEntry>),
    Later(BoxFuture<'static, Response>),
}

impl Routed {
    fn done(success: Success) -> Self {
        Self::Ready(Some(Ok(success)))
    }

    fn later(response: impl Future<Output = Response> + Send + 'static) -> Self {
        Self::Later(Box::pin(response))
    }
}

impl Future for Routed {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut *self {
            Self::Ready(response) => response.take().map_or(Poll::Pending, Poll::Ready),
            Self::Tool(call) => Pin::new(call).poll(cx),
            Self::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl Service<Request> for Router {
    always_ready!();

    fn call(&mut self, request: Request) -> Self::Future {
        let routed = self.route(request);
        Box::pin(async move { Ok(routed.await) })
    }
}
