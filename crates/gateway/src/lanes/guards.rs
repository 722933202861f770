//! What reports to the driver of the lanes when it ends, also if it is dropped: the use of a lane by a
//! caller, an open question, a start and the closing of a connection.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bowline_client::{Client, Relay};
use bowline_types::capability::ClientCapabilities;
use tokio::time::timeout;

use super::connection::Connection;
use super::driver::LaneDriver;
use super::table::{Event, Given, LaneId, Link, Start, UseId};
use crate::limits::jitter;
use crate::server_description::ServerDescription;
use crate::unavailable::Unavailable;

/// The number of the next connection. Begins at random, because cursors hold numbers of connections,
/// and those of another process of the gateway are not valid here.
static CONNECTIONS: LazyLock<AtomicU64> = LazyLock::new(|| {
    let mut bytes = [0; 4];
    // Without randomness cursors of an earlier process may pass for valid ones, as they would without
    // the gateway.
    _ = getrandom::fill(&mut bytes);
    AtomicU64::new(u64::from(u32::from_ne_bytes(bytes)) << 16 | 1)
});

/// What a start may take longer than its limit, so that a dial that knows the limit ends first: its
/// error quotes what the server said.
const START_SLACK: Duration = Duration::from_secs(1);

/// The claim of a caller to a lane, from the moment when it asks for one until it is dropped. The lane is
/// not closed for others meanwhile.
#[derive(Debug)]
pub(super) struct LaneClaim {
    pub(super) driver: Arc<LaneDriver>,
    pub(super) id: UseId,
}

impl Drop for LaneClaim {
    fn drop(&mut self) {
        self.driver.on(Event::Leave(self.id));
    }
}

/// The use of a lane by one call.
#[derive(Debug)]
pub(super) struct LaneUse {
    claim: LaneClaim,
    given: Given,
}

impl LaneUse {
    pub(super) fn new(claim: LaneClaim, given: Given) -> Self {
        Self { claim, given }
    }

    pub(super) fn lane(&self) -> LaneId {
        self.given.lane
    }

    /// The connection of the lane, which is opened if there is none.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, or failed a moment ago.
    pub(super) async fn connect(self) -> Result<Lease, Unavailable> {
        let Self { claim, given } = self;
        let link = claim.driver.link(claim.id, given.lane, Start::Now).await?;
        Ok(Lease { link, claim: Some(claim), holds: given.holds })
    }
}

/// The use of a connection. While it is counted, the connection is not idle.
#[derive(Debug)]
pub(super) struct Lease {
    link: Link<Connection>,
    /// `None` if it is not counted.
    claim: Option<LaneClaim>,
    holds: bool,
}

impl Lease {
    pub(super) fn new(link: Link<Connection>, claim: Option<LaneClaim>) -> Self {
        Self { link, claim, holds: false }
    }

    /// Lets other askers have the lane, and keeps the connection.
    pub(super) fn shared(mut self) -> Self {
        self.holds = false;
        if let Some(claim) = &self.claim {
            claim.driver.on(Event::Share(claim.id));
        }
        self
    }

    /// The claim to the lane if it is held for the asker of the call.
    pub(super) fn held(&self) -> Option<&LaneClaim> {
        self.claim.as_ref().filter(|_| self.holds)
    }

    pub(super) fn relay(&self) -> Relay {
        self.link.connection.relay.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.link.connection.client.is_closed()
    }

    pub(super) fn met(&self) -> &Arc<ServerDescription> {
        &self.link.connection.met
    }

    /// The number of the connection.
    pub(super) fn number(&self) -> u64 {
        self.link.number
    }
}

/// An open question, until it is dropped.
pub(super) struct OpenQuestion {
    driver: Arc<LaneDriver>,
    number: u64,
}

impl OpenQuestion {
    pub(super) fn new(driver: Arc<LaneDriver>, number: u64) -> Self {
        Self { driver, number }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.driver.on(Event::Answered(self.number));
    }
}

/// A connection that is being opened.
pub(super) struct OpeningConnection {
    driver: Arc<LaneDriver>,
    /// `None` once its end was reported.
    lane: Option<LaneId>,
}

impl OpeningConnection {
    pub(super) fn new(driver: Arc<LaneDriver>, lane: LaneId) -> Self {
        Self { driver, lane: Some(lane) }
    }

    /// Opens it, and reports how that ended.
    pub(super) async fn run(mut self, declared: ClientCapabilities, limit: Duration) {
        let dialled = self.driver.dial(declared, limit);
        let outcome = match timeout(limit.saturating_add(START_SLACK), dialled).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(Unavailable::not_dialled(&error, limit)),
            Err(_) => Err(Unavailable::silent(limit)),
        };
        self.report(outcome);
    }

    fn report(&mut self, outcome: Result<Client, Unavailable>) {
        let Some(lane) = self.lane.take() else { return };
        self.driver.on(match outcome {
            Ok(client) => {
                let connection = self.driver.connection(client, lane);
                let states_capabilities = connection.met.revision.has_input_requests();
                let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
                Event::Started { lane, link: Link { number, connection }, states_capabilities }
            }
            Err(problem) => Event::NotStarted { lane, problem, jitter: jitter() },
        });
    }
}

impl Drop for OpeningConnection {
    fn drop(&mut self) {
        self.report(Err(Unavailable::broken_off()));
    }
}

/// A connection that is being closed, until it is dropped.
pub(super) struct ClosingConnection(pub(super) Arc<LaneDriver>);

impl Drop for ClosingConnection {
    fn drop(&mut self) {
        self.0.on(Event::Ended);
    }
}
