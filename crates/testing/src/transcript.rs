//! Wire transcripts: files with the messages of client and server, which are played and compared.
//!
//! ```text
//! # A call to a tool that does not exist is an error of the request, not of the tool.
//! revision: 2026-07-28
//!
//! > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","_meta":@client}}
//! < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no tool is named `nope`"}}
//! ```
//!
//! A test plays a file against a server of yours:
//!
//! ```no_run
//! use bowline::{Server, Tool};
//! use bowline_testing::ServerUnderTest;
//! use bowline_testing::transcript::{Setup, Transcript};
//!
//! let server = Server::new("greeter", "1.0.0").tool(Tool::new("greet", || async { "Hello" }));
//! let server = ServerUnderTest::build(&server).unwrap();
//! let transcript = Transcript::read("tests/unknown_tool.mcp").unwrap();
//! for revision in transcript.revisions() {
//!     transcript.play(*revision, &server, Setup::SansIo).unwrap();
//!     transcript.play(*revision, &server, Setup::Duplex).unwrap();
//! }
//! ```
//!
//! Lines that begin with `>` are messages of the client, those with `<` messages of the server. The
//! play sends the messages of one side. The other side, which is under test, must send exactly the
//! other messages in this order, and no more.
//! A file is played once for each revision in its header, in every [`Setup`].
//!
//! | line | meaning |
//! |---|---|
//! | `# …` | the first one is the title of the file; later ones are comments |
//! | `revision: 2025-03-26 2025-06-18` | the revisions to play in; `legacy` means all with a handshake |
//! | `spec: TOOL-33` | the rules that the file tests, for `cargo xtask ledger` |
//! | `server: kit` | the server to use, if the test has several |
//! | `side: client` | the client is under test, not the server |
//! | `limits: frame=200` | limits that differ from the default |
//! | `@initialize` | the whole handshake of the revision; `@initialize{elicitation}` declares capabilities |
//! | `<~ {…}` | a message in any order with adjacent lines of this kind |
//! | `<http 400 {…}` | over HTTP, the server sends this instead of the `<` lines beside it; the status is optional |
//! | `> raw {}\r\n` | bytes with escapes (`\n`, `\r`, `\t`, `\\`, `\xFF`), without an added newline |
//! | `> end` | the client closes its direction of the connection, which it also does after the last line |
//! | `.. 10s` | virtual time advances |
//! | `! stop` | the server is stopped |
//!
//! Messages may have these placeholders: `@client` is the `_meta` of a request of 2026-07-28,
//! `@server` the `_meta` of its result, `@revision` the revision of the play, and `@any` any JSON
//! value. `@name`, with any other name, is any value the first time and the same value afterwards.
//!
//! Files about a client (`side: client`) have two more kinds of lines: `! …` is an action of its user,
//! `= …` an event that the user gets. In each step the messages of the client come before the events:
//!
//! | line | meaning |
//! |---|---|
//! | `! call 1 tools/call {"name":"echo"}` | makes a call with a number for this file; `+progress` asks for progress, `+log:info` for log messages |
//! | `! notify notifications/roots/list_changed` | sends a notification |
//! | `! cancel 1` | cancels the call |
//! | `! answer 1 {"action":"decline"}`, `! refuse 1 MESSAGE` | answers the server's first question, with a result or an error |
//! | `! close` | closes the connection |
//! | `= ready "2026-07-28"`, `= failed …` | how the handshake or discovery ended |
//! | `= answered 1 {…}`, `= unanswered 1 …` | how a call ended |
//! | `= progress 1 {…}`, `= asked 1 METHOD {…}`, `= unasked 1`, `= log {…}`, `= change …`, `= diagnostic …` | what happens meanwhile |
//!
//! With `host: NAME` in its header, the client is a complete one of an application with that name,
//! whose handlers answer questions. Its actions are `! call 1 TOOL {…}` and `! roots file:///…`.
//!
//! Over HTTP (feature `http`) each message of the client is a POST, as its revision defines it. The
//! messages of one stream keep their order; between streams there is no order, so the file has to be
//! one of the orders in which the messages can arrive. Every response must have the status that fits
//! its body. Where the server answers differently over HTTP, the file has lines with `<http`;
//! `UPDATE=1` leaves them as they are.
//!
//! With `UPDATE=1` in the environment, [`Transcript::play_or_update`] writes the messages that the side
//! under test really sends into the file. Read the difference before you keep it.

mod channel_server;
mod host;
#[cfg(feature = "http")]
mod http;
mod identity;
mod play;
mod sans_io_client;
mod sans_io_server;
mod script;
mod side_under_test;
pub(crate) mod template;
mod update;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use bowline_proto::limits::Limits;
use bowline_types::implementation::Implementation;
use bowline_types::meta::key;
use bowline_types::revision::Revision;
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "http")]
use self::http::HttpServer;
use channel_server::ChannelServer;
use play::{Step, play, steps, without_http};
use sans_io_client::SansIoClient;
use sans_io_server::SansIoServer;
use script::Script;
use side_under_test::SideUnderTest;
use template::Placeholders;

pub use play::{Failure, SentMessage};
pub use script::Side;

use crate::clock::with_frozen_time;
use crate::server_under_test::ServerUnderTest;

/// How long a play may take in real time.
const LIMIT: Duration = Duration::from_secs(60);

/// A file with the messages of client and server; see the [module](self).
///
/// Parsed once and played many times: for each revision and setup. A play never changes it.
#[derive(Clone, Debug)]
pub struct Transcript {
    path: PathBuf,
    text: String,
    script: Script,
}

/// How the server under test runs, and how the play reaches it.
///
/// The first is the most precise, the others show that a transport changes nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum Setup {
    /// On a sans-IO connection, without a transport. Only here a message that comes too early fails.
    SansIo,
    /// Behind an in-memory stream that splits messages into pieces.
    Duplex,
    /// Behind a Unix socket.
    Socket,
    /// In a process that serves over its standard input and output.
    Process(Command),
    /// Behind HTTP at a loopback socket.
    #[cfg(feature = "http")]
    Http {
        /// How long to wait for an expected message, in real time.
        patience: Duration,
    },
}

impl Transcript {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a line is not valid.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, Failure> {
        let path = path.into();
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, text),
            Err(error) => {
                Err(Failure { path, line: 0, reason: format!("cannot be read: {error}") })
            }
        }
    }

    /// Parses the text of a file. `path` is for error messages and updates.
    ///
    /// # Errors
    ///
    /// If a line is not valid.
    pub fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, Failure> {
        let (path, text) = (path.into(), text.into());
        match Script::parse(&text) {
            Ok(script) => Ok(Self { path, text, script }),
            Err(reason) => Err(Failure { path, line: 0, reason }),
        }
    }

    /// Finds every file `*.mcp` below a directory, sorted by path.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn find(directory: impl AsRef<Path>) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                found.extend(Self::find(&path)?);
            } else if path.extension().is_some_and(|extension| extension == "mcp") {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first comment: one sentence on what the file shows.
    pub fn title(&self) -> &str {
        &self.script.title
    }

    /// The revisions that it is played in.
    pub fn revisions(&self) -> &[Revision] {
        &self.script.revisions
    }

    /// The side under test.
    pub fn side(&self) -> Side {
        self.script.side
    }

    /// The header `server:`, the name of the server to use.
    pub fn server(&self) -> Option<&str> {
        self.script.server.as_deref()
    }

    /// The header `host:`, the name of the application whose client is under test.
    pub fn host(&self) -> Option<&str> {
        self.script.host.as_deref()
    }

    /// The default limits with the changes of the header `limits:`.
    pub fn limits(&self, usual: Limits) -> Limits {
        // `Script::parse` has checked them.
        self.script.limits(usual.clone()).unwrap_or(usual)
    }

    /// Whether it can be played with [`Setup::Process`]: not if it advances time or stops the
    /// server, because neither can be done from another process. Transcripts about clients do not
    /// fit either.
    pub fn fits_process(&self) -> bool {
        let from_inside = |line: &script::Line| {
            matches!(line.kind, script::LineKind::Advance(_) | script::LineKind::Action(_))
        };
        self.script.side == Side::Server && !self.script.lines.iter().any(from_inside)
    }

    /// Plays it against a server, and returns every message of both sides.
    ///
    /// # Errors
    ///
    /// If the server sends another message than expected, or none.
    pub fn play(
        &self,
        revision: Revision,
        server: &ServerUnderTest,
        setup: Setup,
    ) -> Result<Vec<SentMessage>, Failure> {
        let server = self.limited(server);
        let placeholders = server_placeholders(revision, &server);
        let steps = self.steps(&placeholders)?;
        let played = match setup {
            Setup::SansIo => {
                paused().block_on(play(Side::Server, &steps, SansIoServer::new(server)))
            }
            Setup::Duplex => paused().block_on(
                self.play_in_frozen_time(&steps, async { Ok(ChannelServer::duplex(server)) }),
            ),
            Setup::Socket => paused().block_on(
                self.play_in_frozen_time(&steps, async { ChannelServer::socket(server) }),
            ),
            Setup::Process(command) => real().block_on(
                self.play_in_frozen_time(&steps, async { ChannelServer::process(command) }),
            ),
            #[cfg(feature = "http")]
            Setup::Http { patience } => {
                let steps = self.steps_over_http(&placeholders)?;
                paused().block_on(
                    self.play_in_frozen_time(&steps, HttpServer::open(server, revision, patience)),
                )
            }
        };
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    /// Plays it against a sans-IO client, and returns every message of both sides.
    ///
    /// # Errors
    ///
    /// If the client sends another message than expected, or none.
    pub fn play_client(&self, revision: Revision) -> Result<Vec<SentMessage>, Failure> {
        let steps = self.steps(&client_placeholders(revision))?;
        let client = self.client(revision)?;
        let played = paused().block_on(play(Side::Client, &steps, client));
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    /// Plays it on a sans-IO connection. If a server is under test, `server` makes a new one for each
    /// play.
    ///
    /// With `UPDATE=1` in the environment, a play that fails rewrites the file with the messages that
    /// the side under test really sends.
    ///
    /// # Errors
    ///
    /// As [`play`](Self::play) and [`play_client`](Self::play_client); and if the file cannot be
    /// written.
    pub fn play_or_update(
        &self,
        revision: Revision,
        server: impl Fn() -> ServerUnderTest,
    ) -> Result<Vec<SentMessage>, Failure> {
        let played = self.play_machine(revision, &server);
        if played.is_ok() || !self.wants_update(revision) {
            return played;
        }
        let text = self.updated(revision, &server)?;
        self.rewritten(&text)?.play_machine(revision, &server)
    }

    /// Returns the text of the file with the messages that the side under test really sends. Lines that
    /// match stay as they are.
    ///
    /// # Errors
    ///
    /// If a line cannot be played.
    pub fn updated(
        &self,
        revision: Revision,
        server: impl Fn() -> ServerUnderTest,
    ) -> Result<String, Failure> {
        let updated = match self.script.side {
            Side::Server => {
                let server = self.limited(&server());
                let placeholders = server_placeholders(revision, &server);
                let (steps, mut tested) = (self.steps(&placeholders)?, SansIoServer::new(server));
                paused().block_on(update::update(
                    &self.text,
                    Side::Server,
                    &steps,
                    &placeholders,
                    &mut tested,
                ))
            }
            Side::Client => {
                let placeholders = client_placeholders(revision);
                let (steps, mut tested) = (self.steps(&placeholders)?, self.client(revision)?);
                paused().block_on(update::update(
                    &self.text,
                    Side::Client,
                    &steps,
                    &placeholders,
                    &mut tested,
                ))
            }
        };
        self.generalise(revision, updated)
    }

    /// Whether the file is to be rewritten by a play in this revision.
    fn wants_update(&self, revision: Revision) -> bool {
        let wanted = env::var_os("UPDATE").is_some_and(|value| value == "1");
        wanted && self.script.revisions.first() == Some(&revision)
    }

    /// Makes a text that was updated in one revision valid for all revisions of the file. Only
    /// lines that the update has written are changed.
    fn generalise(
        &self,
        revision: Revision,
        updated: Result<String, (usize, String)>,
    ) -> Result<String, Failure> {
        let text = updated.map_err(|(line, reason)| self.failure(line, reason))?;
        let several = self.script.revisions.len() > 1;
        Ok(if several { update::generalised(&text, revision, &self.text) } else { text })
    }

    /// Writes a new text into the file and parses it.
    fn rewritten(&self, text: &str) -> Result<Self, Failure> {
        fs::write(&self.path, text)
            .map_err(|error| self.failure(0, format!("cannot be written: {error}")))?;
        Self::read(&self.path)
    }

    fn play_machine(
        &self,
        revision: Revision,
        server: impl Fn() -> ServerUnderTest,
    ) -> Result<Vec<SentMessage>, Failure> {
        match self.script.side {
            Side::Client => self.play_client(revision),
            Side::Server => self.play(revision, &server(), Setup::SansIo),
        }
    }

    fn limited(&self, server: &ServerUnderTest) -> ServerUnderTest {
        let usual = server.config().limits().clone();
        server.clone().with_limits(self.limits(usual))
    }

    /// Plays while time is frozen, unless the transcript advances it. A play that takes longer than
    /// [`LIMIT`] in real time fails, so a server that hangs does not block the tests.
    async fn play_in_frozen_time<S: SideUnderTest>(
        &self,
        steps: &[Step],
        open: impl Future<Output = Result<S, String>>,
    ) -> Result<Vec<SentMessage>, (usize, String)> {
        let playing = async {
            let tested = open.await.map_err(|reason| (0, reason))?;
            play(Side::Server, steps, tested).await
        };
        let played = with_frozen_time(LIMIT, playing).await;
        played.unwrap_or_else(|error| Err((0, error.to_string())))
    }

    fn client(&self, revision: Revision) -> Result<SansIoClient, Failure> {
        let limits = self.limits(Limits::default());
        let client = SansIoClient::new(revision, &self.script.client, limits);
        client.map_err(|reason| self.failure(0, reason))
    }

    fn steps(&self, placeholders: &Placeholders) -> Result<Vec<Step>, Failure> {
        let steps = steps(&self.script, placeholders).map_err(|reason| self.failure(0, reason))?;
        Ok(without_http(steps))
    }

    #[cfg(feature = "http")]
    fn steps_over_http(&self, placeholders: &Placeholders) -> Result<Vec<Step>, Failure> {
        let steps = steps(&self.script, placeholders).map_err(|reason| self.failure(0, reason))?;
        Ok(play::over_http(&steps))
    }

    fn failure(&self, line: usize, reason: String) -> Failure {
        Failure { path: self.path.clone(), line, reason }
    }
}

fn server_placeholders(revision: Revision, server: &ServerUnderTest) -> Placeholders {
    Placeholders { revision, server: stamp(server.config().info()) }
}

/// The placeholders of a file about a client.
fn client_placeholders(revision: Revision) -> Placeholders {
    Placeholders { revision, server: stamp(&Implementation::new("scripted", "1.0.0")) }
}

/// The `_meta` that a server adds to its results.
fn stamp(server: &Implementation) -> String {
    // Serializing a name and a version cannot fail.
    let info = serde_json::to_string(server).unwrap_or_default();
    format!("{{\"{}\":{info}}}", key::SERVER_INFO)
}

fn paused() -> Runtime {
    runtime(Builder::new_current_thread().enable_all().start_paused(true))
}

fn real() -> Runtime {
    runtime(Builder::new_current_thread().enable_all())
}

fn runtime(builder: &mut Builder) -> Runtime {
    builder.build().expect("file descriptors for a runtime are available")
}
