//! Hearing of changes: subscriptions as streams.
//!
//! What is a subscription in 2026-07-28 is several requests and notices of the session before; the
//! connection sees to that, and nobody can tell from here.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_proto::client::{CallAnswer, CallError};
use bowline_proto::request;
use bowline_transport::connect::{Call, Link, Listener};
use bowline_types::subscription::{Listen, ListenParams, SubscriptionFilter};
use futures_core::Stream;

use crate::call;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::host::Application;
use crate::inbox::Inbox;

impl Client {
    /// Chooses changes to hear of; [`open`](Subscribe::open) then gives them as a stream.
    ///
    /// Any number of subscriptions may be open at once. They end with the connection: whoever
    /// connects again subscribes again, and lists and reads again what may have changed meanwhile.
    ///
    /// ```no_run
    /// use bowline_client::Change;
    ///
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let mut changes = client.subscribe().tools().resource("board://sprint").open().await?;
    /// while let Some(change) = changes.next().await {
    ///     match change? {
    ///         Change::Tools => println!("{} tools", client.tools().all().await?.len()),
    ///         Change::Resource(uri) => println!("{}", client.read(uri).await?.text()),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribe(&self) -> Subscribe {
        Subscribe {
            link: self.link.clone(),
            application: Arc::clone(&self.application),
            filter: SubscriptionFilter::new(),
            timeout: None,
        }
    }
}

/// What to hear of; made by [`Client::subscribe`].
#[derive(Clone, Debug)]
#[must_use = "a subscription stands once `open` was awaited"]
pub struct Subscribe {
    link: Link,
    application: Arc<Application>,
    pub(crate) filter: SubscriptionFilter,
    timeout: Option<Duration>,
}

impl Subscribe {
    /// Hears of changes of the list of tools.
    pub fn tools(mut self) -> Self {
        self.filter = self.filter.with_tools_list_changed();
        self
    }

    /// Hears of changes of the list of prompts.
    pub fn prompts(mut self) -> Self {
        self.filter = self.filter.with_prompts_list_changed();
        self
    }

    /// Hears of changes of the lists of resources and of resource templates.
    pub fn resources(mut self) -> Self {
        self.filter = self.filter.with_resources_list_changed();
        self
    }

    /// Hears of changes of a resource, and of those below it.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.filter = self.filter.with_resource(uri);
        self
    }

    /// Sets how long the server may take to acknowledge the subscription; the limits of the client
    /// say it otherwise. It then stands for as long as it likes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Opens the subscription: what changes after this returned is heard of.
    ///
    /// A server may honour less than it is asked for; see [`Changes::missing`].
    ///
    /// # Errors
    ///
    /// If nothing was chosen, the server tells of nothing that was, refuses, or does not
    /// acknowledge the subscription in time.
    pub async fn open(self) -> Result<Changes> {
        let Self { link, application, filter, timeout } = self;
        if filter.is_empty() {
            let reason = "nothing is chosen to hear of; choose `tools()`, for example";
            return Err(Error::input(SUBJECT, reason));
        }
        call::check_open(&link, SUBJECT)?;
        let mut request = call::request::<Listen>(&ListenParams::new(filter.clone()));
        request.timeout = timeout;
        let inbox = Arc::new(Inbox::new(filter.clone()));
        let herald = Herald { inbox: Arc::clone(&inbox), application };
        let course = Course::Open(link.call(request, Some(Box::new(herald))));
        let honoured = SubscriptionFilter::new();
        let mut changes = Changes { link, course, inbox, asked: filter, honoured };
        changes.honoured = poll_fn(|cx| changes.poll_acknowledged(cx)).await?;
        Ok(changes)
    }
}

/// How errors name a subscription.
const SUBJECT: &str = "subscriptions/listen";

/// Something that changed on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools is not what it was.
    Tools,
    /// The list of prompts is not what it was.
    Prompts,
    /// The lists of resources and resource templates are not what they were.
    Resources,
    /// A resource is not what it was; it may be one below the resource that was chosen.
    Resource(String),
}

/// The changes on a server, as they happen.
///
/// It is a [`Stream`]; without a crate for streams, use [`next`](Self::next). It ends when the
/// server ends it, with an error before if the connection broke. Dropping it ends the subscription;
/// holding it keeps the connection.
///
/// Changes that wait to be read are told once each, however often they happened. If more than a
/// thousand resources wait, all that were chosen are told to have changed instead.
#[must_use = "dropping it ends the subscription"]
pub struct Changes {
    link: Link,
    course: Course,
    inbox: Arc<Inbox>,
    asked: SubscriptionFilter,
    honoured: SubscriptionFilter,
}

/// How far a subscription is.
enum Course {
    Open(Call),
    /// It is over, and this is still to be told.
    Ended(Option<Error>),
}

impl Changes {
    /// The next change, or `None` after the end.
    ///
    /// Dropping the returned future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Change>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// What the server will tell of.
    pub fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// What was asked for and will not be told of: look again from time to time, or do without.
    pub fn missing(&self) -> SubscriptionFilter {
        let (mut missing, honoured) = (self.asked.clone(), &self.honoured);
        missing.tools_list_changed &= !honoured.tools_list_changed;
        missing.prompts_list_changed &= !honoured.prompts_list_changed;
        missing.resources_list_changed &= !honoured.resources_list_changed;
        missing.resource_subscriptions.retain(|uri| !honoured.resource_subscriptions.contains(uri));
        missing
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Change>>> {
        loop {
            if let Some(change) = self.inbox.take(cx) {
                return Poll::Ready(Some(Ok(change)));
            }
            match &mut self.course {
                Course::Open(call) => {
                    let outcome = ready!(Pin::new(call).poll(cx));
                    self.end(outcome);
                }
                Course::Ended(error) => return Poll::Ready(error.take().map(Err)),
            }
        }
    }

    /// Waits until the server says what it will tell of.
    fn poll_acknowledged(&mut self, cx: &mut Context<'_>) -> Poll<Result<SubscriptionFilter>> {
        loop {
            if let Some(honoured) = self.inbox.acknowledged(cx) {
                return Poll::Ready(Ok(honoured));
            }
            match &mut self.course {
                Course::Open(call) => {
                    let outcome = ready!(Pin::new(call).poll(cx));
                    self.end(outcome);
                }
                Course::Ended(error) => {
                    let reason = "the subscription ended before it was acknowledged";
                    let invalid = || Error::call(SUBJECT, CallError::Invalid(reason.to_owned()));
                    return Poll::Ready(Err(error.take().unwrap_or_else(invalid)));
                }
            }
        }
    }

    /// Notes the end. What came before it is still to be read, so both callers look again.
    fn end(&mut self, outcome: Result<CallAnswer, CallError>) {
        self.course = Course::Ended(call::told(&self.link, SUBJECT, outcome).err());
    }
}

impl Stream for Changes {
    type Item = Result<Change>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("honoured", &self.honoured).finish_non_exhaustive()
    }
}

/// Takes changes from the connection to whoever reads them.
struct Herald {
    inbox: Arc<Inbox>,
    application: Arc<Application>,
}

impl Listener for Herald {
    fn change(&mut self, change: request::Change) {
        self.application.heed(&change);
        self.inbox.put(change);
    }
}
