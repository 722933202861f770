//! Waits for a task of the extension of 2026-07-28.
//!
//! `tasks/get` returns everything: the status, the open questions, the result or the error. The
//! answers go to the server with `tasks/update`.

use std::collections::HashSet;

use bowline_proto::client::{CallAnswer, CallError, CallRequest};
use bowline_transport::connect::PendingCall;
use bowline_types::ext::tasks::{TaskStatus, UpdateTask};
use bowline_types::input::InputRequests;
use bowline_types::json::RawJson;
use bowline_types::rpc::Rpc;
use serde::Deserialize;

use super::TaskPoll;
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::request;

/// The questions of a task that were put to the user.
#[derive(Default)]
struct AskedQuestions {
    /// The keys that were answered. None is answered twice (XTASK-24).
    answered: HashSet<String>,
    rounds: usize,
    open: Option<OpenQuestions>,
}

/// Questions that the user is answering, and the `tasks/update` that carries the answers.
struct OpenQuestions {
    keys: Vec<String>,
    update: PendingCall,
}

impl TaskPoll<'_> {
    /// Waits for the end of the task, and answers its questions.
    pub(super) async fn modern(&mut self) -> Result<RawJson> {
        let mut asked = AskedQuestions::default();
        // The answer to the call may be a task that has ended, without its result.
        while self.task().is_terminal() && !self.refresh().await? {
            self.pause(None).await?;
        }
        loop {
            match self.task().status {
                TaskStatus::Working => asked.open = None,
                TaskStatus::InputRequired => self.ask(&mut asked)?,
                TaskStatus::Completed => return self.completed(),
                TaskStatus::Failed => return Err(self.failed()),
                TaskStatus::Cancelled => return Err(self.cancelled()),
                _ => return Err(self.unknown_status()),
            }
            let update = asked.open.as_mut().map(|open| &mut open.update);
            let updated = self.pause(update).await?;
            let is_current = self.refresh().await?;
            if let Some(updated) = updated {
                self.take(&mut asked, updated, is_current)?;
            }
        }
    }

    /// Puts the questions to the user that are new.
    ///
    /// # Errors
    ///
    /// If the server asks in too many rounds, or names no question.
    fn ask(&mut self, asked: &mut AskedQuestions) -> Result<()> {
        let Some(requests) = &self.wait.task.input_requests else {
            // The answer to the call may leave them out.
            return match self.is_described {
                true => Err(self
                    .invalid("its task has the status `input_required` without `inputRequests`")),
                false => Ok(()),
            };
        };
        let is_open = |key: &String| requests.request(key).is_some();
        if asked.open.as_ref().is_some_and(|open| open.keys.iter().all(is_open)) {
            return Ok(());
        }
        // The server does not wait for one of the open questions any more (XTASK-27).
        asked.open = None;
        let mut questions = InputRequests::new();
        for (key, question) in requests.iter().filter(|(key, _)| !asked.answered.contains(*key)) {
            // Keys of an object are unique.
            _ = questions.insert(key, question.clone());
        }
        if questions.is_empty() {
            return Ok(());
        }
        if asked.rounds >= self.limits.rounds {
            let error = CallError::TooManyRounds(self.limits.rounds);
            return Err(Error::call(&self.wait.subject, error));
        }
        asked.rounds += 1;
        let keys = questions.iter().map(|(key, _)| key.to_owned()).collect();
        let mut request = CallRequest::new(UpdateTask::METHOD, request::object(&self.id()));
        (request.timeout, request.questions) = (self.wait.timeout, questions);
        self.sign(&mut request);
        let observer = self.wait.caller.as_ref().map(Caller::observer);
        let update = self.wait.link.call(request, observer);
        asked.open = Some(OpenQuestions { keys, update });
        Ok(())
    }

    /// Notes that the answers were sent.
    ///
    /// # Errors
    ///
    /// If they were not. A server that refuses them because the task has ended is right.
    fn take(
        &self,
        asked: &mut AskedQuestions,
        updated: Result<CallAnswer>,
        is_current: bool,
    ) -> Result<()> {
        let keys = asked.open.take().map(|open| open.keys).unwrap_or_default();
        match updated {
            Err(error) if !(error.is_refused() && is_current && self.task().is_terminal()) => {
                return Err(error);
            }
            _ => asked.answered.extend(keys),
        }
        Ok(())
    }

    /// The result of the call.
    fn completed(&self) -> Result<RawJson> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Kind {
            result_type: Option<String>,
        }

        let Some(result) = &self.task().result else {
            return Err(self.invalid("its task has the status `completed` without `result`"));
        };
        let kind = result.parse::<Kind>().ok().and_then(|kind| kind.result_type);
        if let Some(kind) = kind.filter(|kind| kind != "complete") {
            return Err(
                self.invalid(format!("the result of its task has the `resultType` `{kind}`"))
            );
        }
        Ok(result.as_json().clone())
    }

    /// The error of the call.
    fn failed(&self) -> Error {
        match &self.task().error {
            Some(error) => Error::call(&self.wait.subject, CallError::Refused(error.clone())),
            None => self.invalid("its task has the status `failed` without `error`"),
        }
    }
}
