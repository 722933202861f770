//! A tool that has been checked, as it stands in the registry.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::revision::Revision;
use bowline_types::tool::{ListToolsResult, check_name};
use tower_service::Service;

use super::{Tool, ToolCall};
use crate::call::Kit;
use crate::contract::Contract;
use crate::extract::States;
use crate::feature::set::Item;
use crate::layer::{BoxFuture, Fault, Route};
use crate::panic::{Panicked, catch_poll};
use crate::server::BuildError;

/// A tool that has been checked.
pub(crate) struct ToolEntry {
    pub(super) name: Arc<str>,
    pub(super) tool: Tool,
    pub(super) contract: Arc<Contract>,
}

impl ToolEntry {
    /// Checks all of a tool but its state.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the tool.
    pub(crate) fn check(tool: Tool) -> Result<Self, BuildError> {
        check_name(tool.name()).map_err(|error| BuildError::new(error.to_string()))?;
        let wrong = |reason: &str| BuildError::new(format!("tool `{}` {reason}", tool.name()));
        if let Some(problem) = &tool.problem {
            return Err(wrong(problem));
        }
        let contract = Contract::new(&tool.input, tool.output.as_ref())
            .map_err(|error| wrong(&format!("has a schema that cannot be used: {error}")))?;
        Ok(Self { name: tool.name().into(), tool, contract: Arc::new(contract) })
    }

    /// Checks that all the state that the tool needs is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(crate) fn check_states(&self, states: &States) -> Result<(), BuildError> {
        let missing = self.tool.signature.states().iter().find(|state| !states.contains(state.id));
        match missing {
            None => Ok(()),
            Some(state) => Err(BuildError::missing_state(&self.name, state.name)),
        }
    }

    /// Whether the tool may send log messages.
    pub(crate) fn logs(&self) -> bool {
        self.tool.signature.logs()
    }

    /// Calls the tool through its layers.
    pub(crate) fn invoke(self: &Arc<Self>, mut request: Request, kit: &Arc<Kit>) -> Invoked {
        let Some(route) = &self.tool.route else {
            return Invoked::Direct(ToolCall::start(self.clone(), request, kit.clone()));
        };
        let invocation = Invocation { entry: self.clone(), kit: kit.clone() };
        request.parts.extensions.insert(invocation);
        Invoked::Layered { entry: self.clone(), future: route.serve(request) }
    }

    pub(super) fn panicked(&self) -> ErrorObject {
        ErrorObject::internal(format!("the tool `{}` panicked", self.name))
    }
}

impl Item for ToolEntry {
    const KIND: &'static str = "tools";

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response {
        let tools = items.iter().map(|entry| entry.tool.definition.clone()).collect();
        let mut page = ListToolsResult::new(tools);
        page.next_cursor = next;
        Success::complete(page, revision)
    }
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

/// The service inside all layers of a tool.
pub(super) fn innermost() -> Route {
    Route::new(Innermost, Fault::Tool)
}

#[derive(Clone)]
struct Innermost;

/// Carries what is called through the layers to the innermost service.
#[derive(Clone)]
struct Invocation {
    entry: Arc<ToolEntry>,
    kit: Arc<Kit>,
}

impl Service<Request> for Innermost {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let invocation = request.parts.extensions.get::<Invocation>().cloned();
        let Some(Invocation { entry, kit }) = invocation else {
            let lost =
                "a layer replaced the request by one of its own; change the one it was given";
            return Box::pin(async move { Ok(Err(ErrorObject::internal(lost))) });
        };
        let call = ToolCall::start(entry, request, kit);
        Box::pin(async move { Ok(call.await) })
    }
}

/// A call of a tool under way.
pub(crate) enum Invoked {
    Direct(ToolCall),
    Layered { entry: Arc<ToolEntry>, future: BoxFuture<Response> },
}

impl Future for Invoked {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut *self {
            Self::Direct(call) => Pin::new(call).poll(cx),
            Self::Layered { entry, future } => match catch_poll(future, cx) {
                Ok(poll) => poll,
                Err(Panicked) => Poll::Ready(Err(entry.panicked())),
            },
        }
    }
}
