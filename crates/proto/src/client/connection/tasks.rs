//! Calls that the server continues as tasks.
//!
//! The client framework waits for a task. The connection knows which answers may be tasks, asks the
//! questions of a task like all others, and cancels tasks that nothing waits for.

use std::time::Instant;

use bowline_types::ext::tasks::{self, TaskIdParams};
use bowline_types::id::RequestId;
use bowline_types::input::InputRequired;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use serde::Deserialize;

use super::super::rounds::InFlightCall;
use super::{CallRequest, ClientConnection, ClientEvent};
use crate::members::Members;
use crate::splice;
use crate::transmit::{Role, Route, Transmit};

impl ClientConnection {
    /// Asks the server to cancel a task, if it offers that. The answer changes nothing.
    pub fn cancel_task(&mut self, id: &str) {
        if self.is_restarting || self.offered(Method::TasksCancel).is_err() {
            return;
        }
        let params = RawJson::from_value(&TaskIdParams::new(id)).unwrap_or_default();
        let params = Object::new(params).unwrap_or_default();
        let request = CallRequest::new(Method::TasksCancel, params);
        let id = self.waiting.unawaited();
        let text = request.text(id, self.modern_meta(), "");
        let frame = splice::request(&id.into(), request.method, &text);
        let mirror = self.mirror_call(id, &request);
        let (route, role) = (Route::Standalone, Role::Opens);
        self.transmits.push_back(Transmit { route, role, frame, mirror });
    }

    /// Whether the answer to a request may be a task on 2026-07-28: only that of a tool, and only if
    /// the call declared the extension (XTASK-4).
    pub(super) fn may_become_task(&self, request: &CallRequest) -> bool {
        request.method == Method::ToolsCall
            && self.declared_by(request).is_some_and(|it| it.supports_extension(tasks::IDENTIFIER))
    }

    /// Asks the questions of a call before it is sent for the first time.
    pub(super) fn ask_first(&mut self, mut flight: InFlightCall, now: Instant) {
        let exchange = flight.exchange;
        let required = InputRequired::new(std::mem::take(&mut flight.request.questions));
        if let Err(error) = self.put(flight, &required, now) {
            self.end(exchange, Err(error));
        }
    }

    /// Reports a task that has changed. What the notification says of it is not read.
    pub(super) fn task_changed(&mut self, params: &Members) {
        if let Ok(TaskIdParams { task_id, .. }) = params.parse_all() {
            self.events.push_back(ClientEvent::TaskChanged(task_id));
        }
    }

    /// Remembers a call that is not awaited any more, if its answer may name a task: only calls of
    /// tools become tasks.
    pub(super) fn remember_late_tool(&mut self, id: i64, method: Method) {
        if method == Method::ToolsCall {
            self.late_tools.push_back(id);
            if self.late_tools.len() > self.config.limits().abandoned {
                self.late_tools.pop_front();
            }
        }
    }

    /// Whether a late answer belongs to a tool call.
    pub(super) fn was_late_tool(&self, id: &RequestId) -> bool {
        id.as_integer().is_some_and(|id| self.late_tools.contains(&id))
    }

    /// Cancels the task that a late answer names, since its caller went away before it knew the id.
    pub(super) fn cancel_late_task(&mut self, result: &RawJson) {
        /// The members of both kinds of tasks that name one.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct LateTask {
            result_type: Option<String>,
            task_id: Option<String>,
            task: Option<TaskIdParams>,
        }

        let Ok(late) = result.parse::<LateTask>() else { return };
        let is_task = late.result_type.is_some_and(|kind| kind == "task");
        let core = late.task.map(|task| task.task_id);
        if let Some(id) = core.or(late.task_id.filter(|_| is_task)) {
            self.cancel_task(&id);
        }
    }
}
