//! One request on the server: one in, any number of notifications, one answer out.
//!
//! The exchange knows what the caller asked for: the id to repeat, the revision, the progress
//! token, the log level. The server numbers its exchanges itself and never finds one by the id on
//! the wire, because some clients use the same id for every request.
//!
//! An exchange writes: it turns what a handler sends into text for the wire, or into nothing if the
//! caller did not ask for it. It does not run the handler and does not know what carries the text.
//! [`ServerConnection`](super::ServerConnection) has one for each open call; the HTTP server makes
//! one for each modern request.

use std::sync::Arc;
use std::time::Instant;

use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::error::ErrorObject;
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::json::RawJson;
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::ServerConfig;
use crate::admission::Admitted;
use crate::limits::Limits;
use crate::mirror::ParamHeaders;
use crate::pace::Pace;
use crate::project::Project;
use crate::request::{
    Access, ExchangeId, Extensions, Outbox, Owner, Parts, ProgressUpdate, ReportedChange, Request,
    Response, Sink, Success, SuccessKind,
};
use crate::splice;
use crate::wire::{legacy, modern};

/// One request being served. From admission to the answer. Dropping it answers nothing.
#[derive(Debug)]
pub struct Exchange {
    id: RequestId,
    method: Method,
    revision: Revision,
    /// `None` if the caller wants no progress; then none is sent (PROG-13).
    progress: Option<ProgressToken>,
    /// The last progress that was reported. It only grows.
    last_progress: f64,
    log_level: Option<LoggingLevel>,
    /// The rate limit of log messages, made with the first of them.
    logs: Option<Pace>,
}

impl Exchange {
    /// Opens an exchange, and makes the request for the service. The two halves are independent
    /// from here on: the request goes to the service, the exchange stays with the connection.
    pub fn open(number: ExchangeId, admitted: Admitted, origin: CallOrigin) -> (Self, Request) {
        let Admitted { id, method, params, envelope } = admitted;
        let exchange = Self {
            id,
            method,
            revision: envelope.revision,
            progress: envelope.progress.clone(),
            last_progress: f64::NEG_INFINITY,
            log_level: envelope.log_level,
            logs: None,
        };
        let parts = Parts {
            exchange: number,
            method,
            revision: envelope.revision,
            client: envelope.client,
            meta: envelope.meta,
            progress: envelope.progress,
            log_level: envelope.log_level,
            input: envelope.input,
            owner: origin.owner,
            access: origin.attached.access,
            headers: origin.headers,
            outbox: Outbox::new(number, origin.sink),
            extensions: origin.attached.extensions,
        };
        (exchange, Request { parts, params })
    }

    /// The id on the wire.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// The method that was called.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The revision that the caller speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// A progress notification, if the caller asked for progress and this is more than the last.
    /// Progress must grow (PROG-4); infinity and NaN have no JSON.
    pub fn progress(&mut self, advance: ProgressUpdate) -> Option<Bytes> {
        let token = self.progress.clone()?;
        let grows = advance.progress > self.last_progress && advance.progress.is_finite();
        if !grows {
            return None;
        }
        self.last_progress = advance.progress;
        let mut params = ProgressParams::new(token, advance.progress);
        params.total = advance.total.filter(|total| total.is_finite());
        params.message = advance.message;
        params.project(self.revision);
        Some(splice::notification(Method::Progress, &splice::json(&params)))
    }

    /// A log notification, if the caller asked for this level and the rate limit allows it.
    /// `session` is the level of a legacy session; a modern request names its own level, or gets no
    /// logs.
    ///
    /// Since 2026-07-28 a request without a level gets no logs at all (LOG-18); the rate limit
    /// follows LOG-7.
    pub fn log(
        &mut self,
        message: &LogMessageParams,
        session: Option<LoggingLevel>,
        limits: &Limits,
        now: Instant,
    ) -> Option<Bytes> {
        let threshold =
            if self.revision.has_log_level_per_request() { self.log_level } else { session }?;
        let pace = self.logs.get_or_insert_with(|| Pace::per_minute(limits.logs_per_minute));
        let wanted = threshold <= message.level && pace.admits(1, now);
        wanted.then(|| splice::notification(Method::Message, &splice::json(message)))
    }

    /// The notification of a change, with the id of this subscription. The id must be on everything
    /// that the subscription sends (SUB-8).
    pub fn change(&self, change: &ReportedChange) -> Bytes {
        let members = splice::member("_meta", &self.subscription_meta());
        let (method, body) = described(change);
        splice::notification(method, &splice::object(&members, &body))
    }

    /// The answer to the request. Repeats the id as the client wrote it, in value and type (RPC-6),
    /// and stamps the result if the revision demands it.
    pub fn answer(&self, response: Response, config: &ServerConfig) -> Bytes {
        match response.and_then(|success| self.check(success)) {
            Ok(success) => {
                if self.revision.has_result_type() {
                    modern::result(&self.id, success, self.method, config.info_json())
                } else {
                    legacy::result(&self.id, success)
                }
            }
            Err(error) => splice::error(Ok(&self.id), &error),
        }
    }

    /// The answer that ends a subscription when the server stops. An empty result with the id of
    /// the subscription (SUB-13, SUB-14).
    pub fn end(&self, config: &ServerConfig) -> Bytes {
        self.answer(Ok(Success::raw(RawJson::empty_object(), self.subscription_meta())), config)
    }

    /// The `_meta` that names this subscription.
    fn subscription_meta(&self) -> Meta {
        let mut meta = Meta::new();
        meta.set_reserved(key::SUBSCRIPTION_ID, RawJson::from_value(&self.id).unwrap_or_default());
        meta
    }

    /// Replaces a result that asks for input by an internal error where the protocol does not allow
    /// it. It is a bug of the server.
    fn check(&self, success: Success) -> Response {
        let may_ask = self.method.may_ask() && self.revision.has_input_requests();
        if success.kind == SuccessKind::InputRequired && !may_ask {
            let message = format!("`{}` cannot ask for input in {}", self.method, self.revision);
            return Err(ErrorObject::internal(message));
        }
        Ok(success)
    }
}

/// What the transport knows of a call: who makes it, and how to send messages back. Filled by the
/// connection, or by the HTTP server for a modern request.
pub struct CallOrigin {
    /// On whose behalf the call is made.
    pub owner: Owner,
    /// Takes the messages that the handler sends before its answer.
    pub sink: Arc<dyn Sink>,
    /// What belongs to the message that makes the call.
    pub attached: Attached,
    /// Headers that repeat arguments, if the call came over HTTP.
    pub headers: Option<ParamHeaders>,
}

/// What a driver attaches to a message for the calls that it opens. By default nothing, and no
/// scopes.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// Values that the transport and outer layers attach for handlers.
    pub extensions: Extensions,
    /// The scopes that the message was granted.
    pub access: Access,
}

/// The method and the params that report a change.
pub(crate) fn described(change: &ReportedChange) -> (Method, String) {
    match change {
        ReportedChange::Acknowledged(filter) => {
            let params = format!("{{{}}}", splice::member("notifications", filter));
            (Method::SubscriptionsAcknowledged, params)
        }
        ReportedChange::Tools => (Method::ToolsListChanged, "{}".to_owned()),
        ReportedChange::Prompts => (Method::PromptsListChanged, "{}".to_owned()),
        ReportedChange::Resources => (Method::ResourcesListChanged, "{}".to_owned()),
        ReportedChange::Resource(uri) => {
            (Method::ResourcesUpdated, format!("{{{}}}", splice::member("uri", uri)))
        }
        ReportedChange::Task { task, .. } => (Method::Tasks, task.as_str().to_owned()),
    }
}
