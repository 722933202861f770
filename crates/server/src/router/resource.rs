//! Resources: which one is at a URI, reading it, and following it.

use std::sync::Arc;

use bowline_proto::request::{EveryResource, Parts, Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};

use super::{Routed, Router, not_offered};
use crate::discover::Following;
use crate::events::{Wish, listen};
use crate::feature::visible::View;
use crate::feature::{Reader, asked};

impl Router {
    pub(super) fn read_resource(&self, request: Request) -> Result<Routed, ErrorObject> {
        self.check_resources(&request)?;
        let reader = self.find(&request)?;
        Ok(Routed::Resource(reader.invoke(request, &self.0.kit)))
    }

    /// Judges whether a session may follow a resource; the engine keeps the subscription.
    pub(super) fn subscribe(&self, request: &Request) -> Response {
        self.check_resources(request)?;
        if self.0.profile.following == Following::Untold {
            return Err(not_offered(Method::ResourcesSubscribe));
        }
        self.find(request).map(|_| Success::empty())
    }

    pub(super) fn listen(&self, request: Request) -> Result<Routed, ErrorObject> {
        let capabilities = self.capabilities();
        let tells = capabilities.supports_tools_list_changed()
            || capabilities.supports_prompts_list_changed()
            || capabilities.supports_resources_list_changed()
            || capabilities.supports_resources_subscribe();
        if !tells {
            return Err(not_offered(Method::SubscriptionsListen));
        }
        let params: ListenParams = request.params.parse_all().map_err(|error| {
            ErrorObject::invalid_params(format!("`params` of `subscriptions/listen`: {error}"))
        })?;
        let wish = Wish {
            filter: self.honoured(params.notifications.honoured_by(&capabilities), &request),
            every_resource: capabilities.supports_resources_subscribe()
                && request.parts.extensions.get::<EveryResource>().is_some(),
        };
        let router = self.clone();
        let is_hidden = move |uri: &str, parts: &Parts| router.is_hidden(uri, parts);
        let notify = self.0.registry.notify().clone();
        Ok(Routed::Listen(Box::pin(listen(notify, request.parts, wish, is_hidden))))
    }

    /// What of a wish concerns resources that the caller sees, up to so many of them.
    fn honoured(&self, mut filter: SubscriptionFilter, request: &Request) -> SubscriptionFilter {
        filter.resource_subscriptions.truncate(self.0.kit.limits.subscribed_resources);
        let view = self.view(request);
        filter.resource_subscriptions.retain(|uri| self.reader_at(uri, view).is_some());
        filter
    }

    /// Whether there is a resource at a URI that the caller does not see.
    fn is_hidden(&self, uri: &str, parts: &Parts) -> bool {
        let registry = &self.0.registry;
        let is_there = || {
            registry.resources().contains(uri)
                || registry.templates().iter().any(|family| family.reader.is_at(uri))
        };
        self.reader_at(uri, View::new(parts, &self.0.profile.filter)).is_none() && is_there()
    }

    /// Refuses what concerns resources if there are none.
    pub(super) fn check_resources(&self, request: &Request) -> Result<(), ErrorObject> {
        let registry = &self.0.registry;
        if registry.resources().is_offered() || registry.templates().is_offered() {
            return Ok(());
        }
        Err(not_offered(request.parts.method))
    }

    /// What reads the resource that a request names.
    fn find(&self, request: &Request) -> Result<Arc<Reader>, ErrorObject> {
        let uri = asked(request)?;
        let unknown = || ErrorObject::resource_not_found(&uri, request.parts.revision);
        self.reader_at(&uri, self.view(request)).ok_or_else(unknown)
    }

    /// What reads the resource at a URI: the one that has it, or else the first family that does.
    fn reader_at(&self, uri: &str, view: View<'_>) -> Option<Arc<Reader>> {
        let resources = self.0.registry.resources();
        if let Some(resource) = resources.find(uri, view) {
            return Some(resource.reader.clone());
        }
        let templates = self.0.registry.templates();
        let mut families = templates.iter().filter(|family| family.reader.is_at(uri));
        families.find(|family| view.shows(&***family)).map(|family| family.reader.clone())
    }
}
