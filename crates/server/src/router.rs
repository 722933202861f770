//! From a method to the feature that serves it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_types::cache::CacheHint;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use tower_service::Service;

use crate::call::Kit;
use crate::discover::capabilities;
use crate::events::listen;
use crate::feature::Invoked;
use crate::layer::BoxFuture;
use crate::registry::Registry;

/// Serves requests by their method. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Router(Arc<Inner>);

struct Inner {
    registry: Registry,
    kit: Arc<Kit>,
    profile: Profile,
}

/// What a server says of itself, and how it lists.
pub(crate) struct Profile {
    /// The newest first.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) instructions: Option<String>,
    pub(crate) cache: CacheHint,
    pub(crate) page_size: usize,
}

impl Router {
    pub(crate) fn new(registry: Registry, kit: Kit, profile: Profile) -> Self {
        Self(Arc::new(Inner { registry, kit: Arc::new(kit), profile }))
    }

    /// Serves one request.
    pub(crate) fn route(&self, request: Request) -> Routed {
        match request.parts.method {
            Method::ServerDiscover => Routed::Ready(Some(self.discover(&request))),
            Method::ToolsList => Routed::Ready(Some(self.list_tools(&request))),
            Method::ToolsCall => self.call_tool(request),
            Method::SubscriptionsListen => self.listen(request),
            method => refuse(method),
        }
    }

    fn discover(&self, request: &Request) -> Response {
        let Profile { revisions, instructions, cache, .. } = &self.0.profile;
        let capabilities = capabilities(&self.0.registry);
        let mut result = DiscoverResult::new(revisions.iter().copied(), capabilities);
        result.instructions.clone_from(instructions);
        let success = Success::complete(result, request.parts.revision)?;
        Ok(success.with_cache(*cache))
    }

    fn list_tools(&self, request: &Request) -> Response {
        let tools = self.0.registry.tools();
        if !tools.is_offered() {
            return Err(not_offered(Method::ToolsList));
        }
        let cursor: Option<Cursor> = request
            .params
            .parse("cursor")
            .map_err(|error| ErrorObject::invalid_params(format!("`cursor`: {error}")))?;
        let page = tools.page(cursor.as_ref(), self.0.profile.page_size, request.parts.revision)?;
        Ok(page.with_cache(self.0.profile.cache))
    }

    fn call_tool(&self, request: Request) -> Routed {
        let tools = self.0.registry.tools();
        if !tools.is_offered() {
            return refuse(Method::ToolsCall);
        }
        let name = match request.params.parse::<String>("name") {
            Ok(Some(name)) => name,
            Ok(None) => return invalid("`name`: missing; name the tool to call".to_owned()),
            Err(error) => return invalid(format!("`name`: {error}")),
        };
        match tools.find(&name) {
            Some(tool) => Routed::Tool(tool.invoke(request, &self.0.kit)),
            None => invalid(format!("no tool is named `{}`", shorten(&name))),
        }
    }

    fn listen(&self, request: Request) -> Routed {
        let capabilities = capabilities(&self.0.registry);
        let tells = capabilities.supports_tools_list_changed()
            || capabilities.supports_prompts_list_changed()
            || capabilities.supports_resources_list_changed()
            || capabilities.supports_resources_subscribe();
        if !tells {
            return refuse(Method::SubscriptionsListen);
        }
        Routed::Listen(Box::pin(listen(self.0.registry.notify().clone(), request, capabilities)))
    }
}

fn refuse(method: Method) -> Routed {
    Routed::Ready(Some(Err(not_offered(method))))
}

fn not_offered(method: Method) -> ErrorObject {
    ErrorObject::method_not_found(format!("`{}` is not offered by this server", method.name()))
}

fn invalid(message: String) -> Routed {
    Routed::Ready(Some(Err(ErrorObject::invalid_params(message))))
}

/// A name that a client made up, short enough for a message.
fn shorten(name: &str) -> String {
    name.chars().take(100).collect()
}

/// A request being served.
pub(crate) enum Routed {
    Ready(Option<Response>),
    Tool(Invoked),
    Listen(BoxFuture<Response>),
}

impl Future for Routed {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut *self {
            Self::Ready(response) => response.take().map_or(Poll::Pending, Poll::Ready),
            Self::Tool(call) => Pin::new(call).poll(cx),
            Self::Listen(future) => future.as_mut().poll(cx),
        }
    }
}

impl Service<Request> for Router {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let routed = self.route(request);
        Box::pin(async move { Ok(routed.await) })
    }
}
