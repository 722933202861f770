//! The application behind a client: its handlers, and what they need to know of the server.

use std::fmt;
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "http")]
use bowline_http::client::Authorize;
use bowline_proto::client::{ServerProfile, TaskRequest};
use bowline_proto::limits::Limits;
use bowline_proto::members::Members;
use bowline_proto::mirror::params::headers_for;
use bowline_proto::mirror::{ParamHeader, x_mcp_header};
use bowline_proto::request::ReportedChange;
use bowline_transport::connect::{ClientLayer, Host, Link, WeakLink};
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::text::counted;
use bowline_types::tool::{TaskSupport, ToolDefinition};
use futures_core::future::BoxFuture;

use crate::answer::Elicitation;
use crate::caller::CallerSessions;
use crate::catalogue::{Catalogue, KnownTool, OutputCheck};
use crate::consent::{Attempt, Oversight};
use crate::error::{Error, Result};
use crate::extension::Extensions;
use crate::hook::{Observer, WireObserver};
use crate::question_tasks::{self, QuestionTasks};
use crate::root_list::{RootList, Roots};
use crate::sample::Sampling;
use crate::server_identity::ServerIdentity;
use crate::task_hints::TaskHints;

/// The handlers and hooks that the application has set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handlers {
    pub(crate) label: Option<Arc<str>>,
    pub(crate) elicitation: Elicitation,
    pub(crate) sampling: Sampling,
    pub(crate) roots: Roots,
    pub(crate) oversight: Oversight,
    /// Whether tool results are not checked against output schemas.
    pub(crate) unchecked_output: bool,
    pub(crate) log: Option<Observer<LogMessageParams>>,
    pub(crate) diagnostics: Option<Observer<str>>,
    /// Observes the messages of the connection as they go over the wire.
    pub(crate) wire: Option<WireObserver>,
    pub(crate) extensions: Extensions,
    /// What a client declares whose relay passes questions on to its callers.
    pub(crate) passed_on: Option<ClientCapabilities>,
    /// Whether the client waits for tasks on 2026-07-28.
    pub(crate) tasks: bool,
    pub(crate) layers: Layers,
}

/// The layers around the calls of a client.
#[derive(Clone, Default)]
pub(crate) struct Layers(pub(crate) Vec<Arc<dyn ClientLayer>>);

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layers({})", self.0.len())
    }
}

impl Handlers {
    /// The capabilities that follow from the handlers.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let capabilities = match self.passed_on.clone() {
            Some(declared) => self.extensions.declare(declared),
            None => {
                let capabilities = self.elicitation.declare(ClientCapabilities::new());
                let capabilities = self.roots.declare(self.sampling.declare(capabilities));
                question_tasks::declare(self.extensions.declare(capabilities))
            }
        };
        match self.tasks {
            true => question_tasks::declare_waiting(capabilities),
            false => capabilities,
        }
    }
}

/// The handlers of the application, for one connection.
pub(crate) struct Application {
    handlers: Handlers,
    /// Set after negotiation.
    link: OnceLock<WeakLink>,
    /// Whether the transport sends headers that repeat parts of messages.
    mirrors: AtomicBool,
    /// Set after negotiation.
    server: OnceLock<ServerIdentity>,
    roots: RootList,
    catalogue: Catalogue,
    limits: Limits,
    task_hints: TaskHints,
    question_tasks: QuestionTasks,
    /// The sessions that relays of this client serve.
    sessions: Arc<CallerSessions>,
    /// What authorizes requests, if anything does.
    #[cfg(feature = "http")]
    login: OnceLock<Arc<dyn Authorize>>,
}

impl Application {
    pub(crate) fn new(handlers: Handlers, limits: Limits) -> Self {
        let roots = RootList::new(handlers.roots.clone());
        Self {
            handlers,
            link: OnceLock::new(),
            mirrors: AtomicBool::new(false),
            server: OnceLock::new(),
            roots,
            catalogue: Catalogue::default(),
            question_tasks: QuestionTasks::new(&limits),
            limits,
            task_hints: TaskHints::default(),
            sessions: Arc::default(),
            #[cfg(feature = "http")]
            login: OnceLock::new(),
        }
    }

    /// What observes the messages of the connection.
    pub(crate) fn wire(&self) -> Option<WireObserver> {
        self.handlers.wire.clone()
    }

    /// Notes what authorizes requests.
    #[cfg(feature = "http")]
    pub(crate) fn logged_in_by(&self, authorize: &Arc<dyn Authorize>) {
        let _ = self.login.set(authorize.clone());
    }

    /// What authorizes requests, if anything does.
    #[cfg(feature = "auth")]
    pub(crate) fn login(&self) -> Option<&Arc<dyn Authorize>> {
        self.login.get()
    }

    /// Whether relays of this client pass questions and log messages on to their callers.
    pub(crate) fn passes_on(&self) -> bool {
        self.handlers.passed_on.is_some()
    }

    /// The sessions that relays of this client serve.
    pub(crate) fn callers(&self) -> &Arc<CallerSessions> {
        &self.sessions
    }

    /// Whether the client waits for tasks on 2026-07-28.
    pub(crate) fn waits_for_tasks(&self) -> bool {
        self.handlers.tasks
    }

    /// Notes whether the transport sends headers.
    pub(crate) fn mirror(&self, mirrors: bool) {
        self.mirrors.store(mirrors, Ordering::Relaxed);
    }

    /// Notes the connection, for requests that the application makes by itself.
    pub(crate) fn connected(&self, link: &Link) {
        let _ = self.link.set(link.downgrade());
    }

    /// Whether tools may have arguments that are repeated in headers.
    pub(crate) fn repeats_arguments(&self) -> bool {
        self.mirrors.load(Ordering::Relaxed) && self.server().revision.has_mirrored_headers()
    }

    /// The arguments that are repeated in headers; none if the tool was not listed.
    ///
    /// # Errors
    ///
    /// If a header cannot hold the value of one of them.
    pub(crate) fn repeated(&self, tool: &str, arguments: &Object) -> Result<Vec<ParamHeader>> {
        let known = self.repeats_arguments().then(|| self.catalogue.find(tool)).flatten();
        let Some(known) = known.filter(|known| !known.marks().is_empty()) else {
            return Ok(Vec::new());
        };
        let arguments = Members::cut(arguments.as_str().to_owned().into());
        let arguments = arguments.map_err(|error| Error::input(tool, error))?;
        headers_for(known.marks(), &arguments).map_err(|error| Error::input(tool, error))
    }

    /// The roots that the server may see.
    pub(crate) fn roots(&self) -> &RootList {
        &self.roots
    }

    /// Remembers a page of tools, and removes those that break the rules of the transport.
    pub(crate) fn note(&self, tools: &mut Vec<ToolDefinition>) {
        if self.repeats_arguments() {
            x_mcp_header::retain_valid(tools, |what| self.diagnostic(what));
        }
        let left_out = self.catalogue.note(tools);
        if left_out > 0 {
            let what = "not remembered, for there are too many: results will not be checked";
            self.diagnostic(&format!("{} {what}", counted(left_out, "tool")));
        }
    }

    /// Forgets the tools that a user was shown.
    #[cfg(feature = "auth")]
    pub(crate) fn forget_tools(&self) {
        self.catalogue.forget();
    }

    /// Forgets the tools if their list has changed.
    pub(crate) fn heed(&self, change: &ReportedChange) {
        if *change == ReportedChange::Tools {
            self.catalogue.forget();
        }
    }

    /// The tool of this name, if it was listed.
    pub(crate) fn listed(&self, tool: &str) -> Option<Arc<KnownTool>> {
        self.catalogue.find(tool)
    }

    /// Whether the whole list of tools was asked for, since it changed last.
    pub(crate) fn has_searched_tools(&self) -> bool {
        self.catalogue.is_searched()
    }

    /// Notes that the whole list of tools was asked for.
    pub(crate) fn note_tool_search(&self) {
        self.catalogue.note_search();
    }

    /// The tool to check a result against; `None` if it was not listed or checks are off.
    ///
    /// # Errors
    ///
    /// If the tool must not be called, because its schema refers to other documents.
    pub(crate) fn known(&self, tool: &str) -> Result<Option<Arc<KnownTool>>> {
        let Some(known) = self.catalogue.find(tool) else { return Ok(None) };
        if self.handlers.unchecked_output || !self.server().revision.has_structured_output() {
            return Ok(None);
        }
        match known.output(|what| self.diagnostic(what)) {
            OutputCheck::Unresolvable(error) => {
                Err(Error::input(tool, format_args!("its output {error}")))
            }
            OutputCheck::Checked(_) | OutputCheck::Unchecked(_) => Ok(Some(known)),
        }
    }

    /// Whether calls of a tool run as tasks of 2025-11-25; `None` if the tool was not listed.
    pub(crate) fn task_support(&self, tool: &str) -> Option<TaskSupport> {
        self.catalogue.find(tool).map(|known| known.task_support())
    }

    /// Whether views may call a tool; `None` if it was not listed.
    pub(crate) fn is_for_app(&self, tool: &str) -> Option<bool> {
        self.catalogue.find(tool).map(|known| known.is_for_app())
    }

    /// The bounds of this client.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The tasks that calls wait for.
    pub(crate) fn task_hints(&self) -> &TaskHints {
        &self.task_hints
    }

    /// The consent and audit of a tool call; `None` without such hooks.
    pub(crate) fn attempt(&self, tool: &str, arguments: &Object) -> Option<Attempt> {
        let claimed = || self.catalogue.annotations(tool);
        self.handlers.oversight.attempt(|| self.server(), tool, arguments, claimed)
    }

    /// Whether the client declares an extension of the application.
    pub(crate) fn declares(&self, extension: &str) -> bool {
        self.handlers.extensions.contains(extension)
    }

    /// Whether the server declares an extension.
    fn is_offered(&self, extension: &str) -> bool {
        let link = self.link.get().and_then(WeakLink::upgrade);
        link.is_some_and(|link| link.profile().capabilities.supports_extension(extension))
    }

    /// Puts a question to the application.
    fn put(&self, question: InputRequest) -> BoxFuture<'static, Result<RawJson, ErrorObject>> {
        let server = self.server();
        match question {
            InputRequest::Elicit(params) => {
                Box::pin(self.handlers.elicitation.clone().answer(params, server))
            }
            InputRequest::CreateMessage(params) => {
                Box::pin(self.handlers.sampling.clone().answer(*params, server))
            }
            InputRequest::ListRoots => Box::pin(self.roots.answer(server.revision)),
            // Questions that the capabilities do not allow are refused before they come here.
            _ => {
                let error = ErrorObject::method_not_found("this client does not answer that");
                Box::pin(ready(Err(error)))
            }
        }
    }

    fn server(&self) -> ServerIdentity {
        let unmet = || ServerIdentity::unmet(self.handlers.label.clone());
        self.server.get().cloned().unwrap_or_else(unmet)
    }
}

impl Host for Application {
    fn layers(&self) -> Vec<Arc<dyn ClientLayer>> {
        self.handlers.layers.0.clone()
    }

    fn met(&self, profile: &ServerProfile) {
        let _ = self.server.set(ServerIdentity::met(self.handlers.label.clone(), profile));
    }

    /// The handlers are called inside the future, whose panics are caught.
    fn answer(
        &self,
        mut question: InputRequest,
    ) -> BoxFuture<'static, Result<RawJson, ErrorObject>> {
        if self.passes_on() {
            return self.sessions.ask(question);
        }
        match question_tasks::requested(&mut question) {
            Some(task) if self.server().revision.has_core_tasks() => {
                let created = self.question_tasks.create(task, || self.put(question));
                Box::pin(ready(created))
            }
            _ => self.put(question),
        }
    }

    fn answer_about_task(
        &self,
        request: TaskRequest,
    ) -> BoxFuture<'static, Result<RawJson, ErrorObject>> {
        self.question_tasks.answer(request)
    }

    fn log(&self, message: LogMessageParams) {
        if self.passes_on() {
            self.sessions.log(&message);
        }
        if let Some(log) = &self.handlers.log {
            log.call(&message);
        }
    }

    fn changed(&self, change: ReportedChange) {
        self.heed(&change);
    }

    fn elicitation_complete(&self, name: &str) {
        self.sessions.completed_page(name);
        if let Some(complete) = &self.handlers.elicitation.complete {
            complete.call(name);
        }
    }

    fn task_changed(&self, id: &str) {
        self.task_hints.changed(id);
    }

    fn notified(&self, method: Method, params: &RawJson) {
        let is_offered = |extension: &str| self.is_offered(extension);
        if let Err(what) = self.handlers.extensions.observe(method, params, is_offered) {
            self.diagnostic(&what);
        }
    }

    fn renewed(&self) {
        // A restarted server may have other tools.
        self.catalogue.forget();
    }

    fn diagnostic(&self, text: &str) {
        if let Some(observer) = &self.handlers.diagnostics {
            observer.call(text);
        }
    }
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application")
            .field("handlers", &self.handlers)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
