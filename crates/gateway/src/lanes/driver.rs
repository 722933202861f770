//! Drives the table of lanes: opens and closes connections, wakes callers, and reports what happens.
//!
//! A start is a task of its own: a caller that goes away does not cancel it for others that wait.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bowline_client::Client;
use bowline_proto::callers::CallerId;
use bowline_proto::sync::lock;
use bowline_types::capability::ClientCapabilities;
use futures_core::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::connection::{Connection, Linked};
use super::guards::{
    ClosingConnection, LaneClaim, LaneUse, Lease, OpenQuestion, OpeningConnection,
};
use super::key::LaneCaller;
use super::recall::Recall;
use super::table::{
    Action, Event, Given, LaneId, LanePurpose, LaneTable, Link, NoLane, Start, UseId, Wanted,
};
use crate::asking::Asking;
use crate::dial::{Dial, DialError};
use crate::limits::{GatewayLimits, jitter};
use crate::server_description::ServerDescription;
use crate::unavailable::Unavailable;

/// The lanes of one server.
#[derive(Debug)]
pub(super) struct LaneDriver {
    dial: Arc<dyn Dial>,
    limits: GatewayLimits,
    /// Whether there is one caller only, which also gets the questions that belong to no call.
    serves_one: bool,
    asking: Asking,
    state: Mutex<State>,
    /// Changes when a lane starts, stops or is shared anew.
    changes: watch::Sender<u64>,
    /// Notified when the timer has to tick earlier.
    earlier: Notify,
    /// Where tasks run, also those that a drop outside of it begins.
    runtime: OnceLock<Handle>,
}

#[derive(Debug)]
struct State {
    table: LaneTable<Connection>,
    taking: HashMap<UseId, oneshot::Sender<Result<Given, NoLane>>>,
    connecting: HashMap<UseId, oneshot::Sender<Linked>>,
    starts: HashMap<LaneId, AbortHandle>,
    /// What ends the calls that ask.
    recalls: HashMap<UseId, Recall>,
    /// When the timer ticks, if it runs.
    timer: Option<Instant>,
    /// What is to be done outside of the lock, in this order.
    actions: VecDeque<Action<Connection>>,
    is_performing: bool,
}

impl LaneDriver {
    pub(super) fn new(dial: Arc<dyn Dial>, limits: GatewayLimits) -> Self {
        let state = State {
            table: LaneTable::new(limits.clone(), dial.is_process()),
            taking: HashMap::new(),
            connecting: HashMap::new(),
            starts: HashMap::new(),
            recalls: HashMap::new(),
            timer: None,
            actions: VecDeque::new(),
            is_performing: false,
        };
        Self {
            dial,
            limits,
            serves_one: false,
            asking: Asking::default(),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            earlier: Notify::new(),
            runtime: OnceLock::new(),
        }
    }

    /// Lets lanes declare exactly what their callers can do, of which there may be only one.
    pub(super) fn set_exact(&mut self, is_exact: bool, serves_one: bool) {
        self.serves_one = serves_one;
        self.table_mut().set_exact(is_exact);
    }

    /// Notes what is known about the questions of the server.
    pub(super) fn set_asking(&mut self, asking: Asking) {
        if asking.is_known() {
            self.table_mut().note_asks();
        }
        self.asking = asking;
    }

    /// Notes what another connection to the server told.
    pub(super) fn note_met(&mut self, met: &ServerDescription) {
        self.table_mut().note_revision(met.revision.has_input_requests());
    }

    fn table_mut(&mut self) -> &mut LaneTable<Connection> {
        &mut self.state.get_mut().unwrap_or_else(PoisonError::into_inner).table
    }

    /// A lane, as soon as there is one.
    ///
    /// # Errors
    ///
    /// If there is none in time, or the limits allow none.
    pub(super) async fn take(self: &Arc<Self>, wanted: Wanted) -> Result<LaneUse, NoLane> {
        let (claim, given) = self.ask_for(wanted);
        // Fails only if the driver is gone, which the claim holds.
        given.await.unwrap_or(Err(NoLane::Closed)).map(|given| LaneUse::new(claim, given))
    }

    /// A lane for what is no call, if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(super) fn take_now(
        self: &Arc<Self>,
        caller: LaneCaller,
        purpose: LanePurpose,
    ) -> Result<LaneUse, NoLane> {
        let wanted = Wanted { caller, purpose, connection: None, until: None };
        let (claim, mut given) = self.ask_for(wanted);
        // A caller that does not wait has its answer.
        given.try_recv().unwrap_or(Err(NoLane::Held)).map(|given| LaneUse::new(claim, given))
    }

    fn ask_for(
        self: &Arc<Self>,
        wanted: Wanted,
    ) -> (LaneClaim, oneshot::Receiver<Result<Given, NoLane>>) {
        let (sender, given) = oneshot::channel();
        let id = self.with(|state| {
            let id = UseId(state.table.number());
            state.taking.insert(id, sender);
            self.step(state, Event::Take(id, wanted));
            id
        });
        (LaneClaim { driver: self.clone(), id }, given)
    }

    /// The connection of a lane for a caller that listens there, as soon as there is one.
    ///
    /// # Errors
    ///
    /// If it is opened for the caller, and that fails.
    pub(super) async fn attach(
        self: &Arc<Self>,
        lane: LaneId,
        start: Start,
    ) -> Result<Lease, Unavailable> {
        let id = UseId(lock(&self.state).table.number());
        let claim = LaneClaim { driver: self.clone(), id };
        let link = self.link(id, lane, start).await?;
        Ok(Lease::new(link, Some(claim)))
    }

    /// The connection of a lane, for the caller with this claim.
    ///
    /// # Errors
    ///
    /// If it is opened for the caller, and that fails.
    pub(super) async fn link(
        self: &Arc<Self>,
        claim: UseId,
        lane: LaneId,
        start: Start,
    ) -> Result<Link<Connection>, Unavailable> {
        let (sender, linked) = oneshot::channel();
        self.with(|state| {
            state.connecting.insert(claim, sender);
            self.step(state, Event::Connect(claim, lane, start));
        });
        match linked.await {
            Ok(link) => link.map_err(Unavailable::from),
            // Only if the caller has left, and then nothing awaits this.
            Err(_) => Err(Unavailable::stopped()),
        }
    }

    /// The connection of a lane, if there is one now. This does not keep the server from being stopped.
    pub(super) fn running(self: &Arc<Self>, lane: LaneId) -> Option<Lease> {
        let link = self.look(|table| table.link(lane).cloned());
        link.map(|link| Lease::new(link, None))
    }

    /// Why the server does not run, if its last start failed.
    pub(super) fn problem(self: &Arc<Self>) -> Option<Unavailable> {
        self.look(|table| table.problem().cloned()).map(Unavailable::from)
    }

    /// Tells when a lane starts, stops or is shared anew.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notes that a call asks its caller, until the answer of this is dropped.
    pub(super) fn ask(
        self: &Arc<Self>,
        call: UseId,
        (peer, recall): (Option<CallerId>, Recall),
    ) -> OpenQuestion {
        let number = self.with(|state| {
            let number = state.table.number();
            state.recalls.insert(call, recall);
            self.step(state, Event::Asked(number, call, peer));
            number
        });
        OpenQuestion::new(self.clone(), number)
    }

    /// Closes all lanes, and waits until their connections have ended. A server that is being started
    /// is gone then, too.
    pub(super) async fn close(self: &Arc<Self>) {
        let mut changes = self.changes();
        self.on(Event::Close);
        while !self.look(LaneTable::is_over) {
            // Fails only if the driver is gone.
            let _ = changes.changed().await;
        }
    }

    /// Opens a connection that declares this, within this time.
    pub(super) fn dial(
        &self,
        declared: ClientCapabilities,
        limit: Duration,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let mut limits = self.limits.clone();
        limits.start = limit;
        self.dial.dial(declared, &limits)
    }

    /// A connection that was opened for a lane.
    pub(super) fn connection(self: &Arc<Self>, client: Client, lane: LaneId) -> Connection {
        let (driver, relay) = (Arc::downgrade(self), client.relay());
        relay.on_question(move || {
            if let Some(driver) = driver.upgrade() {
                driver.note_question();
            }
        });
        let serves_one = self.serves_one || lock(&self.state).table.is_isolated(lane);
        let relay = if serves_one { relay.for_one_session() } else { relay };
        let met = Arc::new(ServerDescription::of(&client));
        Connection { client, relay, met }
    }

    /// Notes that the server asks, when it first does.
    fn note_question(self: &Arc<Self>) {
        let is_news = self.with(|state| {
            let is_news = !state.table.asks();
            self.step(state, Event::Asks);
            is_news
        });
        if is_news {
            self.asking.remember();
        }
    }

    /// Reports an event.
    pub(super) fn on(self: &Arc<Self>, event: Event<Connection>) {
        self.with(|state| self.step(state, event));
    }

    /// Looks at the lanes.
    pub(super) fn look<T>(self: &Arc<Self>, look: impl FnOnce(&LaneTable<Connection>) -> T) -> T {
        self.with(|state| look(&state.table))
    }

    /// Looks at the state, or changes it.
    fn with<T>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> T) -> T {
        if let Ok(runtime) = Handle::try_current() {
            // Fails if it is known.
            _ = self.runtime.set(runtime);
        }
        let _entered = self.runtime.get().map(Handle::enter);
        let mut state = lock(&self.state);
        self.note_ends(&mut state);
        let changed = change(&mut state);
        drop(state);
        self.perform_all();
        changed
    }

    /// Notes which connections have ended by themselves. A client does not report it.
    fn note_ends(self: &Arc<Self>, state: &mut State) {
        let links = state.table.links();
        let ended = links.filter(|(_, link)| link.connection.client.is_closed());
        for lane in ended.map(|(lane, _)| lane).collect::<Vec<_>>() {
            self.step(state, Event::Died { lane, jitter: jitter() });
        }
    }

    fn step(self: &Arc<Self>, state: &mut State, event: Event<Connection>) {
        if let Event::Leave(id) = &event {
            state.taking.remove(id);
            state.connecting.remove(id);
            state.recalls.remove(id);
        }
        let now = Instant::now().into_std();
        for action in state.table.on(event, now) {
            state.wake(action);
        }
        let changes = state.table.changes();
        self.changes.send_if_modified(|before| std::mem::replace(before, changes) != changes);
        let deadline = state.table.deadline(now).map(Instant::from_std);
        match (deadline, state.timer) {
            (Some(at), None) => {
                state.timer = Some(at);
                tokio::spawn(self.clone().tick());
            }
            (Some(at), Some(timer)) if at < timer => {
                state.timer = Some(at);
                self.earlier.notify_one();
            }
            _ => {}
        }
    }

    /// Performs actions outside of the lock: a task may be dropped at once, and reports that. One at a
    /// time does so, since the order counts.
    fn perform_all(self: &Arc<Self>) {
        if std::mem::replace(&mut lock(&self.state).is_performing, true) {
            return;
        }
        loop {
            let mut state = lock(&self.state);
            let Some(action) = state.actions.pop_front() else {
                state.is_performing = false;
                return;
            };
            drop(state);
            self.perform(action);
        }
    }

    fn perform(self: &Arc<Self>, action: Action<Connection>) {
        match action {
            Action::Dial(lane, declared, limit) => {
                let opening = OpeningConnection::new(self.clone(), lane);
                let start = tokio::spawn(opening.run(declared, limit)).abort_handle();
                let mut state = lock(&self.state);
                state.starts.retain(|_, start| !start.is_finished());
                state.starts.insert(lane, start);
            }
            Action::Abort(lane) => {
                if let Some(start) = lock(&self.state).starts.remove(&lane) {
                    start.abort();
                }
            }
            Action::Close(connection) => {
                let closing = ClosingConnection(self.clone());
                tokio::spawn(async move {
                    connection.client.close().await;
                    drop(closing);
                });
            }
            Action::Recall(call) => {
                if let Some(recall) = lock(&self.state).recalls.get(&call).cloned() {
                    recall.recall();
                }
            }
            Action::Give(..) | Action::Connect(..) => {}
        }
    }

    /// Reports the time whenever the table has a deadline. Ends when it has none.
    async fn tick(self: Arc<Self>) {
        loop {
            let Some(timer) = lock(&self.state).timer else { return };
            tokio::select! {
                () = sleep_until(timer) => {}
                () = self.earlier.notified() => continue,
            }
            let next = self.with(|state| {
                self.step(state, Event::Tick);
                let deadline = state.table.deadline(Instant::now().into_std());
                state.timer = deadline.map(Instant::from_std);
                state.timer
            });
            if next.is_none() {
                return;
            }
        }
    }
}

impl State {
    /// Wakes a caller; leaves other actions for later. Sending fails if the caller has left, which it
    /// reports itself.
    fn wake(&mut self, action: Action<Connection>) {
        match action {
            Action::Give(id, given) => {
                self.taking.remove(&id).map(|sender| sender.send(given));
            }
            Action::Connect(id, link) => {
                self.connecting.remove(&id).map(|sender| sender.send(link));
            }
            action => self.actions.push_back(action),
        }
    }
}

#[cfg(test)]
mod tests;
