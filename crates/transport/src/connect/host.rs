//! What a driver calls back: the host of the connection, and the observer of one call.

use std::future::ready;
use std::sync::Arc;

use bowline_proto::client::{ServerProfile, TaskRequest};
use bowline_proto::request::ReportedChange;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use futures_core::future::BoxFuture;

use super::layer::ClientLayer;

/// The application behind a client: answers the server's questions and takes its notifications.
///
/// The driver calls these methods in its own task, so they must return quickly.
///
/// Only [`answer`](Self::answer) is required; a client without questions declares no capabilities
/// and is never asked.
pub trait Host: Send + Sync + 'static {
    /// The layers around the calls of the connection. Asked once, before the connection is opened.
    fn layers(&self) -> Vec<Arc<dyn ClientLayer>> {
        Vec::new()
    }

    /// Client and server agreed on a revision. Called before all methods but [`layers`](Self::layers).
    fn met(&self, _server: &ServerProfile) {}

    /// Answers a question of the server. The future is dropped if the server cancels the question.
    ///
    /// It is the same question in both eras. An error goes to a server with sessions as the answer,
    /// and since 2026-07-28 it ends the call that asked.
    fn answer(&self, question: InputRequest) -> BoxFuture<'static, Result<RawJson, ErrorObject>>;

    /// Answers a request of the server about a task that the host runs (2025-11-25). Only a host
    /// that declares tasks gets any.
    fn answer_about_task(
        &self,
        _request: TaskRequest,
    ) -> BoxFuture<'static, Result<RawJson, ErrorObject>> {
        let error = ErrorObject::method_not_found("this client runs no tasks");
        Box::pin(ready(Err(error)))
    }

    /// The server sent a log message.
    fn log(&self, _message: LogMessageParams) {}

    /// Something changed on the server.
    fn changed(&self, _change: ReportedChange) {}

    /// The user has finished with the web page of a URL elicitation; `name` is the elicitation id
    /// that the server gave.
    fn elicitation_complete(&self, _name: &str) {}

    /// The server reports that a task has changed; `id` is the id that the server gave. Only a hint.
    fn task_changed(&self, _id: &str) {}

    /// The server sent a notification of an extension that the program registered.
    fn notified(&self, _method: Method, _params: &RawJson) {}

    /// A new session replaced the old one, because the server lost it or was restarted. State that
    /// belongs to a session, such as the log level, has to be set again.
    fn renewed(&self) {}

    /// Something happened that deserves a line in a log: the server broke a rule of the protocol or
    /// is started again, or a request of the client itself failed.
    fn diagnostic(&self, _text: &str) {}
}

/// The answer to a question, when it is there.
pub type QuestionAnswer = BoxFuture<'static, Result<RawJson, ErrorObject>>;

/// Receives what the server sends for one call before its answer. Given along with a call, and
/// dropped with it. Its methods run in the task of the driver, so they must not block.
pub trait CallObserver: Send + 'static {
    /// The server reported progress of the call.
    fn progress(&mut self, _progress: ProgressParams) {}

    /// The server asks a question of this call.
    ///
    /// # Errors
    ///
    /// Gives the question back if the [`Host`] is to answer it, as it does unless this is
    /// implemented.
    fn ask(&mut self, question: InputRequest) -> Result<QuestionAnswer, InputRequest> {
        Err(question)
    }

    /// The server sent a log message of this call.
    ///
    /// # Errors
    ///
    /// Gives the message back if the [`Host`] is to take it, as it does unless this is implemented.
    fn log(&mut self, message: LogMessageParams) -> Result<(), LogMessageParams> {
        Err(message)
    }

    /// The subscription reports a change.
    fn change(&mut self, _change: ReportedChange) {}
}
