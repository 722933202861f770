//! Counts the endpoints that share a store, so that each grants its part of the rate of a caller.
//!
//! Each endpoint publishes its id on one topic every three seconds, and counts the ids that it got
//! within the last ten. Nothing is stored, no key is searched for, and only the own clock counts. An
//! endpoint that does not get its own beats knows nothing of the others either, and keeps its count.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::rate_share::RateShare;
use bowline_store::backend::BoxStream;
use bowline_store::{Backend, Key};
use bowline_transport::task::spawn_on;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

/// The time between two beats of an endpoint.
const BEAT: Duration = Duration::from_secs(3);

/// How soon an endpoint beats when it hears a new one, which need not wait for the next beat then. Of
/// several hundred that begin together, each beats twice instead of once for each other one.
const SOON: Duration = Duration::from_millis(250);

/// How long an endpoint counts after its last beat. Longer than three beats: some may get lost.
const COUNTED: Duration = Duration::from_secs(10);

/// How long to wait after the store failed.
const PAUSE: Duration = Duration::from_secs(1);

/// The most endpoints that are counted, and the most bytes of an id.
const MOST: usize = 10_000;
const LONGEST_ID: usize = 64;

fn topic() -> Key {
    Key::new(["replicas"])
}

/// The task that publishes beats and counts those of others. It ends when this is dropped.
pub(super) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    /// Begins to beat. `None` outside of a runtime.
    pub(super) fn begin(store: Arc<dyn Backend>, id: &str, share: RateShare) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        Some(Self(spawn_on(&runtime, beat(store, Roster::of(id), share))))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn beat(store: Arc<dyn Backend>, mut roster: Roster, share: RateShare) {
    loop {
        if let Ok(messages) = store.listen(&topic()).await {
            exchange(&store, messages, &mut roster, &share).await;
        }
        sleep(PAUSE).await;
    }
}

/// Publishes and counts until the topic ends.
async fn exchange(
    store: &Arc<dyn Backend>,
    mut messages: BoxStream<'static, Bytes>,
    roster: &mut Roster,
    share: &RateShare,
) {
    let mut next_beat = Instant::now();
    loop {
        tokio::select! {
            () = sleep_until(next_beat) => {
                next_beat = Instant::now() + BEAT;
                // If this fails, the endpoint does not get its own beat.
                _ = store.publish(&topic(), Bytes::copy_from_slice(&roster.own)).await;
            }
            message = next(&mut messages) => {
                let Some(message) = message else { return };
                if roster.hear(&message, Instant::now()) {
                    next_beat = next_beat.min(Instant::now() + SOON);
                }
                share.divide_by(roster.count());
            }
        }
    }
}

async fn next(messages: &mut BoxStream<'static, Bytes>) -> Option<Bytes> {
    std::future::poll_fn(|cx| messages.as_mut().poll_next(cx)).await
}

/// The endpoints whose beats have arrived lately.
struct Roster {
    own: Box<[u8]>,
    /// When the last own beat arrived.
    own_beat: Option<Instant>,
    others: HashMap<Box<[u8]>, Instant>,
}

impl Roster {
    fn of(id: &str) -> Self {
        Self { own: id.as_bytes().into(), own_beat: None, others: HashMap::new() }
    }

    /// This endpoint and the others.
    fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Notes a beat. Returns whether it is the first of another endpoint.
    fn hear(&mut self, id: &[u8], now: Instant) -> bool {
        if *id == *self.own {
            self.hear_own(now);
            return false;
        }
        // The empty message says that some may have got lost.
        let has_room = self.others.len() < MOST || self.others.contains_key(id);
        let is_id = !id.is_empty() && id.len() <= LONGEST_ID;
        is_id && has_room && self.others.insert(id.into(), now).is_none()
    }

    /// The topic works, so an endpoint that was not heard for long is gone.
    fn hear_own(&mut self, now: Instant) {
        let was_silent = self.own_beat.is_none_or(|last| now - last > 2 * BEAT);
        self.own_beat = Some(now);
        if was_silent {
            // The beats of the others got lost as well.
            self.others.values_mut().for_each(|last| *last = now);
        }
        self.others.retain(|_, last| now - *last <= COUNTED);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bowline_store::MemoryBackend;
    use bowline_store::backend::{BoxFuture, Result};
    use bowline_store::wrapper::{Wrapped, Wrapper};

    use super::*;

    /// Counts beats.
    #[derive(Default)]
    struct Counting {
        memory: MemoryBackend,
        beats: AtomicUsize,
    }

    impl Wrapper for Counting {
        fn inner(&self) -> &dyn Backend {
            &self.memory
        }

        fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
            self.beats.fetch_add(1, Ordering::Relaxed);
            self.memory.publish(topic, value)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hundreds_of_endpoints_that_begin_together_count_each_other_with_few_beats() {
        const ENDPOINTS: usize = 300;
        let store = Arc::new(Wrapped(Counting::default()));
        let shares = [(); ENDPOINTS].map(|()| RateShare::default());
        let begin = |(number, share): (usize, &RateShare)| {
            Heartbeat::begin(store.clone(), &format!("endpoint-{number}"), share.clone())
        };
        let heartbeats: Vec<_> = shares.iter().enumerate().map(begin).collect();
        sleep(COUNTED).await;
        let counts: Vec<_> = shares.iter().map(RateShare::processes).collect();
        assert_eq!(counts, [ENDPOINTS; ENDPOINTS]);
        let beats = store.beats.load(Ordering::Relaxed) / ENDPOINTS;
        assert!(beats <= 8, "{beats} beats of each within {COUNTED:?}");
        drop(heartbeats);
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_counts_until_its_beats_are_missing_while_the_own_arrive() {
        let (mut roster, begin) = (Roster::of("a"), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(roster.hear(b"b", at(0)) && !roster.hear(b"b", at(1)), "one of them is the first");
        assert!(!roster.hear(b"", at(1)) && !roster.hear(&[b'x'; 65], at(1)));
        for second in [1, 4, 7, 10] {
            roster.hear(b"a", at(second));
            assert_eq!(roster.count(), 2, "{second}");
        }
        // No beat at all arrives for a minute.
        roster.hear(b"a", at(70));
        assert_eq!(roster.count(), 2, "it is not known yet whether the other lives");
        for second in [73, 76, 79] {
            roster.hear(b"a", at(second));
        }
        assert_eq!(roster.count(), 2);
        roster.hear(b"a", at(82));
        assert_eq!(roster.count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_endpoints_are_counted_than_there_is_room_for() {
        let (mut roster, now) = (Roster::of("a"), Instant::now());
        for number in 0..=MOST {
            assert_eq!(roster.hear(number.to_string().as_bytes(), now), number < MOST);
        }
        assert_eq!(roster.count(), MOST + 1);
    }
}
