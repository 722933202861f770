//! One call: its options, then `.await`.
//!
//! Nothing is sent before the call is awaited. Dropping the future cancels the call: the server gets
//! a cancellation, and a late answer is ignored. A call that the server continues as a task is
//! awaited to the end of the task.

mod watch;

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CallAnswer, CallRequest};
use bowline_proto::request::SuccessKind;
use bowline_transport::connect::Link;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::code;
use bowline_types::json::RawJson;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::watch::Watch;
use crate::audit::ToolCallOutcome;
use crate::caller::Caller;
use crate::consent::Attempt;
use crate::error::{Error, Result};
use crate::host::Application;
use crate::request::{ask_on_behalf, check_open, explain, object};
use crate::task::{TaskWait, created, wait_or_cancel};

/// A call that is sent when it is awaited.
///
/// It fails after 60 seconds without an answer or progress, unless
/// [`Limits::request_timeout`](crate::Limits::request_timeout) or [`timeout`](Self::timeout) says
/// otherwise.
///
/// ```no_run
/// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
/// use std::time::Duration;
///
/// let mut steps = 0;
/// let outcome = client
///     .call("index", ())
///     .progress(|_| steps += 1)
///     .timeout(Duration::from_secs(30))
///     .await?;
/// println!("{} after {steps} steps", outcome.text());
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is sent when it is awaited"]
pub struct ClientCall<'a, T> {
    subject: String,
    /// An error in the input is reported when the call is awaited, like all other errors.
    plan: Result<Plan<T>>,
    progress: Option<Report<'a>>,
}

/// Everything needed to make the call.
struct Plan<T> {
    link: Link,
    request: Box<CallRequest>,
    read: Read<T>,
    attempt: Option<(Box<Attempt>, Judge<T>)>,
    repair: Option<(i64, Repair)>,
    /// What waits for the task that the call may become; only calls of tools may.
    tasks: Option<Arc<Application>>,
    /// The caller on whose behalf a relay makes the call.
    caller: Option<Arc<Caller>>,
}

/// Changes a request that the server refused with a certain error code; `None` if it would stay the
/// same.
type Repair = Box<dyn FnOnce(CallRequest) -> BoxFuture<'static, Option<CallRequest>> + Send>;

/// Reads the result of the call; the first argument is its name, for errors.
pub(crate) type Read<T> = Box<dyn Fn(String, &RawJson) -> Result<T> + Send + Sync>;

/// Says what the audit record has to say of a result.
type Judge<T> = fn(&T) -> ToolCallOutcome;

impl<T> ClientCall<'static, T> {
    /// A call without options; `subject` is how errors name it.
    pub(crate) fn new(
        link: Link,
        subject: String,
        request: Result<CallRequest>,
        read: impl Fn(String, &RawJson) -> Result<T> + Send + Sync + 'static,
    ) -> Self {
        let read = Box::new(read);
        let plan = request.map(|request| {
            let request = Box::new(request);
            Plan { link, request, read, attempt: None, repair: None, tasks: None, caller: None }
        });
        Self { subject, plan, progress: None }
    }

    /// A call that fails with this error when awaited.
    pub(crate) fn impossible(subject: String, error: Error) -> Self {
        Self { subject, plan: Err(error), progress: None }
    }

    /// Retries the call once, changed, if the server refuses it with this error code.
    pub(crate) fn with_repair(
        mut self,
        code: i64,
        repair: impl FnOnce(CallRequest) -> BoxFuture<'static, Option<CallRequest>> + Send + 'static,
    ) -> Self {
        if let Ok(plan) = &mut self.plan {
            plan.repair = Some((code, Box::new(repair)));
        }
        self
    }

    /// Waits for the task that the call may become.
    pub(crate) fn with_tasks(mut self, application: Arc<Application>) -> Self {
        if let Ok(plan) = &mut self.plan {
            plan.tasks = Some(application);
        }
        self
    }

    /// Makes the call on behalf of the caller of a relay.
    pub(crate) fn on_behalf(mut self, caller: Arc<Caller>) -> Self {
        if let Ok(plan) = &mut self.plan {
            caller.sign(&mut plan.request, &plan.link);
            plan.caller = Some(caller);
        }
        self
    }

    /// Asks for consent before the call and writes an audit record after it.
    pub(crate) fn with_oversight(mut self, attempt: Attempt, judge: Judge<T>) -> Self {
        if let Ok(plan) = &mut self.plan {
            plan.attempt = Some((Box::new(attempt), judge));
        }
        self
    }
}

impl<'a, T> ClientCall<'a, T> {
    /// Asks the server to report progress, and calls a function with every report. If the call
    /// becomes a task of 2025-11-25, that goes on while the call is awaited, but not for a
    /// [handle](Self::task); tasks of 2026-07-28 have no progress.
    ///
    /// The function runs in the task that awaits the call, so it may borrow. A server need not
    /// report anything.
    pub fn progress<'b>(self, report: impl FnMut(ProgressParams) + Send + 'b) -> ClientCall<'b, T> {
        let Self { subject, plan, .. } = self;
        ClientCall { subject, plan, progress: Some(Box::new(report)) }
    }

    /// Sets how long the server may take without an answer or a report of progress: 60 seconds,
    /// unless [`Limits::request_timeout`](crate::Limits::request_timeout) says otherwise. After that the
    /// call is cancelled and fails.
    ///
    /// A report of progress restarts the time. Servers report progress only for calls that ask for
    /// it with [`progress`](Self::progress).
    pub fn timeout(self, timeout: Duration) -> Self {
        self.change(|request| request.timeout = Some(timeout))
    }

    /// Sets how long the call may take whatever progress the server reports. Unless set, it is
    /// [`Limits::request_deadline`](crate::Limits::request_deadline), or [`timeout`](Self::timeout) if
    /// that is longer. Since 2026-07-28 the time that the user takes for a question of the server
    /// does not count.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.change(|request| request.deadline = Some(deadline))
    }

    /// Adds a member to the request's `_meta`.
    ///
    /// Keys are names with an optional prefix, such as `com.example/trace`. With a key of the
    /// protocol itself, the call fails when awaited.
    pub fn meta(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(plan) = &mut self.plan
            && let Err(error) = plan.request.meta.set(key, &value)
        {
            self.plan = Err(Error::input(&self.subject, error));
        }
        self
    }

    /// Asks for log messages of this call, of this level and more severe (since 2026-07-28; before,
    /// a session has one level). They go to [`on_log`](crate::ClientBuilder::on_log).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.change(|request| request.log_level = Some(level))
    }

    /// The revision of the connection; `None` if the call can only fail.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.plan.as_ref().ok().map(|plan| plan.link.profile().revision)
    }

    /// Changes the params, which are a struct of ours and so can be read and written.
    pub(crate) fn change_params<P>(self, change: impl FnOnce(&mut P)) -> Self
    where
        P: Serialize + DeserializeOwned,
    {
        self.change(|request| {
            if let Ok(mut params) = request.params.parse() {
                change(&mut params);
                request.params = object(&params);
            }
        })
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut CallRequest)) -> Self {
        if let Ok(plan) = &mut self.plan {
            change(&mut plan.request);
        }
        self
    }

    /// Makes the call, and returns the first answer, also if it is a task. A call that the server
    /// can run as a task is changed to one first.
    pub(crate) async fn start(self) -> Result<FirstAnswer<T>>
    where
        T: 'static,
    {
        let Self { subject, plan, mut progress } = self;
        let Plan { link, mut request, read, attempt, repair, tasks, .. } = plan?;
        let Some(tasks) = tasks else {
            return Err(Error::input(&subject, "only calls of tools become tasks"));
        };
        let (timeout, deadline) = (request.timeout, request.deadline);
        let call = pin!(async move {
            let mut repair = repair;
            if let Some((_, as_task)) = repair.take_if(|(code, _)| *code == code::METHOD_NOT_FOUND)
                && let Some(changed) = as_task((*request).clone()).await
            {
                *request = changed;
            }
            let how = HowToCall { repair, progress: progress.as_mut(), caller: None };
            let (answer, _) = first_answer(&link, &subject, request, how).await?;
            Ok(FirstAnswer { link, subject, read, timeout, deadline, answer, tasks })
        });
        match attempt {
            Some((attempt, _)) => Box::pin(attempt.make(call, |_| ToolCallOutcome::Started)).await,
            None => call.await,
        }
    }

    async fn run(self) -> Result<T> {
        let Self { subject, plan, mut progress } = self;
        let Plan { link, request, read, attempt, repair, tasks, caller } = plan?;
        let call = pin!(async move {
            let (timeout, deadline) = (request.timeout, request.deadline);
            let how = HowToCall { repair, progress: progress.as_mut(), caller: caller.as_ref() };
            let (answer, watch) = first_answer(&link, &subject, request, how).await?;
            let tasks = match (answer.kind, tasks) {
                (SuccessKind::Task, Some(tasks)) => tasks,
                (SuccessKind::InputRequired, _) => {
                    return Err(Error::asks(&subject, answer.result));
                }
                _ => return read(subject, &answer.result),
            };
            let task = created(&link, &subject, &answer.result)?;
            let wait = TaskWait { link, subject: subject.clone(), timeout, deadline, task, caller };
            let wait = Box::pin(wait_or_cancel(tasks, wait));
            let result = match watch.zip(progress) {
                Some((watch, mut report)) => Box::pin(watch.during(wait, &mut report)).await?,
                None => wait.await?,
            };
            read(subject, &result)
        });
        match attempt {
            Some((attempt, judge)) => Box::pin(attempt.make(call, judge)).await,
            None => call.await,
        }
    }
}

impl<'a, T: 'a> IntoFuture for ClientCall<'a, T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'a, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for ClientCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCall")
            .field("subject", &self.subject)
            .field("request", &self.plan.as_ref().map(|plan| &plan.request))
            .finish_non_exhaustive()
    }
}

/// A call and the first answer to it.
pub(crate) struct FirstAnswer<T> {
    pub(crate) link: Link,
    pub(crate) subject: String,
    pub(crate) read: Read<T>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) answer: CallAnswer,
    pub(crate) tasks: Arc<Application>,
}

type Report<'a> = Box<dyn FnMut(ProgressParams) + Send + 'a>;

/// What a call needs beside its request.
struct HowToCall<'a, 'b> {
    repair: Option<(i64, Repair)>,
    progress: Option<&'a mut Report<'b>>,
    caller: Option<&'a Arc<Caller>>,
}

/// Makes a call, and makes it again, changed, if the server refuses it in a way that can be repaired.
async fn first_answer(
    link: &Link,
    subject: &str,
    request: Box<CallRequest>,
    how: HowToCall<'_, '_>,
) -> Result<(CallAnswer, Option<Watch>)> {
    let HowToCall { repair, mut progress, caller } = how;
    let again = repair.map(|repair| (repair, request.clone()));
    let outcome = asked(link, subject, request, (progress.as_deref_mut(), caller)).await;
    if let (Err(error), Some(((code, repair), request))) = (&outcome, again)
        && error.rpc().is_some_and(|error| error.code == code)
        && let Some(request) = repair(*request).await
    {
        return Box::pin(asked(link, subject, Box::new(request), (progress, caller))).await;
    }
    outcome
}

/// Makes a call, awaits its answer, and reports progress if the caller asked for it.
async fn asked(
    link: &Link,
    subject: &str,
    request: Box<CallRequest>,
    (progress, caller): (Option<&mut Report<'_>>, Option<&Arc<Caller>>),
) -> Result<(CallAnswer, Option<Watch>)> {
    let Some(report) = progress else {
        return Ok((ask_on_behalf(link, subject, request, caller).await?, None));
    };
    check_open(link, subject)?;
    let mut watch = Watch::new(link, request);
    let outcome = Box::pin(watch.answer(report)).await;
    Ok((explain(link, subject, outcome)?, Some(watch)))
}
