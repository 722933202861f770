//! Calls a feature: through its layers to its handler.
//!
//! A feature with layers is a tower service, whose innermost part is the same for all features of a
//! kind. Which feature is meant travels in the extensions of the request; so layers are built once,
//! when the feature is registered, and not for each call.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use bowline_proto::sync::{Panicked, catch_poll};
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;
use tower_service::Service;

use super::{Callee, HandlerRun};
use crate::call::ServerShared;
use crate::layer::{ErasedService, Fault, always_ready};

/// A call of a feature under way. Without layers there is no box and no dynamic call.
pub(crate) enum Invocation<C: Callee> {
    Direct(HandlerRun<C>),
    Layered { callee: Arc<C>, future: BoxFuture<'static, Response> },
}

/// Calls a feature through its layers, if there are any, unless its caller lacks a scope. Scopes
/// are checked before the layers run, so a layer sees only callers that may call.
pub(crate) fn invoke<C: Callee>(
    callee: &Arc<C>,
    route: Option<&ErasedService>,
    mut request: Request,
    shared: &Arc<ServerShared>,
) -> Invocation<C> {
    if let Some(scopes) = callee.scopes()
        && let Err(refusal) = scopes.check(&request.parts, || callee.label())
    {
        return Invocation::Direct(HandlerRun::refused(refusal));
    }
    let Some(route) = route else {
        return Invocation::Direct(HandlerRun::start(callee.clone(), request, shared.clone()));
    };
    let invocation = InvocationTarget { callee: callee.clone(), shared: shared.clone() };
    request.parts.extensions.insert(invocation);
    Invocation::Layered { callee: callee.clone(), future: route.serve(request) }
}

impl<C: Callee> Future for Invocation<C> {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut *self {
            Self::Direct(run) => Pin::new(run).poll(cx),
            Self::Layered { callee, future } => match catch_poll(future, cx) {
                Ok(poll) => poll,
                Err(Panicked) => Poll::Ready(Err(callee.panicked())),
            },
        }
    }
}

/// The service inside all layers of a feature.
pub(crate) fn innermost<C: Callee>(fault: Fault) -> ErasedService {
    ErasedService::new(Innermost::<C>(PhantomData), fault)
}

struct Innermost<C>(PhantomData<fn() -> C>);

impl<C> Clone for Innermost<C> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

/// An extension of the request: carries the feature through the layers to the innermost service.
struct InvocationTarget<C> {
    callee: Arc<C>,
    shared: Arc<ServerShared>,
}

impl<C> Clone for InvocationTarget<C> {
    fn clone(&self) -> Self {
        Self { callee: self.callee.clone(), shared: self.shared.clone() }
    }
}

impl<C: Callee> Service<Request> for Innermost<C> {
    always_ready!();

    fn call(&mut self, request: Request) -> Self::Future {
        let invocation = request.parts.extensions.get::<InvocationTarget<C>>().cloned();
        let Some(InvocationTarget { callee, shared }) = invocation else {
            let lost =
                "a layer replaced the request by one of its own; change the one it was given";
            return Box::pin(async move { Ok(Err(ErrorObject::internal(lost))) });
        };
        let run = HandlerRun::start(callee, request, shared);
        Box::pin(async move { Ok(run.await) })
    }
}
