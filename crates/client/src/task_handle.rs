//! Tasks: calls of tools that go on after the server's first answer.
//!
//! Most programs need nothing of this: [`Client::call`] waits for a task by itself. A [`TaskHandle`]
//! is for programs that do something else meanwhile, or come back after a restart.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::SuccessKind;
use bowline_transport::connect::Link;
use bowline_types::ext::tasks::{CancelTask, GetTask, Task, TaskIdParams, TaskStatus};
use bowline_types::json::RawJson;
use bowline_types::legacy::task::{CoreTask, ListTasks};

use crate::call::{ClientCall, FirstAnswer, Read};
use crate::client::Client;
use crate::error::Result;
use crate::host::Application;
use crate::list::List;
use crate::request::{self, ask};
use crate::task::{self, TaskWait};
use crate::tool_outcome::ToolOutcome;

impl Client {
    /// A task that was started before, by its [id](TaskHandle::id): after a restart of the program,
    /// for example. Nothing is sent.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client, saved: String) -> bowline_client::Result<()> {
    /// let outcome = client.task(saved).wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn task(&self, id: impl Into<String>) -> TaskHandle {
        let id = id.into();
        let subject = format!("task {id}");
        let read = |tool: String, result: &RawJson| ToolOutcome::read(tool, result, None);
        TaskHandle {
            link: self.link.clone(),
            application: self.application.clone(),
            subject,
            read: Box::new(read),
            timeout: None,
            deadline: None,
            start: TaskStart::Task(Box::new(Task::new(id, ""))),
        }
    }

    /// The tasks that the server keeps for this client. Only servers of 2025-11-25 list tasks, and
    /// not all of them; on others reading the list fails
    /// ([`Error::is_not_offered`](crate::Error::is_not_offered)).
    pub fn tasks(&self) -> List<TaskState> {
        List::new::<ListTasks>(self.link.clone())
    }
}

impl ClientCall<'_, ToolOutcome> {
    /// Starts the call as a task, if server and tool allow that, and does not wait for its end.
    ///
    /// Dropping the handle does not cancel the task. A program that saves its
    /// [`id`](TaskHandle::id) can return to the task with [`Client::task`].
    ///
    /// If the server answers with the result at once, the handle holds the result and has no id.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let build = client.call("build", ()).task().await?;
    /// println!("{}", build.state().await?.message().unwrap_or("it runs"));
    /// println!("{}", build.wait().await?.text());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the call fails before it became a task.
    pub async fn task(self) -> Result<TaskHandle> {
        let FirstAnswer { link, subject, read, timeout, deadline, answer, tasks } =
            self.start().await?;
        let start = match answer.kind == SuccessKind::Task {
            true => TaskStart::Task(Box::new(task::created(&link, &subject, &answer.result)?)),
            false => TaskStart::Done(answer.result),
        };
        Ok(TaskHandle { link, application: tasks, subject, read, timeout, deadline, start })
    }
}

/// A call of a tool that the server continues as a task.
///
/// Made by [`ClientCall::task`], or from the id of a task by [`Client::task`]. Dropping it leaves
/// the task alone; [`cancel`](Self::cancel) ends it. The server keeps a task for a limited time
/// ([`TaskState::ttl`]).
pub struct TaskHandle {
    link: Link,
    application: Arc<Application>,
    subject: String,
    read: Read<ToolOutcome>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    start: TaskStart,
}

/// The first answer of the server.
#[derive(Debug)]
enum TaskStart {
    Task(Box<Task>),
    Done(RawJson),
}

impl TaskHandle {
    /// The id of the task, to save for [`Client::task`]; it is as secret as a password. `None` if
    /// the server answered with the result at once.
    pub fn id(&self) -> Option<&str> {
        match &self.start {
            TaskStart::Task(task) => Some(&task.task_id),
            TaskStart::Done(_) => None,
        }
    }

    /// Waits for the end of the task, and answers its questions with the hooks of the client, as
    /// [`Client::call`] does. It can be called again after a failure.
    ///
    /// It fails after the [`deadline`](ClientCall::deadline) of the call. Dropping the future does
    /// not cancel the task.
    ///
    /// # Errors
    ///
    /// If the call failed, the task was cancelled
    /// ([`Error::is_cancelled`](crate::Error::is_cancelled)), or the server does not know it (any
    /// more).
    pub async fn wait(&self) -> Result<ToolOutcome> {
        let task = match &self.start {
            TaskStart::Task(task) => (**task).clone(),
            TaskStart::Done(result) => return (self.read)(self.subject.clone(), result),
        };
        let wait = TaskWait {
            caller: None,
            link: self.link.clone(),
            subject: self.subject.clone(),
            timeout: self.timeout,
            deadline: self.deadline,
            task,
        };
        let result = Box::pin(task::wait_for(&self.application, wait)).await.result?;
        (self.read)(self.subject.clone(), &result)
    }

    /// Asks the server for the state of the task.
    ///
    /// # Errors
    ///
    /// If the server does not know the task (any more), or does not answer.
    pub async fn state(&self) -> Result<TaskState> {
        let TaskStart::Task(task) = &self.start else {
            return Ok(TaskState(Task::new("", "").completed(Default::default())));
        };
        let mut request = request::of::<GetTask>(&TaskIdParams::new(&task.task_id));
        request.timeout = self.timeout;
        let answer = ask(&self.link, &self.subject, request).await?;
        task::described(&self.link, &self.subject, &answer.result).map(TaskState)
    }

    /// Asks the server to stop the task. A server need not obey; one that does ends the task as
    /// cancelled.
    ///
    /// # Errors
    ///
    /// If the server does not know the task, or says that it has ended (2025-11-25).
    pub async fn cancel(&self) -> Result<()> {
        let TaskStart::Task(task) = &self.start else { return Ok(()) };
        let mut request = request::of::<CancelTask>(&TaskIdParams::new(&task.task_id));
        request.timeout = self.timeout;
        ask(&self.link, &self.subject, request).await.map(drop)
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// The state of a task, as the server described it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskState(Task);

impl From<CoreTask> for TaskState {
    fn from(task: CoreTask) -> Self {
        Self(task::from_core(task))
    }
}

impl TaskState {
    /// The id; empty if the server answered the call with the result at once.
    pub fn id(&self) -> &str {
        &self.0.task_id
    }

    /// The status.
    pub fn status(&self) -> &TaskStatus {
        &self.0.status
    }

    /// What the server says about the status, for people.
    pub fn message(&self) -> Option<&str> {
        self.0.status_message.as_deref()
    }

    /// When the task was created, in ISO 8601.
    pub fn created_at(&self) -> &str {
        &self.0.created_at
    }

    /// When the task last changed, in ISO 8601.
    pub fn last_updated_at(&self) -> &str {
        &self.0.last_updated_at
    }

    /// How long the server keeps the task after its creation; `None` means without limit.
    pub fn ttl(&self) -> Option<Duration> {
        self.0.ttl_ms.map(Duration::from_millis)
    }
}
