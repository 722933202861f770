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
//! An era is spoken in its newest revision, in which everything works. With
//! `#[bowline::test(every_revision)]` the test runs in all of them; [`Harness::revision`] tells
//! which, for those that lack something.
//!
//! With the feature `http`, every test runs over HTTP too. A server that keeps no sessions is a case
//! of its own, because in the older era it can neither ask nor tell anything of its own accord: a
//! test that needs none of that says `#[bowline::test(stateless)]` and then runs there as well.
//!
//! Time is virtual: a tool that sleeps for an hour takes no time at all. HTTP is spoken in memory
//! for that reason.

mod case;
mod flight;
#[cfg(feature = "http")]
mod http;

use std::fmt;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bowline::client::{Answer, ClientBuilder};
use bowline::transport::duplex::duplex;
use bowline::transport::lines::Lines;
use bowline::transport::socket::{UnixTransport, listen};
use bowline::transport::transport::Transport;
#[doc(no_inline)]
pub use bowline::types::revision::Revision;
use bowline::{BuildError, Client, Question, Server};
#[cfg(feature = "http")]
use bowline_http::server::Sessions;
use tokio::net::unix::pipe;
use tokio::runtime::Builder;
use tokio::time::timeout;

pub use self::case::{Carrier, Case};
use self::flight::Flight;

/// Runs a test in a runtime of its own with virtual time.
///
/// # Panics
///
/// If the test does, if a server that it connected to broke down, or if two days pass: then the
/// test waits for something that never happens.
pub fn run<F, T>(case: Case, test: F) -> T::Output
where
    F: FnOnce(Harness) -> T,
    T: Future,
{
    let mut runtime = Builder::new_current_thread();
    let runtime =
        runtime.enable_all().start_paused(true).build().expect("a runtime wants a few descriptors");
    let notes = Arc::<Notes>::default();
    let test = test(Harness { case, notes: Arc::clone(&notes) });
    let outcome = runtime.block_on(async { timeout(TWO_DAYS, test).await });
    drop(runtime);
    let broken = notes.broken();
    assert!(broken.is_empty(), "a server broke down: {}", broken.join("; "));
    outcome.expect("the test waits for something that never happens")
}

/// Virtual time flies when nobody does anything, so even this is soon over. Over HTTP somebody does:
/// streams are kept alive every few seconds.
const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 3600);

/// What a test gets: a way to connect to servers, and an eye on what they ask.
#[derive(Clone, Debug)]
pub struct Harness {
    case: Case,
    notes: Arc<Notes>,
}

impl Harness {
    /// The case that the test runs in.
    pub fn case(&self) -> Case {
        self.case
    }

    /// The revision that is spoken, to know what to expect where revisions differ.
    pub fn revision(&self) -> Revision {
        self.case.revision
    }

    /// Whether servers can ask the user: the revision has words for it, and the carrier a way back.
    pub fn can_be_asked(&self) -> bool {
        self.case.revision.has_elicitation() && self.case.carrier.has_way_back()
    }

    /// Starts a server and connects a client to it, when awaited.
    pub fn connect(&self, server: Server) -> Connect {
        let client = Client::builder("harness", "1.0.0");
        Connect { harness: self.clone(), server, client, answer: None }
    }

    /// What servers have asked so far, in the order they did.
    pub fn questions(&self) -> Vec<String> {
        self.notes.questions().clone()
    }
}

/// A connection to be made; await it to have the client.
#[must_use = "await it to have the client"]
pub struct Connect {
    harness: Harness,
    server: Server,
    client: ClientBuilder,
    answer: Option<Answering>,
}

/// Answers questions in place of a user.
type Answering = Box<dyn Fn(&Question) -> Answer + Send + Sync>;

impl Connect {
    /// Says what the client is and does, by the methods of its builder.
    ///
    /// Its revision is that of the case.
    pub fn client(mut self, describe: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        self.client = describe(self.client);
        self
    }

    /// Lets the client answer what the server asks. Without it, the client cannot be asked.
    pub fn answering<A: Into<Answer>>(
        mut self,
        answer: impl Fn(&Question) -> A + Send + Sync + 'static,
    ) -> Self {
        self.answer = Some(Box::new(move |question| answer(question).into()));
        self
    }

    async fn make(self) -> Client {
        match self.harness.case.carrier {
            Carrier::Duplex => {
                let (near, far) = duplex();
                self.serve(far).open(near).await
            }
            Carrier::Socket => {
                let (near, far) = socket().await;
                let (near, far) = Flight::watch(near, far);
                self.serve(far).open(near).await
            }
            Carrier::Stdio => {
                let ((to_server, from_client), (to_client, from_server)) = (pipes(), pipes());
                let near = Lines::new(from_server, to_server);
                let (near, far) = Flight::watch(near, Lines::new(from_client, to_client));
                self.serve(far).open(near).await
            }
            #[cfg(feature = "http")]
            Carrier::Http => {
                let endpoint = built(self.server.http().sse2024().build());
                let near = http::reach(endpoint, self.harness.revision());
                self.open(near).await
            }
            #[cfg(feature = "http")]
            Carrier::Stateless => {
                let endpoint = built(self.server.http().sessions(Sessions::None).build());
                let near = http::reach(endpoint, self.harness.revision());
                self.open(near).await
            }
        }
    }

    fn serve(self, far: impl Transport) -> Self {
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

impl IntoFuture for Connect {
    type Output = Client;
    type IntoFuture = Pin<Box<dyn Future<Output = Client> + Send>>;

    /// # Panics
    ///
    /// If the server cannot be built, or the two cannot come to terms.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("server", &self.server).finish_non_exhaustive()
    }
}

/// What is written down during a test.
#[derive(Debug, Default)]
struct Notes {
    questions: Mutex<Vec<String>>,
    broken: Mutex<Vec<String>>,
}

impl Notes {
    fn questions(&self) -> MutexGuard<'_, Vec<String>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&self) -> MutexGuard<'_, Vec<String>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn built<T>(outcome: Result<T, BuildError>) -> T {
    match outcome {
        Ok(built) => built,
        Err(error) => panic!("the server cannot be built: {error}"),
    }
}

fn pipes() -> (pipe::Sender, pipe::Receiver) {
    pipe::pipe().expect("a pipe wants two descriptors")
}

/// Both ends of a connection through a socket in the file system.
async fn socket() -> (UnixTransport, UnixTransport) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let name = format!("bowline-{}-{number}.sock", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    let listener = listen(&path).await.expect("the socket's name is our own");
    let (near, far) = tokio::join!(UnixTransport::connect(&path), listener.accept());
    (near.expect("somebody listens"), far.expect("somebody connects"))
}
