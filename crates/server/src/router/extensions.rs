//! Methods of extensions: served by this server, or passed on to the mounted server that has them.
//!
//! A method of an extension has no name or URI of a thing in it, so the server that has it is found
//! by asking: own extensions first, then each mounted server that declares extensions. That no two
//! of them have the same extension is checked when the server is built. Skills are the exception:
//! several servers may have some, and their lists are merged.

use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::{ErrorObject, code};
use bowline_types::method::MessageKind;
use futures_core::future::BoxFuture;

use super::{Routed, Router, not_offered};
use crate::mount::Mount;

impl Router {
    /// Serves a method of an extension.
    pub(super) fn serve_extension(&self, request: &Request) -> Result<Routed, ErrorObject> {
        let passed = self.pass_extension(request);
        let served = passed.or_else(|| self.serve_own_extension(request));
        served.map(Routed::Later).ok_or_else(|| not_offered(request.parts.method))
    }

    /// Serves a method of an extension of this server; `None` if it has no such method.
    pub(super) fn serve_own_extension(
        &self,
        request: &Request,
    ) -> Option<BoxFuture<'static, Response>> {
        self.0.profile.extensions.table.serve(request, &self.0.shared)
    }

    /// Serves a method of an extension that mounted servers may have, too; `None` if none of them
    /// declares an extension.
    fn pass_extension(&self, request: &Request) -> Option<BoxFuture<'static, Response>> {
        let mounts = self.0.registry.mounts();
        let has_any = |mount: &&Mount| !mount.capabilities().extensions.is_empty();
        let mounts: Vec<Mount> = mounts.iter().filter(has_any).cloned().collect();
        if mounts.is_empty() {
            return None;
        }
        #[cfg(feature = "skills")]
        if super::skills::is_list(request.parts.method) {
            return Some(self.list_skills(request.clone()));
        }
        let own = self.serve_own_extension(request);
        if request.parts.method.row().kind == MessageKind::Notification {
            let others = self.notify_mounts(request);
            return Some(Box::pin(async move {
                if let Some(others) = others {
                    others.await;
                }
                match own {
                    Some(own) => own.await,
                    None => Ok(Success::empty()),
                }
            }));
        }
        Some(Box::pin(first_that_has(own, mounts, request.clone())))
    }
}

/// Asks one server after the other, until one has what the request is for.
async fn first_that_has(
    own: Option<BoxFuture<'static, Response>>,
    mounts: Vec<Mount>,
    request: Request,
) -> Response {
    let plain = not_offered(request.parts.method);
    let mut refusal = plain.clone();
    let mut keep = |error: ErrorObject| {
        // An error that says more than that the method is missing.
        if refusal == plain {
            refusal = error;
        }
    };
    if let Some(own) = own {
        match own.await {
            Err(error) if is_elsewhere(&request, &error) => keep(error),
            answer => return answer,
        }
    }
    for mount in mounts {
        match mount.serve(request.clone()).await {
            Err(error) if is_elsewhere(&request, &error) => keep(error),
            answer => return answer,
        }
    }
    Err(refusal)
}

/// Whether another server may have what this one refuses: it does not have the method, or no skill
/// with the URI.
fn is_elsewhere(request: &Request, error: &ErrorObject) -> bool {
    #[cfg(feature = "skills")]
    let is_by_uri = super::skills::is_by_uri(request.parts.method);
    #[cfg(not(feature = "skills"))]
    let is_by_uri = {
        _ = request;
        false
    };
    error.code == code::METHOD_NOT_FOUND || (is_by_uri && error.code == code::INVALID_PARAMS)
}
