//! The application behind a client, as its server sees it: the handlers that were set.

use std::fmt;
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bowline_proto::client::ServerProfile;
use bowline_proto::members::Members;
use bowline_proto::mirror::params::headers_for;
use bowline_proto::mirror::{ParamHeader, x_mcp_header};
use bowline_proto::request::Change;
use bowline_transport::connect::{Host, Link, WeakLink};
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::text::counted;
use bowline_types::tool::ToolDefinition;

use crate::answer::Elicitation;
use crate::catalogue::{Catalogue, Known, Output};
use crate::client::set_level;
use crate::consent::{Attempt, Oversight};
use crate::error::{Error, Result};
use crate::hook::{BoxFuture, Ear};
use crate::roots::{RootList, Roots};
use crate::sample::Sampling;
use crate::server::Server;

/// What an application does when its server turns to it, and before it turns to its server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handlers {
    pub(crate) label: Option<Arc<str>>,
    pub(crate) elicitation: Elicitation,
    pub(crate) sampling: Sampling,
    pub(crate) roots: Roots,
    pub(crate) oversight: Oversight,
    /// Whether results of tools are passed on as they come.
    pub(crate) unchecked_output: bool,
    pub(crate) log: Option<Ear<LogMessageParams>>,
    pub(crate) odd: Option<Ear<str>>,
}

impl Handlers {
    /// What the client can do, judged by what it has a handler for.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let capabilities = self.elicitation.declare(ClientCapabilities::new());
        self.roots.declare(self.sampling.declare(capabilities))
    }
}

/// The handlers as one server meets them.
pub(crate) struct Application {
    handlers: Handlers,
    /// What a session is asked to log.
    log_level: Option<LoggingLevel>,
    /// Set once both sides agree.
    link: OnceLock<WeakLink>,
    /// Whether headers go with messages, and repeat what tools want repeated.
    mirrors: AtomicBool,
    /// Set once both sides agree.
    server: OnceLock<Server>,
    roots: RootList,
    catalogue: Catalogue,
}

impl Application {
    pub(crate) fn new(handlers: Handlers, log_level: Option<LoggingLevel>) -> Self {
        let roots = RootList::new(handlers.roots.clone());
        Self {
            handlers,
            log_level,
            link: OnceLock::new(),
            mirrors: AtomicBool::new(false),
            server: OnceLock::new(),
            roots,
            catalogue: Catalogue::default(),
        }
    }

    /// Learns whether headers go with messages.
    pub(crate) fn mirror(&self, mirrors: bool) {
        self.mirrors.store(mirrors, Ordering::Relaxed);
    }

    /// Learns by what the server can be called.
    pub(crate) fn connected(&self, link: &Link) {
        let _ = self.link.set(link.downgrade());
    }

    /// Whether tools may want arguments repeated in headers.
    pub(crate) fn repeats_arguments(&self) -> bool {
        self.mirrors.load(Ordering::Relaxed) && self.server().revision.is_modern()
    }

    /// The arguments that go into headers too, as far as the tool is known.
    ///
    /// # Errors
    ///
    /// If one of them is nothing that a header can repeat.
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

    /// Remembers a page of tools, without those that break the rules of the transport.
    pub(crate) fn note(&self, tools: &mut Vec<ToolDefinition>) {
        if self.repeats_arguments() {
            x_mcp_header::retain_valid(tools, |what| self.odd(what));
        }
        let left_out = self.catalogue.note(tools);
        if left_out > 0 {
            let what = "not remembered, for there are too many: results will not be checked";
            self.odd(&format!("{} {what}", counted(left_out, "tool")));
        }
    }

    /// Takes note of a change.
    pub(crate) fn heed(&self, change: &Change) {
        if *change == Change::Tools {
            self.catalogue.forget();
        }
    }

    /// The tool that results are to be held against, if it is known.
    ///
    /// # Errors
    ///
    /// If it cannot be called, or its results cannot be checked for a reason that is no excuse.
    pub(crate) fn known(&self, tool: &str) -> Result<Option<Arc<Known>>> {
        let Some(known) = self.catalogue.find(tool) else { return Ok(None) };
        let revision = self.server().revision;
        if revision.has_core_tasks() && known.runs_only_as_task() {
            let reason = "the server runs this tool only as a task, and this client asks for none";
            return Err(Error::input(tool, reason));
        }
        if self.handlers.unchecked_output || !revision.has_structured_output() {
            return Ok(None);
        }
        match known.output(|what| self.odd(what)) {
            Output::Unresolvable(error) => {
                Err(Error::input(tool, format_args!("its output {error}")))
            }
            Output::Checked(_) | Output::Unchecked(_) => Ok(Some(known)),
        }
    }

    /// Watches over a tool call, if anybody wants to.
    pub(crate) fn attempt(&self, tool: &str, arguments: &Object) -> Option<Attempt> {
        let claimed = || self.catalogue.annotations(tool);
        self.handlers.oversight.attempt(|| self.server(), tool, arguments, claimed)
    }

    fn server(&self) -> Server {
        let unmet = || Server::unmet(self.handlers.label.clone());
        self.server.get().cloned().unwrap_or_else(unmet)
    }
}

impl Host for Application {
    fn met(&self, profile: &ServerProfile) {
        let _ = self.server.set(Server::met(self.handlers.label.clone(), profile));
    }

    /// The handlers are called inside the future, whose panics are caught.
    fn answer(&self, question: InputRequest) -> BoxFuture<Result<RawJson, ErrorObject>> {
        let server = self.server();
        match question {
            InputRequest::Elicit(params) => {
                Box::pin(self.handlers.elicitation.clone().answer(params, server))
            }
            InputRequest::CreateMessage(params) => {
                Box::pin(self.handlers.sampling.clone().answer(*params, server))
            }
            InputRequest::ListRoots => Box::pin(self.roots.answer(server.revision)),
            // Only questions that the capabilities allow are put to us, so there are no others.
            _ => {
                let error = ErrorObject::method_not_found("this client does not answer that");
                Box::pin(ready(Err(error)))
            }
        }
    }

    fn log(&self, message: LogMessageParams) {
        if let Some(log) = &self.handlers.log {
            log.hear(&message);
        }
    }

    fn changed(&self, change: Change) {
        self.heed(&change);
    }

    fn elicitation_complete(&self, name: &str) {
        if let Some(complete) = &self.handlers.elicitation.complete {
            complete.hear(name);
        }
    }

    fn renewed(&self) {
        // A server that was started again may have other tools.
        self.catalogue.forget();
        let Some(level) = self.log_level else { return };
        let Some(link) = self.link.get().and_then(WeakLink::upgrade) else { return };
        if !link.profile().capabilities.supports_logging() {
            return;
        }
        let odd = self.handlers.odd.clone();
        tokio::spawn(async move {
            if let (Err(error), Some(odd)) = (set_level(&link, level).await, odd) {
                odd.hear(&error.to_string());
            }
        });
    }

    fn odd(&self, what: &str) {
        if let Some(odd) = &self.handlers.odd {
            odd.hear(what);
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
