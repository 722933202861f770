//! The hooks of an application: what it answers, allows and observes.

use std::fmt;
use std::sync::Arc;

use bowline_transport::connect::ClientLayer;
use bowline_transport::tap::TapDirection;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::deprecated::roots::Root;
use bowline_types::deprecated::sampling::CreateMessageResult;

use super::ClientBuilder;
use crate::answer::{Answer, Question};
use crate::audit::ToolCallRecord;
use crate::consent::{Consent, ToolCall};
use crate::hook::{Hook, Observer, WireObserver};
use crate::sample::{Review, SamplingAnswer, SamplingRequest};

impl<S> ClientBuilder<S> {
    /// Sets the application's own name for the server. Questions, tool calls to consent to and audit
    /// records carry it. The name that a server gives itself cannot be trusted.
    pub fn label(mut self, label: impl fmt::Display) -> Self {
        self.handlers.label = Some(label.to_string().into());
        self
    }

    /// Sets the handler for questions to the user. It returns an [`Answer`] or a `Result` of one.
    ///
    /// Several questions of one call may be asked at the same time; [`Limits::questions`] and
    /// [`Limits::questions_per_minute`] bound them. The handler's future is dropped if the server
    /// cancels the question or the caller drops the call.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    /// use serde_json::json;
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let client = Client::builder("my-app", "1.0.0")
    ///     .on_ask(|question| async move {
    ///         println!("{}", question.message());
    ///         question.accept(json!({ "name": "Ada" }))
    ///     })
    ///     .connect(Command::new("greeter"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Limits::questions`]: crate::Limits::questions
    /// [`Limits::questions_per_minute`]: crate::Limits::questions_per_minute
    pub fn on_ask<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Answer>> + Send + 'static,
    {
        self.handlers.elicitation.ask = Some(Hook::new(answer));
        self
    }

    /// Allows the server to send the user to web pages; without this, the client declares that it
    /// supports forms only. [`on_ask`](Self::on_ask) then also gets questions with a
    /// [`page`](Question::page), and answers them with [`consent`](Question::consent).
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    ///
    /// # fn agrees(_: &str) -> bool { true }
    /// # fn open_in_browser(_: &str) {}
    /// # async fn example() -> bowline_client::Result<()> {
    /// let client = Client::builder("my-app", "1.0.0")
    ///     .allow_urls()
    ///     .on_ask(|question| async move {
    ///         let Some(page) = question.page() else { return question.decline() };
    ///         let warnings = page.suspicions().iter().map(|it| format!("\n! {it}")).collect::<String>();
    ///         if !agrees(&format!("{}\n{} ({})?{warnings}", page.message(), page.url(), page.host())) {
    ///             return question.decline();
    ///         }
    ///         open_in_browser(page.url());
    ///         question.consent()
    ///     })
    ///     .connect(Command::new("calendar"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_urls(mut self) -> Self {
        self.handlers.elicitation.urls = true;
        self
    }

    /// Observes that the user has finished with a web page; the function gets its
    /// [id](crate::WebPage::elicitation_id) (2025-11-25 only). Unknown and repeated ids are ignored.
    /// A server need not report this, so offer the user another way to go on.
    ///
    /// The function runs in the task that drives the connection and must return quickly.
    pub fn on_elicitation_complete(mut self, done: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.elicitation.complete = Some(Observer::new(done));
        self
    }

    /// Sets the handler for questions to the application's model (sampling). It returns a
    /// [`SamplingAnswer`], a [`CreateMessageResult`] or a `Result` of either. The specification
    /// deprecates sampling since 2026-07-28.
    ///
    /// Let the user see and change the request and the answer: here, or in
    /// [`review_sampling`](Self::review_sampling) and [`review_sampled`](Self::review_sampled).
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    ///
    /// # async fn complete(_: &str, _: &bowline_client::types::deprecated::sampling::CreateMessageParams) -> Result<String, std::io::Error> { Ok(String::new()) }
    /// # async fn example() -> bowline_client::Result<()> {
    /// let client = Client::builder("my-app", "1.0.0")
    ///     .on_sample(|request| async move {
    ///         let model = request.choose_model(&["small", "large"]).unwrap_or("small");
    ///         complete(model, request.params()).await.map(|text| request.answer(model, text))
    ///     })
    ///     .connect(Command::new("summarizer"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_sample<F, A>(mut self, sample: F) -> Self
    where
        F: Fn(SamplingRequest) -> A + Send + Sync + 'static,
        A: Future<Output: Into<SamplingAnswer>> + Send + 'static,
    {
        self.handlers.sampling.sample = Some(Hook::new(sample));
        self
    }

    /// Allows the server to offer tools to the model. [`on_sample`](Self::on_sample) then has to
    /// obey `tools` and `toolChoice`. Without this, requests with them are refused.
    pub fn allow_sampling_tools(mut self) -> Self {
        self.handlers.sampling.tools = true;
        self
    }

    /// Reviews every request to the model before [`on_sample`](Self::on_sample) gets it; may change
    /// or deny it.
    pub fn review_sampling<F, A>(mut self, review: F) -> Self
    where
        F: Fn(SamplingRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Review<SamplingRequest>> + Send + 'static,
    {
        self.handlers.sampling.review_request = Some(Hook::new(review));
        self
    }

    /// Reviews every answer of the model before the server gets it; may change or deny it.
    pub fn review_sampled<F, A>(mut self, review: F) -> Self
    where
        F: Fn(SamplingRequest, CreateMessageResult) -> A + Send + Sync + 'static,
        A: Future<Output = Review<CreateMessageResult>> + Send + 'static,
    {
        let review = move |(request, result)| review(request, result);
        self.handlers.sampling.review_result = Some(Hook::new(review));
        self
    }

    /// Sets the roots: the directories and files in which the server may work. An empty list
    /// declares that roots may follow, set by [`Client::set_roots`](crate::Client::set_roots).
    /// Without this, the client declares no roots. The specification deprecates roots since
    /// 2026-07-28.
    ///
    /// When the server asks, roots that cannot be opened are left out, and so are those that
    /// [`permit_roots`](Self::permit_roots) denies. Up to 2025-11-25 the client checks every ten
    /// seconds whether the roots that it sent can be opened, and notifies the server of changes.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.handlers.roots.list = Some(roots.into_iter().collect());
        self
    }

    /// Decides for each root, each time that the server asks, whether the server may know it: the
    /// place to ask the user.
    pub fn permit_roots<F, A>(mut self, permit: F) -> Self
    where
        F: Fn(Root) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        self.handlers.roots.permit = Some(Hook::new(permit));
        self
    }

    /// Decides before each tool call whether it is made; without this, every call is made.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command, Consent};
    ///
    /// # fn agrees(_: &str) -> bool { true }
    /// # async fn example() -> bowline_client::Result<()> {
    /// let git = Client::builder("my-app", "1.0.0")
    ///     .label("git")
    ///     .on_call(|call| async move {
    ///         if agrees(&format!("Call `{}` with {}?", call.tool(), call.arguments().as_str())) {
    ///             Consent::Allow
    ///         } else {
    ///             Consent::Deny("the user said no".into())
    ///         }
    ///     })
    ///     .connect(Command::new("uvx").arg("mcp-server-git"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_call<F, A>(mut self, consent: F) -> Self
    where
        F: Fn(ToolCall) -> A + Send + Sync + 'static,
        A: Future<Output = Consent> + Send + 'static,
    {
        self.handlers.oversight.consent = Some(Hook::new(consent));
        self
    }

    /// Trusts the server's annotations of its tools; see [`ToolCall::hints`].
    pub fn trust_annotations(mut self) -> Self {
        self.handlers.oversight.trusts_annotations = true;
        self
    }

    /// Observes every tool call after its end, also denied and dropped ones.
    ///
    /// The function runs in the task that awaited or dropped the call and must return quickly.
    pub fn audit(mut self, audit: impl Fn(&ToolCallRecord) + Send + Sync + 'static) -> Self {
        self.handlers.oversight.audit = Some(Observer::new(audit));
        self
    }

    /// Observes the server's log messages, of this level and more severe.
    ///
    /// The function runs in the task that drives the connection and must return quickly.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        log: impl Fn(LogMessageParams) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.log =
            Some(Observer::new(move |message: &LogMessageParams| log(message.clone())));
        self.log_level = Some(level);
        self
    }

    /// Lets [relays](crate::Client::relay) of this client pass the server's questions and log
    /// messages on to their callers, and declares these capabilities.
    ///
    /// A server with a handshake may ask for what is declared here. Since 2026-07-28 each request
    /// states the capabilities of its caller instead. The hooks of this client are not asked. A
    /// question that cannot be attributed to one caller is refused.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    /// use bowline_types::capability::ClientCapabilities;
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let declared = ClientCapabilities::new().with_form_elicitation().with_sampling();
    /// let client = Client::builder("my-proxy", "1.0.0")
    ///     .passing_on(declared)
    ///     .connect(Command::new("some-server"))
    ///     .await?;
    /// let upstream = client.relay();
    /// # Ok(())
    /// # }
    /// ```
    pub fn passing_on(mut self, declared: ClientCapabilities) -> Self {
        self.handlers.passed_on = Some(declared);
        self
    }

    /// Puts code around every call that this client sends: traces and metrics, or changes of
    /// `_meta`. `bowline::otel::client()` is one. Layers begin in the order in which they are added.
    ///
    /// The handshake and notifications pass no layer.
    pub fn layer(mut self, layer: impl ClientLayer) -> Self {
        self.handlers.layers.0.push(Arc::new(layer));
        self
    }

    /// Observes what deserves a line in a log, as sentences: violations of the protocol by the server,
    /// such as lines that are no messages and answers to no request; restarts of the server; requests
    /// of this client itself that failed.
    ///
    /// The function runs in the task that drives the connection and must return quickly.
    pub fn on_diagnostic(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.diagnostics = Some(Observer::new(report));
        self
    }

    /// Observes every message of the connection as it goes over the wire, for traces: also text of a
    /// process that is no message. HTTP headers are not shown, nor failures of single messages.
    ///
    /// The messages hold what the user and the server exchange, so keep them from other people. The
    /// function runs in the task that drives the connection and must return quickly.
    ///
    /// ```
    /// use bowline_client::Client;
    ///
    /// let builder = Client::builder("my-app", "1.0.0").on_message(|direction, text| {
    ///     eprintln!("{direction:?} {}", String::from_utf8_lossy(text));
    /// });
    /// ```
    pub fn on_message(
        mut self,
        observe: impl Fn(TapDirection, &[u8]) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.wire = Some(WireObserver::new(observe));
        self
    }
}
