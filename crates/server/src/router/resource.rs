//! Resources: finds the one at a URI, reads it, and subscribes to it.
//!
//! A URI may be that of a resource, or match the template of a family; the resource wins, then the
//! family that was registered first. Reading, subscribing and notifying all use the same search, so
//! they agree on what a caller sees.

use std::sync::Arc;

use bowline_proto::request::{EveryResource, Parts, Request, Response, Success};
use bowline_types::error::{ErrorObject, ResourceNotFound};
use bowline_types::method::Method;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};

use super::{Routed, Router, not_offered};
use crate::discover::{ResourceSubscriptions, has_tasks};
use crate::feature::visible::CallerView;
use crate::feature::{ResourceReader, asked};
use crate::notify::{ListenRequest, ListenStream};
use crate::task::{declares_tasks, missing_extension};

impl Router {
    pub(super) fn read_resource(&self, request: Request) -> Result<Routed, ErrorObject> {
        self.check_resources(&request)?;
        let uri = asked(&request)?;
        match self.reader_at(&uri, self.view(&request)) {
            Some(reader) if reader.is_family() && !self.0.registry.mounts().is_empty() => {
                Ok(self.read_family(&reader, request, uri))
            }
            Some(reader) => Ok(Routed::later(reader.invoke(request, &self.0.shared))),
            None => self.pass_by_uri(request, uri),
        }
    }

    /// Reads a resource of a template. The template may make URIs of a mounted server, too: all
    /// servers with skills have the same one.
    fn read_family(&self, reader: &Arc<ResourceReader>, request: Request, uri: String) -> Routed {
        let own = reader.invoke(request.clone(), &self.0.shared);
        let router = self.clone();
        Routed::later(async move {
            match own.await {
                Err(error) if error.parse_data::<ResourceNotFound>().is_some() => {
                    match router.pass_by_uri(request, uri) {
                        Ok(passed) => passed.await,
                        Err(unknown) => Err(unknown),
                    }
                }
                answer => answer,
            }
        })
    }

    /// Judges whether a session may follow a resource; the connection keeps the subscription.
    pub(super) fn subscribe(&self, request: Request) -> Result<Routed, ErrorObject> {
        self.check_resources(&request)?;
        if self.0.profile.subscriptions == ResourceSubscriptions::Disabled {
            return Err(not_offered(Method::ResourcesSubscribe));
        }
        let uri = asked(&request)?;
        match self.reader_at(&uri, self.view(&request)) {
            Some(reader) => {
                reader.check_scopes(&request.parts)?;
                Ok(Routed::done(Success::empty()))
            }
            None => self.pass_by_uri(request, uri),
        }
    }

    /// What the server cannot honour is taken out of the filter before it is acknowledged (SUB-6).
    /// Beyond the limits the first resources are kept.
    pub(super) fn listen(&self, request: Request) -> Result<Routed, ErrorObject> {
        let capabilities = self.capabilities();
        let can_notify = capabilities.supports_tools_list_changed()
            || capabilities.supports_prompts_list_changed()
            || capabilities.supports_resources_list_changed()
            || capabilities.supports_resources_subscribe()
            || has_tasks(&capabilities);
        if !can_notify {
            return Err(not_offered(Method::SubscriptionsListen));
        }
        let params: ListenParams =
            request.params.parse_all().map_err(ErrorObject::misread_params)?;
        let names_tasks = !params.notifications.task_ids.is_empty();
        let mut filter = params.notifications.honoured_by(&capabilities);
        if names_tasks && has_tasks(&capabilities) && !declares_tasks(&request.parts) {
            return Err(missing_extension("`taskIds` names tasks"));
        }
        // Tasks are in the store of this server, never in that of a mounted one.
        let following = self.follow(std::mem::take(&mut filter.task_ids), &request.parts);
        let limits = &self.0.shared.limits;
        filter.resource_subscriptions.truncate(limits.subscribed_resources);
        let mut room = limits.subscribed_bytes;
        filter.resource_subscriptions.retain(|uri| {
            let left = room.checked_sub(uri.len());
            room = left.unwrap_or(0);
            left.is_some()
        });
        let wish = ListenRequest {
            filter,
            every_resource: capabilities.supports_resources_subscribe()
                && request.parts.extensions.get::<EveryResource>().is_some(),
        };
        let own = self.honoured(wish.filter.clone(), &request.parts);
        let listening = ListenStream::new(self.0.registry.notify(), wish, own);
        let (router, parts) = (self.clone(), request.parts);
        Ok(Routed::Later(Box::pin(async move {
            if let Some(following) = following {
                listening.follow(following.await?);
            }
            router.send_changes(&listening, &parts).await
        })))
    }

    /// Notifies the client of this server's changes that are not hidden from it.
    pub(super) async fn send_own_changes(
        &self,
        listening: &ListenStream,
        parts: &Parts,
    ) -> Response {
        listening
            .send_changes(parts, |uri, parts| self.presence(uri, parts) == Presence::Hidden)
            .await
    }

    /// What of a wish the server itself can honour: it concerns lists that it has, and resources
    /// that the caller sees.
    fn honoured(&self, filter: SubscriptionFilter, parts: &Parts) -> SubscriptionFilter {
        let mut filter = filter.honoured_by(&self.own_capabilities());
        filter.resource_subscriptions.retain(|uri| self.presence(uri, parts) == Presence::Visible);
        filter
    }

    /// Whether the caller sees the resource at a URI. Hidden and absent differ for this server
    /// alone: a hidden resource must not be looked for in mounted servers.
    pub(super) fn presence(&self, uri: &str, parts: &Parts) -> Presence {
        let registry = &self.0.registry;
        let is_there = || {
            registry.resources().contains(uri)
                || registry.templates().iter().any(|family| family.reader.is_at(uri))
        };
        match self.reader_at(uri, CallerView::new(parts, &self.0.profile.filter)) {
            Some(reader) if reader.check_scopes(parts).is_err() => Presence::Hidden,
            Some(_) => Presence::Visible,
            None if is_there() => Presence::Hidden,
            None => Presence::Absent,
        }
    }

    /// Refuses what concerns resources if there are none.
    pub(super) fn check_resources(&self, request: &Request) -> Result<(), ErrorObject> {
        let registry = &self.0.registry;
        let is_offered = registry.resources().is_offered()
            || registry.templates().is_offered()
            || self.capabilities().supports_resources();
        if is_offered { Ok(()) } else { Err(not_offered(request.parts.method)) }
    }

    /// What reads the resource at a URI: the one that has it, or else the first family that does.
    fn reader_at(&self, uri: &str, view: CallerView<'_>) -> Option<Arc<ResourceReader>> {
        let resources = self.0.registry.resources();
        if let Some(resource) = resources.find(uri, view) {
            return Some(resource.reader.clone());
        }
        let templates = self.0.registry.templates();
        let mut families = templates.iter().filter(|family| family.reader.is_at(uri));
        families.find(|family| view.shows(&***family)).map(|family| family.reader.clone())
    }
}

/// Whether a caller sees a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is there for the caller.
    Visible,
    /// It is there, but not for the caller, or the caller lacks a scope.
    Hidden,
    /// The server itself has no such resource.
    Absent,
}
