//! A whole client behind a channel: the application answers what it is asked by its own handlers.
//!
//! Where [`ClientMachine`](super::client::ClientMachine) shows what the connection does with answers,
//! this shows what becomes of a question on its way through the handlers and back.

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

use super::play::{Message, play};
use super::script::Side;
use super::stage::{Heard, Stage};
use super::update::update;
use super::{Failure, LIMIT, Transcript, client_words, paused};
use crate::clock;
use crate::strict::Strict;

impl Transcript {
    /// Plays it with a whole client, which `builder` makes anew for each play, and gives every
    /// message that was said; with `UPDATE=1` in the environment, writes what is really said into
    /// the file first.
    ///
    /// # Errors
    ///
    /// If the client says something else, something more or nothing; and if the file cannot be
    /// written.
    pub fn play_host_or_update(
        &self,
        revision: Revision,
        builder: impl Fn() -> ClientBuilder,
    ) -> Result<Vec<Message>, Failure> {
        let played = self.play_host(revision, builder());
        if played.is_ok() || !self.wants_update(revision) {
            return played;
        }
        let words = client_words(revision);
        let steps = self.steps(&words)?;
        let updated = paused().block_on(clock::hold_still(LIMIT, async {
            let mut host = self.connected(revision, builder());
            update(&self.text, Side::Client, &steps, &words, &mut host).await
        }));
        let updated = updated.unwrap_or_else(|stuck| Err((0, stuck.to_string())));
        self.rewritten(&self.general(revision, updated)?)?.play_host(revision, builder())
    }

    fn play_host(
        &self,
        revision: Revision,
        builder: ClientBuilder,
    ) -> Result<Vec<Message>, Failure> {
        let steps = self.steps(&client_words(revision))?;
        let played = paused().block_on(clock::hold_still(LIMIT, async {
            play(Side::Client, &steps, self.connected(revision, builder)).await
        }));
        let played = played.unwrap_or_else(|stuck| Err((0, stuck.to_string())));
        played.map_err(|(line, reason)| self.failure(line, reason))
    }

    fn connected(&self, revision: Revision, builder: ClientBuilder) -> Host {
        Host::connect(builder, revision, self.limits(Limits::default()))
    }
}

/// What one direction of the channel holds; more than any message of a transcript.
const CAPACITY: usize = 64 * 1024;

/// A client with an application, and its server written down.
pub(crate) struct Host {
    server: Strict,
    /// Set once both sides agree.
    client: Arc<OnceLock<Client>>,
    tell: UnboundedSender<String>,
    told: UnboundedReceiver<String>,
}

impl Host {
    /// Lets a client connect. Wants paused time that is held still.
    pub(crate) fn connect(builder: ClientBuilder, revision: Revision, limits: Limits) -> Self {
        let (near, far) = tokio::io::duplex(CAPACITY);
        let (tell, told) = unbounded_channel();
        let client = Arc::<OnceLock<Client>>::default();
        let (completed, odd) = (tell.clone(), tell.clone());
        // Nobody listens any more once the play is over.
        let builder = builder
            .revisions([revision])
            .limits(limits)
            .on_elicitation_complete(move |name| _ = completed.send(format!("completed {name}")))
            .on_odd(move |what| _ = odd.send(format!("odd {what}")));
        let (connected, events) = (Arc::clone(&client), tell.clone());
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
            _ = events.send(event);
        });
        Self { server: Strict::new(far), client, tell, told }
    }

    fn client(&self) -> Result<Client, String> {
        self.client.get().cloned().ok_or_else(|| "the client has not connected yet".to_owned())
    }

    /// `NUMBER TOOL {arguments}`.
    fn call(&self, rest: &str) -> Result<(), String> {
        let mut words = rest.splitn(3, ' ');
        let (number, tool) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_owned());
        let arguments = words.next().unwrap_or("{}");
        let arguments: Value =
            serde_json::from_str(arguments).map_err(|error| format!("`{arguments}`: {error}"))?;
        let (client, tell, number) = (self.client()?, self.tell.clone(), number.to_owned());
        tokio::spawn(async move {
            let event = match client.call(&tool, arguments).await {
                Ok(result) => format!("answered {number} {}", result.text()),
                Err(error) => format!("unanswered {number} {error}"),
            };
            _ = tell.send(event);
        });
        Ok(())
    }

    fn set_roots(&self, rest: &str) -> Result<(), String> {
        let roots: Result<Vec<_>, _> = rest.split_whitespace().map(Root::new).collect();
        let roots = roots.map_err(|error| format!("`{rest}`: {error}"))?;
        self.client()?.set_roots(roots).map_err(|error| error.to_string())
    }
}

impl Stage for Host {
    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        let told = self.server.write(bytes).await;
        told.map_err(|error| format!("the client is gone: {error}"))
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        match action.split_once(' ').unwrap_or((action, "")) {
            ("call", rest) => self.call(rest),
            ("roots", rest) => self.set_roots(rest),
            (verb, _) => Err(format!("a host can `call` and set its `roots`, but not `{verb}`")),
        }
    }

    async fn pass(&mut self, time: Duration) {
        clock::pass(time).await;
    }

    async fn end(&mut self) -> Result<(), String> {
        self.server.end().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        if let Some(heard) = self.spare().await {
            return Some(heard);
        }
        tokio::select! {
            said = self.server.line() => said.map(Heard::Message),
            event = self.told.recv() => event.map(Heard::Event),
        }
    }

    async fn spare(&mut self) -> Option<Heard> {
        if let Some(said) = self.server.spare().await {
            return Some(Heard::Message(said));
        }
        self.told.try_recv().ok().map(Heard::Event)
    }

    async fn finish(&mut self) -> Result<Vec<Heard>, String> {
        let mut rest = Vec::new();
        while let Some(heard) = self.spare().await {
            rest.push(heard);
        }
        Ok(rest)
    }
}
