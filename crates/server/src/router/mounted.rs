//! Requests for mounted servers: finds the server by name or URI, and passes the request on.
//!
//! Tools and prompts are found by their namespace, which is part of their name, so one server is
//! asked. Resources keep their URIs, so the server that has one must be looked for in the lists. A
//! server is asked for a URI that it does not list only if it lists others of the same scheme, or
//! nothing at all: no server should hear of the resources of another (TRUST-12).

use bowline_proto::members::Members;
use bowline_proto::request::{EveryResource, Outbox, Parts, Request, Response};
use bowline_types::capability::ServerCapabilities;
use bowline_types::completion::{CompleteParams, Reference};
use bowline_types::error::{ErrorObject, code};
use bowline_types::namespace::Namespace;
use bowline_types::subscription::SubscriptionFilter;
use futures_core::future::BoxFuture;

use super::holders::{Holders, trace_templates};
use super::resource::Presence;
use super::{Routed, Router, unknown};
use crate::mount::lists::ResourceTrace;
use crate::mount::{Mount, accompanied};
use crate::notify::ListenStream;
use crate::task::{TaskHost, WithoutTasks};

impl Router {
    /// Passes a call on to the mounted server that its name leads to. The namespace is taken off,
    /// so the mounted server sees the name that it gave itself.
    pub(super) fn pass_by_name(
        &self,
        mut request: Request,
        what: &str,
        name: &str,
    ) -> Result<Routed, ErrorObject> {
        let (mount, name) = self.mount_of(name).ok_or_else(|| unknown(what, name))?;
        match mount.has_tasks() {
            true => self.host_task(&mut request),
            false => {
                self.refuse_task(&mount.namespace.qualify(name), &request)?;
                request.parts.extensions.insert(WithoutTasks);
                if request.params.value("task").is_some() {
                    request.params = request.params.with("task", &());
                }
            }
        }
        request.params = request.params.with("name", name);
        Ok(Routed::Later(mount.serve(request)))
    }

    /// Makes this server the one that has the task of a call, unless one that mounts it has it.
    fn host_task(&self, request: &mut Request) {
        let extensions = &mut request.parts.extensions;
        if extensions.get::<TaskHost>().is_none() {
            let (tasks, params) = (self.0.tasks.clone(), request.params.clone());
            extensions.insert(TaskHost { tasks, params });
        }
    }

    /// The mounted server that a qualified name leads to, and what the thing is called there.
    fn mount_of<'a>(&self, name: &'a str) -> Option<(Mount, &'a str)> {
        let (namespace, name) = Namespace::split(name)?;
        let mounts = self.0.registry.mounts();
        let mount = mounts.iter().find(|mount| mount.namespace.as_str() == namespace)?;
        Some((mount.clone(), name))
    }

    /// Passes a request on to the mounted server that has a resource. A resource that this server
    /// has but hides from the caller is not looked for elsewhere.
    pub(super) fn pass_by_uri(&self, request: Request, uri: String) -> Result<Routed, ErrorObject> {
        let candidates = self.candidates(ServerCapabilities::supports_resources);
        let unknown = ErrorObject::resource_not_found(&uri, request.parts.revision);
        if candidates.is_empty() || self.presence(&uri, &request.parts) == Presence::Hidden {
            return Err(unknown);
        }
        let router = self.clone();
        Ok(Routed::Later(Box::pin(async move {
            let holders = router.holders(&candidates, &[&uri], &request.parts).await;
            let Holders { mounts, mut failure } = holders.into_iter().next().unwrap_or_default();
            let (mut lacks, mut is_missing) = (None, false);
            for mount in mounts {
                match mount.serve(request.clone()).await {
                    // Codes for a resource that there is not differ between revisions.
                    Err(error) if is_unknown(&error) => is_missing = true,
                    // A server that was not met yet may turn out to have no such method.
                    Err(error) if error.code == code::METHOD_NOT_FOUND => lacks = Some(error),
                    // Another server may have it.
                    Err(error) if error.code == code::INTERNAL_ERROR => {
                        failure.get_or_insert(error);
                    }
                    answer => return answer,
                }
            }
            Err(failure.or(lacks.filter(|_| !is_missing)).unwrap_or(unknown))
        })))
    }

    /// Passes a completion on to the mounted server that has what it is for.
    pub(super) fn pass_completion(
        &self,
        mut request: Request,
        mut params: CompleteParams,
        unknown: ErrorObject,
    ) -> Result<Routed, ErrorObject> {
        match &mut params.r#ref {
            Reference::Prompt(prompt) => {
                let Some((mount, name)) = self.mount_of(&prompt.name) else { return Err(unknown) };
                prompt.name = name.to_owned();
                request.params = request.params.with("ref", &params.r#ref);
                Ok(Routed::Later(mount.serve(request)))
            }
            Reference::Resource(template) => {
                let candidates = self.candidates(ServerCapabilities::supports_completions);
                let uri = std::mem::take(&mut template.uri);
                // Only the server that has the template may see what the user types.
                Ok(Routed::Later(Box::pin(async move {
                    let parts = &request.parts;
                    let uris = [uri.as_str()];
                    let mut traces = trace_templates(&candidates, &uris, parts);
                    for mount in &candidates {
                        if let Some(Ok([ResourceTrace::Listed])) =
                            traces.next().await.as_ref().map(|traces| traces.as_deref())
                        {
                            return mount.serve(request.clone()).await;
                        }
                    }
                    Err(unknown)
                })))
            }
            _ => Err(unknown),
        }
    }

    /// Passes a notification of the client on to all mounted servers.
    pub(super) fn notify_mounts(&self, request: &Request) -> Option<BoxFuture<'static, ()>> {
        let mounts = self.0.registry.mounts();
        let notify = |mount: &Mount| ended(mount.serve(request.clone()));
        let mut others: Vec<_> = mounts.iter().map(notify).collect();
        let last = others.pop()?;
        Some(Box::pin(async move {
            accompanied(last, others).await;
        }))
    }

    /// Notifies the client of changes of this server and of the mounted servers.
    pub(super) async fn send_changes(&self, listening: &ListenStream, parts: &Parts) -> Response {
        if self.0.registry.mounts().is_empty() {
            return self.send_own_changes(listening, parts).await;
        }
        let company = self.listen_to_mounts(listening, parts).await;
        accompanied(self.send_own_changes(listening, parts), company).await
    }

    /// Opens a `subscriptions/listen` to each mounted server that can notify of a requested change.
    async fn listen_to_mounts(
        &self,
        listening: &ListenStream,
        parts: &Parts,
    ) -> Vec<BoxFuture<'static, ()>> {
        let mut wanted = Vec::new();
        for mount in self.0.registry.mounts().iter() {
            let mut filter = listening.request().filter.clone();
            filter.resource_subscriptions.clear();
            wanted.push((mount.clone(), filter.honoured_by(&mount.capabilities())));
        }
        let uris = listening.request().filter.resource_subscriptions.iter().map(String::as_str);
        let uris: Vec<_> =
            uris.filter(|uri| self.presence(uri, parts) == Presence::Absent).collect();
        let candidates = self.candidates(ServerCapabilities::supports_resources_subscribe);
        let holders = self.holders(&candidates, &uris, parts).await;
        for (uri, Holders { mounts, .. }) in uris.into_iter().zip(holders) {
            for holder in mounts {
                let same = |(mount, _): &&mut (Mount, _)| mount.namespace == holder.namespace;
                if let Some((_, filter)) = wanted.iter_mut().find(same) {
                    filter.resource_subscriptions.push(uri.to_owned());
                }
            }
        }
        let every_resource = parts.extensions.get::<EveryResource>().is_some();
        wanted.retain(|(_, filter)| !filter.is_empty() || every_resource);
        wanted.iter().map(|(mount, filter)| listen_to(mount, filter, listening, parts)).collect()
    }

    /// The mounted servers that can do something, in order.
    fn candidates(&self, can: fn(&ServerCapabilities) -> bool) -> Vec<Mount> {
        let mounts = self.0.registry.mounts();
        mounts.iter().filter(|mount| can(&mount.capabilities())).cloned().collect()
    }
}

/// Listens to one mounted server, and passes its changes on. The changes go through a relay of the
/// subscription, so that the client sees one subscription and one acknowledgement.
fn listen_to(
    mount: &Mount,
    filter: &SubscriptionFilter,
    listening: &ListenStream,
    parts: &Parts,
) -> BoxFuture<'static, ()> {
    let relay = listening.relay(filter.clone(), parts.outbox.clone());
    let mut parts = parts.clone();
    parts.outbox = Outbox::new(parts.exchange, relay.clone());
    let params = Members::default().with("notifications", filter);
    let stream = mount.serve(Request { parts, params });
    Box::pin(async move {
        ended(stream).await;
        relay.end();
    })
}

fn ended(answer: BoxFuture<'static, Response>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        // The client did not send this request, so it gets no answer.
        let _ = answer.await;
    })
}

fn is_unknown(error: &ErrorObject) -> bool {
    matches!(error.code, code::RESOURCE_NOT_FOUND | code::INVALID_PARAMS)
}
