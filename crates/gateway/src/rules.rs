//! The rules of a configuration entry for one server: which tools it shows, under which names, and
//! whether its instructions reach models.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_proto::sync::lock;
use bowline_proto::upstream::Upstream;
use bowline_types::capability::ServerCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::tool::ListToolsResult;
use futures_core::future::BoxFuture;
use tower_service::Service;

use crate::config::{ConfigError, ServerEntry, ToolRules};
use crate::options::Reporter;

/// An upstream under the rules of its entry. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Ruled<U> {
    upstream: U,
    rules: Arc<ToolRules>,
    /// The most bytes of instructions.
    instructions: usize,
    collisions: Arc<NameCollisions>,
}

/// Tools that are not offered, because others were given their names: found when the server lists
/// them, and reported once.
#[derive(Debug)]
pub(crate) struct NameCollisions {
    entry: ServerEntry,
    report: Reporter,
    reported: Mutex<BTreeSet<String>>,
}

impl NameCollisions {
    pub(crate) fn new(entry: &ServerEntry, report: Reporter) -> Self {
        Self { entry: entry.clone(), report, reported: Mutex::default() }
    }

    fn note(&self, tool: &str, holder: &str) {
        if !lock(&self.reported).insert(tool.to_owned()) {
            return;
        }
        let problem = format!("the tool `{tool}` is not offered, because `{holder}` has its name");
        let ServerEntry { file, at, .. } = &self.entry;
        let note = ConfigError::new(file, at.as_str(), problem);
        self.report.report(&note.with_advice(format!("rename `{tool}` too")));
    }
}

impl<U: Upstream> Ruled<U> {
    pub(crate) fn new(upstream: U, instructions: usize, collisions: NameCollisions) -> Self {
        let rules = Arc::new(collisions.entry.tools.clone());
        Self { upstream, rules, instructions, collisions: Arc::new(collisions) }
    }

    async fn list(mut self, request: Request) -> Response {
        let revision = request.parts.revision;
        let Ok(response) = self.upstream.call(request).await;
        show(&response?, (&self.rules, &self.collisions), revision)
    }

    async fn call_tool(mut self, mut request: Request) -> Response {
        let name = request.params.string("name").map_err(ErrorObject::misread_params)?;
        if let Some(name) = name {
            let Some(original) = self.rules.original(&name) else {
                return Err(ErrorObject::invalid_params(format!("there is no tool `{name}`")));
            };
            request.params = request.params.with("name", original);
        }
        let Ok(response) = self.upstream.call(request).await;
        response
    }
}

/// A list with the tools that are offered, under the names that they are offered under.
fn show(
    success: &Success,
    (rules, collisions): (&ToolRules, &NameCollisions),
    revision: Revision,
) -> Response {
    let mut result: ListToolsResult = success.body().parse().map_err(|error| {
        ErrorObject::internal(format!("the list of tools cannot be read: {error}"))
    })?;
    result.tools.retain_mut(|tool| match rules.offered(&tool.name) {
        Some(name) => {
            tool.name = name.to_owned();
            true
        }
        None => {
            if let Some(holder) = rules.holder(&tool.name) {
                collisions.note(&tool.name, holder);
            }
            false
        }
    });
    result.meta = success.meta().clone();
    Ok(Success::complete(result, revision)?.with_cache(success.cache()))
}

impl<U: Upstream> Service<Request> for Ruled<U> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let mut this = self.clone();
        match request.parts.method {
            Method::ToolsList if !self.rules.is_empty() => {
                Box::pin(async move { Ok(this.list(request).await) })
            }
            Method::ToolsCall if !self.rules.is_empty() => {
                Box::pin(async move { Ok(this.call_tool(request).await) })
            }
            _ => Box::pin(async move { this.upstream.call(request).await }),
        }
    }
}

impl<U: Upstream> Upstream for Ruled<U> {
    fn capabilities(&self) -> ServerCapabilities {
        self.upstream.capabilities()
    }

    fn info(&self) -> Option<Implementation> {
        self.upstream.info()
    }

    /// The instructions of the server, cut at the limit: they come from a stranger and reach every
    /// model that uses the gateway.
    fn instructions(&self) -> Option<String> {
        let mut text = self.upstream.instructions()?;
        if text.len() > self.instructions {
            text.truncate(text.floor_char_boundary(self.instructions));
        }
        (!text.is_empty()).then_some(text)
    }
}
