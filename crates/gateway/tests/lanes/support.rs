//! Servers in this process that a gateway starts, and clients of the gateway; in virtual time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline::{tool, tools};
use bowline_client::Client;
use bowline_gateway::{Dial, DialError, GatewayLimits, Lanes, client_builder};
use bowline_server::Server;
use bowline_transport::duplex::duplex;
use bowline_types::capability::ClientCapabilities;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tokio::task::AbortHandle;

/// Both eras.
pub(crate) const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// A server that is "started" by connecting to it in memory.
#[derive(Clone)]
pub(crate) struct Fake(Arc<FakeState>);

struct FakeState {
    server: Server,
    starts: AtomicUsize,
    fails: AtomicBool,
    hangs: AtomicBool,
    running: Mutex<Vec<AbortHandle>>,
}

impl Fake {
    pub(crate) fn new(server: Server) -> Self {
        Self(Arc::new(FakeState {
            server,
            starts: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            running: Mutex::default(),
        }))
    }

    pub(crate) fn starts(&self) -> usize {
        self.0.starts.load(Ordering::Relaxed)
    }

    /// How many connections are open.
    pub(crate) async fn running(&self) -> usize {
        // Lets the drivers notice what has ended.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let mut running = self.0.running.lock().unwrap();
        running.retain(|task| !task.is_finished());
        running.len()
    }

    /// Ends all connections, as `kill -9` would.
    pub(crate) async fn kill(&self) {
        for task in self.0.running.lock().unwrap().drain(..) {
            task.abort();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// Lets later starts fail, or not.
    pub(crate) fn set_failing(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::Relaxed);
    }

    /// Lets later starts never answer.
    pub(crate) fn set_hanging(&self) {
        self.0.hangs.store(true, Ordering::Relaxed);
    }

    pub(crate) fn lanes(&self, limits: GatewayLimits) -> Lanes {
        Lanes::new("fake", Arc::new(self.clone()), limits)
    }
}

impl Dial for Fake {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let (near, far) = duplex();
        self.0.starts.fetch_add(1, Ordering::Relaxed);
        if self.0.hangs.load(Ordering::Relaxed) {
            let builder = client_builder(declared, limits);
            return Box::pin(async move {
                let _open = far;
                Ok(builder.connect(near).await?)
            });
        }
        if !self.0.fails.load(Ordering::Relaxed) {
            let server = self.0.server.clone();
            let task = tokio::spawn(async move { server.serve(far).await });
            self.0.running.lock().unwrap().push(task.abort_handle());
        }
        let builder = client_builder(declared, limits);
        Box::pin(async move { Ok(builder.connect(near).await?) })
    }

    fn is_process(&self) -> bool {
        true
    }
}

/// Say it again
#[tool]
pub(crate) async fn say(message: String) -> String {
    message
}

/// Never end
#[tool]
async fn hang() -> String {
    std::future::pending().await
}

/// A server with a tool that answers, and one that never does.
pub(crate) fn echo() -> Server {
    Server::new("echo", "1.0.0").instructions("Say it twice.").tools(tools![say, hang])
}

/// A client of an upstream that is mounted as `fake`.
pub(crate) async fn client(lanes: &Lanes, revision: Revision) -> Client {
    let gateway = Server::new("gateway", "1.0.0").mount("fake", lanes.clone());
    let (near, far) = duplex();
    tokio::spawn(gateway.serve(far));
    Client::builder("caller", "1.0.0").revisions([revision]).connect(near).await.unwrap()
}
