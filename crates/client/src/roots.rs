//! Where in the file system a server may work, as far as the application permits.
//!
//! A root passes three gates each time that it is listed: it is a `file://` URI that does not
//! climb, it can be opened on this machine now, and the application permits it. The server of a
//! session is told when a root that it was given cannot be opened any more, and when one can be
//! opened again. Servers are not held to roots by this library, which cannot see what they do.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bowline_proto::wire::project::Project;
use bowline_transport::connect::WeakLink;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::roots::{ListRootsResult, Root};
use bowline_types::error::ErrorObject;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::hook::Hook;
use crate::host::Application;

/// How often a client looks again whether the roots that it gave out can be opened.
const WATCH: Duration = Duration::from_secs(10);

impl Client {
    /// Replaces the roots that the server may see, and tells it so where its revision has words
    /// for that (up to 2025-11-25); later servers ask anew with every call.
    ///
    /// # Errors
    ///
    /// If a root is no `file://` URI or climbs by `..`, or if the server was not told of roots when
    /// the client connected; see [`ClientBuilder::roots`](crate::ClientBuilder::roots).
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<()> {
        let changed = self.application.roots().replace(checked(roots)?)?;
        if changed && Method::RootsListChanged.is_from_client(self.revision()) {
            self.link.notify(Method::RootsListChanged, Object::default());
        }
        Ok(())
    }

    /// Watches the roots for as long as the connection lasts, if its revision has words for changes.
    pub(crate) fn watch_roots(&self) {
        let tells = Method::RootsListChanged.is_from_client(self.revision());
        if tells && self.application.roots().is_declared() {
            tokio::spawn(watch(Arc::downgrade(&self.application), self.link.downgrade()));
        }
    }
}

/// Tells the server each time that what it was given is not what it would be given now.
async fn watch(application: Weak<Application>, link: WeakLink) {
    loop {
        tokio::time::sleep(WATCH).await;
        let Some(have_changed) = application.upgrade().map(|it| it.roots().have_changed()) else {
            return;
        };
        let have_changed = have_changed.await;
        let Some(link) = link.upgrade().filter(|link| !link.is_closed()) else { return };
        if have_changed {
            link.notify(Method::RootsListChanged, Object::default());
        }
    }
}

/// Roots that may be roots.
///
/// # Errors
///
/// Names the first that may not.
pub(crate) fn checked(roots: impl IntoIterator<Item = Root>) -> Result<Vec<Root>> {
    let check = |root: Root| match root.check_uri() {
        Ok(()) => Ok(root),
        Err(error) => Err(Error::roots(error)),
    };
    roots.into_iter().map(check).collect()
}

/// What an application says of its roots before it connects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots {
    pub(crate) list: Option<Vec<Root>>,
    pub(crate) permit: Option<Hook<Root, bool>>,
}

impl Roots {
    /// Declares that there are roots, and that their changes are told.
    pub(crate) fn declare(&self, capabilities: ClientCapabilities) -> ClientCapabilities {
        if self.list.is_some() { capabilities.with_roots_list_changed() } else { capabilities }
    }
}

/// The roots of one connection.
#[derive(Debug)]
pub(crate) struct RootList {
    /// `None` if the server was not told that there are any.
    list: Mutex<Option<Vec<Root>>>,
    permit: Option<Hook<Root, bool>>,
    given: Arc<Given>,
}

/// The roots that could be opened when the server last asked; `None` if it has not asked since it
/// was told of a change.
#[derive(Debug, Default)]
struct Given(Mutex<Option<Vec<Root>>>);

impl Given {
    fn set(&self, roots: Option<Vec<Root>>) {
        *self.lock() = roots;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Root>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RootList {
    pub(crate) fn new(roots: Roots) -> Self {
        let given = Arc::default();
        Self { list: Mutex::new(roots.list), permit: roots.permit, given }
    }

    fn is_declared(&self) -> bool {
        self.lock().is_some()
    }

    /// Whether other roots can be opened now than when the server last asked. True once for each
    /// time that it asks.
    fn have_changed(&self) -> impl Future<Output = bool> + Send + use<> {
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

    /// Replaces the list; gives whether it was another one.
    fn replace(&self, roots: Vec<Root>) -> Result<bool> {
        match &mut *self.lock() {
            None => Err(Error::roots(
                "the server was told that there are none; say `roots` before connecting",
            )),
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

    /// What the server gets when it asks now.
    pub(crate) fn answer(
        &self,
        revision: Revision,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send + 'static {
        let (list, permit) = (self.lock().clone(), self.permit.clone());
        let given = Arc::clone(&self.given);
        async move {
            // Only those who declared it are asked.
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
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The roots that can be opened now.
async fn accessible(list: Vec<Root>) -> Vec<Root> {
    // A file system may take its time, which the connection does not have.
    let present = tokio::task::spawn_blocking(|| list.into_iter().filter(is_accessible).collect());
    present.await.unwrap_or_default()
}

/// The roots that the application lets the server see.
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
