//! One login or renewal at a time for each MCP server, client and account in this process.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex};

use bowline_proto::sync::lock;
use tokio::sync::watch;

use crate::error::Error;

/// The store, by its address, the key of the pointer, and what is done.
pub(super) type FlightKey = (usize, String, FlightKind);

/// What is done. A renewal does not wait for a user who logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FlightKind {
    Login,
    Renewal,
}

/// The part of a caller in the work that it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It started the work.
    Leader,
    /// The work was under way.
    Joiner,
}

type Outcome = Option<Result<(), Arc<Error>>>;

/// What is under way.
static FLIGHTS: LazyLock<Mutex<HashMap<FlightKey, watch::Receiver<Outcome>>>> =
    LazyLock::new(Mutex::default);

/// Runs the work in a task of its own and waits for its end. If work for this key is under way,
/// waits for that instead.
pub(super) async fn run_once<F>(key: FlightKey, work: impl FnOnce() -> F) -> Result<Role, Error>
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let (mut outcome, role) = start_or_join(key, work);
    let interrupted = || Error::visit("the login was interrupted");
    let ended = outcome.wait_for(Option::is_some).await.map_err(|_| interrupted())?;
    match &*ended {
        Some(Ok(())) => Ok(role),
        Some(Err(error)) => Err(error.copy()),
        None => Err(interrupted()),
    }
}

fn start_or_join<F>(key: FlightKey, work: impl FnOnce() -> F) -> (watch::Receiver<Outcome>, Role)
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let mut flights = lock(&FLIGHTS);
    if let Some(outcome) = flights.get(&key) {
        return (outcome.clone(), Role::Joiner);
    }
    let (sender, receiver) = watch::channel(None);
    flights.insert(key.clone(), receiver.clone());
    // Created outside of the task, so that it is removed even if the task never runs.
    let entry = Entry(key);
    let work = work();
    tokio::spawn(async move {
        let outcome = work.await.map_err(Arc::new);
        // New callers must not find work that has ended.
        drop(entry);
        sender.send_replace(Some(outcome));
    });
    (receiver, Role::Leader)
}

/// Removes the entry when the task ends, also if its runtime shuts down.
struct Entry(FlightKey);

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&FLIGHTS).remove(&self.0);
    }
}
