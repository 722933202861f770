//! The rules of a configuration entry for one server: which tools it shows, under which names, and
//! whether its instructions reach models.
//!
//! * `listed`: the names of the tools that the server has listed.
//! * `findings`: what is wrong with the rules.

mod findings;
mod listed;

use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::{Parts, Request, Response, Success};
use bowline_proto::upstream::Upstream;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::namespace::Namespace;
use bowline_types::text::excerpt;
use bowline_types::tool::ListToolsResult;

pub(crate) use self::findings::RuleFindings;
use self::listed::{ListedTools, Page};
use crate::config::ToolRules;
use crate::layered::{UpstreamLayer, call};

/// The most pages of a list that are read for one call.
const MOST_PAGES: usize = 100;

/// Offers the tools of an upstream by the rules of its entry. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ToolFilter {
    rules: Arc<ToolRules>,
    /// The prefix that callers see before names.
    namespace: Namespace,
    /// The most bytes of instructions.
    instructions: usize,
    findings: Arc<RuleFindings>,
    listed: Arc<ListedTools>,
}

impl ToolFilter {
    pub(crate) fn new(namespace: Namespace, instructions: usize, findings: RuleFindings) -> Self {
        let rules = Arc::new(findings.entry().tools.clone());
        let (findings, listed) = (Arc::new(findings), Arc::default());
        Self { rules, namespace, instructions, findings, listed }
    }

    async fn list(self, mut upstream: impl Upstream, request: Request) -> Response {
        let revision = request.parts.revision;
        let page = match request.params.value("cursor") {
            None => Page::First,
            Some(_) => Page::Further,
        };
        let success = call(&mut upstream, request).await?;
        let mut result = read_page(&success)?;
        self.listed.note(&result, page, &self.findings);
        self.show(&mut result);
        result.meta = success.meta().clone();
        Ok(Success::complete(result, revision)?.with_cache(success.cache()))
    }

    /// Keeps the tools that are offered, under the names that they are offered under.
    fn show(&self, result: &mut ListToolsResult) {
        result.tools.retain_mut(|tool| match self.rules.offered(&tool.name) {
            Some(name) => {
                tool.name = name.to_owned();
                true
            }
            None => {
                if let Some(holder) = self.rules.holder(&tool.name) {
                    self.findings.note_collision(&tool.name, holder);
                }
                false
            }
        });
    }

    async fn call_tool(self, mut upstream: impl Upstream, mut request: Request) -> Response {
        let name = request.params.string("name").map_err(ErrorObject::misread_params)?;
        if let Some(name) = name {
            let original = self.rules.original(&name).ok_or_else(|| self.unknown(&name))?;
            if self.rules.withholds_some()
                && !self.lists(&mut upstream, original, &request.parts).await?
            {
                return Err(self.unknown(&name));
            }
            request.params = request.params.with("name", original);
        }
        call(&mut upstream, request).await
    }

    /// Whether the server lists a tool of exactly this name. A server that reads `DO` or `do ` as `do`
    /// would run a tool that is hidden, or another than the one that got its name.
    async fn lists(
        &self,
        upstream: &mut impl Upstream,
        name: &str,
        parts: &Parts,
    ) -> Result<bool, ErrorObject> {
        if self.listed.has(name) {
            return Ok(true);
        }
        let (mut page, mut params) = (Page::First, Members::default());
        for _ in 0..MOST_PAGES {
            let page_request = list_request(parts, params);
            let result = read_page(&call(upstream, page_request).await?)?;
            self.listed.note(&result, page, &self.findings);
            let Some(next) = &result.next_cursor else { break };
            (page, params) = (Page::Further, Members::default().with("cursor", next));
        }
        Ok(self.listed.has(name))
    }

    fn unknown(&self, name: &str) -> ErrorObject {
        let name = self.namespace.qualify(name);
        ErrorObject::invalid_params(format!("no tool is named `{}`", excerpt(&name)))
    }
}

/// A request for the list of tools on behalf of a caller, with the parts of another request: without
/// the progress token, since the caller did not send it, and without input of a round.
fn list_request(parts: &Parts, params: Members) -> Request {
    let mut parts = parts.clone();
    parts.method = Method::ToolsList;
    (parts.progress, parts.input) = (None, None);
    Request { parts, params }
}

fn read_page(success: &Success) -> Result<ListToolsResult, ErrorObject> {
    success.body().parse().map_err(|error| {
        ErrorObject::internal(format!("the list of tools cannot be read: {error}"))
    })
}

impl UpstreamLayer for ToolFilter {
    async fn answer(self, mut upstream: impl Upstream, request: Request) -> Response {
        match request.parts.method {
            Method::ToolsList if !self.rules.is_empty() => self.list(upstream, request).await,
            Method::ToolsCall if !self.rules.is_empty() => self.call_tool(upstream, request).await,
            _ => call(&mut upstream, request).await,
        }
    }

    /// The instructions of the server, cut at the limit: they come from a stranger and reach every
    /// model that uses the gateway.
    fn instructions(&self, mut text: String) -> Option<String> {
        if text.len() > self.instructions {
            text.truncate(text.floor_char_boundary(self.instructions));
        }
        (!text.is_empty()).then_some(text)
    }
}
