//! Runs a test of a server once for each era and transport, or for each revision.
//!
//! `#[bowline::test]` writes a `#[test]` for each [`Case`]; each calls [`run`] with the function.
//! The test connects a real client to a real server in that case:
//!
//! ```
//! use bowline::{Ask, Server, tool, tools};
//! use bowline_testing::Harness;
//! use serde_json::json;
//!
//! /// Deploy the thing
//! #[tool]
//! async fn deploy(ask: Ask, env: String) -> bowline::Result<String> {
//!     if !ask.confirm(format!("Deploy to {env}?")).await? {
//!         return Ok("Not deployed".into());
//!     }
//!     Ok(format!("Deployed to {env}"))
//! }
//!
//! # /*
//! #[bowline::test]
//! # */
//! async fn deploy_asks_first(t: Harness) {
//!     let server = Server::new("deployer", "1.0.0").tools(tools![deploy]);
//!     let client = t.connect(server).answering(|question| question.accept(true)).await;
//!     let deployed = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
//!     assert_eq!(deployed.text(), "Deployed to prod");
//!     assert_eq!(t.questions(), ["Deploy to prod?"]);
//! }
//! # fn main() {
//! #     let asks = |case: &bowline_testing::Case| case.revision.has_elicitation();
//! #     let cases = bowline_testing::Case::all().filter(asks);
//! #     cases.for_each(|case| bowline_testing::run(case, deploy_asks_first));
//! # }
//! ```
//!
//! By default a test runs once per era, in the newest revision of that era. With
//! `#[bowline::test(every_revision)]` it runs in all revisions; [`Harness::revision`] returns the
//! current one, for expectations that depend on it.
//!
//! With the feature `http`, every test runs over HTTP too. A server without sessions is a separate
//! case, because before 2026-07-28 it can send nothing but responses: no questions, no list changes.
//! A test that needs neither is marked `#[bowline::test(stateless)]` and then runs there as well.
//!
//! Time is virtual: a tool that sleeps for an hour takes no real time. For that reason HTTP runs
//! over an in-memory stream here.
//!
//! The parts: [`Case`] names a revision and a transport; [`run`] makes a runtime with virtual time
//! for one case; [`Harness`] is what the test gets; [`HarnessConnect`] starts the server, connects the
//! client and records questions.

mod case;
#[cfg(feature = "http")]
mod http;
mod in_transit;

use std::fmt;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bowline::client::{Answer, ClientBuilder};
use bowline::{BuildError, Client, Question, Server};
#[cfg(feature = "http")]
use bowline_http::server::Sessions;
use bowline_proto::sync::lock;
use bowline_transport::duplex::duplex;
use bowline_transport::lines::Lines;
use bowline_transport::socket::{UnixTransport, listen};
use bowline_transport::transport::{PeerIdentity, ServerTransport, Transport};
#[doc(no_inline)]
pub use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tokio::net::unix::pipe;
use tokio::runtime::Builder;
use tokio::time::timeout;

pub use self::case::{Case, TransportKind};
#[cfg(feature = "http")]
pub use self::http::connect as connect_in_memory;
use self::in_transit::MessagesInTransit;

/// Runs a test in its own runtime with virtual time.
///
/// `#[bowline::test]` calls this; call it yourself to choose the cases at run time.
///
/// # Panics
///
/// Panics if the test panics, if the transport of a server fails, or after two days of virtual time:
/// then the test waits for something that never happens.
pub fn run<F, T>(case: Case, test: F) -> T::Output
where
    F: FnOnce(Harness) -> T,
    T: Future,
{
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime
        .enable_all()
        .start_paused(true)
        .build()
        .expect("file descriptors for a runtime are available");
    let notes = Arc::<TestRecord>::default();
    let test = test(Harness { case, notes: Arc::clone(&notes) });
    let outcome = runtime.block_on(async { timeout(TWO_DAYS, test).await });
    drop(runtime);
    let broken = notes.broken();
    assert!(broken.is_empty(), "a server failed: {}", broken.join("; "));
    outcome.expect("the test waits for something that never happens")
}

/// The time limit of a test. Virtual time jumps to the next timer when all tasks are idle, so a stuck
/// test reaches the limit quickly. Over HTTP the jumps are a few seconds each, because of keep-alives.
const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 3600);

/// The parameter of a test: connects clients to servers and records the servers' questions. A test
/// may connect several clients to several servers; all of them share the case and the record.
#[derive(Clone, Debug)]
pub struct Harness {
    /// The same for every connection of the test.
    case: Case,
    notes: Arc<TestRecord>,
}

impl Harness {
    /// Returns the case that the test runs in.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Returns the revision of the case, for expectations that depend on it.
    pub fn revision(&self) -> Revision {
        self.case.revision
    }

    /// Whether servers can ask the user: the revision has elicitation, and the transport can carry
    /// requests of the server.
    pub fn can_ask_user(&self) -> bool {
        self.case.revision.has_elicitation() && self.case.transport.has_server_push()
    }

    /// Starts a server and connects a client to it when the returned [`HarnessConnect`] is awaited.
    pub fn connect(&self, server: Server) -> HarnessConnect {
        let client = Client::builder("harness", "1.0.0").tasks();
        HarnessConnect { harness: self.clone(), server, client, answer: None }
    }

    /// Returns the messages of all questions that servers have asked so far, in order.
    pub fn questions(&self) -> Vec<String> {
        self.notes.questions().clone()
    }
}

/// A connection that is not made yet; await it to get the client. Nothing runs before it is
/// awaited. The server then runs until the test ends or the client is closed.
#[must_use = "await it to get the client"]
pub struct HarnessConnect {
    harness: Harness,
    server: Server,
    client: ClientBuilder,
    answer: Option<Answering>,
}

/// Answers questions in place of the user.
type Answering = Box<dyn Fn(&Question) -> Answer + Send + Sync>;

impl HarnessConnect {
    /// Configures the client through its builder.
    ///
    /// A revision that is set here is replaced by the revision of the case.
    pub fn client(mut self, describe: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        self.client = describe(self.client);
        self
    }

    /// Sets the handler of the server's questions. Without it, the client does not declare
    /// elicitation.
    ///
    /// The handler gets every question in the order in which the server asks, in either era.
    pub fn answering<A: Into<Answer>>(
        mut self,
        answer: impl Fn(&Question) -> A + Send + Sync + 'static,
    ) -> Self {
        self.answer = Some(Box::new(move |question| answer(question).into()));
        self
    }

    /// Over pipes and sockets messages are counted while they are under way, because virtual time
    /// must stand still meanwhile ([`MessagesInTransit`]).
    async fn make(self) -> Client {
        match self.harness.case.transport {
            TransportKind::Duplex => {
                let (near, far) = duplex();
                self.serve(far).open(near).await
            }
            TransportKind::Socket => {
                let (near, far) = socket().await;
                let (near, far) = MessagesInTransit::watch(near, far);
                self.serve(far).open(near).await
            }
            TransportKind::Stdio => {
                let ((to_server, from_client), (to_client, from_server)) = (pipes(), pipes());
                let near = Lines::new(from_server, to_server);
                let far = Lines::new(from_client, to_client);
                let far = far.with_peer_identity(PeerIdentity::local_user());
                let (near, far) = MessagesInTransit::watch(near, far);
                self.serve(far).open(near).await
            }
            #[cfg(feature = "http")]
            TransportKind::Http => {
                let endpoint = built(self.server.http().sse2024().build());
                let near = http::connect(endpoint, self.harness.revision());
                self.open(near).await
            }
            #[cfg(feature = "http")]
            TransportKind::Stateless => {
                let endpoint = built(self.server.http().sessions(Sessions::None).build());
                let near = http::connect(endpoint, self.harness.revision());
                self.open(near).await
            }
        }
    }

    /// Serves in a task. An error of the transport fails the test at its end, since it would
    /// otherwise go unnoticed.
    fn serve(self, far: impl ServerTransport) -> Self {
        built(self.server.build());
        let notes = Arc::clone(&self.harness.notes);
        let serving = self.server.serve(far);
        tokio::spawn(async move {
            if let Err(error) = serving.await {
                notes.broken().push(error.to_string());
            }
        });
        self
    }

    /// The client speaks the revision of the case and no other, so a failed negotiation cannot hide
    /// behind another revision.
    async fn open(self, near: impl Transport) -> Client {
        let mut builder = self.client.revisions([self.harness.revision()]);
        if let Some(answer) = self.answer {
            let notes = Arc::clone(&self.harness.notes);
            builder = builder.on_ask(move |question| {
                notes.questions().push(question.message().to_owned());
                let answer = answer(&question);
                async move { answer }
            });
        }
        match builder.connect(near).await {
            Ok(client) => client,
            Err(error) => panic!("the client cannot connect: {error}"),
        }
    }
}

impl IntoFuture for HarnessConnect {
    type Output = Client;
    type IntoFuture = BoxFuture<'static, Client>;

    /// # Panics
    ///
    /// Panics if the server cannot be built, or if the client cannot connect to it.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

impl fmt::Debug for HarnessConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HarnessConnect").field("server", &self.server).finish_non_exhaustive()
    }
}

/// What the harness records during a test. Outlives the runtime, so that [`run`] can look at it
/// after everything has been dropped.
#[derive(Debug, Default)]
struct TestRecord {
    questions: Mutex<Vec<String>>,
    /// Errors of transports that servers ran on.
    broken: Mutex<Vec<String>>,
}

impl TestRecord {
    fn questions(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.questions)
    }

    fn broken(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.broken)
    }
}

/// Panics with the text of the error, which names the feature at fault.
fn built<T>(outcome: Result<T, BuildError>) -> T {
    match outcome {
        Ok(built) => built,
        Err(error) => panic!("the server cannot be built: {error}"),
    }
}

fn pipes() -> (pipe::Sender, pipe::Receiver) {
    pipe::pipe().expect("two file descriptors are available")
}

/// Both ends of a connection through a socket in the file system.
async fn socket() -> (UnixTransport, UnixTransport) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let name = format!("bowline-{}-{number}.sock", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    let listener = listen(&path).await.expect("no other test uses this path");
    let (near, far) = tokio::join!(UnixTransport::connect(&path), listener.accept());
    (near.expect("the listener is open"), far.expect("a client connects"))
}
