//! A client as a service: answers requests by asking its server.
//!
//! This is what a server mounts and a proxy serves. Whoever calls may speak another revision than
//! the server behind: each request is read and made anew, and each result read and fitted to the
//! caller.

mod listen;
mod refusal;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{
    Outbox, Outgoing, Parts, ProgressUpdate, Request, Response, ResultBody, Success,
};
use bowline_proto::upstream::{IntoUpstream, Upstream};
use bowline_types::cache::CacheHint;
use bowline_types::capability::ServerCapabilities;
use bowline_types::completion::Complete;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::prompt::{GetPrompt, ListPrompts};
use bowline_types::resource::{ListResourceTemplates, ListResources, ReadResource};
use bowline_types::revision::Revision;
use bowline_types::rpc::Rpc;
use bowline_types::tool::{CallToolParams, ListTools, ListToolsResult};
use serde::de::DeserializeOwned;
use tower_service::Service;

use self::listen::Sessions;
use crate::call::{self, Call};
use crate::client::Client;
use crate::hook::BoxFuture;

impl Client {
    /// This client as a service that answers requests by asking the server, for a server to mount
    /// or a transport to drive.
    ///
    /// Calls keep their progress, dropping one cancels it, and what the application said before it
    /// connected holds for all of them: its hooks answer what the server asks, and hear what it
    /// logs.
    pub fn relay(&self) -> Relay {
        Relay { client: self.clone(), sessions: Arc::default() }
    }
}

/// A client as a service; see [`Client::relay`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Relay {
    client: Client,
    sessions: Arc<Sessions>,
}

impl IntoUpstream for Client {
    type Upstream = Relay;
    type Error = Infallible;

    fn into_upstream(self) -> Result<Relay, Infallible> {
        Ok(self.relay())
    }
}

impl Upstream for Relay {
    /// What the server declares, as far as it is passed on: neither log messages, which belong to
    /// no call, nor extensions, which nobody here knows.
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.client.capabilities().clone();
        (capabilities.logging, capabilities.tasks) = (None, None);
        capabilities.experimental.clear();
        capabilities.extensions = Default::default();
        capabilities
    }

    fn instructions(&self) -> Option<String> {
        self.client.instructions().map(str::to_owned)
    }
}

impl Service<Request> for Relay {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let relay = self.clone();
        Box::pin(async move { Ok(relay.answer(request).await) })
    }
}

impl Relay {
    async fn answer(&self, request: Request) -> Response {
        match request.parts.method {
            Method::ToolsCall => self.call_tool(request).await,
            Method::ToolsList => self.list_tools(request).await,
            Method::PromptsList => self.pass::<ListPrompts>(request).await,
            Method::PromptsGet => self.pass::<GetPrompt>(request).await,
            Method::ResourcesList => self.pass::<ListResources>(request).await,
            Method::ResourcesTemplatesList => self.pass::<ListResourceTemplates>(request).await,
            Method::ResourcesRead => self.pass::<ReadResource>(request).await,
            Method::CompletionComplete => self.pass::<Complete>(request).await,
            Method::SubscriptionsListen => self.listen(request).await,
            Method::ResourcesSubscribe => self.follow(request).await,
            Method::ServerDiscover => self.discover(request.parts.revision),
            // The roots that the server sees are the application's.
            Method::RootsListChanged => Ok(Success::empty()),
            method => Err(not_offered(method)),
        }
    }

    fn discover(&self, revision: Revision) -> Response {
        let mut result = DiscoverResult::new(Revision::ALL, self.capabilities());
        result.instructions = self.instructions();
        Success::complete(result, revision)
    }

    async fn call_tool(&self, request: Request) -> Response {
        let CallToolParams { name, arguments, .. } = read(&request)?;
        let call = self.client.call(name, arguments.unwrap_or_default());
        let outcome = along(call, &request.parts).await;
        let outcome = outcome.map_err(|error| refusal::of(&error, &request))?;
        Success::complete(outcome.into_message(), request.parts.revision)
    }

    /// Passes on the tools that may be called, and remembers them, for that is how they are called.
    async fn list_tools(&self, request: Request) -> Response {
        let note = |result: &mut ListToolsResult| self.client.application.note(&mut result.tools);
        self.pass_changed::<ListTools>(request, note).await
    }

    async fn pass<R>(&self, request: Request) -> Response
    where
        R: Rpc<Params: DeserializeOwned, Result: ResultBody + DeserializeOwned + Send + 'static>,
    {
        self.pass_changed::<R>(request, |_| {}).await
    }

    async fn pass_changed<R>(
        &self,
        request: Request,
        change: impl FnOnce(&mut R::Result),
    ) -> Response
    where
        R: Rpc<Params: DeserializeOwned, Result: ResultBody + DeserializeOwned + Send + 'static>,
    {
        let params: R::Params = read(&request)?;
        let asked = self.client.request::<R>(&params);
        let subject = R::METHOD.name().to_owned();
        let read = |subject: String, result: &RawJson| {
            Ok((
                call::read::<R::Result>(&subject, result)?,
                call::read::<CacheHint>(&subject, result)?,
            ))
        };
        let call = Call::new(self.client.link.clone(), subject, Ok(asked), read);
        let answer = along(call, &request.parts).await;
        let (mut result, hint) = answer.map_err(|error| refusal::of(&error, &request))?;
        change(&mut result);
        Ok(Success::complete(result, request.parts.revision)?.with_cache(hint))
    }
}

/// Makes a call with what the caller sent along, and reports its progress.
async fn along<T>(mut call: Call<'static, T>, parts: &Parts) -> crate::Result<T> {
    for (key, value) in parts.meta.iter() {
        let Ok(value) = RawJson::from_text(value) else { continue };
        // What the protocol says in `_meta` is between two neighbours, and so is what breaks its
        // rules.
        call = call.change(|request| _ = request.meta.set(key, &value));
    }
    match parts.progress {
        None => call.await,
        Some(_) => call.progress(|progress| report(&parts.outbox, progress)).await,
    }
}

fn report(outbox: &Outbox, progress: ProgressParams) {
    let ProgressParams { progress, total, message, .. } = progress;
    // Progress is allowed to get lost.
    let _ = outbox.emit(Outgoing::Progress(ProgressUpdate { progress, total, message }));
}

/// Reads the params of a request.
fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ErrorObject> {
    request.params.parse_all().map_err(ErrorObject::misread_params)
}

fn not_offered(method: Method) -> ErrorObject {
    ErrorObject::method_not_found(format!(
        "`{method}` is not offered by the server behind this one"
    ))
}
