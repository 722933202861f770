//! Runs a test of a server once for each era and transport.
//!
//! `#[bowline::test]` writes a `#[test]` for every [`Case`]; each calls [`run`] with the function.
//! The test connects a real client to a real server over that case's transport:
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
//! #     bowline_testing::Case::ALL.map(|case| bowline_testing::run(case, deploy_asks_first));
//! # }
//! ```
//!
//! Time is virtual: a tool that sleeps for an hour takes no time at all.

mod flight;

use std::fmt;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bowline::client::Answer;
use bowline::transport::duplex::duplex;
use bowline::transport::lines::Lines;
use bowline::transport::socket::{UnixTransport, listen};
use bowline::transport::transport::Transport;
use bowline::types::revision::Revision;
use bowline::{Client, Question, Server};
use tokio::net::unix::pipe;
use tokio::runtime::Builder;

use flight::Flight;

/// An era and a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Case {
    /// A handshake, over pipes as between a client and the server that it starts.
    LegacyStdio,
    /// Requests that stand alone, over pipes as between a client and the server that it starts.
    ModernStdio,
    /// A handshake, in memory.
    LegacyDuplex,
    /// Requests that stand alone, in memory.
    ModernDuplex,
    /// A handshake, over a Unix socket.
    LegacySocket,
    /// Requests that stand alone, over a Unix socket.
    ModernSocket,
}

impl Case {
    /// Every case.
    pub const ALL: [Self; 6] = [
        Self::LegacyStdio,
        Self::ModernStdio,
        Self::LegacyDuplex,
        Self::ModernDuplex,
        Self::LegacySocket,
        Self::ModernSocket,
    ];

    /// The revision that its client speaks: the newest of the era.
    pub fn revision(self) -> Revision {
        match self {
            Self::LegacyStdio | Self::LegacyDuplex | Self::LegacySocket => Revision::LATEST_LEGACY,
            Self::ModernStdio | Self::ModernDuplex | Self::ModernSocket => Revision::LATEST,
        }
    }
}

/// Runs a test in a runtime of its own with virtual time.
///
/// # Panics
///
/// If the test does, or if a server that it connected to broke down.
pub fn run<F, T>(case: Case, test: F) -> T::Output
where
    F: FnOnce(Harness) -> T,
    T: Future,
{
    let mut runtime = Builder::new_current_thread();
    let runtime =
        runtime.enable_all().start_paused(true).build().expect("a runtime wants a few descriptors");
    let notes = Arc::<Notes>::default();
    let outcome = runtime.block_on(test(Harness { case, notes: Arc::clone(&notes) }));
    drop(runtime);
    let broken = notes.broken();
    assert!(broken.is_empty(), "a server broke down: {}", broken.join("; "));
    outcome
}

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

    /// Starts a server and connects a client to it, when awaited.
    pub fn connect(&self, server: Server) -> Connect {
        Connect { harness: self.clone(), server, answer: None }
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
    answer: Option<Answering>,
}

/// Answers questions in place of a user.
type Answering = Box<dyn Fn(&Question) -> Answer + Send + Sync>;

impl Connect {
    /// Lets the client answer what the server asks. Without it, the client cannot be asked.
    pub fn answering<A: Into<Answer>>(
        mut self,
        answer: impl Fn(&Question) -> A + Send + Sync + 'static,
    ) -> Self {
        self.answer = Some(Box::new(move |question| answer(question).into()));
        self
    }

    async fn make(self) -> Client {
        match self.harness.case {
            Case::LegacyDuplex | Case::ModernDuplex => {
                let (near, far) = duplex();
                self.join(near, far).await
            }
            Case::LegacySocket | Case::ModernSocket => {
                let (near, far) = socket().await;
                let (near, far) = Flight::watch(near, far);
                self.join(near, far).await
            }
            Case::LegacyStdio | Case::ModernStdio => {
                let ((to_server, from_client), (to_client, from_server)) = (pipes(), pipes());
                let near = Lines::new(from_server, to_server);
                let (near, far) = Flight::watch(near, Lines::new(from_client, to_client));
                self.join(near, far).await
            }
        }
    }

    async fn join<N: Transport, F: Transport>(self, near: N, far: F) -> Client {
        if let Err(error) = self.server.build() {
            panic!("the server cannot be built: {error}");
        }
        let notes = Arc::clone(&self.harness.notes);
        let serving = self.server.serve(far);
        tokio::spawn(async move {
            if let Err(error) = serving.await {
                notes.broken().push(error.to_string());
            }
        });
        let mut builder =
            Client::builder("harness", "1.0.0").revisions([self.harness.case.revision()]);
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
