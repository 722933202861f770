//! What subscribers hear, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::request::{ExchangeId, Outbox, Outgoing, Sink};
use bowline_store::backend::BoxFuture;
use bowline_store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
use bowline_types::subscription::SubscriptionFilter;

use super::subscriber::MOST_RESOURCES;
use super::*;

fn request(filter: SubscriptionFilter) -> ListenRequest {
    ListenRequest { filter, every_resource: false }
}

fn heard(subscription: &Subscription) -> Vec<ReportedChange> {
    let mut pending = lock(&subscription.subscriber.pending);
    std::iter::from_fn(|| pending.take()).collect()
}

// spec: SUB-2
#[test]
fn a_subscriber_hears_what_it_asked_for_and_nothing_else() {
    let notify = Notify::new();
    let tools = notify.subscribe(request(SubscriptionFilter::new().with_tools_list_changed()));
    let nothing = notify.subscribe(request(SubscriptionFilter::new()));
    notify.tools_changed();
    notify.prompts_changed();
    notify.resources_changed();
    notify.resource_updated("a://b");
    assert_eq!(heard(&tools), [ReportedChange::Tools]);
    assert_eq!(heard(&nothing), []);
}

#[test]
fn a_change_that_happens_often_is_notified_once() {
    let notify = Notify::new();
    let filter = SubscriptionFilter::new().with_tools_list_changed().with_resource("a://b");
    let subscription = notify.subscribe(request(filter));
    for _ in 0..1000 {
        notify.tools_changed();
        notify.resource_updated("a://b");
    }
    assert_eq!(
        heard(&subscription),
        [ReportedChange::Tools, ReportedChange::Resource("a://b".to_owned())]
    );
}

// spec: RSRC-9
#[test]
fn a_change_of_a_part_is_notified_to_subscribers_of_the_whole() {
    let notify = Notify::new();
    let filter = SubscriptionFilter::new().with_resource("a://b").with_resource("c://d/");
    let subscription = notify.subscribe(request(filter));
    for uri in ["a://b/part", "a://bc", "a://", "c://d/e", "c://d"] {
        notify.resource_updated(uri);
    }
    let told = [
        ReportedChange::Resource("a://b/part".to_owned()),
        ReportedChange::Resource("c://d/e".to_owned()),
    ];
    assert_eq!(heard(&subscription), told);
}

#[test]
fn a_slow_subscriber_is_notified_of_the_whole_when_there_are_too_many_parts() {
    let notify = Notify::new();
    let subscription = notify.subscribe(request(SubscriptionFilter::new().with_resource("a://b")));
    for part in 0..10 * MOST_RESOURCES {
        notify.resource_updated(format!("a://b/{part}"));
    }
    let told = heard(&subscription);
    assert_eq!(told.len(), MOST_RESOURCES + 1);
    assert!(told.contains(&ReportedChange::Resource("a://b".to_owned())));
}

#[test]
fn a_subscription_that_is_dropped_leaves_nothing_behind() {
    let notify = Notify::new();
    drop(notify.subscribe(request(SubscriptionFilter::new())));
    assert!(lock(&notify.0).by_number.is_empty());
}

/// What a subscriber of another process hears of a change right before `end`.
async fn heard_elsewhere(end: impl AsyncFnOnce(Notify)) -> Vec<ReportedChange> {
    let store: Arc<dyn bowline_store::Backend> = Arc::new(bowline_store::MemoryBackend::default());
    let (ending, other) = (Notify::new(), Notify::new());
    ending.share(&store);
    other.share(&store);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let filter = SubscriptionFilter::new().with_resource("a://b");
    let subscription = other.subscribe(request(filter));
    ending.resource_updated("a://b");
    end(ending).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    heard(&subscription)
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_publishes_its_last_changes() {
    let published = heard_elsewhere(async |ending: Notify| ending.publish_now().await).await;
    assert_eq!(published, [ReportedChange::Resource("a://b".to_owned())]);
    let killed = heard_elsewhere(async |ending: Notify| drop(ending)).await;
    assert_eq!(killed, []);
}

/// A store in memory that cannot be listened to once.
struct OnceDeaf {
    memory: bowline_store::MemoryBackend,
    is_deaf: std::sync::atomic::AtomicBool,
}

impl Wrapper for OnceDeaf {
    fn inner(&self) -> &dyn bowline_store::Backend {
        &self.memory
    }

    fn before<'a>(
        &'a self,
        operation: Operation<'a>,
    ) -> BoxFuture<'a, bowline_store::backend::Result<()>> {
        let fails = operation.kind == OperationKind::Listen
            && self.is_deaf.swap(false, std::sync::atomic::Ordering::Relaxed);
        let result = if fails { Err(bowline_store::Error::new("out of reach")) } else { Ok(()) };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_joins_reports_that_everything_may_have_changed() {
    let store: Arc<dyn bowline_store::Backend> = Arc::new(bowline_store::MemoryBackend::default());
    let notify = Notify::new();
    let filter = SubscriptionFilter::new().with_tools_list_changed();
    let subscription = notify.subscribe(request(filter));
    notify.share(&store);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(heard(&subscription), [ReportedChange::Tools]);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_could_not_listen_reports_that_everything_may_have_changed() {
    let (memory, is_deaf) = (bowline_store::MemoryBackend::default(), true.into());
    let store = Wrapped(OnceDeaf { memory, is_deaf });
    let store: Arc<dyn bowline_store::Backend> = Arc::new(store);
    let (other, notify) = (Notify::new(), Notify::new());
    notify.share(&store);
    let filter = SubscriptionFilter::new().with_resource("a://b");
    let subscription = notify.subscribe(request(filter));
    tokio::task::yield_now().await;
    other.share(&store);
    other.resource_updated("a://b");
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(heard(&subscription), [ReportedChange::Resource("a://b".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_mounted_server_that_does_not_acknowledge_holds_up_a_subscription_for_seconds_only() {
    let notify = Notify::new();
    let filter = SubscriptionFilter::new().with_tools_list_changed().with_resource("a://b");
    let listening = ListenStream::new(&notify, request(filter.clone()), SubscriptionFilter::new());
    let hung = listening.relay(filter.clone(), Outbox::closed());
    let begin = tokio::time::Instant::now();
    // What it was asked for is promised on its behalf.
    let honoured = tokio::time::timeout(Duration::from_secs(60), listening.honoured()).await;
    assert_eq!(honoured, Ok(filter.clone()));
    assert_eq!(begin.elapsed().as_secs(), 5);
    // It may have changed before it began to listen.
    let acknowledged = Outgoing::Change(ReportedChange::Acknowledged(filter));
    hung.emit(ExchangeId(1), acknowledged).unwrap();
    let changes = [ReportedChange::Tools, ReportedChange::Resource("a://b".to_owned())];
    assert_eq!(heard(&listening.subscription), changes);
}

/// A client that has no room for messages until it reads.
#[derive(Default)]
struct Unread {
    is_read: AtomicBool,
    waiting: Mutex<Vec<std::task::Waker>>,
}

impl Sink for Unread {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_read.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        lock(&self.waiting).push(cx.waker().clone());
        Poll::Pending
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        if self.is_read.load(Ordering::Relaxed) { Ok(()) } else { Err(outgoing) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_of_a_mounted_server_waits_until_the_client_has_room() {
    let filter = SubscriptionFilter::new().with_tools_list_changed();
    let notify = Notify::new();
    let listening = ListenStream::new(&notify, request(filter.clone()), SubscriptionFilter::new());
    let client = Arc::new(Unread::default());
    let relay = listening.relay(filter, Outbox::new(ExchangeId(1), client.clone()));
    let mounted = Outbox::new(ExchangeId(1), relay);
    let message = Outgoing::ElicitationComplete("a".to_owned());
    let sending = tokio::spawn(async move { mounted.send(message).await.is_ok() });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sending.is_finished(), "the client is taken for gone");
    client.is_read.store(true, Ordering::Relaxed);
    lock(&client.waiting).drain(..).for_each(std::task::Waker::wake);
    assert!(sending.await.unwrap());
}
