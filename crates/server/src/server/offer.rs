//! Builder methods for features: what the server offers, to which callers, and how it is listed.

use std::time::Duration;

use bowline_proto::request::Parts;
use bowline_proto::upstream::IntoUpstream;
use bowline_types::cache::{CacheHint, CacheScope};

use super::{Inner, Server};
use crate::discover::ResourceSubscriptions;
use crate::error::BuildError;
use crate::feature::{Definition, IntoFeature, Prompt, Resource, Tool};
use crate::mount::Mount;
use crate::router::ListKind;
use crate::service::Service;

impl Server {
    /// Offers a tool.
    #[must_use]
    pub fn tool(self, tool: impl IntoFeature<Tool>) -> Self {
        let tool = tool.into_feature();
        self.edit(|inner| inner.note(inner.registry.insert_tool(tool)))
    }

    /// Offers tools. An empty list declares tools that will be registered later.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.edit(|inner| {
            inner.registry.offer_tools();
            tools.into_iter().for_each(|tool| inner.note(inner.registry.insert_tool(tool)));
        })
    }

    /// Offers a resource, or a family of resources.
    #[must_use]
    pub fn resource(self, resource: impl IntoFeature<Resource>) -> Self {
        let resource = resource.into_feature();
        self.edit(|inner| inner.note(inner.registry.insert_resource(resource)))
    }

    /// Offers resources. An empty list declares resources that will be registered later. A server
    /// whose tools embed resources in their results should declare them, too.
    #[must_use]
    pub fn resources(self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.edit(|inner| {
            inner.registry.offer_resources();
            resources
                .into_iter()
                .for_each(|resource| inner.note(inner.registry.insert_resource(resource)));
        })
    }

    /// Offers a prompt.
    #[must_use]
    pub fn prompt(self, prompt: impl IntoFeature<Prompt>) -> Self {
        let prompt = prompt.into_feature();
        self.edit(|inner| inner.note(inner.registry.insert_prompt(prompt)))
    }

    /// Offers prompts. An empty list declares prompts that will be registered later.
    #[must_use]
    pub fn prompts(self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.edit(|inner| {
            inner.registry.offer_prompts();
            prompts.into_iter().for_each(|prompt| inner.note(inner.registry.insert_prompt(prompt)));
        })
    }

    /// Offers everything that another server offers: a `Server`, a connected `Client`, or any other
    /// [`Upstream`](bowline_proto::upstream::Upstream).
    ///
    /// A tool `forecast` of what is mounted as `weather` is listed and called as
    /// `weather__forecast`, and a prompt alike. Resources keep their URIs. If two servers have the
    /// same URI, this server's own resource is read, or else that of the server mounted first.
    ///
    /// The mounted server gets each request with the caller's identity and capabilities, so it asks
    /// the user, reports progress, hides features and applies limits as if the caller were connected
    /// to it. Layers of this server also wrap the calls of mounted servers.
    /// [`visible`](Self::visible) applies only to this server's own features.
    ///
    /// Tools of a mounted `Server` run as tasks of this server, which keeps them in its own
    /// [store](Self::store) with its own [limits](Self::task_limits). Tools of a mounted `Client` do
    /// not run as tasks.
    ///
    /// A mounted `Client` has one connection for all callers. Calls, progress and cancellation pass
    /// through, but the server behind the client does not know the callers. Until there is a bridge
    /// for that, it cannot ask a caller's user or model or read a caller's roots: the hooks that the
    /// `Client` was built with answer its questions. Its log messages go to the `Client`'s `on_log`
    /// hook and not to callers, and it sees the capabilities of the `Client`.
    ///
    /// Extensions of a mounted `Server` are declared and served by this server. [`build`](Self::build)
    /// fails if two of the servers have the same extension, except for skills, views and tasks.
    ///
    /// A namespace is 1 to 32 characters out of `A–Z`, `a–z`, `0–9`, `-` and `_`; `_` is neither the
    /// first nor the last character, and not beside another `_`. [`build`](Self::build) fails if the
    /// namespace breaks this rule or is taken, or if the mounted server cannot be built.
    ///
    /// ```
    /// use bowline_server::{Server, Tool};
    ///
    /// async fn forecast() -> &'static str {
    ///     "rain"
    /// }
    ///
    /// let weather = Server::new("weather", "1.0.0").tool(Tool::new("forecast", forecast));
    /// let hub = Server::new("hub", "1.0.0").mount("weather", weather);
    /// assert!(hub.build().is_ok());
    /// ```
    #[must_use]
    pub fn mount(self, namespace: impl Into<String>, upstream: impl IntoUpstream) -> Self {
        let mounted = Mount::make(namespace.into(), upstream, Service::task_watch);
        self.edit(|inner| inner.note(mounted.and_then(|mount| inner.registry.mount(mount))))
    }

    /// Hides features from callers for whom the test fails: lists leave them out, and calling them
    /// fails as if they did not exist. If this is called more than once, all tests have to pass, and
    /// so do the tests of the feature itself ([`Tool::visible`](crate::Tool::visible)).
    ///
    /// ```
    /// use bowline_server::{Definition, Server};
    ///
    /// let server = Server::new("api", "1.0.0").visible(|caller, feature| match feature {
    ///     Definition::Tool(tool) => !tool.name.starts_with("admin.") || caller.owner.identity().is_some(),
    ///     _ => true,
    /// });
    /// ```
    #[must_use]
    pub fn visible(
        self,
        test: impl Fn(&Parts, Definition<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.edit(|inner| inner.filter.limit(test))
    }

    /// Does not let clients subscribe to single resources. By default they may, and
    /// [`Notify::resource_updated`](crate::Notify::resource_updated) notifies them.
    #[must_use]
    pub fn without_subscriptions(self) -> Self {
        self.edit(|inner| inner.subscriptions = ResourceSubscriptions::Disabled)
    }

    /// Sets how many items a page of a list holds: 100 by default, and at least one.
    #[must_use]
    pub fn page_size(self, items: usize) -> Self {
        self.edit(|inner| inner.page_size = items.max(1))
    }

    /// Sets how long clients may cache lists (2026-07-28). By default they may not.
    #[must_use]
    pub fn ttl(self, duration: Duration) -> Self {
        self.edit(|inner| inner.caching.general.ttl = duration)
    }

    /// Declares that a cached list, or cached contents of a resource, may only be shown to the caller
    /// that it was sent to. By default all callers may share it, unless a feature is hidden from
    /// some of them.
    #[must_use]
    pub fn private(self) -> Self {
        self.edit(|inner| inner.caching.general.scope = CacheScope::Private)
    }

    /// Sets how long one list may be cached and whether callers may share it (2026-07-28), whatever
    /// the setting for other lists. A list from which features are hidden is never shared.
    #[must_use]
    pub fn cache(self, list: ListKind, hint: CacheHint) -> Self {
        self.edit(|inner| inner.caching.set(list, hint))
    }
}

impl Inner {
    /// Remembers the first problem, for [`Server::build`].
    pub(super) fn note(&mut self, outcome: Result<(), BuildError>) {
        if let Err(error) = outcome {
            self.problem.get_or_insert(error);
        }
    }
}
