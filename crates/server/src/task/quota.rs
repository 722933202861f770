//! How many tasks an owner may create: the store lists the tasks of each owner, and a task begins
//! only if there is room on the list.
//!
//! A list is one value that all servers change. So tasks of one owner that begin here while the list
//! is being written wait, and are then written together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use bowline_proto::sync::lock;
use bowline_store::Error;
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_types::error::ErrorObject;
use bowline_types::text::counted;
use tokio::sync::{Mutex as AsyncMutex, oneshot};

use super::records::RecordError;

/// Lists new tasks of all owners.
pub(super) struct Quota {
    /// The most tasks of one owner.
    most: usize,
    /// The tasks that are about to be listed, by owner.
    queues: Mutex<HashMap<String, Arc<OwnerQueue>>>,
}

#[derive(Default)]
struct OwnerQueue {
    waiting: Mutex<Vec<WaitingTask>>,
    /// Held while the list is written.
    turn: AsyncMutex<()>,
}

struct WaitingTask {
    id: String,
    expires: SystemTime,
    /// Takes whether the task is listed.
    answer: oneshot::Sender<Result<bool, Error>>,
}

impl Quota {
    /// Lets each owner have at most `most` tasks.
    pub(super) fn new(most: usize) -> Self {
        Self { most, queues: Mutex::default() }
    }

    /// Lists a task that is about to be created, and that expires at a time.
    ///
    /// # Errors
    ///
    /// If its owner has as many tasks as it may, or the store fails.
    pub(super) async fn take(
        &self,
        store: &TaskStore,
        name: &TaskName,
        now: SystemTime,
        expires: SystemTime,
    ) -> Result<(), RecordError> {
        let (answer, answered) = oneshot::channel();
        let queue = self.queue(name.owner());
        lock(&queue.waiting).push(WaitingTask { id: name.id().to_owned(), expires, answer });
        {
            let _turn = queue.turn.lock().await;
            let waiting = std::mem::take(&mut *lock(&queue.waiting));
            // Empty if the task was listed with the one before it.
            if !waiting.is_empty() {
                self.list(store, name.owner(), waiting, now).await;
            }
        }
        self.leave(name.owner(), queue);
        match answered.await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(self.too_many(store).into()),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(ErrorObject::internal("the task was not listed").into()),
        }
    }

    fn queue(&self, owner: &str) -> Arc<OwnerQueue> {
        lock(&self.queues).entry(owner.to_owned()).or_default().clone()
    }

    /// Removes a queue that no other task waits in.
    fn leave(&self, owner: &str, queue: Arc<OwnerQueue>) {
        let mut queues = lock(&self.queues);
        drop(queue);
        if queues.get(owner).is_some_and(|queue| Arc::strong_count(queue) == 1) {
            queues.remove(owner);
        }
    }

    /// Lists tasks of one owner, and tells each whether it is listed.
    async fn list(
        &self,
        store: &TaskStore,
        owner: &str,
        waiting: Vec<WaitingTask>,
        now: SystemTime,
    ) {
        let tasks: Vec<_> = waiting.iter().map(|task| (task.id.clone(), task.expires)).collect();
        let listed = store.list(owner, &tasks, self.most, now).await;
        for (place, task) in waiting.into_iter().enumerate() {
            // The task may have been dropped meanwhile.
            _ = task.answer.send(match &listed {
                Ok(listed) => Ok(place < *listed),
                Err(error) => Err(Error::new(error.to_string())),
            });
        }
    }

    fn too_many(&self, store: &TaskStore) -> ErrorObject {
        let most = counted(self.most.min(store.most_of_an_owner()), "task");
        let message = format!("no more than {most} are kept at a time; wait until one has expired");
        ErrorObject::invalid_request(message)
    }
}
