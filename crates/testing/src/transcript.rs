//! Wire transcripts: what client and server say to each other, as files that are played.
//!
//! ```text
//! # A call to a tool that does not exist is an error of the request, not of the tool.
//! revision: 2026-07-28
//!
//! > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","_meta":@client}}
//! < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no tool is named `nope`"}}
//! ```
//!
//! Lines that begin with `>` are said by the client, those with `<` by the server. What the side
//! under test says must come in this order and as exactly this text, and nothing else may come.
//! A file is played once for each revision in its header, on every [`Stage`].
//!
//! | line | what it does |
//! |---|---|
//! | `# …` | the first says what the file shows; later ones are comments |
//! | `revision: 2025-03-26 2025-06-18` | the revisions to play in; `legacy` means all with a handshake |
//! | `server: kit` | which server to talk to, if there are several |
//! | `side: client` | the client is under test, not the server |
//! | `limits: frame=200` | bounds that differ from the usual ones |
//! | `@initialize` | the whole handshake of the revision; `@initialize{elicitation}` declares more |
//! | `<~ {…}` | a message that may change places with its neighbours of this kind |
//! | `<http 400 {…}` | over HTTP this comes in place of the messages beside it, with this status if it has one |
//! | `> raw {}\r\n` | bytes with escapes (`\n`, `\r`, `\t`, `\\`, `\xFF`), without a line end of their own |
//! | `> end` | the client closes its end, which it also does after the last line |
//! | `.. 10s` | virtual time goes by |
//! | `! stop` | the server is stopped |
//!
//! In messages `@client`, `@server`, `@revision`, `@any` and `@name` stand for values: what a
//! request of 2026-07-28 says in `_meta`, what the server stamps its results with, the revision,
//! any value at all, and any value the first time but the same one from then on.
//!
//! Files about a client (`side: client`) have two more kinds of lines: `! …` is what its user does,
//! `= …` what its user learns. What the client says comes first, then what its user learns:
//!
//! | line | what it means |
//! |---|---|
//! | `! call 1 tools/call {"name":"echo"}` | makes a call under a number of ours; `+progress` asks for progress, `+log:info` for log messages |
//! | `! notify notifications/roots/list_changed` | tells the server something that wants no answer |
//! | `! cancel 1` | gives the call up |
//! | `! answer 1 {"action":"decline"}`, `! refuse 1 MESSAGE` | answers the first question, or cannot |
//! | `! close` | closes the connection |
//! | `= ready "2026-07-28"`, `= failed …` | how first contact ended |
//! | `= answered 1 {…}`, `= unanswered 1 …` | how a call ended |
//! | `= progress 1 {…}`, `= asked 1 METHOD {…}`, `= unasked 1`, `= log {…}`, `= change …`, `= odd …` | what happens meanwhile |
//!
//! With `host: NAME` in its header the client is a whole one with an application behind it, which
//! answers questions by itself. Its user can `! call 1 TOOL {…}` and `! roots file:///…`, and learns
//! how that ends.
//!
//! Over HTTP (feature `http`) each message of the client is a POST, in the way of its revision.
//! Streams keep their order; between streams there is none, so the file has to be one of the orders in
//! which the messages can come. Every answer has the status that its content wants. Where HTTP has an
//! answer of its own, the file says so with `<http`; `UPDATE=1` leaves these lines alone.
//!
//! With `UPDATE=1` in the environment, [`Transcript::play_or_update`] writes what is really said
//! into the file. Read the difference before you keep it.

mod channel;
mod client;
mod host;
#[cfg(feature = "http")]
mod http;
mod identity;
mod machine;
mod play;
mod script;
mod stage;
mod text;
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
use self::http::Http;
use channel::Channel;
use client::ClientMachine;
use machine::Machine;
use play::{Step, but_over_http, play, steps};
use script::Script;
use stage::Stage as Played;
use text::Words;

pub use play::{Failure, Message};
pub use script::Side;
pub(crate) use text::{Text, Values};

use crate::clock::hold_still;
use crate::subject::Subject;

/// How long a play may take in real time.
const LIMIT: Duration = Duration::from_secs(60);

/// A file that tells what client and server say to each other.
#[derive(Clone, Debug)]
pub struct Transcript {
    path: PathBuf,
    text: String,
    script: Script,
}

/// What a transcript is played on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stage {
    /// The connection as a machine, without any channel: nothing may come too early here.
    Machine,
    /// A channel in memory that cuts messages to pieces.
    Duplex,
    /// A Unix socket.
    Socket,
    /// A process that serves over its standard input and output, as the transcript says.
    Process(Command),
    /// HTTP at a loopback socket.
    #[cfg(feature = "http")]
    Http {
        /// How long to wait, in real time, for what is expected.
        patience: Duration,
    },
}

impl Transcript {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If there is none, or a line of it makes no sense.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, Failure> {
        let path = path.into();
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, text),
            Err(error) => {
                Err(Failure { path, line: 0, reason: format!("cannot be read: {error}") })
            }
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If a line of it makes no sense.
    pub fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, Failure> {
        let (path, text) = (path.into(), text.into());
        match Script::parse(&text) {
            Ok(script) => Ok(Self { path, text, script }),
            Err(reason) => Err(Failure { path, line: 0, reason }),
        }
    }

    /// Finds every file below a directory whose name ends in `.mcp`, in the order of their names.
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

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        &self.script.title
    }

    /// The revisions that it is played in.
    pub fn revisions(&self) -> &[Revision] {
        &self.script.revisions
    }

    /// Who is under test.
    pub fn side(&self) -> Side {
        self.script.side
    }

    /// The server that it wants to talk to, if it says.
    pub fn server(&self) -> Option<&str> {
        self.script.server.as_deref()
    }

    /// The application whose client is under test, if it says.
    pub fn host(&self) -> Option<&str> {
        self.script.host.as_deref()
    }

    /// The limits that it wants to be played within.
    pub fn limits(&self, usual: Limits) -> Limits {
        // They were checked when the file was read.
        self.script.limits(usual.clone()).unwrap_or(usual)
    }

    /// Whether it can be played against a process: not if it moves the clock or stops the server,
    /// neither of which can be done from outside.
    pub fn fits_process(&self) -> bool {
        let from_inside =
            |line: &script::Line| matches!(line.said, script::Said::Pass(_) | script::Said::Do(_));
        self.script.side == Side::Server && !self.script.lines.iter().any(from_inside)
    }

    /// Plays it with a server, and gives every message that was said.
    ///
    /// # Errors
    ///
    /// If the server says something else, something more or nothing.
    pub fn play(
        &self,
        revision: Revision,
        subject: &Subject,
        stage: Stage,
    ) -> Result<Vec<Message>, Failure> {
        let subject = self.limited(subject);
        let words = words(revision, &subject);
        let steps = self.steps(&words)?;
        let played = match stage {
            Stage::Machine => paused().block_on(play(Side::Server, &steps, Machine::new(subject))),
            Stage::Duplex => {
                paused().block_on(self.held(&steps, async { Ok(Channel::duplex(subject)) }))
            }
            Stage::Socket => {
                paused().block_on(self.held(&steps, async { Channel::socket(subject) }))
            }
            Stage::Process(command) => {
                real().block_on(self.held(&steps, async { Channel::process(command) }))
            }
            #[cfg(feature = "http")]
            Stage::Http { patience } => {
                let steps = self.steps_over_http(&words)?;
                paused().block_on(self.held(&steps, Http::open(subject, revision, patience)))
            }
        };
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    /// Plays it with a client as a machine, and gives every message that was said.
    ///
    /// # Errors
    ///
    /// If the client says something else, something more or nothing.
    pub fn play_client(&self, revision: Revision) -> Result<Vec<Message>, Failure> {
        let steps = self.steps(&client_words(revision))?;
        let client = self.client(revision)?;
        let played = paused().block_on(play(Side::Client, &steps, client));
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    /// Plays it as a machine; with `UPDATE=1` in the environment, writes what is really said into
    /// the file first. Where a server is under test, `subject` makes a new one for each play.
    ///
    /// # Errors
    ///
    /// As [`play`](Self::play) and [`play_client`](Self::play_client); and if the file cannot be
    /// written.
    pub fn play_or_update(
        &self,
        revision: Revision,
        subject: impl Fn() -> Subject,
    ) -> Result<Vec<Message>, Failure> {
        let played = self.play_machine(revision, &subject);
        if played.is_ok() || !self.wants_update(revision) {
            return played;
        }
        let text = self.updated(revision, &subject)?;
        self.rewritten(&text)?.play_machine(revision, &subject)
    }

    /// The text of the file with what is really said in it. Lines that are right stay as they are.
    ///
    /// # Errors
    ///
    /// If a line cannot be said or done.
    pub fn updated(
        &self,
        revision: Revision,
        subject: impl Fn() -> Subject,
    ) -> Result<String, Failure> {
        let updated = match self.script.side {
            Side::Server => {
                let subject = self.limited(&subject());
                let words = words(revision, &subject);
                let (steps, mut stage) = (self.steps(&words)?, Machine::new(subject));
                paused().block_on(update::update(
                    &self.text,
                    Side::Server,
                    &steps,
                    &words,
                    &mut stage,
                ))
            }
            Side::Client => {
                let words = client_words(revision);
                let (steps, mut stage) = (self.steps(&words)?, self.client(revision)?);
                paused().block_on(update::update(
                    &self.text,
                    Side::Client,
                    &steps,
                    &words,
                    &mut stage,
                ))
            }
        };
        self.general(revision, updated)
    }

    /// Whether the file is to be written anew, from what is said in this revision.
    fn wants_update(&self, revision: Revision) -> bool {
        let wanted = env::var_os("UPDATE").is_some_and(|value| value == "1");
        wanted && self.script.revisions.first() == Some(&revision)
    }

    /// A text that was updated in one revision, for all that the file names.
    fn general(
        &self,
        revision: Revision,
        updated: Result<String, (usize, String)>,
    ) -> Result<String, Failure> {
        let text = updated.map_err(|(line, reason)| self.failure(line, reason))?;
        let several = self.script.revisions.len() > 1;
        Ok(if several { update::generalised(&text, revision, &self.text) } else { text })
    }

    /// Writes another text into the file, and reads it again.
    fn rewritten(&self, text: &str) -> Result<Self, Failure> {
        fs::write(&self.path, text)
            .map_err(|error| self.failure(0, format!("cannot be written: {error}")))?;
        Self::read(&self.path)
    }

    fn play_machine(
        &self,
        revision: Revision,
        subject: impl Fn() -> Subject,
    ) -> Result<Vec<Message>, Failure> {
        match self.script.side {
            Side::Client => self.play_client(revision),
            Side::Server => self.play(revision, &subject(), Stage::Machine),
        }
    }

    fn limited(&self, subject: &Subject) -> Subject {
        let usual = subject.config().limits().clone();
        subject.clone().with_limits(self.limits(usual))
    }

    /// Plays on a channel, while time stands still unless the transcript moves it.
    async fn held<S: Played>(
        &self,
        steps: &[Step],
        open: impl Future<Output = Result<S, String>>,
    ) -> Result<Vec<Message>, (usize, String)> {
        let playing = async {
            let stage = open.await.map_err(|reason| (0, reason))?;
            play(Side::Server, steps, stage).await
        };
        let played = hold_still(LIMIT, playing).await;
        played.unwrap_or_else(|stuck| Err((0, stuck.to_string())))
    }

    fn client(&self, revision: Revision) -> Result<ClientMachine, Failure> {
        let limits = self.limits(Limits::default());
        let client = ClientMachine::new(revision, &self.script.client, limits);
        client.map_err(|reason| self.failure(0, reason))
    }

    fn steps(&self, words: &Words) -> Result<Vec<Step>, Failure> {
        let steps = steps(&self.script, words).map_err(|reason| self.failure(0, reason))?;
        Ok(but_over_http(steps))
    }

    #[cfg(feature = "http")]
    fn steps_over_http(&self, words: &Words) -> Result<Vec<Step>, Failure> {
        let steps = steps(&self.script, words).map_err(|reason| self.failure(0, reason))?;
        Ok(play::over_http(&steps))
    }

    fn failure(&self, line: usize, reason: String) -> Failure {
        Failure { path: self.path.clone(), line, reason }
    }
}

fn words(revision: Revision, subject: &Subject) -> Words {
    Words { revision, server: stamp(subject.config().info()) }
}

/// What servers call themselves in files about clients.
fn client_words(revision: Revision) -> Words {
    Words { revision, server: stamp(&Implementation::new("scripted", "1.0.0")) }
}

/// `_meta` with which a server stamps its results.
fn stamp(server: &Implementation) -> String {
    // A name and a version can always be written.
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
    builder.build().expect("a runtime wants nothing but a few descriptors")
}
