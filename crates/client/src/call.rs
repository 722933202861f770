//! One call: its options, then `.await`.
//!
//! Nothing is sent before the call is awaited, and dropping it while it is awaited cancels it: the
//! server is told, and an answer that comes nevertheless is dropped.

use std::fmt;
use std::pin::{Pin, pin};
use std::time::Duration;

use bowline_proto::client::{CallAnswer, CallError, CallRequest};
use bowline_transport::connect::{Link, Listener};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::code;
use bowline_types::json::{Object, RawJson};
use bowline_types::progress::ProgressParams;
use bowline_types::read::ReadError;
use bowline_types::revision::Revision;
use bowline_types::rpc::Rpc;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::audit::AuditOutcome;
use crate::consent::Attempt;
use crate::error::{Error, Result};
use crate::hook::BoxFuture;

/// Notices of progress that wait for a caller who is busy; of more, the newest are kept.
const NOTICES: usize = 32;

/// A call that is made when it is awaited.
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
#[must_use = "a call is made when it is awaited"]
pub struct Call<'a, T> {
    subject: String,
    /// What was wrong with the input is told when the call is awaited, with everything else.
    plan: Result<Plan<T>>,
    progress: Option<Report<'a>>,
}

/// A call that can be made.
struct Plan<T> {
    link: Link,
    request: Box<CallRequest>,
    read: Read<T>,
    attempt: Option<(Box<Attempt>, Judge<T>)>,
    remedy: Option<Remedy>,
}

/// Makes a call anew whose headers the server refused, if there is a better one.
type Remedy = Box<dyn FnOnce(CallRequest) -> BoxFuture<Option<CallRequest>> + Send>;

/// Makes what the caller gets out of the name of the call and its result.
type Read<T> = Box<dyn FnOnce(String, &RawJson) -> Result<T> + Send>;

/// Says how a result counts.
type Judge<T> = fn(&T) -> AuditOutcome;

impl<T> Call<'static, T> {
    /// A call without options; `subject` is how errors name it.
    pub(crate) fn new(
        link: Link,
        subject: String,
        request: Result<CallRequest>,
        read: impl FnOnce(String, &RawJson) -> Result<T> + Send + 'static,
    ) -> Self {
        let read = Box::new(read);
        let plan = request.map(|request| {
            let request = Box::new(request);
            Plan { link, request, read, attempt: None, remedy: None }
        });
        Self { subject, plan, progress: None }
    }

    /// A call that comes to nothing but this error.
    pub(crate) fn impossible(subject: String, error: Error) -> Self {
        Self { subject, plan: Err(error), progress: None }
    }

    /// Lets somebody make the call anew if the server refuses its headers.
    pub(crate) fn remedied(
        mut self,
        remedy: impl FnOnce(CallRequest) -> BoxFuture<Option<CallRequest>> + Send + 'static,
    ) -> Self {
        if let Ok(plan) = &mut self.plan {
            plan.remedy = Some(Box::new(remedy));
        }
        self
    }

    /// Lets somebody watch over the call.
    pub(crate) fn overseen(mut self, attempt: Attempt, judge: Judge<T>) -> Self {
        if let Ok(plan) = &mut self.plan {
            plan.attempt = Some((Box::new(attempt), judge));
        }
        self
    }
}

impl<'a, T> Call<'a, T> {
    /// Asks the server to report progress, and calls a function with every notice of it.
    ///
    /// The function runs where the call is awaited, so it may borrow. A server may report nothing.
    pub fn progress<'b>(self, report: impl FnMut(ProgressParams) + Send + 'b) -> Call<'b, T> {
        let Self { subject, plan, .. } = self;
        Call { subject, plan, progress: Some(Box::new(report)) }
    }

    /// Sets how long the server may take without a sign of life; every notice of progress restarts
    /// the clock. When the time is over the server is told to stop.
    ///
    /// The limits of the client say it otherwise, and progress is reported only to those who ask
    /// for it with [`progress`](Self::progress).
    pub fn timeout(self, timeout: Duration) -> Self {
        self.change(|request| request.timeout = Some(timeout))
    }

    /// Sets how long the server may take whatever progress it reports; otherwise the limits of the
    /// client say it, or [`timeout`](Self::timeout) if that is longer. Since 2026-07-28 the time
    /// that the user takes for a question of the server's does not count.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.change(|request| request.deadline = Some(deadline))
    }

    /// Sends something along in `_meta`.
    ///
    /// Keys are names with an optional prefix, such as `com.example/trace`; those of the protocol
    /// itself are refused when the call is awaited.
    pub fn meta(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(plan) = &mut self.plan
            && let Err(error) = plan.request.meta.set(key, &value)
        {
            self.plan = Err(Error::input(&self.subject, error));
        }
        self
    }

    /// Asks for log messages of this call, down to a level (since 2026-07-28; before, a session has
    /// one level). They go to [`on_log`](crate::ClientBuilder::on_log).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.change(|request| request.log_level = Some(level))
    }

    /// The revision that is spoken, if there is anybody to speak to.
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

    async fn run(self) -> Result<T> {
        let Self { subject, plan, progress } = self;
        let Plan { link, request, read, attempt, remedy } = plan?;
        let call = pin!(async move {
            let mut progress = progress;
            let again = remedy.map(|remedy| (remedy, request.clone()));
            let mut outcome = asked(&link, &subject, request, &mut progress).await;
            if let (Err(error), Some((remedy, request))) = (&outcome, again)
                && error.rpc().is_some_and(|error| error.code == code::HEADER_MISMATCH)
                && let Some(request) = remedy(*request).await
            {
                let request = Box::new(request);
                outcome = Box::pin(asked(&link, &subject, request, &mut progress)).await;
            }
            read(subject, &outcome?.result)
        });
        match attempt {
            Some((attempt, judge)) => Box::pin(attempt.make(call, judge)).await,
            None => call.await,
        }
    }
}

impl<'a, T: 'a> IntoFuture for Call<'a, T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("subject", &self.subject)
            .field("request", &self.plan.as_ref().map(|plan| &plan.request))
            .finish_non_exhaustive()
    }
}

/// A call of a method with its params, which are a struct of ours and so always an object.
pub(crate) fn request<R: Rpc>(params: &R::Params) -> CallRequest {
    CallRequest::new(R::METHOD, object(params))
}

fn object(params: &impl Serialize) -> Object {
    Object::new(RawJson::from_value(params).unwrap_or_default()).unwrap_or_default()
}

/// Reads a result as what its method gives.
///
/// # Errors
///
/// If it is not that; `subject` is what was called.
pub(crate) fn read<T: DeserializeOwned>(subject: &str, result: &RawJson) -> Result<T> {
    let invalid = |error: ReadError| CallError::Invalid(error.within("result").to_string());
    result.parse().map_err(|error| Error::call(subject, invalid(error)))
}

type Report<'a> = Box<dyn FnMut(ProgressParams) + Send + 'a>;

/// Makes a call and awaits its answer, reporting progress to whoever wants to hear of it.
async fn asked(
    link: &Link,
    subject: &str,
    request: Box<CallRequest>,
    progress: &mut Option<Report<'_>>,
) -> Result<CallAnswer> {
    match progress {
        None => ask(link, subject, request).await,
        Some(report) => Box::pin(ask_and_watch(link, subject, request, report)).await,
    }
}

/// Makes a call and awaits its answer.
pub(crate) async fn ask(
    link: &Link,
    subject: &str,
    request: impl Into<Box<CallRequest>>,
) -> Result<CallAnswer> {
    check_open(link, subject)?;
    let outcome = link.call(request, None).await;
    told(link, subject, outcome)
}

async fn ask_and_watch(
    link: &Link,
    subject: &str,
    mut request: Box<CallRequest>,
    mut report: impl FnMut(ProgressParams),
) -> Result<CallAnswer> {
    check_open(link, subject)?;
    request.progress = true;
    let (sender, mut notices) = broadcast::channel(NOTICES);
    let mut call = pin!(link.call(request, Some(Box::new(Reporter(sender)))));
    let outcome = loop {
        tokio::select! {
            biased;
            notice = notices.recv() => match notice {
                Ok(progress) => report(progress),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break call.await,
            },
            outcome = &mut call => {
                drain(&mut notices, &mut report);
                break outcome;
            }
        }
    };
    told(link, subject, outcome)
}

/// Reports what came between our last look and the answer.
fn drain(notices: &mut Receiver<ProgressParams>, report: &mut impl FnMut(ProgressParams)) {
    loop {
        match notices.try_recv() {
            Ok(progress) => report(progress),
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
}

pub(crate) fn check_open(link: &Link, subject: &str) -> Result<()> {
    if link.is_closed() { Err(Error::unsent(subject, link.failure())) } else { Ok(()) }
}

pub(crate) fn told(
    link: &Link,
    subject: &str,
    outcome: Result<CallAnswer, CallError>,
) -> Result<CallAnswer> {
    match outcome {
        Ok(answer) => Ok(answer),
        Err(CallError::Closed) => Err(Error::cut_off(subject, link.failure())),
        Err(error) => Err(Error::call(subject, error)),
    }
}

/// Takes notices of progress from the connection to the caller.
///
/// They are not reported from here, since this runs in the task that drives the connection, where a
/// function that blocks or panics would take every other call with it.
struct Reporter(Sender<ProgressParams>);

impl Listener for Reporter {
    fn progress(&mut self, progress: ProgressParams) {
        // Fails only if the call was dropped a moment ago.
        let _ = self.0.send(progress);
    }
}
