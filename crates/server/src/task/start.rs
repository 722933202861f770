//! Decides whether a call becomes a task, and creates it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bowline_proto::request::{Request, Response};
use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use bowline_transport::task::spawn_on;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::task::TaskMetadata;
use bowline_types::text::counted;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::host::{TaskHost, WithoutTasks};
use super::inside::inside;
use super::lease::{Entrance, RunningTask};
use super::origin::Origin;
use super::record::TaskRecord;
use super::recorded_call::RecordedCall;
use super::records::RecordError;
use super::run::TaskRun;
use super::server_tasks::ServerTasks;
use super::{ask_first, legacy, modern, records, sweep};
use crate::call::InTask;
use crate::feature::{TaskNeed, ToolEntry};
use crate::layer::{CallHead, ResultSizeLimit};
use crate::run::{Callee, HandlerRun, Invocation};

/// Calls a tool: as a task if it may be one and its caller can have one, and otherwise like any tool.
pub(crate) fn call_tool(
    tool: &Arc<ToolEntry>,
    request: Request,
    tasks: &Arc<ServerTasks>,
) -> Invocation<ToolEntry> {
    let Some(need) = tool.task_need() else { return tool.invoke(request, &tasks.shared) };
    match choose(tool, need, &request) {
        Ok(CallMode::Plain) => tool.invoke(request, &tasks.shared),
        Ok(CallMode::Task { ttl }) => {
            let (callee, tasks) = (tool.clone(), tasks.clone());
            let future = Box::pin(create(callee.clone(), request, tasks, ttl));
            Invocation::Layered { callee, future }
        }
        Err(refusal) => Invocation::Direct(HandlerRun::refused(refusal)),
    }
}

/// How a call runs.
enum CallMode {
    Plain,
    /// With the time to keep the task, if the client asked for one.
    Task {
        ttl: Option<Duration>,
    },
}

/// Chooses how a call runs.
///
/// # Errors
///
/// If the caller lacks a scope, or the tool needs a task and the caller cannot have one.
fn choose(tool: &ToolEntry, need: TaskNeed, request: &Request) -> Result<CallMode, ErrorObject> {
    let parts = &request.parts;
    if let Some(scopes) = tool.scopes() {
        scopes.check(parts, || tool.label())?;
    }
    if parts.extensions.get::<InTask>().is_some() {
        // It runs again, as the task that it is already.
        return Ok(CallMode::Plain);
    }
    let is_mounted = parts.extensions.get::<WithoutTasks>().is_some();
    if parts.revision.has_core_tasks() && !is_mounted {
        let wanted = request.params.parse::<TaskMetadata>("task");
        if let Some(wanted) = wanted.map_err(ErrorObject::misread_params)? {
            return Ok(CallMode::Task { ttl: wanted.ttl.map(Duration::from_millis) });
        }
    } else if modern::declares_tasks(parts) && !is_mounted {
        return Ok(CallMode::Task { ttl: None });
    }
    match need {
        TaskNeed::Optional => Ok(CallMode::Plain),
        TaskNeed::Required if parts.revision.has_missing_capability_code() => {
            Err(modern::missing_extension(&format!("the {} runs only as a task", tool.label())))
        }
        TaskNeed::Required => Err(ErrorObject::method_not_found(format!(
            "the {} runs only as a task; call it with `task`",
            tool.label()
        ))),
    }
}

/// Creates a task, and answers with it.
async fn create(
    tool: Arc<ToolEntry>,
    mut request: Request,
    tasks: Arc<ServerTasks>,
    ttl: Option<Duration>,
) -> Response {
    let revision = request.parts.revision;
    if let Err(refused) = tool.admit(&request)
        && (refused.is_err() || !revision.has_core_tasks())
    {
        // Nothing runs, so there is nothing to wait for. A client of 2025-11-25 gets a result only
        // from its task (TASK-13).
        return refused;
    }
    if revision.has_input_requests() {
        match ask_first::ask(&tool, &request, &tasks.shared).await {
            Ok(is_asked) if is_asked => {}
            Ok(_) => request.parts.input = None,
            Err(answer) => return answer,
        }
    }
    let (answer, answered) = oneshot::channel();
    // Not in this future: if the client goes away meanwhile, it is dropped between two steps.
    let runtime = Handle::try_current()
        .map_err(|_| ErrorObject::internal("tasks need a runtime to run on"))?;
    spawn_on(&runtime, begin(tool, request, tasks, ttl, answer));
    answered.await.unwrap_or_else(|_| Err(ErrorObject::internal("the task was not created")))
}

/// Stores the task, answers with it, and runs it.
async fn begin(
    tool: Arc<ToolEntry>,
    request: Request,
    tasks: Arc<ServerTasks>,
    ttl: Option<Duration>,
    answer: oneshot::Sender<Response>,
) {
    let host = TaskHost::of(&request, &tasks);
    sweep::begin(&host.tasks);
    let limits = &host.tasks.limits;
    let ttl = ttl.unwrap_or(limits.ttl).min(limits.longest_ttl).max(Duration::from_millis(1));
    let expires = Instant::now() + ttl;
    let call = tool.is_idempotent().then(|| RecordedCall::of(&request.parts, &host.params));
    let (run, watch, record) = match prepare(&request, &host.tasks, ttl, call).await {
        Ok(prepared) => prepared,
        Err(error) => {
            _ = answer.send(Err(error.into()));
            return;
        }
    };
    let id = run.name.id();
    let created = match request.parts.revision.has_core_tasks() {
        true => legacy::created(&record, id),
        false => modern::created(&record, id),
    };
    if answer.send(created).is_err() {
        // The client went away before it got the id, so it cannot ask for the task.
        _ = run.store.delete(&run.name).await;
        _ = run.store.unlist(&run.name, records::now()).await;
        return;
    }
    let head = CallHead::of(&request);
    let size = ResultSizeLimit::new(tasks.shared.limits.result);
    let call = tool.invoke(inside(request, run.sink.clone()), &tasks.shared);
    let call = Box::pin(async move { size.limit_response(head, call.await) });
    let _entered = host.tasks.sinks.enter(run.name.id(), &run.sink);
    run.drive(call, watch, expires).await;
}

/// Stores a new task. It is watched before the client can change it, so no change is missed.
async fn prepare(
    request: &Request,
    tasks: &ServerTasks,
    ttl: Duration,
    call: Option<RecordedCall>,
) -> Result<(TaskRun, TaskWatch, TaskRecord), RecordError> {
    let (store, limits) = (tasks.store(), &tasks.limits);
    let name = records::name(&request.parts, records::new_id()?);
    let running = enter(tasks, &store, &name).await?;
    let now = records::now();
    let expires = now.checked_add(ttl).unwrap_or(now);
    // The task is listed before there is a record: a server that stops between the two leaves no
    // task that its owner and other servers do not find.
    // All three end, also if one fails: other tasks wait for what `take` writes.
    let (room, listed, watch) = tokio::join!(
        tasks.quota.take(&store, &name, now, expires),
        running.list(&store, &name, ttl),
        store.watch(&name),
    );
    room?;
    let record = TaskRecord::new(now, (ttl, limits.poll_interval), running.replica(), call);
    let stored = async {
        listed?;
        Ok((watch?, store_record(&store, &name, record, (ttl, now)).await?))
    };
    match stored.await {
        Ok((watch, record)) => {
            let origin = Origin::of(&request.parts, name.id());
            Ok((TaskRun::new(tasks, name, running, origin), watch, record))
        }
        Err(error) => {
            // Without a record it must not count as one of its owner's tasks. If this fails, it counts
            // until it would have expired.
            _ = store.unlist(&name, now).await;
            Err(error)
        }
    }
}

/// Enters a new task among those that run here.
async fn enter(
    tasks: &ServerTasks,
    store: &TaskStore,
    name: &TaskName,
) -> Result<RunningTask, RecordError> {
    match tasks.lease.enter(store, name.id()).await? {
        Entrance::Entered(running) => Ok(running),
        Entrance::RunsAlready => Err(taken().into()),
        Entrance::Full => {
            let most = counted(tasks.limits.running, "task");
            let message = format!("the server runs no more than {most} at a time; try again later");
            Err(ErrorObject::unavailable(message).into())
        }
    }
}

/// Stores the record of a task that begins, without its call if it is too long with it.
async fn store_record(
    store: &TaskStore,
    name: &TaskName,
    mut record: TaskRecord,
    (ttl, now): (Duration, SystemTime),
) -> Result<TaskRecord, RecordError> {
    let mut text = record.write();
    if text.len() > store.longest_record() / 2 {
        record.forget_call();
        text = record.write();
    }
    match store.create(name, text, ttl, now).await? {
        true => Ok(record),
        false => Err(taken().into()),
    }
}

fn taken() -> ErrorObject {
    ErrorObject::internal("the id of the task is taken")
}
