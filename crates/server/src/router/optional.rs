//! Keeps code that only some servers need out of the programs of the others.
//!
//! The linker drops a function that nothing refers to. A program whose server has only tools
//! should therefore not refer to the code that serves prompts and resources (0.25 MB) or mounted
//! servers (0.3 MB). So [`Router`] does not name that code. It looks for a table of function
//! pointers, which the registry stores when it gets the first feature that needs the table:
//!
//! | table | stored by |
//! |---|---|
//! | [`FeatureRoutes`] | the first resource, prompt or mounted server |
//! | [`MountRoutes`] | the first mounted server |
//! | [`TaskRoutes`](crate::feature::TaskRoutes) | the first tool that runs as a task |
//!
//! `FeatureRoutes::LINKED` and `MountRoutes::LINKED` are the only places that name the functions,
//! and `registry/insert.rs` is the only file that names those two constants. The table for tasks
//! comes with the tool: only `Tool::task` names its functions. Without a table the router answers
//! that the method is not offered.

use bowline_proto::request::{Parts, Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use futures_core::future::BoxFuture;

use super::resource::Presence;
use super::{Routed, Router, not_offered};
use crate::feature::set::FeatureEntry as _;
use crate::feature::{Following, TaskRoutes, ToolEntry, WithoutTasks};
use crate::mount::Mount;
use crate::mount::lists::{self, ResourceTrace};
use crate::notify::ListenStream;
use crate::together::Together;

/// Serves prompts, resources and completion.
#[derive(Clone, Copy)]
pub(crate) struct FeatureRoutes {
    serve: fn(&Router, Request) -> Result<Routed, ErrorObject>,
    list: fn(&Router, &Request) -> Response,
    presence: fn(&Router, &str, &Parts) -> Presence,
}

/// Serves what concerns mounted servers.
#[derive(Clone, Copy)]
pub(crate) struct MountRoutes {
    list_all: fn(&Router, Request) -> BoxFuture<'static, Response>,
    tell_all: for<'a> fn(&'a Router, &'a ListenStream, &'a Parts) -> Borrowing<'a, Response>,
    trace_resources: FindTraces,
    trace_templates: FindTraces,
    extension: fn(&Router, &Request) -> Option<BoxFuture<'static, Response>>,
}

type Borrowing<'a, T> = BoxFuture<'a, T>;

type FindTraces = for<'a> fn(&'a Mount, &'a [&'a str], &'a Parts) -> Borrowing<'a, FoundTraces>;

/// What one of the lists of a mounted server says about each of some resources.
pub(super) type FoundTraces = Result<Vec<ResourceTrace>, ErrorObject>;

impl FeatureRoutes {
    pub(crate) const LINKED: Self = Self {
        serve: Router::serve_feature,
        list: Router::list_feature,
        presence: Router::find_presence,
    };
}

impl MountRoutes {
    pub(crate) const LINKED: Self = Self {
        list_all: Router::list_all,
        tell_all: |router, listening, parts| Box::pin(router.tell_all(listening, parts)),
        trace_resources: |mount, uris, parts| Box::pin(lists::resources(mount, uris, parts)),
        trace_templates: |mount, uris, parts| Box::pin(lists::templates(mount, uris, parts)),
        extension: Router::pass_extension,
    };
}

impl Router {
    /// Serves a prompt, a resource, a completion, a request about tasks or a method of an extension.
    pub(super) fn serve_optional(&self, request: Request) -> Result<Routed, ErrorObject> {
        use Method::{TasksCancel, TasksGet, TasksList, TasksResult, TasksUpdate};
        match request.parts.method {
            TasksGet | TasksUpdate | TasksCancel | TasksResult | TasksList => {
                self.serve_task(request)
            }
            Method::Custom(_) => self.serve_extension(&request),
            method => (self.feature_routes(method)?.serve)(self, request),
        }
    }

    /// Serves a method of an extension that mounted servers may have; `None` if none is mounted
    /// that has extensions.
    pub(super) fn serve_mounted_extension(
        &self,
        request: &Request,
    ) -> Option<BoxFuture<'static, Response>> {
        (self.0.registry.routes::<MountRoutes>()?.extension)(self, request)
    }

    /// The code for tasks, if the server or one that it mounts has tools that run as tasks.
    pub(crate) fn task_routes(&self) -> Option<TaskRoutes> {
        let registry = &self.0.registry;
        let mounted = || registry.mounts().iter().find_map(Mount::task_routes);
        registry.task_routes().copied().or_else(mounted)
    }

    /// Serves a request about tasks.
    fn serve_task(&self, request: Request) -> Result<Routed, ErrorObject> {
        let routes = self.task_routes().ok_or_else(|| not_offered(request.parts.method))?;
        Ok(Routed::Later((routes.serve)(request, &self.0.shared)))
    }

    /// Follows the tasks with these ids; `None` if there are no ids, or the server has no tasks.
    pub(super) fn follow(&self, ids: Vec<String>, parts: &Parts) -> Option<Following> {
        let routes = self.task_routes().filter(|_| !ids.is_empty())?;
        Some((routes.follow)(ids, parts, &self.0.shared))
    }

    /// Begins to look for tasks of servers that have stopped, if this one has tasks.
    pub(crate) fn sweep_tasks(&self) {
        if let Some(routes) = self.task_routes() {
            (routes.sweep)(&self.0.shared);
        }
    }

    /// Refuses a call that asks for a task, if its tool has none but others of the server do
    /// (TASK-8). A server without tasks ignores the wish (TASK-15).
    pub(super) fn check_task(
        &self,
        tool: &ToolEntry,
        request: &Request,
    ) -> Result<(), ErrorObject> {
        match tool.task_plan() {
            None => self.refuse_task(tool.name(), request),
            Some(_) => Ok(()),
        }
    }

    /// The same for a tool that does not run as a task here.
    ///
    /// Whether others do is asked last: tools of mounted servers come and go.
    pub(super) fn refuse_task(&self, tool: &str, request: &Request) -> Result<(), ErrorObject> {
        let parts = &request.parts;
        let asks = parts.revision.has_core_tasks() && request.params.value("task").is_some();
        let is_mounted = || parts.extensions.get::<WithoutTasks>().is_some();
        if asks && !is_mounted() && self.task_routes().is_some() {
            let message = format!("the tool `{tool}` does not run as a task");
            return Err(ErrorObject::method_not_found(message));
        }
        Ok(())
    }

    /// Lists prompts, resources or templates of the server itself.
    pub(super) fn list_optional(&self, request: &Request) -> Response {
        (self.feature_routes(request.parts.method)?.list)(self, request)
    }

    /// Whether the caller sees the resource at a URI.
    pub(super) fn presence(&self, uri: &str, parts: &Parts) -> Presence {
        match self.0.registry.routes::<FeatureRoutes>() {
            Some(routes) => (routes.presence)(self, uri, parts),
            None => Presence::Absent,
        }
    }

    /// Lists what the server has together with what the mounted servers have; `None` if there are
    /// none.
    pub(super) fn list_mounted(&self, request: &Request) -> Option<BoxFuture<'static, Response>> {
        let routes = self.0.registry.routes::<MountRoutes>()?;
        Some((routes.list_all)(self, request.clone()))
    }

    /// Notifies the client of changes of the server and of the mounted servers.
    pub(super) async fn tell(&self, listening: &ListenStream, parts: &Parts) -> Response {
        match self.0.registry.routes::<MountRoutes>() {
            Some(routes) => (routes.tell_all)(self, listening, parts).await,
            None => self.tell_own(listening, parts).await,
        }
    }

    /// What the lists of resources of mounted servers say about resources, in the order of the
    /// servers. Asks all of them at once.
    pub(super) fn trace_resources<'a>(
        &self,
        mounts: &'a [Mount],
        uris: &'a [&'a str],
        parts: &'a Parts,
    ) -> Together<'a, FoundTraces> {
        self.trace(|routes| routes.trace_resources, mounts, (uris, parts))
    }

    /// What the lists of templates of mounted servers say about URIs, or about templates with these
    /// texts, in the order of the servers. Asks all of them at once.
    pub(super) fn trace_templates<'a>(
        &self,
        mounts: &'a [Mount],
        texts: &'a [&'a str],
        parts: &'a Parts,
    ) -> Together<'a, FoundTraces> {
        self.trace(|routes| routes.trace_templates, mounts, (texts, parts))
    }

    fn trace<'a>(
        &self,
        which: fn(MountRoutes) -> FindTraces,
        mounts: &'a [Mount],
        (texts, parts): (&'a [&'a str], &'a Parts),
    ) -> Together<'a, FoundTraces> {
        let find = self.0.registry.routes::<MountRoutes>().map(which);
        let traces = find.map(|find| mounts.iter().map(move |mount| find(mount, texts, parts)));
        Together::new(traces.into_iter().flatten())
    }

    fn feature_routes(&self, method: Method) -> Result<FeatureRoutes, ErrorObject> {
        self.0.registry.routes().ok_or_else(|| not_offered(method))
    }
}
