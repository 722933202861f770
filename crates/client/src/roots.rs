//! Sets the roots of a connection, and notifies the server of changes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bowline_transport::connect::WeakLink;
use bowline_types::deprecated::roots::Root;
use bowline_types::json::Object;
use bowline_types::method::Method;

use crate::client::Client;
use crate::error::Result;
use crate::host::Application;
use crate::root_list;

/// How often a client checks whether the roots that it sent can be opened.
const WATCH: Duration = Duration::from_secs(10);

impl Client {
    /// Replaces the roots that the server may see. Up to 2025-11-25 this notifies the server; later
    /// servers ask with every call.
    ///
    /// # Errors
    ///
    /// If a root is not a `file://` URI or contains `..`, or if the client did not declare roots
    /// when it connected; see [`ClientBuilder::roots`](crate::ClientBuilder::roots).
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<()> {
        let changed = self.application.roots().replace(root_list::check_all(roots)?)?;
        if changed && Method::RootsListChanged.is_from_client(self.revision()) {
            self.link.notify(Method::RootsListChanged, Object::default());
        }
        Ok(())
    }

    /// Watches the roots as long as the connection lasts, if its revision has a notification for
    /// changes.
    pub(crate) fn watch_roots(&self) {
        let tells = Method::RootsListChanged.is_from_client(self.revision());
        if tells && self.application.roots().is_declared() {
            tokio::spawn(watch(Arc::downgrade(&self.application), self.link.downgrade()));
        }
    }
}

/// Notifies the server each time that its roots are not those that it would get now.
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
