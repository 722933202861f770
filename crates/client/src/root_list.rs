//! The roots that a server may see: the directories and files in which it may work.
//!
//! A root passes three checks each time that the server asks: it is a `file://` URI without `..`, it
//! can be opened on this machine now, and the application permits it. This library cannot keep a
//! server from working outside of its roots.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard};

use bowline_proto::project::Project;
use bowline_proto::sync::lock;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::roots::{ListRootsResult, Root};
use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;

use crate::error::{Error, Result};
use crate::hook::Hook;

/// Checks that all roots are valid.
///
/// # Errors
///
/// Names the first invalid root.
pub(crate) fn check_all(roots: impl IntoIterator<Item = Root>) -> Result<Vec<Root>> {
    let check = |root: Root| match root.check_uri() {
        Ok(()) => Ok(root),
        Err(error) => Err(Error::roots(error)),
    };
    roots.into_iter().map(check).collect()
}

/// The roots that an application sets before it connects, and its hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots {
    pub(crate) list: Option<Vec<Root>>,
    pub(crate) permit: Option<Hook<Root, bool>>,
}

impl Roots {
    /// Declares roots and notifications of their changes.
    pub(crate) fn declare(&self, capabilities: ClientCapabilities) -> ClientCapabilities {
        if self.list.is_some() { capabilities.with_roots_list_changed() } else { capabilities }
    }
}

/// The roots of one connection.
#[derive(Debug)]
pub(crate) struct RootList {
    /// `None` if the client did not declare roots.
    list: Mutex<Option<Vec<Root>>>,
    permit: Option<Hook<Root, bool>>,
    given: Arc<GivenRoots>,
}

/// The roots that could be opened when the server last asked; `None` if it has not asked since the
/// last notification of a change.
#[derive(Debug, Default)]
struct GivenRoots(Mutex<Option<Vec<Root>>>);

impl GivenRoots {
    fn set(&self, roots: Option<Vec<Root>>) {
        *self.lock() = roots;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Root>>> {
        lock(&self.0)
    }
}

impl RootList {
    pub(crate) fn new(roots: Roots) -> Self {
        let given = Arc::default();
        Self { list: Mutex::new(roots.list), permit: roots.permit, given }
    }

    /// Whether the client declared roots.
    pub(crate) fn is_declared(&self) -> bool {
        self.lock().is_some()
    }

    /// Whether other roots can be opened now than when the server last asked. True at most once
    /// until the server asks again.
    pub(crate) fn have_changed(&self) -> impl Future<Output = bool> + Send + use<> {
        let (list, given) = (self.lock().clone(), Arc::clone(&self.given));
        async move {
            let (Some(list), Some(before)) = (list, given.lock().clone()) else { return false };
            let changed = accessible(list).await != before;
            if changed {
                given.set(None);
            }
            changed
        }
    }

    /// Replaces the list; returns whether it has changed.
    pub(crate) fn replace(&self, roots: Vec<Root>) -> Result<bool> {
        match &mut *self.lock() {
            None => {
                Err(Error::roots("the client declared no roots; call `roots` before connecting"))
            }
            Some(list) => {
                let changed = *list != roots;
                *list = roots;
                if changed {
                    self.given.set(None);
                }
                Ok(changed)
            }
        }
    }

    /// Answers a `roots/list` of the server.
    pub(crate) fn answer(
        &self,
        revision: Revision,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send + 'static {
        let (list, permit) = (self.lock().clone(), self.permit.clone());
        let given = Arc::clone(&self.given);
        async move {
            // Not reached: without the capability, the question is refused before it comes here.
            let Some(list) = list else {
                return Err(ErrorObject::method_not_found("this client has no roots"));
            };
            let accessible = accessible(list).await;
            given.set(Some(accessible.clone()));
            let mut result = ListRootsResult::new(permitted(accessible, permit).await);
            result.project(revision);
            RawJson::from_value(&result).map_err(|error| ErrorObject::internal(error.to_string()))
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Root>>> {
        lock(&self.list)
    }
}

/// The roots that can be opened now.
async fn accessible(list: Vec<Root>) -> Vec<Root> {
    // A file system may be slow, and must not block the task that drives the connection.
    let present = tokio::task::spawn_blocking(|| list.into_iter().filter(is_accessible).collect());
    present.await.unwrap_or_default()
}

/// The roots that the application permits.
async fn permitted(list: Vec<Root>, permit: Option<Hook<Root, bool>>) -> Vec<Root> {
    let Some(permit) = permit else { return list };
    let mut permitted = Vec::new();
    for root in list {
        if permit.call(root.clone()).await {
            permitted.push(root);
        }
    }
    permitted
}

/// Whether a root can be opened on this machine.
fn is_accessible(root: &Root) -> bool {
    let Some(path) = root.to_path() else { return false };
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => fs::read_dir(&path).is_ok(),
        Ok(found) if found.is_file() => fs::File::open(&path).is_ok(),
        _ => false,
    }
}
