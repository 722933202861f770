//! What the application does when its server turns to it, and before it turns to its server.

use std::fmt;

use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::deprecated::roots::Root;
use bowline_types::deprecated::sampling::CreateMessageResult;

use super::ClientBuilder;
use crate::answer::{Answer, Question};
use crate::audit::AuditRecord;
use crate::consent::{Consent, ToolCall};
use crate::hook::{Ear, Hook};
use crate::sample::{Review, SamplingAnswer, SamplingRequest};

impl<S> ClientBuilder<S> {
    /// Says how the application itself calls the server: the name that questions, calls to consent
    /// to and audit records bear. What a server calls itself is no name to rely on.
    pub fn label(mut self, label: impl fmt::Display) -> Self {
        self.handlers.label = Some(label.to_string().into());
        self
    }

    /// Answers what the server asks the user, by an [`Answer`] or a `Result` of one.
    ///
    /// Questions of one call may be asked at the same time, though no more of them than
    /// [`Limits::questions`] and [`Limits::questions_per_minute`] allow. A question that the server
    /// takes back, or whose call is dropped, has its future dropped.
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

    /// Lets the server send the user to web pages as well; without this it is told that it may ask
    /// by forms only. [`on_ask`](Self::on_ask) then gets questions with a
    /// [`page`](Question::page), and answers them by [`consent`](Question::consent).
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

    /// Hears the [name](crate::Page::elicitation_id) of a page that the user is done with, as far
    /// as servers tell (2025-11-25 only). Names that the server never gave, or told before, are
    /// ignored. Offer the user a way to go on all the same: a server need not tell.
    ///
    /// The function runs in the task that drives the connection: it should be quick.
    pub fn on_elicitation_complete(mut self, done: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.elicitation.complete = Some(Ear::new(done));
        self
    }

    /// Answers what the server asks the application's model, by a [`SamplingAnswer`], a
    /// [`CreateMessageResult`] or a `Result` of either. Deprecated by the specification since
    /// 2026-07-28.
    ///
    /// Unless [`review_sampling`](Self::review_sampling) and
    /// [`review_sampled`](Self::review_sampled) do it, let the user see and change what is asked
    /// and what is answered right here.
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

    /// Lets the server offer tools to the model: [`on_sample`](Self::on_sample) then obeys `tools`
    /// and `toolChoice`. Without this, requests with them are refused.
    pub fn allow_sampling_tools(mut self) -> Self {
        self.handlers.sampling.tools = true;
        self
    }

    /// Looks every request to the model through before [`on_sample`](Self::on_sample) gets it, and
    /// may change it.
    pub fn review_sampling<F, A>(mut self, review: F) -> Self
    where
        F: Fn(SamplingRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Review<SamplingRequest>> + Send + 'static,
    {
        self.handlers.sampling.review_request = Some(Hook::new(review));
        self
    }

    /// Looks every answer of the model through before the server gets it, and may change it.
    pub fn review_sampled<F, A>(mut self, review: F) -> Self
    where
        F: Fn(SamplingRequest, CreateMessageResult) -> A + Send + Sync + 'static,
        A: Future<Output = Review<CreateMessageResult>> + Send + 'static,
    {
        let review = move |(request, result)| review(request, result);
        self.handlers.sampling.review_result = Some(Hook::new(review));
        self
    }

    /// Tells the server where in the file system it may work, if it asks; an empty list says that
    /// there may be roots later, by [`Client::set_roots`](crate::Client::set_roots). Without this,
    /// it is told that there are none. Deprecated by the specification since 2026-07-28.
    ///
    /// Roots that cannot be opened when the server asks are left out, and so are those that
    /// [`permit_roots`](Self::permit_roots) does not permit. Up to 2025-11-25 the server is told when
    /// that changes: the client looks at the roots that it gave out every ten seconds.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.handlers.roots.list = Some(roots.into_iter().collect());
        self
    }

    /// Decides for each root, each time that the server asks, whether it is told: the place to ask
    /// the user.
    pub fn permit_roots<F, A>(mut self, permit: F) -> Self
    where
        F: Fn(Root) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        self.handlers.roots.permit = Some(Hook::new(permit));
        self
    }

    /// Decides before each tool call whether it is made; without this, every call is.
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

    /// Believes what the server says that its tools may do; see [`ToolCall::hints`].
    pub fn trust_annotations(mut self) -> Self {
        self.handlers.oversight.trusts_annotations = true;
        self
    }

    /// Hears of every tool call once it is over, also of those that were denied or dropped.
    ///
    /// The function runs where the call was awaited or dropped: it should be quick.
    pub fn audit(mut self, audit: impl Fn(&AuditRecord) + Send + Sync + 'static) -> Self {
        self.handlers.oversight.audit = Some(Ear::new(audit));
        self
    }

    /// Hears the server's log messages, of this level and more severe.
    ///
    /// The function runs in the task that drives the connection: it should be quick.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        log: impl Fn(LogMessageParams) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.log = Some(Ear::new(move |message: &LogMessageParams| log(message.clone())));
        self.log_level = Some(level);
        self
    }

    /// Hears what the server does that it should not, in words for a log: lines that are no
    /// messages, answers that nobody awaits.
    ///
    /// The function runs in the task that drives the connection: it should be quick.
    pub fn on_odd(mut self, odd: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.odd = Some(Ear::new(odd));
        self
    }
}
