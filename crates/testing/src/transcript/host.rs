//! A complete client of an application, behind an in-memory stream.
//!
//! [`SansIoClient`](super::sans_io_client::SansIoClient) tests the connection, and the transcript has
//! the answers to questions. Here the handlers of the application answer them.
//!
//! It is built by the test with the same builder as an application's client. The transcript plays
//! the server, so it has the questions, and the answers that the handlers should give.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bowline::Client;
use bowline::client::ClientBuilder;
use bowline_proto::limits::Limits;
use bowline_transport::lines::Lines;
use bowline_types::deprecated::roots::Root;
use bowline_types::revision::Revision;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::play::{SentMessage, play};
use super::script::Side;
use super::side_under_test::{Output, SideUnderTest};
use super::update::update;
use super::{Failure, LIMIT, Transcript, client_placeholders, paused};
use crate::clock;
use crate::strict_peer::StrictPeer;

impl Transcript {
    /// Plays it against a complete client, and returns every message that was sent. `builder` makes a
    /// new client for each play.
    ///
    /// With `UPDATE=1` in the environment, a play that fails rewrites the file with the messages that
    /// the client really sends.
    ///
    /// # Errors
    ///
    /// If the client sends another message than expected, or none; and if the file cannot be written.
    pub fn play_host_or_update(
        &self,
        revision: Revision,
        builder: impl Fn() -> ClientBuilder,
    ) -> Result<Vec<SentMessage>, Failure> {
        let played = self.play_host(revision, builder());
        if played.is_ok() || !self.wants_update(revision) {
            return played;
        }
        let placeholders = client_placeholders(revision);
        let steps = self.steps(&placeholders)?;
        let updated = paused().block_on(clock::with_frozen_time(LIMIT, async {
            let mut host = self.connected(revision, builder());
            update(&self.text, Side::Client, &steps, &placeholders, &mut host).await
        }));
        let updated = updated.unwrap_or_else(|error| Err((0, error.to_string())));
        self.rewritten(&self.generalise(revision, updated)?)?.play_host(revision, builder())
    }

    fn play_host(
        &self,
        revision: Revision,
        builder: ClientBuilder,
    ) -> Result<Vec<SentMessage>, Failure> {
        let steps = self.steps(&client_placeholders(revision))?;
        let played = paused().block_on(clock::with_frozen_time(LIMIT, async {
            play(Side::Client, &steps, self.connected(revision, builder)).await
        }));
        let played = played.unwrap_or_else(|error| Err((0, error.to_string())));
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    /// Starts a client with the limits of the file.
    fn connected(&self, revision: Revision, builder: ClientBuilder) -> Host {
        Host::connect(builder, revision, self.limits(Limits::default()))
    }
}

/// The capacity of the stream in each direction, in bytes; more than any message of a transcript.
const CAPACITY: usize = 64 * 1024;

/// A complete client. The transcript plays its server. Calls run in tasks; their ends come as
/// events.
pub(crate) struct Host {
    server: StrictPeer,
    /// Set when the client is connected.
    client: Arc<OnceLock<Client>>,
    /// Sends events of the client to `events`.
    report: UnboundedSender<String>,
    events: UnboundedReceiver<String>,
}

impl Host {
    /// Starts to connect a client. Needs frozen time.
    pub(crate) fn connect(builder: ClientBuilder, revision: Revision, limits: Limits) -> Self {
        let (near, far) = tokio::io::duplex(CAPACITY);
        let (report, events) = unbounded_channel();
        let client = Arc::<OnceLock<Client>>::default();
        let (completed, diagnostics) = (report.clone(), report.clone());
        // Sending fails only when the play is over.
        let builder = builder
            .revisions([revision])
            .limits(limits)
            .on_elicitation_complete(move |name| _ = completed.send(format!("completed {name}")))
            .on_diagnostic(move |what| _ = diagnostics.send(format!("diagnostic {what}")));
        let (connected, reporter) = (Arc::clone(&client), report.clone());
        tokio::spawn(async move {
            let (source, sink) = tokio::io::split(near);
            let event = match builder.connect(Lines::new(source, sink)).await {
                Ok(client) => {
                    let event = format!("ready \"{}\"", client.revision());
                    _ = connected.set(client);
                    event
                }
                Err(error) => format!("failed {error}"),
            };
            _ = reporter.send(event);
        });
        Self { server: StrictPeer::new(far), client, report, events }
    }

    /// Fails before the negotiation has ended.
    fn client(&self) -> Result<Client, String> {
        self.client.get().cloned().ok_or_else(|| "the client has not connected yet".to_owned())
    }

    /// Performs `call NUMBER TOOL {arguments}`.
    fn call(&self, rest: &str) -> Result<(), String> {
        let mut words = rest.splitn(3, ' ');
        let (number, tool) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_owned());
        let arguments = words.next().unwrap_or("{}");
        let arguments: Value =
            serde_json::from_str(arguments).map_err(|error| format!("`{arguments}`: {error}"))?;
        let (client, report, number) = (self.client()?, self.report.clone(), number.to_owned());
        tokio::spawn(async move {
            let event = match client.call(&tool, arguments).await {
                Ok(result) => format!("answered {number} {}", result.text()),
                Err(error) => format!("unanswered {number} {error}"),
            };
            _ = report.send(event);
        });
        Ok(())
    }

    /// Performs `roots URI …`.
    fn set_roots(&self, rest: &str) -> Result<(), String> {
        let roots: Result<Vec<_>, _> = rest.split_whitespace().map(Root::new).collect();
        let roots = roots.map_err(|error| format!("`{rest}`: {error}"))?;
        self.client()?.set_roots(roots).map_err(|error| error.to_string())
    }
}

impl SideUnderTest for Host {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = self.server.write(bytes).await;
        sent.map_err(|error| format!("the client is gone: {error}"))
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        match action.split_once(' ').unwrap_or((action, "")) {
            ("call", rest) => self.call(rest),
            ("roots", rest) => self.set_roots(rest),
            (verb, _) => {
                Err(format!("unknown action `{verb}`; a host can `call` and set its `roots`"))
            }
        }
    }

    async fn advance(&mut self, time: Duration) {
        clock::advance(time).await;
    }

    async fn close(&mut self) -> Result<(), String> {
        self.server.close().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Output) -> bool) -> Option<Output> {
        if let Some(output) = self.try_next().await {
            return Some(output);
        }
        tokio::select! {
            message = self.server.line() => message.map(Output::Message),
            event = self.events.recv() => event.map(Output::Event),
        }
    }

    async fn try_next(&mut self) -> Option<Output> {
        if let Some(message) = self.server.try_next().await {
            return Some(Output::Message(message));
        }
        self.events.try_recv().ok().map(Output::Event)
    }

    async fn finish(&mut self) -> Result<Vec<Output>, String> {
        let mut rest = Vec::new();
        while let Some(output) = self.try_next().await {
            rest.push(output);
        }
        Ok(rest)
    }
}
