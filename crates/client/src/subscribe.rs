//! Subscriptions to changes, as streams.
//!
//! 2026-07-28 has one request for a subscription. Before, it takes several requests and session-wide
//! notifications; the sans-IO connection hides the difference.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_proto::client::{CallAnswer, CallError};
use bowline_proto::request::ReportedChange;
use bowline_transport::connect::{CallObserver, Link, PendingCall};
use bowline_types::subscription::{Listen, ListenParams, SubscriptionFilter};
use futures_core::Stream;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::host::Application;
use crate::inbox::Inbox;
use crate::request;

impl Client {
    /// Chooses changes to subscribe to; [`open`](SubscriptionBuilder::open) returns them as a
    /// stream.
    ///
    /// Any number of subscriptions may be open at once. They end with the connection. After a new
    /// connection, subscribe again, and fetch again what may have changed meanwhile.
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
    pub fn subscribe(&self) -> SubscriptionBuilder {
        SubscriptionBuilder {
            link: self.link.clone(),
            application: Arc::clone(&self.application),
            filter: SubscriptionFilter::new(),
            timeout: None,
        }
    }
}

/// The changes to subscribe to; made by [`Client::subscribe`].
#[derive(Clone, Debug)]
#[must_use = "call `open` and await it"]
pub struct SubscriptionBuilder {
    link: Link,
    application: Arc<Application>,
    pub(crate) filter: SubscriptionFilter,
    timeout: Option<Duration>,
}

impl SubscriptionBuilder {
    /// Subscribes to changes of the tool list.
    pub fn tools(mut self) -> Self {
        self.filter = self.filter.with_tools_list_changed();
        self
    }

    /// Subscribes to changes of the prompt list.
    pub fn prompts(mut self) -> Self {
        self.filter = self.filter.with_prompts_list_changed();
        self
    }

    /// Subscribes to changes of the lists of resources and resource templates.
    pub fn resources(mut self) -> Self {
        self.filter = self.filter.with_resources_list_changed();
        self
    }

    /// Subscribes to changes of a resource and its sub-resources.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.filter = self.filter.with_resource(uri);
        self
    }

    /// Sets how long the server may take to acknowledge the subscription; unless set,
    /// [`Limits::request_timeout`](crate::Limits::request_timeout). An acknowledged subscription
    /// has no timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Opens the subscription. Changes that happen after this has returned are reported.
    ///
    /// A server may accept only a part of the subscription; see [`Changes::missing`].
    ///
    /// # Errors
    ///
    /// If nothing was chosen, the server supports none of it, refuses, or does not acknowledge the
    /// subscription in time.
    pub async fn open(self) -> Result<Changes> {
        let Self { link, application, filter, timeout } = self;
        if filter.is_empty() {
            let reason = "nothing is chosen to hear of; choose `tools()`, for example";
            return Err(Error::input(SUBJECT, reason));
        }
        request::check_open(&link, SUBJECT)?;
        let mut request = request::of::<Listen>(&ListenParams::new(filter.clone()));
        request.timeout = timeout;
        let inbox = Arc::new(Inbox::new(filter.clone()));
        let observer = InboxObserver { inbox: Arc::clone(&inbox), application };
        let state = SubscriptionState::Open(link.call(request, Some(Box::new(observer))));
        let honoured = SubscriptionFilter::new();
        let mut changes = Changes { link, state, inbox, asked: filter, honoured };
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
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The lists of resources or resource templates changed.
    Resources,
    /// The resource at this URI changed; it may be a sub-resource of the subscribed one.
    Resource(String),
}

/// The changes on a server, as they happen.
///
/// It is a [`Stream`]; without a crate for streams, use [`next`](Self::next). It ends when the
/// server ends it; if the connection broke, the last item is an error. Dropping it ends the
/// subscription. As long as it exists, the connection stays open.
///
/// A change that waits to be read is reported once, however often it happened. If more than 1024
/// changes wait, the changed resources are replaced by all resources that were subscribed to.
#[must_use = "dropping it ends the subscription"]
pub struct Changes {
    link: Link,
    state: SubscriptionState,
    inbox: Arc<Inbox>,
    asked: SubscriptionFilter,
    honoured: SubscriptionFilter,
}

/// Whether a subscription is open.
enum SubscriptionState {
    Open(PendingCall),
    /// It has ended, and this error is still to be reported.
    Ended(Option<Error>),
}

impl Changes {
    /// The next change, or `None` after the end.
    ///
    /// Dropping the returned future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Change>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// The changes that the server reports.
    pub fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// The changes that the server does not report, though they were asked for. Poll for them, or
    /// do without.
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
            match &mut self.state {
                SubscriptionState::Open(call) => {
                    let outcome = ready!(Pin::new(call).poll(cx));
                    self.end(outcome);
                }
                SubscriptionState::Ended(error) => return Poll::Ready(error.take().map(Err)),
            }
        }
    }

    /// Waits until the server acknowledges the subscription.
    fn poll_acknowledged(&mut self, cx: &mut Context<'_>) -> Poll<Result<SubscriptionFilter>> {
        loop {
            if let Some(honoured) = self.inbox.acknowledged(cx) {
                return Poll::Ready(Ok(honoured));
            }
            match &mut self.state {
                SubscriptionState::Open(call) => {
                    let outcome = ready!(Pin::new(call).poll(cx));
                    self.end(outcome);
                }
                SubscriptionState::Ended(error) => {
                    let reason = "the subscription ended before it was acknowledged";
                    let invalid = || Error::call(SUBJECT, CallError::Invalid(reason.to_owned()));
                    return Poll::Ready(Err(error.take().unwrap_or_else(invalid)));
                }
            }
        }
    }

    /// Notes the end. Changes from before are still to be read, so both callers loop once more.
    fn end(&mut self, outcome: Result<CallAnswer, CallError>) {
        self.state = SubscriptionState::Ended(request::explain(&self.link, SUBJECT, outcome).err());
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

/// Passes changes from the driver of the connection to the inbox.
struct InboxObserver {
    inbox: Arc<Inbox>,
    application: Arc<Application>,
}

impl CallObserver for InboxObserver {
    fn change(&mut self, change: ReportedChange) {
        self.application.heed(&change);
        self.inbox.put(change);
    }
}
