//! The caller of a relay: what the upstream server may ask it, and how questions reach it.
//!
//! A question goes out through the outbox of the caller's own call, whatever the caller's era. The
//! engine of a session sends it as a request; elsewhere it is refused, unless a layer around the
//! relay keeps the call until its caller has answered.

mod sessions;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex};

use bowline_proto::client::{Asker, CallRequest, OnBehalf};
use bowline_proto::request::{
    AnsweredWithin, ClientProfile, Input, Outbox, Outgoing, OutgoingQuestion, Parts,
    ProgressUpdate, QuestionError, QuestionTicket, Reply,
};
use bowline_proto::sync::lock;
use bowline_transport::connect::{CallObserver, Link, QuestionAnswer};
use bowline_types::capability::{ClientCapabilities, DeclaredExtensions};
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::elicitation::ElicitParams;
use bowline_types::error::ErrorObject;
use bowline_types::ext::apps;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use tokio::sync::oneshot;

pub(crate) use self::sessions::CallerSessions;
use crate::question_tasks::declare_waiting;

/// The caller on whose behalf a relay makes a call.
#[derive(Debug)]
pub(crate) struct Caller {
    client: Arc<ClientProfile>,
    revision: Revision,
    outbox: Outbox,
    wants_progress: bool,
    log_level: Option<LoggingLevel>,
    input: Option<Box<Input>>,
    /// Whether questions and log messages go to the caller, and not to the hooks of the client.
    passes_on: bool,
    callers: Arc<CallerSessions>,
    /// Names of pages that were made for this call.
    named: Mutex<Vec<String>>,
    /// Whether the relay waits for tasks.
    waits_for_tasks: bool,
    /// Whether the call runs as a task, whose questions are answered while it runs.
    is_answered_within: bool,
}

impl Caller {
    /// The caller that made a request.
    pub(crate) fn of(
        parts: &Parts,
        (passes_on, waits_for_tasks): (bool, bool),
        callers: &Arc<CallerSessions>,
    ) -> Arc<Self> {
        Arc::new(Self {
            waits_for_tasks,
            is_answered_within: parts.extensions.get::<AnsweredWithin>().is_some(),
            client: parts.client.clone(),
            revision: parts.revision,
            outbox: parts.outbox.clone(),
            wants_progress: parts.progress.is_some(),
            log_level: parts.log_level.or(parts.client.level.level()),
            input: parts.input.clone().filter(|_| passes_on),
            passes_on,
            callers: callers.clone(),
            named: Mutex::default(),
        })
    }

    /// Prepares the call itself.
    pub(crate) fn sign(&self, request: &mut CallRequest, link: &Link) {
        request.progress = self.wants_progress;
        self.sign_further(request, link);
        if let Some(caller) = &mut request.on_behalf {
            caller.input = self.input.clone();
        }
    }

    /// Prepares a further request for the same call, such as one about its task.
    pub(crate) fn sign_further(&self, request: &mut CallRequest, link: &Link) {
        if !self.passes_on {
            return;
        }
        let asker = match self.revision.has_handshake() {
            // All calls of a session share this allocation, so its address identifies the session.
            true => Asker::Session(Arc::as_ptr(&self.client).addr() as u64),
            false => Asker::Call,
        };
        let mut capabilities = passed_on(&self.client.capabilities);
        if self.waits_for_tasks {
            capabilities = declare_waiting(capabilities);
        }
        let mut caller = OnBehalf::new(capabilities, asker);
        let upstream = link.profile().revision;
        caller.passes_on = self.revision.has_input_requests()
            && upstream.has_input_requests()
            && !self.is_answered_within;
        request.on_behalf = Some(Box::new(caller));
        request.log_level = self.log_level;
    }

    /// Names a page for a revision in which pages have names, and remembers whose it is. The server
    /// reports when the user has finished with a page that it named itself.
    fn name_page(&self, question: &mut InputRequest) {
        let InputRequest::Elicit(ElicitParams::Url(page)) = question else { return };
        match &page.elicitation_id {
            Some(name) => self.callers.opened_page(name, &self.outbox),
            None if self.revision.has_elicitation_ids() => {
                let name = format!("{:016x}", RandomState::new().build_hasher().finish());
                lock(&self.named).push(name.clone());
                page.elicitation_id = Some(name);
            }
            None => {}
        }
    }

    /// An observer of a request that was prepared for this caller.
    pub(crate) fn observer(self: &Arc<Self>) -> Box<dyn CallObserver> {
        Box::new(CallerObserver(self.clone()))
    }
}

/// When the call has ended, the user has finished with its pages: the server asked for them by
/// rounds, and does not report it.
impl Drop for Caller {
    fn drop(&mut self) {
        for name in lock(&self.named).drain(..) {
            // If there is no room, the caller has to find out by itself.
            let _ = self.outbox.emit(Outgoing::ElicitationComplete(name));
        }
    }
}

/// The capabilities of a caller that a relay can pass on.
fn passed_on(declared: &ClientCapabilities) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::new();
    capabilities.elicitation.clone_from(&declared.elicitation);
    capabilities.sampling.clone_from(&declared.sampling);
    capabilities.roots.clone_from(&declared.roots);
    capabilities.extensions = views_of(&declared.extensions);
    capabilities
}

/// Of the declared extensions the one for views: its data is part of results, so it passes. The
/// methods of others are unknown here.
pub(crate) fn views_of(declared: &DeclaredExtensions) -> DeclaredExtensions {
    let mut passed = DeclaredExtensions::default();
    for (identifier, settings) in declared.iter().filter(|(it, _)| *it == apps::IDENTIFIER) {
        // The peer has declared it, so it is well-formed.
        _ = passed.insert(identifier, settings.clone());
    }
    passed
}

/// Passes what the upstream server sends before its answer to the caller.
struct CallerObserver(Arc<Caller>);

impl CallObserver for CallerObserver {
    fn progress(&mut self, progress: ProgressParams) {
        let ProgressParams { progress, total, message, .. } = progress;
        let update = ProgressUpdate { progress, total, message };
        // Progress may be lost if the caller is slow.
        let _ = self.0.outbox.emit(Outgoing::Progress(update));
    }

    fn ask(&mut self, mut question: InputRequest) -> Result<QuestionAnswer, InputRequest> {
        if !self.0.passes_on {
            return Err(question);
        }
        self.0.callers.note_question();
        self.0.name_page(&mut question);
        let Caller { client, outbox, .. } = &*self.0;
        Ok(Box::pin(ask(outbox.clone(), client.clone(), question)))
    }

    fn log(&mut self, message: LogMessageParams) -> Result<(), LogMessageParams> {
        if !self.0.passes_on {
            return Err(message);
        }
        // Log messages may be lost if the caller is slow.
        let _ = self.0.outbox.emit(Outgoing::Log(message));
        Ok(())
    }
}

/// Puts a question of the upstream server to a caller. Dropping the future withdraws it.
pub(crate) async fn ask(
    outbox: Outbox,
    client: Arc<ClientProfile>,
    question: InputRequest,
) -> Result<RawJson, ErrorObject> {
    if client.capabilities.missing(&question.required_capabilities()).is_some() {
        let method = question.method().map_or("this question", |method| method.name());
        let message = format!("the client behind this one does not offer `{method}`");
        return Err(ErrorObject::method_not_found(message));
    }
    let (sender, answer) = oneshot::channel();
    let ticket = QuestionTicket::default();
    let reply = Reply::withdrawable(ticket.clone(), move |answer| _ = sender.send(answer));
    let question = OutgoingQuestion { request: question, reply, task: None };
    if outbox.send(Outgoing::Ask(question)).await.is_err() {
        return Err(unanswered(&QuestionError::Closed));
    }
    let mut asked = AskedQuestion { outbox, ticket: Some(ticket) };
    let answer = answer.await;
    asked.ticket = None;
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(QuestionError::Refused(error))) => Err(error),
        Ok(Err(error)) => Err(unanswered(&error)),
        // The call of the caller ended first.
        Err(_) => Err(unanswered(&QuestionError::Closed)),
    }
}

/// The error for the upstream server whose question has no answer.
fn unanswered(error: &QuestionError) -> ErrorObject {
    ErrorObject::internal(format!("the question was passed on, but not answered: {error}"))
}

/// A question that the caller was asked. Dropping it withdraws the question, unless it was answered.
struct AskedQuestion {
    outbox: Outbox,
    ticket: Option<QuestionTicket>,
}

impl Drop for AskedQuestion {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            // If there is no room, the caller answers a question that is not asked any more.
            let _ = self.outbox.emit(Outgoing::Withdraw(ticket));
        }
    }
}
