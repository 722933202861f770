//! Where in the file system a server may work, as far as the application permits.
//!
//! A root passes three gates each time that it is listed: it is a `file://` URI that does not
//! climb, it can be opened on this machine now, and the application permits it. Servers are not
//! held to roots by this library, which cannot see what they do.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bowline_proto::wire::project::Project;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::roots::{ListRootsResult, Root};
use bowline_types::error::ErrorObject;
use bowline_types::json::{Json, Object};
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::hook::Hook;

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
}

impl RootList {
    pub(crate) fn new(roots: Roots) -> Self {
        Self { list: Mutex::new(roots.list), permit: roots.permit }
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
                Ok(changed)
            }
        }
    }

    /// What the server gets when it asks now.
    pub(crate) fn answer(
        &self,
        revision: Revision,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send + 'static {
        let (list, permit) = (self.lock().clone(), self.permit.clone());
        async move {
            // Only those who declared it are asked.
            let Some(list) = list else {
                return Err(ErrorObject::method_not_found("this client has no roots"));
            };
            let mut result = ListRootsResult::new(exposed(list, permit).await);
            result.project(revision);
            Json::from_value(&result).map_err(|error| ErrorObject::internal(error.to_string()))
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Root>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The roots that exist now and are permitted.
async fn exposed(list: Vec<Root>, permit: Option<Hook<Root, bool>>) -> Vec<Root> {
    // A file system may take its time, which the connection does not have.
    let present = tokio::task::spawn_blocking(|| list.into_iter().filter(is_accessible).collect());
    let present: Vec<Root> = present.await.unwrap_or_default();
    let Some(permit) = permit else { return present };
    let mut permitted = Vec::new();
    for root in present {
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
