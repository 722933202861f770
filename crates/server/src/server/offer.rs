//! What a server offers, to whom, and how it lists that.

use std::time::Duration;

use bowline_proto::request::Parts;
use bowline_proto::upstream::IntoUpstream;
use bowline_types::cache::{CacheHint, CacheScope};

use super::{BuildError, Inner, Server};
use crate::discover::ResourceSubscriptions;
use crate::feature::{Definition, Prompt, Resource, Tool};
use crate::mount::Mount;
use crate::router::ListKind;

impl Server {
    /// Offers a tool.
    #[must_use]
    pub fn tool(self, tool: Tool) -> Self {
        self.edit(|inner| inner.note(inner.registry.insert_tool(tool)))
    }

    /// Offers tools, or will: with none given, tools are declared and may be registered later.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.edit(|inner| {
            inner.registry.offer_tools();
            tools.into_iter().for_each(|tool| inner.note(inner.registry.insert_tool(tool)));
        })
    }

    /// Offers a resource, or a family of resources.
    #[must_use]
    pub fn resource(self, resource: Resource) -> Self {
        self.edit(|inner| inner.note(inner.registry.insert_resource(resource)))
    }

    /// Offers resources, or will: with none given, resources are declared and may be registered
    /// later. A server whose tools embed resources should declare them, too.
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
    pub fn prompt(self, prompt: Prompt) -> Self {
        self.edit(|inner| inner.note(inner.registry.insert_prompt(prompt)))
    }

    /// Offers prompts, or will: with none given, prompts are declared and may be registered later.
    #[must_use]
    pub fn prompts(self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.edit(|inner| {
            inner.registry.offer_prompts();
            prompts.into_iter().for_each(|prompt| inner.note(inner.registry.insert_prompt(prompt)));
        })
    }

    /// Offers all that another server offers, be it a `Server` or a connected `Client`, or any
    /// other [`Upstream`](bowline_proto::upstream::Upstream).
    ///
    /// A tool `forecast` of what is mounted as `weather` is listed and called as
    /// `weather__forecast`, and a prompt alike. Resources keep their URIs: what this server has
    /// itself comes first, then what was mounted first. The mounted server sees each call as its
    /// caller made it, so it asks, reports, hides and limits as if it were connected by itself;
    /// layers of this server stand around all of it, while [`visible`](Self::visible) judges only
    /// what this server has of its own.
    ///
    /// A namespace is 1 to 32 characters out of `A–Z`, `a–z`, `0–9`, `-` and `_`, where `_` stands
    /// neither first nor last nor beside another; anything else, a namespace that is taken, and a
    /// server that cannot be built are told by [`build`](Self::build).
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
        let mounted = Mount::make(namespace.into(), upstream);
        self.edit(|inner| inner.note(mounted.and_then(|mount| inner.registry.mount(mount))))
    }

    /// Hides from each caller what the judge does not let it see: it is left out of lists, and
    /// calling it is answered as if it were not there. Said more than once, all judges have to
    /// agree; what a feature says of itself counts as well.
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
        judge: impl Fn(&Parts, Definition<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.edit(|inner| inner.filter.limit(judge))
    }

    /// Does not let clients follow single resources. By default they may, and
    /// [`Notify::resource_updated`](crate::Notify::resource_updated) tells them.
    #[must_use]
    pub fn without_subscriptions(self) -> Self {
        self.edit(|inner| inner.subscriptions = ResourceSubscriptions::Disabled)
    }

    /// Sets how many items a page of a list holds: 100 by default, and at least one.
    #[must_use]
    pub fn page_size(self, items: usize) -> Self {
        self.edit(|inner| inner.page_size = items.max(1))
    }

    /// Says for how long lists may be reused (2026-07-28). By default they may not.
    #[must_use]
    pub fn ttl(self, duration: Duration) -> Self {
        self.edit(|inner| inner.caching.general.ttl = duration)
    }

    /// Says that lists, and the contents of resources, may only be reused by whoever asked for
    /// them. By default they are the same for everybody, unless something is hidden from some.
    #[must_use]
    pub fn private(self) -> Self {
        self.edit(|inner| inner.caching.general.scope = CacheScope::Private)
    }

    /// Says of one list for how long and by whom it may be reused (2026-07-28), whatever holds for
    /// the others. A list of which something is hidden from some is never for everybody.
    #[must_use]
    pub fn cache(self, list: ListKind, hint: CacheHint) -> Self {
        self.edit(|inner| inner.caching.set(list, hint))
    }
}

impl Inner {
    /// Remembers what goes wrong first.
    fn note(&mut self, outcome: Result<(), BuildError>) {
        if let Err(error) = outcome {
            self.problem.get_or_insert(error);
        }
    }
}
