//! Servers in this process that a gateway starts, and clients of the gateway; in virtual time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline::{tool, tools};
use bowline_client::{Change, Changes, Client, ClientBuilder};
use bowline_gateway::config::{ConfigFile, ConfigVariables, Dialect};
use bowline_gateway::{
    Dial, DialError, Gateway, GatewayLimits, GatewayOptions, Lanes, client_builder,
};
use bowline_server::Server;
use bowline_testing::harness::connect_in_memory;
use bowline_transport::duplex::duplex;
use bowline_transport::lines::Lines;
use bowline_types::capability::ClientCapabilities;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Bytes that a pipe holds.
const CAPACITY: usize = 64 * 1024;

/// Both eras.
pub(crate) const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// A server that is "started" by connecting to it in memory.
#[derive(Clone)]
pub(crate) struct Fake(Arc<FakeState>);

struct FakeState {
    server: Server,
    /// The only revision that its connections speak, if not any.
    revision: Option<Revision>,
    starts: AtomicUsize,
    fails: AtomicBool,
    hangs: AtomicBool,
    /// How long its starts take.
    start: Duration,
    /// Whether its connections pass messages to it, if that can change.
    flows: Option<watch::Sender<bool>>,
    running: Mutex<Vec<AbortHandle>>,
}

impl Fake {
    pub(crate) fn new(server: Server) -> Self {
        Self::make(server, None)
    }

    /// A server that is spoken to in this revision.
    pub(crate) fn speaking(revision: Revision, server: Server) -> Self {
        Self::make(server, Some(revision))
    }

    fn make(server: Server, revision: Option<Revision>) -> Self {
        Self(Arc::new(FakeState {
            server,
            revision,
            starts: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            start: Duration::ZERO,
            flows: None,
            running: Mutex::default(),
        }))
    }

    /// A server that takes so long to start, and then finds what it was sent meanwhile. It handles
    /// that in the reverse order, as a server may that handles messages side by side.
    pub(crate) fn slow(start: Duration, server: Server) -> Self {
        let mut fake = Self::make(server, None);
        Arc::get_mut(&mut fake.0).unwrap().start = start;
        fake
    }

    /// A server that can [freeze](Self::freeze).
    pub(crate) fn freezable(revision: Revision, server: Server) -> Self {
        let mut fake = Self::make(server, Some(revision));
        Arc::get_mut(&mut fake.0).unwrap().flows = Some(watch::Sender::new(true));
        fake
    }

    /// Its connections stay open, and it reads no message, until it [thaws](Self::thaw).
    pub(crate) fn freeze(&self) {
        self.0.flows.as_ref().unwrap().send_replace(false);
    }

    /// It reads what it was sent meanwhile, and all further messages.
    pub(crate) fn thaw(&self) {
        self.0.flows.as_ref().unwrap().send_replace(true);
    }

    pub(crate) fn server(&self) -> &Server {
        &self.0.server
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
        if !self.0.start.is_zero() {
            let (near, far) = tokio::io::duplex(CAPACITY);
            let task = tokio::spawn(serve_later(self.0.start, self.0.server.clone(), far));
            self.0.running.lock().unwrap().push(task.abort_handle());
            let builder = client_builder(declared, limits);
            return Box::pin(async move { Ok(builder.connect(lines(near)).await?) });
        }
        if let Some(flows) = &self.0.flows {
            let (near, far) = tokio::io::duplex(CAPACITY);
            let task = tokio::spawn(serve_while(flows.subscribe(), self.0.server.clone(), far));
            self.0.running.lock().unwrap().push(task.abort_handle());
            let builder = client_builder(declared, limits).revisions(self.0.revision);
            return Box::pin(async move { Ok(builder.connect(lines(near)).await?) });
        }
        if !self.0.fails.load(Ordering::Relaxed) {
            let server = self.0.server.clone();
            let task = tokio::spawn(async move { server.serve(far).await });
            self.0.running.lock().unwrap().push(task.abort_handle());
        }
        let mut builder = client_builder(declared, limits);
        if let Some(revision) = self.0.revision {
            builder = builder.revisions([revision]);
        }
        Box::pin(async move { Ok(builder.connect(near).await?) })
    }

    fn is_process(&self) -> bool {
        true
    }
}

fn lines(stream: DuplexStream) -> Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>> {
    let (source, sink) = split(stream);
    Lines::new(source, sink)
}

/// Lets a server handle what lies in the pipe when it has started, the newest line first, and then
/// all further lines.
async fn serve_later(start: Duration, server: Server, far: DuplexStream) {
    tokio::time::sleep(start).await;
    let (near, inner) = tokio::io::duplex(CAPACITY);
    let ((from_client, mut to_client), (mut from_server, mut to_server)) =
        (split(far), split(near));
    let mut lines_of_client = BufReader::new(from_client).lines();
    let forward = async {
        let mut early = Vec::new();
        let moment = Duration::from_millis(1);
        while let Ok(Ok(Some(line))) = timeout(moment, lines_of_client.next_line()).await {
            early.push(line);
        }
        for line in early.into_iter().rev() {
            to_server.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
        while let Ok(Some(line)) = lines_of_client.next_line().await {
            to_server.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
    };
    let back = tokio::io::copy(&mut from_server, &mut to_client);
    tokio::select! {
        _ = server.serve(lines(inner)) => {}
        _ = back => {}
        () = forward => {}
    }
}

/// Passes messages to a server while they may flow, and its answers back.
async fn serve_while(mut flows: watch::Receiver<bool>, server: Server, far: DuplexStream) {
    let (near, inner) = tokio::io::duplex(CAPACITY);
    let ((from_client, mut to_client), (mut from_server, mut to_server)) =
        (split(far), split(near));
    let mut lines_of_client = BufReader::new(from_client).lines();
    let forward = async {
        while let Ok(Some(line)) = lines_of_client.next_line().await {
            // Fails if the test is over.
            let _ = flows.wait_for(|flows| *flows).await;
            to_server.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
    };
    let back = tokio::io::copy(&mut from_server, &mut to_client);
    tokio::select! {
        _ = server.serve(lines(inner)) => {}
        _ = back => {}
        () = forward => {}
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
    connect(&gateway, Way { revision, http: false }, |builder| builder).await
}

/// How a caller reaches the gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) revision: Revision,
    pub(crate) http: bool,
}

/// Both eras, over memory and over HTTP.
pub(crate) fn ways() -> impl Iterator<Item = Way> {
    BOTH.into_iter().flat_map(|revision| [false, true].map(|http| Way { revision, http }))
}

/// A client of a server.
pub(crate) async fn connect(
    server: &Server,
    way: Way,
    describe: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Client {
    let builder = describe(Client::builder("caller", "1.0.0")).revisions([way.revision]);
    let client = match way.http {
        false => {
            let (near, far) = duplex();
            tokio::spawn(server.clone().serve(far));
            builder.connect(near).await
        }
        true => {
            let endpoint = server.http().build().unwrap();
            builder.connect(connect_in_memory(endpoint, way.revision)).await
        }
    };
    client.unwrap()
}

/// A configuration file.
pub(crate) fn file(text: &str) -> ConfigFile {
    ConfigFile::parse(text, "c.json", Dialect::Bowline).unwrap()
}

/// A gateway to servers in this process, by the names in the file.
pub(crate) fn gateway<const N: usize>(text: &str, servers: [(&'static str, Fake); N]) -> Gateway {
    limited(text, servers, GatewayLimits::default())
}

/// The same with these limits.
pub(crate) fn limited<const N: usize>(
    text: &str,
    servers: [(&'static str, Fake); N],
    limits: GatewayLimits,
) -> Gateway {
    let options = GatewayOptions::new(ConfigVariables::none()).limits(limits);
    let options = options.dialled_by(move |entry, _| {
        let server = servers.iter().find(|(name, _)| *name == entry.name);
        Arc::new(server.unwrap().1.clone())
    });
    Gateway::with_options(&file(text), options).unwrap()
}

/// A list that a test and its hooks share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A caller that agrees to everything, and notes the questions.
pub(crate) fn agreeing(builder: ClientBuilder, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.allow_urls().on_ask(move |question| {
        heard.note(question.message());
        let is_page = question.url().is_some();
        let answer = if is_page { question.consent() } else { question.accept(true) };
        async move { answer }
    })
}

/// The next change, if there is one soon.
pub(crate) async fn next(changes: &mut Changes) -> Option<Change> {
    let next =
        std::future::poll_fn(|cx| futures_core::Stream::poll_next(std::pin::Pin::new(changes), cx));
    timeout(Duration::from_secs(5), next).await.ok().flatten().map(Result::unwrap)
}
