//! The session of a legacy connection: what the handshake fixed, and what the client set since.
//!
//! One belongs to a [`ServerConnection`](super::ServerConnection) from `initialize` on, or from the
//! moment when the connection restores or assumes a session. It answers what concerns only the
//! session (`ping`, `logging/setLevel`, `resources/unsubscribe`), knows which changes the client
//! wants to hear of, and keeps the questions to the client until they are answered.
//!
//! # Questions
//!
//! A question gets an id of its own, a deadline, and the call that asked. It ends in exactly one of
//! these ways: the client answers; it times out ([`LegacySession::expire`]); the call that asked
//! ends first ([`LegacySession::forget_call`]); or no answer can come any more
//! ([`LegacySession::fail_questions`]). In the second and third case the client gets
//! `notifications/cancelled`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::discover::DiscoverResult;
use bowline_types::elicitation::ElicitationCompleteParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::legacy::initialize::{InitializeParams, InitializeResult};
use bowline_types::legacy::set_level::SetLevelParams;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::text::counted;
use bytes::Bytes;

use super::{ServerConfig, SessionSnapshot};
use crate::frame::ResponseMessage;
use crate::limits::Limits;
use crate::members::Members;
use crate::pace::Pace;
use crate::project::Project;
use crate::request::{
    ClientProfile, ExchangeId, OutgoingQuestion, QuestionError, QuestionTicket, Reply,
    ReportedChange, Response, SessionLevel, Success,
};
use crate::splice;
use crate::table::outgoing::{Expired, OutgoingRequests, Taken, Timing};

mod subscribed_resources;
mod tasks;

use subscribed_resources::SubscribedResources;

/// A session: what the handshake fixed, and what the client set since.
#[derive(Debug)]
pub(super) struct LegacySession {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientProfile>,
    /// The capabilities that the server declared. Set when the handshake is answered.
    pub(super) capabilities: ServerCapabilities,
    log_level: LoggingLevel,
    /// The roots of the client changed again while the service handled the last change.
    pub(super) roots_changed_again: bool,
    pub(super) is_initialized: bool,
    subscribed: SubscribedResources,
    questions: OutgoingRequests<OpenQuestion>,
}

/// A question to the client that awaits its answer. Dropped without calling `reply` if the call
/// that asked has ended.
#[derive(Debug)]
struct OpenQuestion {
    exchange: ExchangeId,
    reply: Reply,
}

impl LegacySession {
    /// Reads `initialize` and chooses the revision: the requested one, or the newest of the server.
    ///
    /// A requested revision that the server speaks is repeated (LIFE-9); otherwise the newest that
    /// it speaks is offered as a normal result, and the client decides (LIFE-10).
    ///
    /// # Errors
    ///
    /// If the params have another shape, or the server speaks no revision with a handshake.
    pub(super) fn open(params: &Members, config: &ServerConfig) -> Result<Self, ErrorObject> {
        let mut params: InitializeParams = parse(params)?;
        let requested = params.protocol_version.parse::<Revision>().ok();
        let spoken = requested
            .filter(|revision| !revision.is_modern() && config.revisions().contains(revision));
        let revision = spoken.or_else(|| config.newest_legacy()).ok_or_else(|| {
            ErrorObject::unsupported_version(&params.protocol_version, config.revisions())
        })?;
        // A capability that the revision does not have cannot have been agreed on.
        params.capabilities.project(revision);
        Ok(Self {
            revision,
            client: Arc::new(ClientProfile {
                info: Some(params.client_info),
                capabilities: params.capabilities,
                ..ClientProfile::default()
            }),
            capabilities: ServerCapabilities::default(),
            log_level: config.log_level(),
            roots_changed_again: false,
            is_initialized: false,
            subscribed: SubscribedResources::default(),
            questions: OutgoingRequests::new(config.limits().abandoned),
        })
    }

    /// The session of a client that did the handshake on another connection. Ids of questions start
    /// after `last_id`. `is_initialized` is set by the connection afterwards, together with the
    /// subscription that it begins.
    pub(super) fn restored(snapshot: SessionSnapshot, last_id: i64, config: &ServerConfig) -> Self {
        let level = SessionLevel::default();
        if snapshot.log_level != config.log_level() {
            level.set(snapshot.log_level);
        }
        let mut subscribed = SubscribedResources::default();
        subscribed.settle(snapshot.followed);
        Self {
            revision: snapshot.revision,
            client: Arc::new(ClientProfile {
                info: snapshot.client_info,
                capabilities: snapshot.client_capabilities,
                level,
            }),
            capabilities: snapshot.server_capabilities,
            log_level: snapshot.log_level,
            roots_changed_again: false,
            is_initialized: false,
            subscribed,
            questions: OutgoingRequests::new(config.limits().abandoned).counting_on(last_id),
        }
    }

    /// Gives questions ids after `last_id` from now on.
    pub(super) fn count_questions_after(&mut self, last_id: i64) {
        self.questions.count_after(last_id);
    }

    /// The state of the session without its calls.
    pub(super) fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            revision: self.revision,
            client_info: self.client.info.clone(),
            client_capabilities: self.client.capabilities.clone(),
            server_capabilities: self.capabilities.clone(),
            log_level: self.log_level,
            followed: self.subscribed.agreed().clone(),
            is_initialized: self.is_initialized,
        }
    }

    /// Takes over what the client set on another connection.
    pub(super) fn adopt(&mut self, snapshot: SessionSnapshot) {
        if self.log_level != snapshot.log_level {
            self.client.level.set(snapshot.log_level);
        }
        self.log_level = snapshot.log_level;
        self.subscribed.settle(snapshot.followed);
    }

    /// Makes the answer to the handshake from the `server/discover` result of the service.
    /// Capabilities are remembered as they were declared, since requests that need another one are
    /// refused (LIFE-15).
    pub(super) fn answer_handshake(
        &mut self,
        discovered: &Success,
        config: &ServerConfig,
    ) -> Response {
        let discovered: DiscoverResult = discovered.body().parse().map_err(|error| {
            ErrorObject::internal(format!("the server does not describe itself: {error}"))
        })?;
        self.capabilities = discovered.capabilities;
        self.capabilities.project(self.revision);
        if !config.keeps_sessions() {
            remove_session_capabilities(&mut self.capabilities);
        }
        let mut info = config.info().clone();
        info.project(self.revision);
        let mut result = InitializeResult::new(self.revision, self.capabilities.clone(), info);
        result.instructions = discovered.instructions;
        let body =
            RawJson::from_value(&result).map_err(|e| ErrorObject::internal(e.to_string()))?;
        Ok(Success::raw(body, result.meta))
    }

    /// Serves the methods that concern only the session. `None` for any other method.
    pub(super) fn serve(&mut self, method: Method, params: &Members) -> Option<Response> {
        let served = match method {
            Method::Ping => Ok(()),
            Method::LoggingSetLevel => self.set_level(params),
            Method::ResourcesUnsubscribe => self.unsubscribe(params),
            _ => return None,
        };
        Some(served.map(|()| Success::empty()))
    }

    /// The least severe log message that this session gets; `None` if the server did not declare
    /// logging. A server that emits logs must declare it (LOG-1).
    pub(super) fn log_level(&self) -> Option<LoggingLevel> {
        self.capabilities.supports_logging().then_some(self.log_level)
    }

    /// A log message that belongs to no call, if the session wants its level and the rate limit
    /// allows it.
    pub(super) fn log(
        &self,
        message: &LogMessageParams,
        pace: &mut Pace,
        now: Instant,
    ) -> Option<Bytes> {
        let level = self.log_level()?;
        let wanted = level <= message.level && pace.admits(1, now);
        wanted.then(|| splice::notification(Method::Message, &splice::json(message)))
    }

    /// Whether this session asked for a change. Changes of lists go out only if the server declared
    /// them, changes of a resource only to sessions that subscribed to it (CAP-4).
    pub(super) fn wants(&self, change: &ReportedChange) -> bool {
        match change {
            ReportedChange::Acknowledged(_) => false,
            ReportedChange::Tools => self.capabilities.supports_tools_list_changed(),
            ReportedChange::Prompts => self.capabilities.supports_prompts_list_changed(),
            ReportedChange::Resources => self.capabilities.supports_resources_list_changed(),
            ReportedChange::Resource(uri) => self.subscribed.wants(uri),
            // The extension has no tasks here; those of the core are no subscriptions.
            ReportedChange::Task { .. } => false,
        }
    }

    /// Notes that a call subscribes to a resource. The service decides whether the resource exists.
    ///
    /// It counts against the limits from now on, so that many requests at once cannot exceed them.
    ///
    /// # Errors
    ///
    /// If the server does not offer subscriptions, or the session has too many.
    pub(super) fn subscribe(
        &mut self,
        params: &Members,
        call: ExchangeId,
        limits: &Limits,
    ) -> Result<(), ErrorObject> {
        if !self.capabilities.supports_resources_subscribe() {
            return Err(not_offered(Method::ResourcesSubscribe, "resources.subscribe"));
        }
        let params: SubscribeParams = parse(params)?;
        if self.subscribed.len() >= limits.subscribed_resources {
            let most = counted(limits.subscribed_resources, "resource");
            let message = format!("no more than {most} at a time; unsubscribe from one first");
            return Err(ErrorObject::invalid_request(message));
        }
        if self.subscribed.bytes() + params.uri.len() > limits.subscribed_bytes {
            let most = counted(limits.subscribed_bytes, "byte");
            let message = format!(
                "the URIs that a session follows have no more than {most} in all; unsubscribe from one first"
            );
            return Err(ErrorObject::invalid_request(message));
        }
        self.subscribed.begin(params.uri, call);
        Ok(())
    }

    /// The resources whose changes the session gets.
    pub(super) fn followed_resources(&self) -> &BTreeSet<String> {
        self.subscribed.agreed()
    }

    /// The service accepted the subscription of a call.
    pub(super) fn subscription_accepted(&mut self, call: ExchangeId) {
        self.subscribed.agree(call);
    }

    /// Asks the client. Returns the request to send; if it cannot be sent, the question is answered
    /// with the reason.
    ///
    /// Reasons are: the revision has no such request, or too many questions are open. Whether the
    /// client declared the capability was checked before.
    pub(super) fn ask(
        &mut self,
        exchange: ExchangeId,
        question: OutgoingQuestion,
        limits: &Limits,
        now: Instant,
    ) -> Option<Bytes> {
        let method = question.method();
        let OutgoingQuestion { mut request, reply, task } = question;
        let Some(method) = method.filter(|method| method.is_from_server(self.revision)) else {
            reply.deliver(Err(QuestionError::NoBackChannel));
            return None;
        };
        if self.questions.len() >= limits.questions {
            reply.deliver(Err(QuestionError::TooMany));
            return None;
        }
        request.project(self.revision);
        let maximum = now.checked_add(limits.question_timeout).unwrap_or(now);
        let timing = Timing { timeout: limits.question_timeout, maximum };
        let id = self.questions.insert(OpenQuestion { exchange, reply }, timing, now);
        let mut params = params_of(&request);
        if let Some(task) = task {
            params = tasks::related(&task, &params);
        }
        Some(splice::request(&id.into(), method, &params))
    }

    /// The request that withdraws a question that the client runs as a task, if the revision has
    /// it. Its answer is not awaited.
    pub(super) fn cancel_task(&mut self, question: &OutgoingQuestion) -> Option<Bytes> {
        let method = question.method().filter(|it| it.is_from_server(self.revision))?;
        let id = self.questions.unawaited();
        Some(splice::request(&id.into(), method, &params_of(&question.request)))
    }

    /// The notification that an elicitation by URL is complete, if the revision has it.
    pub(super) fn elicitation_complete(&self, id: String) -> Option<Bytes> {
        let params = ElicitationCompleteParams::new(id);
        let announce = || splice::notification(Method::ElicitationComplete, &splice::json(&params));
        self.revision.has_elicitation_ids().then(announce)
    }

    /// Takes a response. Returns the call whose question it answers. An answer to a question that is
    /// not open any more is dropped (CANC-9).
    pub(super) fn answered(&mut self, response: ResponseMessage) -> Option<ExchangeId> {
        let Taken::Awaited(question) = self.questions.take(&response.id?) else { return None };
        question.reply.deliver(response.outcome.map_err(QuestionError::Refused));
        Some(question.exchange)
    }

    /// Whether a question with this id waits for its answer.
    pub(super) fn has_open_question(&self, id: i64) -> bool {
        self.questions.get(id).is_some()
    }

    /// Drops the question with this ticket, without calling its reply. Returns the call that asked,
    /// and the cancellation to send.
    pub(super) fn withdraw(&mut self, ticket: &QuestionTicket) -> Option<(ExchangeId, Bytes)> {
        let id = self.questions.find(|question| question.reply.ticket() == Some(ticket))?;
        let question = self.questions.abandon(id)?;
        Some((question.exchange, cancellation(id, "the server does not ask any more")))
    }

    /// Drops the open questions of a call that has ended, and its subscription if the service has
    /// not accepted it. The replies of the questions are not called. Returns the cancellations to
    /// send.
    pub(super) fn forget_call(&mut self, exchange: ExchangeId) -> Vec<Bytes> {
        self.subscribed.end(exchange);
        let mut frames = Vec::new();
        while let Some(id) = self.questions.find(|question| question.exchange == exchange) {
            self.questions.abandon(id);
            frames.push(cancellation(id, "the call that asked is over"));
        }
        frames
    }

    /// Fails the questions that have timed out. Returns the cancellations to send, each with the
    /// call that asked.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(ExchangeId, Bytes)> {
        let mut expired = Vec::new();
        while let Some(Expired { id, value: question, .. }) = self.questions.expire(now) {
            question.reply.deliver(Err(QuestionError::TimedOut));
            expired.push((question.exchange, cancellation(id, "no answer in time")));
        }
        expired
    }

    /// When the next question times out.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.questions.next_deadline()
    }

    /// Fails the open questions of the calls that `is_meant` picks. Returns the call of each question.
    pub(super) fn fail_questions(
        &mut self,
        is_meant: impl Fn(ExchangeId) -> bool,
        why: &QuestionError,
    ) -> Vec<ExchangeId> {
        let mut failed = Vec::new();
        for id in self.questions.ids() {
            let is_it = self.questions.get_mut(id).is_some_and(|it| is_meant(it.exchange));
            if is_it && let Some(question) = self.questions.abandon(id) {
                question.reply.deliver(Err(why.clone()));
                failed.push(question.exchange);
            }
        }
        failed
    }

    /// Serves `logging/setLevel`.
    fn set_level(&mut self, params: &Members) -> Result<(), ErrorObject> {
        if !self.capabilities.supports_logging() {
            return Err(not_offered(Method::LoggingSetLevel, "logging"));
        }
        let params: SetLevelParams = parse(params)?;
        self.log_level = params.level;
        self.client.level.set(params.level);
        Ok(())
    }

    /// Serves `resources/unsubscribe`.
    fn unsubscribe(&mut self, params: &Members) -> Result<(), ErrorObject> {
        if !self.capabilities.supports_resources_subscribe() {
            return Err(not_offered(Method::ResourcesUnsubscribe, "resources.subscribe"));
        }
        let params: SubscribeParams = parse(params)?;
        self.subscribed.stop(&params.uri);
        Ok(())
    }
}

/// Removes the capabilities that need a server which keeps sessions. Without sessions there is no
/// stream on which the server could send changes or logs by itself.
fn remove_session_capabilities(capabilities: &mut ServerCapabilities) {
    capabilities.logging = None;
    let lists = [&mut capabilities.tools, &mut capabilities.prompts];
    for list in lists.into_iter().flatten() {
        list.list_changed = false;
    }
    if let Some(resources) = &mut capabilities.resources {
        resources.list_changed = false;
        resources.subscribe = false;
    }
}

/// A serialized question is `{method, params}`; returns `params`.
fn params_of(request: &InputRequest) -> String {
    let question = Members::cut(splice::json(request).into()).unwrap_or_default();
    question.value("params").unwrap_or("{}").to_owned()
}

/// The notification that cancels a question.
fn cancellation(id: i64, reason: &str) -> Bytes {
    let params = format!("{{\"requestId\":{id},{}}}", splice::member("reason", reason));
    splice::notification(Method::Cancelled, &params)
}

/// The error for a method whose capability the server did not declare.
fn not_offered(method: Method, capability: &str) -> ErrorObject {
    ErrorObject::method_not_found(format!(
        "`{method}` is not offered: the server declares no `{capability}`"
    ))
}

fn parse<T: serde::de::DeserializeOwned>(params: &Members) -> Result<T, ErrorObject> {
    params.parse_all().map_err(ErrorObject::misread_params)
}
