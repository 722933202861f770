//! One connection to a server, opened by the first call that needs it, closed when idle, and opened
//! again after a failure.
//!
//! A start runs as a task of its own: a caller that goes away does not cancel it for the others
//! that wait. After a failure there is a pause, in which calls fail at once instead of waiting.

mod ending;
mod lease;
mod unavailable;

use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;

use bowline_client::{Client, Relay};
use bowline_proto::sync::lock;
use bowline_types::capability::ClientCapabilities;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::ending::Ending;
pub(crate) use self::ending::Endings;
pub(crate) use self::lease::Lease;
pub(crate) use self::unavailable::{Unavailable, UnavailableKind};
use crate::asking::Asking;
use crate::dial::Dial;
use crate::limits::GatewayLimits;

/// The number of the next connection. Begins at random, because cursors hold numbers of connections,
/// and those of another process of the gateway are not valid here.
static GENERATIONS: LazyLock<AtomicU64> = LazyLock::new(|| {
    let mut bytes = [0; 4];
    // Without randomness cursors of an earlier process may pass for valid ones, as they would without
    // the gateway.
    _ = getrandom::fill(&mut bytes);
    AtomicU64::new(u64::from(u32::from_ne_bytes(bytes)) << 16 | 1)
});

/// What a start may take longer than its limit, so that a dial that knows the limit ends first: its
/// error quotes what the server said.
const START_SLACK: Duration = Duration::from_secs(1);

/// How often the time for a start is doubled at most, if each start so far took too long.
const MOST_DOUBLINGS: u32 = 3;

/// How many callers a connection serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Any number.
    Many,
    /// One session, which also gets the questions that belong to no call.
    One,
}

/// A server that is started when it is needed. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Supervised(Arc<Inner>);

impl PartialEq for Supervised {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug)]
struct Inner {
    dial: Arc<dyn Dial>,
    declared: ClientCapabilities,
    audience: Audience,
    asking: Arc<Asking>,
    limits: GatewayLimits,
    state: Mutex<State>,
    /// Counts the starts, the failed starts and the stops; its watchers look at the state after each.
    /// A server that ends by itself is not counted: nothing notes that before the next start.
    changes: watch::Sender<u64>,
    /// Changes with `changes`, and with those of all other lanes of the pool.
    phases: watch::Sender<()>,
    /// Those of all lanes of the pool.
    endings: Endings,
    /// Notified when the last lease is returned.
    released: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Failures in a row.
    failures: u32,
    /// Starts in a row that took too long.
    slow_starts: u32,
    /// The number of the connection, which no other connection of the process has; 0 for none.
    generation: u64,
    problem: Option<Unavailable>,
}

#[derive(Debug)]
enum Phase {
    Stopped,
    /// With the task that starts it.
    Starting(JoinHandle<()>),
    Running(Running),
    /// No start before this time.
    Paused(Instant),
    /// No start any more.
    Closed,
}

#[derive(Debug)]
struct Running {
    client: Client,
    relay: Relay,
    since: Instant,
    leases: usize,
    idle_since: Instant,
}

impl Supervised {
    pub(crate) fn new(
        dial: Arc<dyn Dial>,
        (declared, audience): (ClientCapabilities, Audience),
        (asking, phases, endings): (Arc<Asking>, watch::Sender<()>, Endings),
        limits: GatewayLimits,
    ) -> Self {
        let state = State {
            phase: Phase::Stopped,
            failures: 0,
            slow_starts: 0,
            generation: 0,
            problem: None,
        };
        Self(Arc::new(Inner {
            dial,
            declared,
            audience,
            asking,
            limits,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            phases,
            endings,
            released: Notify::new(),
        }))
    }

    /// A running connection; opens one if there is none.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, or failed a moment ago.
    pub(crate) async fn lease(&self) -> Result<Lease, Unavailable> {
        loop {
            let mut changes = self.0.changes.subscribe();
            if let Some(outcome) = self.attempt() {
                return outcome;
            }
            // Fails only if all of this is dropped.
            let _ = changes.changed().await;
        }
    }

    /// The connection, if there is one now. It does not keep the server from being stopped.
    pub(crate) fn running(&self) -> Option<Lease> {
        let state = lock(&self.0.state);
        match &state.phase {
            Phase::Running(running) if !running.client.is_closed() => {
                Some(self.hand_out(running, state.generation, None))
            }
            _ => None,
        }
    }

    /// Whether this connection runs.
    pub(crate) fn runs(&self, generation: u64) -> bool {
        let state = lock(&self.0.state);
        state.generation == generation
            && matches!(&state.phase, Phase::Running(running) if !running.client.is_closed())
    }

    /// Tells of starts, failed starts and stops: wakes with each.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Waits until the server may be started, unless it is being started: after a failure there is a
    /// pause first. Never ends for a server that was stopped for good.
    pub(crate) async fn may_start(&self) {
        let until = match &lock(&self.0.state).phase {
            Phase::Stopped | Phase::Running(_) => Some(Instant::now()),
            Phase::Paused(until) => Some(*until),
            Phase::Starting(_) | Phase::Closed => None,
        };
        match until {
            Some(until) => sleep_until(until).await,
            None => pending().await,
        }
    }

    /// Whether the server ended by itself and was not started again.
    pub(crate) fn has_failed(&self) -> bool {
        match &lock(&self.0.state).phase {
            Phase::Running(running) => running.client.is_closed(),
            Phase::Paused(_) => true,
            Phase::Stopped | Phase::Starting(_) | Phase::Closed => false,
        }
    }

    /// Whether there is no connection, and none is being opened.
    pub(crate) fn is_stopped(&self) -> bool {
        match &lock(&self.0.state).phase {
            Phase::Running(running) => running.client.is_closed(),
            Phase::Starting(_) => false,
            Phase::Stopped | Phase::Paused(_) | Phase::Closed => true,
        }
    }

    /// Whether no call and no subscription needs the server now.
    pub(crate) fn is_unused(&self) -> bool {
        match &lock(&self.0.state).phase {
            Phase::Running(running) => running.leases == 0,
            Phase::Starting(_) => false,
            Phase::Stopped | Phase::Paused(_) | Phase::Closed => true,
        }
    }

    /// Why the last start failed, or why the server ended.
    pub(crate) fn problem(&self) -> Option<String> {
        let state = lock(&self.0.state);
        match &state.phase {
            // The next call will note it.
            Phase::Running(running) if running.client.is_closed() => {
                Some(Unavailable::ended(&running.client).problem)
            }
            _ => state.problem.clone().map(|unavailable| unavailable.problem),
        }
    }

    /// Stops the server for good; the future waits until it has ended, unless another call of this stops
    /// it already. If it was being started, its input is closed then, and its process ends soon.
    pub(crate) fn close(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut state = lock(&self.0.state);
        let ending = self.0.endings.begin();
        let phase = std::mem::replace(&mut state.phase, Phase::Closed);
        drop(state);
        self.0.changed();
        self.0.released.notify_waiters();
        async move {
            match phase {
                Phase::Running(running) => running.client.close().await,
                // Fails if the start panicked, and then nothing is left of it.
                Phase::Starting(task) => _ = task.await,
                Phase::Stopped | Phase::Paused(_) | Phase::Closed => {}
            }
            drop(ending);
        }
    }

    /// A lease, or why there is none; `None` while it is starting.
    fn attempt(&self) -> Option<Result<Lease, Unavailable>> {
        let mut state = lock(&self.0.state);
        let generation = state.generation;
        if let Phase::Running(running) = &mut state.phase
            && !running.client.is_closed()
        {
            running.leases += 1;
            let returns = Some(Arc::downgrade(&self.0));
            return Some(Ok(self.hand_out(running, generation, returns)));
        }
        self.note_end(&mut state);
        match state.phase {
            Phase::Starting(_) => None,
            Phase::Paused(until) if Instant::now() < until => Some(Err(unavailable(&state))),
            Phase::Closed => Some(Err(unavailable(&state))),
            _ => {
                let supervised = self.clone();
                state.phase = Phase::Starting(tokio::spawn(supervised.start()));
                None
            }
        }
    }

    /// Notes that the server ended by itself, if it did.
    fn note_end(&self, state: &mut State) {
        let Phase::Running(running) = &state.phase else { return };
        let problem = Unavailable::ended(&running.client);
        if running.since.elapsed() >= self.0.limits.healthy {
            state.failures = 0;
        }
        let pause = self.0.limits.pause(state.failures);
        state.failures += 1;
        state.problem = Some(problem);
        state.phase = Phase::Paused(Instant::now() + pause);
    }

    fn hand_out(&self, running: &Running, generation: u64, returns: Option<Weak<Inner>>) -> Lease {
        let Running { client, relay, .. } = running;
        Lease { client: client.clone(), relay: relay.clone(), generation, returns }
    }

    async fn start(self) {
        let mut limits = self.0.limits.clone();
        limits.start = self.start_limit();
        let dialled = async {
            let dialled = self.0.dial.dial(self.0.declared.clone(), &limits);
            timeout(limits.start.saturating_add(START_SLACK), dialled).await
        };
        let outcome = tokio::select! {
            biased;
            () = self.closed() => return,
            outcome = dialled => outcome,
        };
        let client = match outcome {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return self.fail(Unavailable::not_dialled(&error, limits.start)),
            Err(_) => return self.fail(Unavailable::silent(limits.start)),
        };
        if !self.note_start(&client) {
            return client.close().await;
        }
        drop(client);
        self.stop_when_idle().await;
    }

    /// How long the next start may take: longer after starts that took too long, since a server that
    /// needs more would never come otherwise.
    fn start_limit(&self) -> Duration {
        let doublings = lock(&self.0.state).slow_starts.min(MOST_DOUBLINGS);
        self.0.limits.start.saturating_mul(1 << doublings)
    }

    /// Waits until the server is stopped for good.
    pub(crate) async fn closed(&self) {
        let mut changes = self.0.changes.subscribe();
        while !matches!(lock(&self.0.state).phase, Phase::Closed) {
            // Fails only if all of this is dropped.
            let _ = changes.changed().await;
        }
    }

    fn fail(&self, problem: Unavailable) {
        let mut state = lock(&self.0.state);
        if matches!(state.phase, Phase::Starting(_)) {
            state.failures += 1;
            state.slow_starts = problem.slow_starts_after(state.slow_starts);
            state.problem = Some(problem);
            state.phase = Phase::Paused(Instant::now() + self.0.limits.pause(state.failures));
        }
        drop(state);
        self.0.changed();
    }

    /// Whether the connection is wanted still.
    fn note_start(&self, client: &Client) -> bool {
        let mut state = lock(&self.0.state);
        if !matches!(state.phase, Phase::Starting(_)) {
            return false;
        }
        let now = Instant::now();
        let (client, relay) = (client.clone(), client.relay());
        let asking = self.0.asking.clone();
        relay.on_question(move || asking.note());
        let relay = match self.0.audience {
            Audience::Many => relay,
            Audience::One => relay.for_one_session(),
        };
        let running = Running { client, relay, since: now, leases: 0, idle_since: now };
        state.phase = Phase::Running(running);
        state.slow_starts = 0;
        state.generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
        drop(state);
        self.0.changed();
        true
    }

    /// Waits until nothing has used the connection for long enough, and closes it.
    async fn stop_when_idle(self) {
        let generation = lock(&self.0.state).generation;
        loop {
            let released = self.0.released.notified();
            let Some(idle_since) = self.idle_since(generation) else { return };
            match idle_since {
                None => released.await,
                Some(since) => {
                    // Unlike an addition of times, this cannot overflow.
                    sleep(self.0.limits.idle.saturating_sub(since.elapsed())).await;
                    if let Some((client, _ending)) = self.take_idle(generation) {
                        self.0.changed();
                        return client.close().await;
                    }
                }
            }
        }
    }

    /// Since when the connection is idle, if it is; `None` if it is no longer this connection.
    #[expect(clippy::option_option, reason = "the two have different reasons")]
    fn idle_since(&self, generation: u64) -> Option<Option<Instant>> {
        let state = lock(&self.0.state);
        match &state.phase {
            Phase::Running(running) if state.generation == generation => {
                Some((running.leases == 0).then_some(running.idle_since))
            }
            _ => None,
        }
    }

    fn take_idle(&self, generation: u64) -> Option<(Client, Ending)> {
        let mut state = lock(&self.0.state);
        let idle = self.0.limits.idle;
        match &state.phase {
            Phase::Running(running)
                if state.generation == generation
                    && running.leases == 0
                    && running.idle_since.elapsed() >= idle =>
            {
                let client = running.client.clone();
                state.phase = Phase::Stopped;
                // It ran until no caller needed it.
                state.failures = 0;
                Some((client, self.0.endings.begin()))
            }
            _ => None,
        }
    }
}

impl Inner {
    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
        self.phases.send_replace(());
    }
}

fn unavailable(state: &State) -> Unavailable {
    state.problem.clone().unwrap_or_else(Unavailable::stopped)
}

#[cfg(test)]
mod tests;
