//! Tasks whose server stopped while they ran: such a task ends as failed, or runs again here.
//!
//! The server that finds the task changes its record only if it still names the server that
//! stopped. So of several that find it, one acts. If a server only seemed to have stopped, its run
//! finds another server's name in the record, and ends.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{ExchangeId, Outbox, Response};
use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use bowline_transport::task::spawn;
use bowline_types::error::ErrorObject;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::inside::inside;
use super::lease::Entrance;
use super::record::TaskRecord;
use super::recorded_call::RecordedCall;
use super::records::{self, RecordError};
use super::run::TaskRun;
use super::server_tasks::ServerTasks;
use crate::layer::{CallHead, ResultSizeLimit};

/// The record of a task. If the task was abandoned, it is ended or run again first.
///
/// # Errors
///
/// If there is none, or the store fails.
pub(super) async fn read(
    tasks: &Arc<ServerTasks>,
    store: &TaskStore,
    name: &TaskName,
) -> Result<TaskRecord, RecordError> {
    let record = records::read(store, name).await?;
    if record.has_ended() || !tasks.has_abandoned(store, record.replica(), name).await? {
        return Ok(record);
    }
    take_over(tasks, store, name, &record).await?;
    records::read(store, name).await
}

/// Ends an abandoned task, or runs it again if its call may run twice. Returns `false` if the task
/// is still abandoned, because this server stops or runs as many tasks as it may.
///
/// # Errors
///
/// If the record is gone, or the store fails.
pub(super) async fn take_over(
    tasks: &Arc<ServerTasks>,
    store: &TaskStore,
    name: &TaskName,
    abandoned: &TaskRecord,
) -> Result<bool, RecordError> {
    if abandoned.may_run_again() {
        match claim(tasks, store, name, abandoned).await {
            // This server keeps less of a task than the one that stopped. So the task ends.
            Err(RecordError::TooLong(_)) => {}
            claimed => return claimed,
        }
    }
    let stopped = Err(ErrorObject::internal("the server's process stopped while the task ran"));
    records::change(store, name, |record| {
        if record.is_run_by(abandoned.replica()) {
            record.end(&stopped);
        }
    })
    .await?;
    Ok(true)
}

/// Gives the task to this server, and runs its call. Returns `false` if it has to wait.
async fn claim(
    tasks: &Arc<ServerTasks>,
    store: &TaskStore,
    name: &TaskName,
    abandoned: &TaskRecord,
) -> Result<bool, RecordError> {
    if tasks.lease.is_stopping() {
        return Ok(false);
    }
    let claim = Claim {
        tasks: tasks.clone(),
        store: store.clone(),
        name: name.clone(),
        replica: abandoned.replica().to_owned(),
        left: abandoned.left(records::now()),
    };
    let (answer, answered) = oneshot::channel();
    // Not in this future: if it is dropped halfway, because its request is, the record would name this
    // server, and the call would not run.
    spawn(claim.run(answer));
    answered.await.unwrap_or_else(|_| Err(ErrorObject::internal("the task did not run").into()))
}

/// An abandoned task that this server is about to take.
struct Claim {
    tasks: Arc<ServerTasks>,
    store: TaskStore,
    name: TaskName,
    /// The server that stopped.
    replica: String,
    /// How long the task is kept from now on.
    left: Duration,
}

/// A call that runs again.
struct SecondRun {
    call: RecordedCall,
    run: TaskRun,
    watch: TaskWatch,
    expires: Instant,
}

impl Claim {
    /// Takes the task, tells whether it did, and drives its call.
    async fn run(self, answer: oneshot::Sender<Result<bool, RecordError>>) {
        let taken = self.take().await;
        let (again, outcome) = match taken {
            Ok(ClaimOutcome::Runs(again)) => (Some(again), Ok(true)),
            Ok(ClaimOutcome::ByAnother) => (None, Ok(true)),
            Ok(ClaimOutcome::Waits) => (None, Ok(false)),
            Err(error) => (None, Err(error)),
        };
        // The request that asked may be gone.
        _ = answer.send(outcome);
        if let Some(again) = again {
            let SecondRun { call, run, watch, expires } = *again;
            let call = serve_again(call, &run, &self.tasks);
            run.drive(Box::pin(call), watch, expires).await;
        }
    }

    async fn take(&self) -> Result<ClaimOutcome, RecordError> {
        let Self { tasks, store, name, replica, left } = self;
        let running = match tasks.lease.enter(store, name.id()).await? {
            Entrance::Entered(running) => running,
            // Another request is about to do the same, or no more tasks may run here.
            Entrance::RunsAlready | Entrance::Full => return Ok(ClaimOutcome::Waits),
        };
        let (watch, ()) = tokio::try_join!(store.watch(name), running.list(store, name, *left))?;
        let claimed = records::change(store, name, |record| {
            let is_abandoned = record.is_run_by(replica);
            is_abandoned.then(|| record.claim(running.replica())).flatten()
        });
        let Some(call) = claimed.await? else { return Ok(ClaimOutcome::ByAnother) };
        let expires = Instant::now() + *left;
        let run = TaskRun::new(tasks, name.clone(), running, None);
        Ok(ClaimOutcome::Runs(Box::new(SecondRun { call, run, watch, expires })))
    }
}

/// What became of a [`Claim`].
enum ClaimOutcome {
    Runs(Box<SecondRun>),
    /// Another server has taken or ended the task.
    ByAnother,
    /// The task is still abandoned.
    Waits,
}

/// Serves the call again, below the layers of the server: those wrapped the creation of the task.
fn serve_again(
    call: RecordedCall,
    run: &TaskRun,
    tasks: &Arc<ServerTasks>,
) -> impl Future<Output = Response> + Send + use<> {
    // Exchanges count calls of a connection; this call has none.
    let exchange = ExchangeId(0);
    let owner = records::owner_of(run.name.owner());
    let request = owner.map(|owner| {
        let outbox = Outbox::new(exchange, run.sink.clone());
        inside(call.request(owner, outbox, exchange), run.sink.clone())
    });
    let size = ResultSizeLimit::new(tasks.shared.limits.result);
    let head = request.as_ref().map(CallHead::of);
    let served = request.and_then(|request| (tasks.recorded_call_runner.get()?)(request));
    async move {
        let (Some(head), Some(served)) = (head, served) else {
            return Err(ErrorObject::internal("the task cannot run again"));
        };
        size.limit_response(head, served.await)
    }
}
