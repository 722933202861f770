//! A client of a service: makes requests by hand, and keeps the messages that it gets meanwhile.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bowline_proto::members::Members;
use bowline_proto::request::{
    Access, ClientProfile, ExchangeId, Extensions, Input, Outbox, Outgoing, Owner, Parts,
    ProgressUpdate, QuestionError, ReportedChange, Request, Response, ResultText, Sink,
    SuccessKind, TaskNotification,
};
use bowline_server::extract::FromCall;
use bowline_server::{Call, ResponseFuture, Server, Service, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::error::ErrorObject;
use bowline_types::id::ProgressToken;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Every revision, for what must hold in all of them.
pub(crate) const EVERY: [Revision; 5] = Revision::ALL;
/// The newest revision of each era.
pub(crate) const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// A client, with what it says of itself in each request.
pub(crate) struct Peer {
    service: Service,
    pub(crate) revision: Revision,
    pub(crate) client: ClientProfile,
    pub(crate) meta: Value,
    pub(crate) progress: Option<ProgressToken>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) owner: Owner,
    /// What it was granted: everything, as over stdio.
    pub(crate) access: Access,
    /// What the transport attaches to each request.
    pub(crate) extensions: Extensions,
    pub(crate) inbox: Arc<Inbox>,
}

impl Peer {
    /// A client that can do nothing beyond the bare protocol.
    pub(crate) fn new(server: &Server, revision: Revision) -> Self {
        Self {
            service: server.build().unwrap(),
            revision,
            client: ClientProfile::default(),
            meta: json!({}),
            progress: None,
            log_level: None,
            owner: Owner::anonymous(),
            access: Access::everything(),
            extensions: Extensions::default(),
            inbox: Arc::default(),
        }
    }

    /// A client that shows forms.
    pub(crate) fn with_forms(server: &Server, revision: Revision) -> Self {
        Self::able(server, revision, ClientCapabilities::new().with_form_elicitation())
    }

    /// A client that can do something beyond the bare protocol.
    pub(crate) fn able(server: &Server, revision: Revision, can: ClientCapabilities) -> Self {
        let mut peer = Self::new(server, revision);
        peer.client.capabilities = can;
        peer
    }

    pub(crate) fn request(&self, method: Method, params: &Value) -> Request {
        Request { parts: self.parts(method), params: members(params) }
    }

    /// Begins a call, to be polled or dropped.
    pub(crate) fn begin(&self, request: Request) -> ResponseFuture {
        tower_service::Service::call(&mut self.service.clone(), request)
    }

    pub(crate) async fn send(&self, request: Request) -> Response {
        let Ok::<_, Infallible>(response) = self.begin(request).await;
        response
    }

    /// The body of the answer.
    pub(crate) async fn ask(&self, method: Method, params: Value) -> Result<Value, ErrorObject> {
        self.send(self.request(method, &params)).await.map(|success| body(success.body()))
    }

    /// The result of a tool.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Value, ErrorObject> {
        self.ask(Method::ToolsCall, json!({ "name": name, "arguments": arguments })).await
    }

    /// The result of a tool whose arguments are sent as they are written here.
    pub(crate) async fn call_text(
        &self,
        name: &str,
        arguments: &str,
    ) -> Result<Value, ErrorObject> {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        let params = Members::cut(Bytes::from(params)).unwrap();
        let request = Request { parts: self.parts(Method::ToolsCall), params };
        self.send(request).await.map(|success| body(success.body()))
    }

    /// The contents of a resource.
    pub(crate) async fn read(&self, uri: &str) -> Result<Value, ErrorObject> {
        let mut result = self.ask(Method::ResourcesRead, json!({ "uri": uri })).await?;
        Ok(result["contents"].take())
    }

    /// The text of a resource that is one text.
    pub(crate) async fn read_text(&self, uri: &str) -> String {
        let contents = self.read(uri).await.unwrap();
        contents[0]["text"].as_str().unwrap().to_owned()
    }

    /// The messages of a prompt.
    pub(crate) async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, ErrorObject> {
        let params = json!({ "name": name, "arguments": arguments });
        let mut result = self.ask(Method::PromptsGet, params).await?;
        Ok(result["messages"].take())
    }

    /// The text of a tool that succeeds.
    pub(crate) async fn text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await.unwrap();
        assert_eq!(result["isError"], Value::Null, "{result}");
        result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// The text of a tool that fails.
    pub(crate) async fn failure(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await.unwrap();
        assert_eq!(result["isError"], json!(true), "{result}");
        result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// A round of a call that asks: its answers and the state of the round before.
    pub(crate) async fn round(
        &self,
        name: &str,
        arguments: Value,
        responses: Value,
        state: Option<&str>,
    ) -> Round {
        let params = json!({ "name": name, "arguments": arguments });
        self.round_of(Method::ToolsCall, &params, responses, state).await
    }

    /// A round of any call that asks.
    pub(crate) async fn round_of(
        &self,
        method: Method,
        params: &Value,
        responses: Value,
        state: Option<&str>,
    ) -> Round {
        let mut request = self.request(method, params);
        let responses = serde_json::from_value(responses).unwrap();
        let state = state.map(str::to_owned);
        request.parts.input = Some(Box::new(Input { responses, state }));
        Round::of(self.send(request).await)
    }

    fn parts(&self, method: Method) -> Parts {
        Parts {
            exchange: ExchangeId(1),
            method,
            revision: self.revision,
            client: Arc::new(self.client.clone()),
            meta: members(&self.meta),
            progress: self.progress.clone(),
            log_level: self.log_level,
            input: None,
            owner: self.owner.clone(),
            access: self.access.clone(),
            headers: None,
            outbox: Outbox::new(ExchangeId(1), self.inbox.clone()),
            extensions: self.extensions.clone(),
        }
    }
}

/// What one round of a call came to.
#[derive(Debug)]
pub(crate) enum Round {
    /// It is done, with this result.
    Done(Value),
    /// It asks: messages by key, and the state to send back.
    Asks(Vec<(String, String)>, String),
    Refused(ErrorObject),
}

impl Round {
    fn of(response: Response) -> Self {
        let success = match response {
            Ok(success) => success,
            Err(error) => return Self::Refused(error),
        };
        let body = body(success.body());
        if success.kind() != SuccessKind::InputRequired {
            return Self::Done(body);
        }
        // What has no message is known by its method.
        let message = |(key, request): (&String, &Value)| {
            let message = request["params"]["message"].as_str().or(request["method"].as_str());
            (key.clone(), message.unwrap().to_owned())
        };
        let requests = body["inputRequests"].as_object().unwrap().iter().map(message).collect();
        Self::Asks(requests, body["requestState"].as_str().unwrap().to_owned())
    }

    /// The keys and messages of the questions, and the state.
    #[track_caller]
    pub(crate) fn asks(self) -> (Vec<(String, String)>, String) {
        match self {
            Self::Asks(questions, state) => (questions, state),
            other => panic!("asks nothing: {other:?}"),
        }
    }

    /// The result.
    #[track_caller]
    pub(crate) fn done(self) -> Value {
        match self {
            Self::Done(result) => result,
            other => panic!("not done: {other:?}"),
        }
    }

    /// The text of the result.
    #[track_caller]
    pub(crate) fn text(self) -> String {
        self.done()["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn error(self) -> ErrorObject {
        match self {
            Self::Refused(error) => error,
            other => panic!("not refused: {other:?}"),
        }
    }
}

/// The tool `wait`, which never answers. The channel fails when its call is dropped.
pub(crate) fn waiting_tool() -> (Tool, oneshot::Receiver<()>) {
    let (sender, dropped) = oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let wait = move || {
        let held = sender.lock().unwrap().take();
        async move {
            std::future::pending::<()>().await;
            drop(held);
        }
    };
    (Tool::new("wait", wait), dropped)
}

/// An answer that accepts a form.
pub(crate) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// An extractor of the arguments as they are.
pub(crate) struct Raw(pub(crate) String);

impl FromCall for Raw {
    async fn from_call(call: &Call) -> bowline_server::Result<Self> {
        Ok(Self(String::from_utf8_lossy(call.arguments()).into_owned()))
    }
}

fn members(value: &Value) -> Members {
    Members::cut(Bytes::from(value.to_string())).unwrap()
}

fn body(text: &ResultText) -> Value {
    text.parse().unwrap()
}

/// Where a client's outboxes lead.
#[derive(Default)]
pub(crate) struct Inbox(Mutex<State>);

#[derive(Default)]
struct State {
    progress: Vec<ProgressUpdate>,
    logs: Vec<LogMessageParams>,
    changes: Vec<ReportedChange>,
    questions: Vec<InputRequest>,
    completed: Vec<String>,
    news: Vec<TaskNotification>,
    /// Given to questions, first come first served; without any the client has no back channel.
    answers: Vec<Result<Value, QuestionError>>,
    is_full: bool,
    wakers: Vec<Waker>,
}

impl Inbox {
    pub(crate) fn progress(&self) -> Vec<ProgressUpdate> {
        self.0.lock().unwrap().progress.clone()
    }

    pub(crate) fn logs(&self) -> Vec<LogMessageParams> {
        self.0.lock().unwrap().logs.clone()
    }

    /// The changes since it was last asked.
    pub(crate) fn changes(&self) -> Vec<ReportedChange> {
        std::mem::take(&mut self.0.lock().unwrap().changes)
    }

    pub(crate) fn questions(&self) -> Vec<InputRequest> {
        self.0.lock().unwrap().questions.clone()
    }

    /// The questions by URL whose completion was announced.
    pub(crate) fn completed(&self) -> Vec<String> {
        self.0.lock().unwrap().completed.clone()
    }

    /// The news of tasks of 2025-11-25 since it was last asked.
    pub(crate) fn news(&self) -> Vec<TaskNotification> {
        std::mem::take(&mut self.0.lock().unwrap().news)
    }

    pub(crate) fn answer(&self, answer: Result<Value, QuestionError>) {
        self.0.lock().unwrap().answers.push(answer);
    }

    /// Stops reading, or starts again.
    pub(crate) fn set_full(&self, is_full: bool) {
        let mut state = self.0.lock().unwrap();
        state.is_full = is_full;
        state.wakers.drain(..).for_each(Waker::wake);
    }
}

impl Sink for Inbox {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if !state.is_full {
            return Poll::Ready(());
        }
        state.wakers.push(cx.waker().clone());
        Poll::Pending
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut state = self.0.lock().unwrap();
        if state.is_full {
            return Err(outgoing);
        }
        match outgoing {
            Outgoing::Progress(advance) => state.progress.push(advance),
            Outgoing::Log(message) => state.logs.push(message),
            Outgoing::Change(change) => state.changes.push(change),
            Outgoing::ElicitationComplete(id) => state.completed.push(id),
            Outgoing::Task(news) => state.news.push(*news),
            Outgoing::Pause(_) | Outgoing::Notification(_) | Outgoing::Withdraw(_) => {}
            Outgoing::Ask(question) => {
                state.questions.push(question.request);
                let none = state.answers.is_empty();
                let answer =
                    if none { Err(QuestionError::NoBackChannel) } else { state.answers.remove(0) };
                let answer = answer.map(|value| RawJson::from_value(&value).unwrap());
                question.reply.deliver(answer);
            }
        }
        Ok(())
    }
}
