//! Builder methods for tasks.

use std::sync::Arc;

use bowline_store::Backend;

use super::Server;
use crate::task::TaskLimits;

impl Server {
    /// Sets the store for tasks ([`Tool::task`](crate::Tool::task)). By default they are kept in the
    /// memory of this process; over HTTP in the store of the endpoint, if it was given one.
    /// Processes with the same store serve the same tasks: each answers for all of them.
    #[must_use]
    pub fn store(self, store: impl Backend) -> Self {
        let store: Arc<dyn Backend> = Arc::new(store);
        self.edit(|inner| inner.store = Some(store))
    }

    /// Sets how many tasks the server keeps, and for how long.
    #[must_use]
    pub fn task_limits(self, limits: TaskLimits) -> Self {
        self.edit(|inner| inner.task_limits = limits)
    }
}
