//! A client that is connected to a peer, and records its questions and notifications.

use std::sync::{Arc, Mutex};

use bowline::client::{ClientBuilder, SamplingAnswer, SamplingRequest};
use bowline::{Client, Question, client};
use bowline_types::content::{Content, ToolUseContent};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::deprecated::roots::Root;
use bowline_types::json::{Object, RawJson};
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{Feature, Listening, Over, Peer};

/// A client that is connected to a peer.
pub(crate) struct ConnectedClient {
    pub(crate) peer: Peer,
    pub(crate) revision: Revision,
    pub(crate) client: Client,
    pub(crate) notes: Notes,
    /// The server over HTTP; over stdio the client has started it.
    _server: Option<Listening>,
}

/// The questions and notifications that the application got.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Noted>>);

#[derive(Default)]
pub(crate) struct Noted {
    /// How the user answers next.
    pub(crate) decision: UserDecision,
    pub(crate) questions: Vec<Question>,
    pub(crate) conversations: Vec<SamplingRequest>,
    pub(crate) logs: Vec<(LoggingLevel, Option<String>, String)>,
    pub(crate) pages_done: Vec<String>,
    pub(crate) diagnostics: Vec<String>,
}

#[derive(Clone, Copy, Default)]
pub(crate) enum UserDecision {
    #[default]
    Accept,
    Decline,
    Cancel,
}

impl ConnectedClient {
    /// Connects to a peer in one revision.
    pub(crate) async fn open(peer: Peer, revision: Revision, over: Over) -> Self {
        let notes = Notes::default();
        let application = notes.listen(builder([revision])).roots([directory("/")]);
        let (client, server) = connect(application, peer, over).await;
        Self { peer, revision, client, notes, _server: server }
    }

    /// Closes the connection, and asserts that the client reported no diagnostics.
    pub(crate) async fn close(self) {
        self.client.close().await;
        assert_eq!(self.notes.take(|noted| &mut noted.diagnostics), Vec::<String>::new());
    }

    /// Whether the peer has a feature in this revision.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        let lack = self.peer.lacks(feature, self.revision);
        if let Some(why) = lack {
            eprintln!("  without {feature:?}: it {why}");
        }
        lack.is_none()
    }

    /// Calls a tool that answers with JSON in its text.
    pub(crate) async fn call_json(&self, tool: &str) -> Value {
        let outcome = self.client.call(tool, ()).await.unwrap().into_result().unwrap();
        serde_json::from_str(&outcome.text()).unwrap()
    }

    /// Takes the records of one kind, once there are at least `least`. A message outside of a call
    /// may come on another stream than the answer, and later.
    pub(crate) async fn noted<T>(
        &self,
        kind: impl Fn(&mut Noted) -> &mut Vec<T>,
        least: usize,
    ) -> Vec<T> {
        let mut noted = self.notes.take(&kind);
        for _ in 0..100 {
            if noted.len() >= least {
                break;
            }
            self.client.ping().await.unwrap();
            noted.append(&mut self.notes.take(&kind));
        }
        noted
    }

    /// Calls the tool `seen` until its result is as expected. The server may handle a notification
    /// after a call that was sent later.
    pub(crate) async fn until_seen(&self, what: &str, expected: Value) {
        let mut seen = Value::Null;
        for _ in 0..100 {
            seen = self.call_json("seen").await[what].take();
            if seen == expected {
                return;
            }
        }
        panic!("the server has seen `{what}`: {seen}, not {expected}");
    }
}

impl Notes {
    /// Takes the records of one kind.
    pub(crate) fn take<T: Default>(&self, kind: impl FnOnce(&mut Noted) -> &mut T) -> T {
        std::mem::take(kind(&mut self.0.lock().unwrap()))
    }

    /// Sets how the user answers from now on.
    pub(crate) fn set_decision(&self, decision: UserDecision) {
        self.0.lock().unwrap().decision = decision;
    }

    fn note(&self, note: impl FnOnce(&mut Noted)) {
        note(&mut self.0.lock().unwrap());
    }

    /// Adds handlers for everything, which record what they get.
    pub(crate) fn listen(&self, builder: ClientBuilder) -> ClientBuilder {
        let [ask, sample, log, done, reported] = [(); 5].map(|()| self.clone());
        builder
            .on_ask(move |question| {
                let answer = ask.answer(&question);
                ask.note(|noted| noted.questions.push(question));
                async move { answer }
            })
            .allow_urls()
            .on_sample(move |request| {
                sample.note(|noted| noted.conversations.push(request.clone()));
                async move { say(&request) }
            })
            .allow_sampling_tools()
            .on_log(LoggingLevel::Info, move |message| {
                let entry = (message.level, message.logger, message.data.to_string());
                log.note(|noted| noted.logs.push(entry));
            })
            .on_elicitation_complete(move |id| {
                done.note(|noted| noted.pages_done.push(id.to_owned()));
            })
            .on_diagnostic(move |what| {
                reported.note(|noted| noted.diagnostics.push(what.to_owned()));
            })
    }

    fn answer(&self, question: &Question) -> client::Answer {
        match self.0.lock().unwrap().decision {
            UserDecision::Accept => question.accept(json!({ "name": "Ada" })),
            UserDecision::Decline => question.decline(),
            UserDecision::Cancel => question.cancel(),
        }
    }
}

/// Starts a peer and connects to it.
pub(crate) async fn connect(
    application: ClientBuilder,
    peer: Peer,
    over: Over,
) -> (Client, Option<Listening>) {
    let (connected, server) = match over {
        Over::Stdio => (application.connect(peer.command()).await, None),
        Over::Http => {
            let server = peer.listen().await;
            (application.http(&server.url).connect().await, Some(server))
        }
    };
    let client = connected.unwrap_or_else(|error| panic!("no connection to {peer:?}: {error}"));
    (client, server)
}

/// A client that speaks these revisions.
pub(crate) fn builder(revisions: impl IntoIterator<Item = Revision>) -> ClientBuilder {
    Client::builder("bowline-tests", "1.0.0").tasks().revisions(revisions)
}

/// A root on this machine.
pub(crate) fn directory(path: &str) -> Root {
    Root::new(format!("file://{path}")).unwrap().with_name("root")
}

/// The model: it calls the tool if there is one, or else names a knot.
fn say(request: &SamplingRequest) -> SamplingAnswer {
    let model = request.choose_model(&["gpt", "old-sailor"]).unwrap_or("none");
    match request.params().tools.first() {
        None => request.answer(model, "a bowline"),
        Some(tool) => {
            let input = Object::new(RawJson::from_value(&json!({ "knot": "bowline" })).unwrap());
            let content = ToolUseContent::new("use-2", &tool.name, input.unwrap());
            request.answer(model, Content::ToolUse(content))
        }
    }
}
