//! Follows the tasks that a `subscriptions/listen` names (2026-07-28).
//!
//! Changes are read from the store, so it does not matter which server runs a task. A task of
//! another owner is not found there, like one that does not exist.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Parts, ReportedChange};
use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::Task;

use super::records::{self, RecordError};
use super::server_tasks::ServerTasks;

/// Follows those of the named tasks that the caller has. Ids beyond
/// [`Limits::subscribed_resources`](bowline_proto::limits::Limits::subscribed_resources) are left
/// out, and the acknowledgement does not list them.
pub(crate) fn follow(
    mut ids: Vec<String>,
    parts: &Parts,
    tasks: &Arc<ServerTasks>,
) -> impl Future<Output = Result<FollowedTasks, ErrorObject>> + Send + use<> {
    let mut named = HashSet::new();
    ids.retain(|id| records::is_id(id) && named.insert(id.clone()));
    ids.truncate(tasks.shared.limits.subscribed_resources);
    let names: Vec<_> = ids.into_iter().map(|id| records::name(parts, id)).collect();
    let store = tasks.store();
    async move {
        let mut tasks = Vec::new();
        for name in names {
            let now = records::now();
            if store.record(&name, now).await.map_err(RecordError::from)?.is_some() {
                let watch = store.watch(&name).await.map_err(RecordError::from)?;
                tasks.push(FollowedTask { name, watch, is_due: true, known: None });
            }
        }
        Ok(FollowedTasks { store, tasks, next: 0 })
    }
}

/// The tasks that one subscription names. Those that have ended or expired are left out, since they never
/// change again.
pub(crate) struct FollowedTasks {
    store: TaskStore,
    tasks: Vec<FollowedTask>,
    /// Where to look for the next due task, so that no task keeps others from being reported.
    next: usize,
}

struct FollowedTask {
    name: TaskName,
    watch: TaskWatch,
    /// Whether the client does not know the current state yet. At first it is due, because the task
    /// may have changed before it was followed.
    is_due: bool,
    /// The state that the client knows.
    known: Option<Task>,
}

impl FollowedTasks {
    /// Their ids.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.tasks.iter().map(|task| task.name.id().to_owned()).collect()
    }

    /// Ready when [`take`](Self::take) may have a change.
    pub(crate) fn poll_changed(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorObject>> {
        for task in &mut self.tasks {
            while let Poll::Ready(changed) = task.watch.poll_changed(cx) {
                changed.map_err(RecordError::from)?;
                task.is_due = true;
            }
        }
        match self.tasks.iter().any(|task| task.is_due) {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    /// A change that the client does not know yet, if there is one.
    pub(crate) async fn take(&mut self) -> Result<Option<ReportedChange>, ErrorObject> {
        while let Some(place) = self.due() {
            if let Some(task) = self.read(place).await? {
                let (id, task) = (task.task_id.clone(), records::json(&task)?);
                return Ok(Some(ReportedChange::Task { id, task }));
            }
        }
        Ok(None)
    }

    /// The place of a task that is due.
    fn due(&self) -> Option<usize> {
        let count = self.tasks.len();
        let places = (0..count).map(|step| (self.next + step) % count);
        places.into_iter().find(|place| self.tasks.get(*place).is_some_and(|task| task.is_due))
    }

    /// The task, if the client does not know its state yet.
    async fn read(&mut self, place: usize) -> Result<Option<Task>, ErrorObject> {
        let Some(followed) = self.tasks.get_mut(place) else { return Ok(None) };
        followed.is_due = false;
        let record = match records::read(&self.store, &followed.name).await {
            Ok(record) => record,
            Err(RecordError::Unknown) => {
                self.tasks.remove(place);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let task = record.as_task(followed.name.id());
        let is_known = followed.known.as_ref().is_some_and(|known| is_same(known, &task));
        if record.has_ended() {
            self.tasks.remove(place);
        } else {
            followed.known = Some(task.clone());
            self.next = place + 1;
        }
        Ok((!is_known).then_some(task))
    }
}

/// Whether two states differ in nothing but their time.
fn is_same(known: &Task, now: &Task) -> bool {
    let mut known = known.clone();
    known.last_updated_at.clone_from(&now.last_updated_at);
    known == *now
}
